"""Who starts us? MCP clients, by an entry in their settings: put in, taken out, or looked for.

Only that entry is ever touched. `known` has the clients, `entry` the command, `jsonc` and `toml` edit texts, `edit`
puts the two together and compares, `files` reads and writes.
"""

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from retentive.clients import edit, settings_files
from retentive.clients.registry import CLIENTS, NAME, Client, Here, client
from retentive.errors import Invalid, RetentiveError

__all__ = ["CLIENTS", "Client", "Done", "Found", "Here", "client", "install", "snippet", "survey", "uninstall"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CONTEXT = 3  # lines shown around a change, as everywhere


@dataclass(frozen=True, slots=True)
class Done:
    client: Client
    scope: str
    file: Path
    done: str
    """`installed`, `updated`, `already`, `removed` or `absent`."""
    diff: str = ""
    """What would change, if it was only looked at."""
    backup: Path | None = None
    """A copy of the file as it was, if one was made now."""
    new_folder: bool = False
    """The client has never been here, by the look of it."""


@dataclass(frozen=True, slots=True)
class Found:
    client: Client
    scope: str
    file: Path
    exists: bool
    state: str
    """`installed`, `other`, `absent`, or `unreadable`."""


def install(
    client: Client, scope: str, here: Here, entry: Mapping[str, Any], *, force: bool = False, dry: bool = False
) -> Done:
    path = client.file(scope, here)
    with _named(path):
        old = settings_files.read(path)
        change = edit.put(_text(old), client, entry, force=force)
    return _carried_out(Done(client, scope, path, change.done), old, change.text, dry=dry)


def uninstall(client: Client, scope: str, here: Here, *, force: bool = False, dry: bool = False) -> Done:
    path = client.file(scope, here)
    with _named(path):
        old = settings_files.read(path)
        change = edit.take(_text(old), client, [*_befores(path), ""], force=force)
    return _carried_out(Done(client, scope, path, change.done), old, change.text, dry=dry)


def survey(here: Here) -> Iterator[Found]:
    """Every client's file, and whether we are in it. Of files in projects, those that are in this one."""
    for each in CLIENTS.values():
        for scope in each.scopes:
            path = each.file(scope, here)
            exists = os.path.exists(path)  # noqa: PTH110 - what may not be seen is told as unreadable
            if scope == "user" or exists:
                yield Found(each, scope, path, exists, _state(path, each))


def snippet(client: Client, entry: Mapping[str, Any]) -> str:
    """What a person would write into an empty file."""
    return client.format.snippet((*client.within, NAME), entry)


def _carried_out(done: Done, old: bytes | None, text: str, *, dry: bool) -> Done:
    """Written, after a copy was made. None is, if a copy tells all but our entry already, or the file is ours alone."""
    data = _bytes(text)
    if dry or done.done in ("already", "absent"):
        return replace(done, diff=_diff(done.file, _text(old), text))
    befores, before = _befores(done.file), _text(old)
    known = edit.origin(before, done.client, befores) is not None
    ours_alone = bool(before) and not known and edit.origin(before, done.client, [""]) is not None
    new_folder = done.scope == "user" and not done.file.parent.exists()
    gone = ours_alone and not text
    private, copy = done.scope == "user", not known and not ours_alone
    backup = settings_files.write(done.file, old, None if gone else data, private=private, copy=copy)
    return replace(done, backup=backup, new_folder=new_folder)


def _befores(path: Path) -> list[str]:
    """What copies of the file say. One that is no text is none of ours."""
    return [each.decode() for each in settings_files.backups(path) if _is_text(each)]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text(data: bytes | None) -> str:
    try:
        return "" if data is None else data.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"it is not UTF-8: {error.reason} at byte {error.start}") from error


def _state(path: Path, client: Client) -> str:
    try:
        return edit.state(_text(settings_files.read(path)), client)
    except RetentiveError:
        return "unreadable"


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:  # of a path that is no text, which Python lets pass
        raise Invalid("the path of the program or of the store is not UTF-8", "Give it another name.") from error


def _diff(path: Path, old: str, new: str) -> str:
    """Of the lines around what is different: all others of a large file would take seconds to compare."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    same = max(0, _alike(before, after) - _CONTEXT)
    end = max(0, _alike(before[same:][::-1], after[same:][::-1]) - _CONTEXT)
    parts = before[same : len(before) - end], after[same : len(after) - end]
    lines = difflib.unified_diff(*parts, str(path), str(path), "now", "then", _CONTEXT)
    return "".join(_placed(each, same) for each in lines)


def _alike(first: list[str], second: list[str]) -> int:
    """How many lines at the beginning."""
    pairs = zip(first, second, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def _placed(line: str, above: int) -> str:
    if line.startswith("@@ "):
        return re.sub(r"([-+])(\d+)", lambda found: f"{found[1]}{int(found[2]) + above}", line)
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors about a file's content say which file."""
    try:
        yield
    except Invalid as error:
        raise Invalid(f"{path}: {error}", error.hint or "It was left as it is. Mend it, then repeat.") from error
