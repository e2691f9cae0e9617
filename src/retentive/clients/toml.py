"""Edits of TOML, which the standard library only reads: lines are added, taken out or changed, all others stay.

A text is cut into statements (a header, or a key with its value, over several lines if need be) by having each
read alone. Tables are written as `[a.b]`; what cannot be edited so is refused, never rewritten.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from retentive.errors import Invalid

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CLOSERS = ('"""', "'''", "]", "}")


class Statement(NamedTuple):
    path: tuple[str, ...]
    start: int
    end: int
    value: int | None
    """Where its value begins; a header has none."""


def read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Invalid("it is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"it is not TOML: {error}") from error


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Set what is at the path: a table of texts and lists of texts, or one of these."""
    known = [each for each in _statements(text) if each.path[: len(path)] == tuple(path)]
    if isinstance(value, dict):
        return _append(drop(text, path) if known else text, path, value)
    if known and known[0].value is not None:
        start = known[0].value
        return text[:start] + _written(value) + text[_value_end(text, start, known[0].end) :]
    header = next((each for each in _statements(text) if each.path == tuple(path[:-1]) and each.value is None), None)
    if header is None:
        raise Invalid(f"{'.'.join(path[:-1])} is written in a way that cannot be edited")
    newline = _newline(text)
    above = text[: header.end].rstrip("\r\n") + newline
    return f"{above}{path[-1]} = {_written(value)}{newline}{text[header.end :]}"


def drop(text: str, path: Sequence[str]) -> str:
    """Take out what is at the path and below it, and the empty line above."""
    for each in reversed([each for each in _statements(text) if each.path[: len(path)] == tuple(path)]):
        above = text[: each.start]
        if each.value is None:
            above = re.sub(r"(\A|\n)\r?\n\Z", r"\1", above)
        text = above + text[each.end :]
    return text


def snippet(path: Sequence[str], value: Any) -> str:
    return _block(path, value, "\n")


def _append(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    newline = _newline(text)
    ended = text if not text or text.endswith("\n") else text + newline
    return ended + (newline if ended.strip() else "") + _block(path, value, newline)


def _block(path: Sequence[str], value: dict[str, Any], newline: str) -> str:
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_written(each)}" for key, each in value.items())]
    return newline.join(lines) + newline


def _written(value: Any) -> str:
    """A text, or a list of texts. The escapes of JSON are those of TOML."""
    return json.dumps(value, ensure_ascii=False)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _statements(text: str) -> Iterator[Statement]:
    header: tuple[str, ...] = ()
    start = end = 0
    for line in _LINE.finditer(text):
        end = line.end()
        several = line.start() > start
        if several and not any(sign in line[0] for sign in _CLOSERS):
            continue
        found = _loaded(text[start:end])
        if found is None:
            continue
        if found and text[start:end].lstrip().startswith("["):
            header = _keys(found)
            yield Statement(header, start, end, None)
        elif found:
            yield _pair(text, header, start, end)
        start = end


def _loaded(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _pair(text: str, header: tuple[str, ...], start: int, end: int) -> Statement:
    """The key ends at the first equals sign before which there is a whole one."""
    place = text.index("=", start, end)
    while (key := _loaded(text[start:place] + "= 0")) is None:
        place = text.index("=", place + 1, end)
    value = place + 1
    while text[value] in " \t":
        value += 1
    return Statement(header + _keys(key), start, end, value)


def _keys(found: Any) -> tuple[str, ...]:
    """The one path in what was read of a header or a key."""
    path: list[str] = []
    while isinstance(found, dict) and found:
        key, found = next(iter(found.items()))
        path.append(key)
        found = found[0] if isinstance(found, list) and found else found
    return tuple(path)


def _value_end(text: str, start: int, end: int) -> int:
    """Where the value ends, so that a comment behind it stays: the shortest beginning that means the same."""
    whole = tomllib.loads("x = " + text[start:end])
    return next(place for place in range(start + 1, end + 1) if _loaded("x = " + text[start:place]) == whole)
