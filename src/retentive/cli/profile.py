"""The profile: one document, set, merged, patched, and looked back on."""

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import given, is_json, json_in, json_of, text_of
from retentive.cli.records import SAID, patch, revisions, written
from retentive.errors import Invalid
from retentive.model import Profile
from retentive.records.json_patch import leaves, pointer_of

_GUARDED = (*SAID, "version")
_SHAPE = {field.name for field in fields(Profile)}


def _show(memory: Retentive, arguments: Any) -> int:
    found = memory.profile.get()
    if is_json(arguments):
        output.as_json(serialize.record(found))
    elif found.document:
        output.table(("path", "value", "from"), _rows(found))
    else:
        output.aside("nothing yet: retentive profile set city Oslo is a first value")
    return 0


def _rows(profile: Profile) -> Iterator[tuple[str, str, str]]:
    for pointer, value in leaves(profile.document):
        source = profile.sources.get(pointer)
        yield _path(pointer), written(value), source["memory"] if source else ""


def _path(pointer: str) -> str:
    """With dots where that says the same."""
    dotted = pointer[1:].replace("/", ".")
    return dotted if pointer_of(dotted) == pointer else pointer


def _set(memory: Retentive, arguments: Any) -> int:
    value = _from_file(arguments) if arguments.file is not None else _value(arguments)
    return _told(memory.profile.set(arguments.path or "", value, **given(arguments, _GUARDED)), arguments)


def _from_file(arguments: Any) -> Any:
    """Of the JSON of a profile, its document."""
    if arguments.value is not None or arguments.string:
        raise Invalid("--file has the value", "Leave out VALUE and --string.")
    read = json_in(arguments.file)
    return read["document"] if not arguments.path and isinstance(read, dict) and {*read} == _SHAPE else read


def _value(arguments: Any) -> Any:
    if arguments.path is None:
        raise Invalid("no PATH", "As in `retentive profile set city Oslo`; --file sets the whole document.")
    text = text_of(arguments.value, "value")
    text = text.rstrip("\n") if arguments.value in (None, "-") else text
    return text if arguments.string else _json_or_text(text)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(name: str) -> None:
    raise ValueError(name)  # NaN and the like are words


def _merge(memory: Retentive, arguments: Any) -> int:
    given_patch = json_of(text_of(arguments.patch, "merge patch"), "the merge patch")
    return _told(memory.profile.merge(given_patch, **given(arguments, _GUARDED)), arguments)


def _patch(memory: Retentive, arguments: Any) -> int:
    operations = json_of(text_of(arguments.patch, "JSON Patch"), "the JSON Patch")
    return _told(memory.profile.patch(operations, **given(arguments, _GUARDED)), arguments)


def _schema(memory: Retentive, arguments: Any) -> int:
    if arguments.file is not None and arguments.remove:
        raise Invalid("--remove takes no file", "Leave one of them out.")
    if arguments.file is not None or arguments.remove:
        schema = None if arguments.remove else json_in(arguments.file)
        return _told(memory.profile.schema(schema, **given(arguments, SAID)), arguments)
    found = memory.profile.get().schema
    if is_json(arguments) or found:
        output.as_json(found)
    else:
        output.aside("no schema: any document is allowed")
    return 0


def _history(memory: Retentive, arguments: Any) -> int:
    return revisions(memory.profile.history(), arguments)


def _diff(memory: Retentive, arguments: Any) -> int:
    return patch(memory.profile.diff(arguments.old, arguments.new), arguments)


def _rollback(memory: Retentive, arguments: Any) -> int:
    return _told(memory.profile.rollback(arguments.to, **given(arguments, SAID)), arguments)


def _told(profile: Profile, arguments: Any) -> int:
    if is_json(arguments):
        output.as_json(serialize.record(profile))
    else:
        output.say(f"profile of {profile.namespace}: version {profile.version}")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "profile show": _show,
    "profile set": _set,
    "profile merge": _merge,
    "profile patch": _patch,
    "profile schema": _schema,
    "profile history": _history,
    "profile diff": _diff,
    "profile rollback": _rollback,
}
