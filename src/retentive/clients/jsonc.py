"""Edits of JSON as people and editors keep it: with comments, trailing commas, and a layout of its own.

The text is changed at one place and is otherwise the same to the byte. To find the place, comments and trailing
commas are blanked by spaces: what is left is plain JSON, in which every position is that of the text.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from retentive.errors import Invalid

_STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING = re.compile(rf"{_STRING}|(?<![\s,\[{{])\s*(,)(?=\s*[}}\]])")
_SPACE = re.compile(r"[ \t\r\n]*")
_SAME_LINE = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/|//[^\r\n]*))*")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class Member(NamedTuple):
    """Where in the text a key begins, and where its value begins and ends."""

    key: str
    start: int
    value: int
    end: int


class Table(NamedTuple):
    """An object in the text: its members, and where its braces are."""

    members: list[Member]
    open: int
    close: int

    def member(self, key: str) -> Member | None:
        return next((each for each in reversed(self.members) if each.key == key), None)


def read(text: str) -> dict[str, Any]:
    return decoded(_views(text).plain)


def decoded(plain: str) -> dict[str, Any]:
    if not plain.strip():
        return {}
    try:
        found = _DECODER.decode(plain)
    except RecursionError:
        raise Invalid("it is nested too deeply") from None
    except ValueError as error:
        raise Invalid(f"it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise Invalid("it is not a JSON object")
    return found


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Set what is at the path; what is missing on the way is made. The text is one that `read` accepts."""
    plain = _views(text).plain
    if not plain.strip():
        newline = _newline(text)
        return (
            (text.rstrip() + newline if text.strip() else "") + _laid(_nested(path, value), "", "  ", newline) + newline
        )
    table = _table(plain, _skip(plain, 0))
    for depth, key in enumerate(path):
        member = table.member(key)
        if member is None:
            return _insert(text, table, key, _nested(path[depth + 1 :], value))
        if depth == len(path) - 1:
            return _replace(text, member, value)
        table = _table(plain, member.value)
    raise Invalid("no path")


def drop(text: str, path: Sequence[str]) -> str:
    """Take out what is at the path, which is there."""
    bare, plain = _views(text)
    table = _table(plain, _skip(plain, 0))
    for key in path[:-1]:
        table = _table(plain, _there(table, key).value)
    member = _there(table, path[-1])
    place = table.members.index(member)
    start = _line_start(text, member.start)
    follower = table.members[place + 1].start if member is not table.members[-1] else table.close
    comma = bare.find(",", member.end, follower)
    if len(table.members) == 1:
        inner = text[table.open + 1 : start] + text[max(member.end, comma + 1) : table.close]
        return text[: table.open + 1] + (inner if inner.strip() else "") + text[table.close :]
    if comma >= 0:
        return text[:start] + text[comma + 1 :]
    comma = bare.index(",", table.members[place - 1].end, member.start)
    return text[:comma] + text[comma + 1 : start] + text[member.end :]


def snippet(path: Sequence[str], value: Any) -> str:
    return _laid(_nested(path, value), "", "  ", "\n") + "\n"


class Views(NamedTuple):
    """The same text, each sign where it was: without comments, and without trailing commas either."""

    bare: str
    plain: str


@lru_cache(maxsize=2)  # one edit asks several times; Claude Code's file has megabytes
def _views(text: str) -> Views:
    with suppress(ValueError, RecursionError):
        _DECODER.decode(text)
        return Views(text, text)
    bare = _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text)
    return Views(bare, _TRAILING.sub(lambda found: found[0].replace(",", " ") if found[1] else found[0], bare))


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def _skip(plain: str, place: int) -> int:
    return _end(_SPACE, plain, place)


def _line_start(text: str, place: int) -> int:
    """Before the spaces in front of it, and before the line break if it is the first of its line."""
    before = text[:place].rstrip(" \t")
    return len(before.removesuffix("\n").removesuffix("\r") if before.endswith("\n") else before)


def _table(plain: str, start: int) -> Table:
    members: list[Member] = []
    place = _skip(plain, start + 1)
    while plain[place] != "}":
        key, end = _DECODER.raw_decode(plain, place)
        value = _skip(plain, _skip(plain, end) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        members.append(Member(key, place, value, end))
        place = _skip(plain, end)
        if plain[place] == ",":
            place = _skip(plain, place + 1)
    return Table(members, start, place)


def _there(table: Table, key: str) -> Member:
    member = table.member(key)
    if member is None:
        raise Invalid(f"there is no {key!r}")
    return member


def _insert(text: str, table: Table, key: str, value: Any) -> str:
    return _append(text, table, key, value) if table.members else _fill(text, table, key, value)


def _append(text: str, table: Table, key: str, value: Any) -> str:
    """After the last member and what is noted behind it, in its manner: on a line of its own or not, comma or not."""
    last, newline = table.members[-1], _newline(text)
    comma = _views(text).bare.find(",", last.end, table.close)
    behind = last.end if comma < 0 else comma + 1
    place = _end(_SAME_LINE, text, behind)
    indent = _own_line(text, last.start)
    if indent is None:
        lead = newline if "//" in text[behind:place] else " "
        member = _pair(key, json.dumps(value, ensure_ascii=False))
    else:
        lead = newline + indent
        member = _pair(key, _laid(value, indent, _unit(text), newline))
    between, after = ("", ",") if comma >= 0 else (",", "")
    return text[: last.end] + between + text[last.end : place] + lead + member + after + text[place:]


def _fill(text: str, table: Table, key: str, value: Any) -> str:
    """The first member of an object that is empty, or has comments only."""
    noted = text[table.open + 1 : table.close].rstrip()
    newline, outer = _newline(text), _indent(text, table.open)
    whole = text.strip()
    if "\n" not in whole and whole != text[table.open : table.close + 1]:
        member = _pair(key, json.dumps(value, ensure_ascii=False))
        return text[: table.open + 1] + noted + member + text[table.close :]
    inner = outer + _unit(text)
    member = _pair(key, _laid(value, inner, _unit(text), newline))
    return text[: table.open + 1] + noted + newline + inner + member + newline + outer + text[table.close :]


def _replace(text: str, member: Member, value: Any) -> str:
    indent = _own_line(text, member.start)
    if indent is None:
        laid = json.dumps(value, ensure_ascii=False)
    else:
        laid = _laid(value, indent, _unit(text), _newline(text))
    return text[: member.value] + laid + text[member.end :]


def _pair(key: str, laid: str) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: {laid}"


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _laid(value: Any, indent: str, unit: str, newline: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """By what the first key is further in than the brace before it."""
    bare = _views(text).bare
    indent = _own_line(text, bare.find('"')) or ""
    return indent.removeprefix(_indent(text, bare.find("{"))) or "  "


def _indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _own_line(text: str, place: int) -> str | None:
    """How far what is here is indented, if it is the first of its line."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line if "\n" in text[:place] and not line.strip(" \t") else None
