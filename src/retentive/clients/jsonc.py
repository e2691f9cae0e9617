"""Edit JSON with comments, trailing commas and a layout of its own (JSONC).

The text is changed at one place; every other byte stays. To find the place, comments and trailing commas are replaced
by spaces. The result is plain JSON in which every position is the same as in the text.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from retentive.errors import Invalid

_STRING_PATTERN = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_COMMENT_PATTERN = re.compile(rf"{_STRING_PATTERN}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING_PATTERN}|(?<![\s,\[{{])\s*(,)(?=\s*[}}\]])")
_WHITESPACE = re.compile(r"[ \t\r\n]*")
_COMMENTS_BEHIND = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/|//[^\r\n]*))*")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


class MemberSpan(NamedTuple):
    """The positions in the text at which a key begins, and its value begins and ends."""

    key: str
    start: int
    value: int
    end: int


class ObjectSpan(NamedTuple):
    """The positions of an object in the text: its members and its braces."""

    members: list[MemberSpan]
    open: int
    close: int

    def find_member(self, key: str) -> MemberSpan | None:
        return next((each for each in reversed(self.members) if each.key == key), None)


def parse(text: str) -> dict[str, Any]:
    return decode_object(_blank_comments(text).plain)


def decode_object(text: str) -> dict[str, Any]:
    """Decode plain JSON; an empty text is an empty object."""
    if not text.strip():
        return {}
    try:
        found = _DECODER.decode(text)
    except RecursionError:
        raise Invalid("it is nested too deeply") from None
    except ValueError as error:
        raise Invalid(f"it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise Invalid("it is not a JSON object")
    return found


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Set the value at a path, and make the objects that are missing on the way. `parse` must accept the text."""
    plain = _blank_comments(text).plain
    if not plain.strip():
        newline = _find_newline(text)
        comments = text.rstrip() + newline if text.strip() else ""
        return comments + _dump(_nest(path, value), "", "  ", newline) + newline
    table = _parse_object(plain, _skip_whitespace(plain, 0))
    for depth, key in enumerate(path):
        member = table.find_member(key)
        if member is None:
            return _insert_member(text, table, key, _nest(path[depth + 1 :], value))
        if depth == len(path) - 1:
            return _replace_value(text, member, value)
        table = _parse_object(plain, member.value)
    raise Invalid("no path")


def remove(text: str, path: Sequence[str]) -> str:
    """Remove the member at a path. `Invalid` if there is none."""
    without_comments, plain = _blank_comments(text)
    table = _parse_object(plain, _skip_whitespace(plain, 0))
    for key in path[:-1]:
        table = _parse_object(plain, _require_member(table, key).value)
    member = _require_member(table, path[-1])
    index = table.members.index(member)
    start = _find_gap_start(text, member.start)
    next_start = table.members[index + 1].start if member is not table.members[-1] else table.close
    comma = without_comments.find(",", member.end, next_start)
    if len(table.members) == 1:
        inner = text[table.open + 1 : start] + text[max(member.end, comma + 1) : table.close]
        return text[: table.open + 1] + (inner if inner.strip() else "") + text[table.close :]
    if comma >= 0:
        return text[:start] + text[comma + 1 :]
    comma = without_comments.index(",", table.members[index - 1].end, member.start)
    return text[:comma] + text[comma + 1 : start] + text[member.end :]


def render(path: Sequence[str], value: Any) -> str:
    return _dump(_nest(path, value), "", "  ", "\n") + "\n"


class BlankedText(NamedTuple):
    """The text with spaces in place of comments. `plain` also has them in place of trailing commas."""

    without_comments: str
    plain: str


@lru_cache(maxsize=2)  # one edit asks several times; Claude Code's file has megabytes
def _blank_comments(text: str) -> BlankedText:
    with suppress(ValueError, RecursionError):
        _DECODER.decode(text)
        return BlankedText(text, text)
    without_comments = _COMMENT_PATTERN.sub(_blank_comment, text)
    return BlankedText(without_comments, _TRAILING_COMMA.sub(_blank_comma, without_comments))


def _blank_comment(found: re.Match[str]) -> str:
    is_string = found[0].startswith('"')
    return found[0] if is_string else re.sub(r"[^\r\n]", " ", found[0])


