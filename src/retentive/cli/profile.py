"""Show and change the profile, and compare its versions."""

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json, parse_json, pick_options, read_json, read_text
from retentive.cli.records import CHANGE_OPTIONS, format_value, print_patch, print_revisions
from retentive.errors import Invalid
from retentive.model import Profile
from retentive.records.json_patch import iter_leaves, to_pointer

_VERSIONED_CHANGE_OPTIONS = (*CHANGE_OPTIONS, "version")
_PROFILE_FIELDS = {field.name for field in fields(Profile)}


def _show(memory: Retentive, arguments: Any) -> int:
    found = memory.profile.get()
    if is_json(arguments):
        output.print_json(serialize.record(found))
    elif found.document:
        output.print_table(("path", "value", "from"), _build_rows(found))
    else:
        output.print_hint("nothing yet: retentive profile set city Oslo sets the first value")
    return 0


def _build_rows(profile: Profile) -> Iterator[tuple[str, str, str]]:
    for pointer, value in iter_leaves(profile.document):
        source = profile.sources.get(pointer)
        yield _format_path(pointer), format_value(value), output.show_id(source["memory"]) if source else ""


def _format_path(pointer: str) -> str:
    """Write a JSON pointer with dots, if that means the same."""
    dotted = pointer[1:].replace("/", ".")
    return dotted if to_pointer(dotted) == pointer else pointer


def _set(memory: Retentive, arguments: Any) -> int:
    value = _read_value_file(arguments) if arguments.file is not None else _read_value(arguments)
    return _print_profile(
        memory.profile.set(arguments.path or "", value, **pick_options(arguments, _VERSIONED_CHANGE_OPTIONS)), arguments
    )


def _read_value_file(arguments: Any) -> Any:
    """Read the value of --file. If the file has a whole profile, the value is its document."""
    if arguments.value is not None or arguments.string:
        raise Invalid("--file has the value", "Leave out VALUE and --string.")
    read = read_json(arguments.file)
    return read["document"] if not arguments.path and isinstance(read, dict) and {*read} == _PROFILE_FIELDS else read


def _read_value(arguments: Any) -> Any:
    if arguments.path is None:
        raise Invalid("no PATH", "As in `retentive profile set city Oslo`; --file sets the whole document.")
    text = read_text(arguments.value, "value")
    text = text.rstrip("\n") if arguments.value in (None, "-") else text
    return text if arguments.string else _json_or_text(text)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # NaN and the like are words


def _merge(memory: Retentive, arguments: Any) -> int:
    given_patch = parse_json(read_text(arguments.patch, "merge patch"), "the merge patch")
    return _print_profile(
        memory.profile.merge(given_patch, **pick_options(arguments, _VERSIONED_CHANGE_OPTIONS)), arguments
    )


def _patch(memory: Retentive, arguments: Any) -> int:
    operations = parse_json(read_text(arguments.patch, "JSON Patch"), "the JSON Patch")
    return _print_profile(
        memory.profile.patch(operations, **pick_options(arguments, _VERSIONED_CHANGE_OPTIONS)), arguments
    )


def _schema(memory: Retentive, arguments: Any) -> int:
    if arguments.file is not None and arguments.remove:
        raise Invalid("--remove takes no file", "Leave one of them out.")
    if arguments.file is not None or arguments.remove:
        schema = None if arguments.remove else read_json(arguments.file)
        return _print_profile(memory.profile.schema(schema, **pick_options(arguments, CHANGE_OPTIONS)), arguments)
    found = memory.profile.get().schema
    if is_json(arguments) or found:
        output.print_json(found)
    else:
        output.print_hint("no schema: any document is allowed")
    return 0


def _history(memory: Retentive, arguments: Any) -> int:
    return print_revisions(memory.profile.history(), arguments)


def _diff(memory: Retentive, arguments: Any) -> int:
    return print_patch(memory.profile.diff(arguments.old, arguments.new), arguments)


def _rollback(memory: Retentive, arguments: Any) -> int:
    return _print_profile(memory.profile.rollback(arguments.to, **pick_options(arguments, CHANGE_OPTIONS)), arguments)


def _print_profile(profile: Profile, arguments: Any) -> int:
    if is_json(arguments):
        output.print_json(serialize.record(profile))
    else:
        output.print_line(f"profile of {profile.namespace}: version {profile.version}")
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