def _blank_comma(found: re.Match[str]) -> str:
    return found[0].replace(",", " ") if found[1] else found[0]


def _match_end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def _skip_whitespace(plain: str, place: int) -> int:
    return _match_end(_WHITESPACE, plain, place)


def _find_gap_start(text: str, place: int) -> int:
    """Return the position before the spaces in front of `place`, and before the line break if only spaces follow it."""
    before = text[:place].rstrip(" \t")
    return len(before.removesuffix("\n").removesuffix("\r") if before.endswith("\n") else before)


def _parse_object(plain: str, start: int) -> ObjectSpan:
    members: list[MemberSpan] = []
    place = _skip_whitespace(plain, start + 1)
    while plain[place] != "}":
        key, end = _DECODER.raw_decode(plain, place)
        value = _skip_whitespace(plain, _skip_whitespace(plain, end) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        members.append(MemberSpan(key, place, value, end))
        place = _skip_whitespace(plain, end)
        if plain[place] == ",":
            place = _skip_whitespace(plain, place + 1)
    return ObjectSpan(members, start, place)


def _require_member(table: ObjectSpan, key: str) -> MemberSpan:
    member = table.find_member(key)
    if member is None:
        raise Invalid(f"there is no {key!r}")
    return member


def _insert_member(text: str, table: ObjectSpan, key: str, value: Any) -> str:
    return _append_member(text, table, key, value) if table.members else _insert_first_member(text, table, key, value)


def _append_member(text: str, table: ObjectSpan, key: str, value: Any) -> str:
    """Add a member after the last one and its comments, in the same layout: on its own line or not, comma or not."""
    last, newline = table.members[-1], _find_newline(text)
    comma = _blank_comments(text).without_comments.find(",", last.end, table.close)
    behind = last.end if comma < 0 else comma + 1
    place = _match_end(_COMMENTS_BEHIND, text, behind)
    indent = _find_own_indent(text, last.start)
    if indent is None:
        lead = newline if "//" in text[behind:place] else " "
        member = _render_member(key, json.dumps(value, ensure_ascii=False))
    else:
        lead = newline + indent
        member = _render_member(key, _dump(value, indent, _find_indent_unit(text), newline))
    between, after = ("", ",") if comma >= 0 else (",", "")
    return text[: last.end] + between + text[last.end : place] + lead + member + after + text[place:]


def _insert_first_member(text: str, table: ObjectSpan, key: str, value: Any) -> str:
    """Add the first member to an object that is empty or has only comments."""
    comments = text[table.open + 1 : table.close].rstrip()
    newline, outer = _find_newline(text), _find_indent(text, table.open)
    document = text.strip()
    if "\n" not in document and document != text[table.open : table.close + 1]:
        member = _render_member(key, json.dumps(value, ensure_ascii=False))
        return text[: table.open + 1] + comments + member + text[table.close :]
    inner = outer + _find_indent_unit(text)
    member = _render_member(key, _dump(value, inner, _find_indent_unit(text), newline))
    return text[: table.open + 1] + comments + newline + inner + member + newline + outer + text[table.close :]


def _replace_value(text: str, member: MemberSpan, value: Any) -> str:
    indent = _find_own_indent(text, member.start)
    if indent is None:
        rendered = json.dumps(value, ensure_ascii=False)
    else:
        rendered = _dump(value, indent, _find_indent_unit(text), _find_newline(text))
    return text[: member.value] + rendered + text[member.end :]


def _render_member(key: str, rendered: str) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: {rendered}"


def _nest(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _dump(value: Any, indent: str, unit: str, newline: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)


def _find_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _find_indent_unit(text: str) -> str:
    """Return the indent of one level: that of the first key without that of the brace before it."""
    without_comments = _blank_comments(text).without_comments
    indent = _find_own_indent(text, without_comments.find('"')) or ""
    return indent.removeprefix(_find_indent(text, without_comments.find("{"))) or "  "


def _find_indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _find_own_indent(text: str, place: int) -> str | None:
    """Return the indent of the text at `place`; None if it is not the first of its line."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line if "\n" in text[:place] and not line.strip(" \t") else None
