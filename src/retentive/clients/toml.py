"""Edit TOML, which the standard library can only parse. Lines are added, removed or changed; all others stay.

The text is split into statements by parsing each alone: a header, or a key with its value, which may have several
lines. Tables are written as `[a.b]`. A text that cannot be edited like this is refused, never rewritten.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from retentive.errors import Invalid

_LINE_PATTERN = re.compile(r"[^\n]*\n|[^\n]+")
_CLOSING_SIGNS = ('"""', "'''", "]", "}")


class TomlStatement(NamedTuple):
    path: tuple[str, ...]
    start: int
    end: int
    value: int | None
    """The position at which its value begins; None for a header."""


def parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Invalid("it is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"it is not TOML: {error}") from error


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Set the value at a path: a table of strings and lists of strings, or one of these."""
    statements = [*_iterate_statements(text)]
    known = [each for each in statements if each.path[: len(path)] == tuple(path)]
    if isinstance(value, dict):
        return _append_table(remove(text, path), path, value)
    if known and known[0].value is not None:
        start = known[0].value
        return text[:start] + _dump(value) + text[_find_value_end(text, start, known[0].end) :]
    headers = [each for each in statements if each.path == tuple(path[:-1]) and each.value is None]
    if not headers:
        raise Invalid(f"{'.'.join(path[:-1])} is written in a way that cannot be edited")
    newline = _find_newline(text)
    above = text[: headers[0].end].rstrip("\r\n") + newline
    return f"{above}{path[-1]} = {_dump(value)}{newline}{text[headers[0].end :]}"


def remove(text: str, path: Sequence[str]) -> str:
    """Remove the statements at a path and below it, and the empty line above a header."""
    statements = [each for each in _iterate_statements(text) if each.path[: len(path)] == tuple(path)]
    for each in reversed(statements):
        above = text[: each.start]
        if each.value is None:
            above = re.sub(r"(\A|\n)\r?\n\Z", r"\1", above)
        text = above + text[each.end :]
    return text


def render(path: Sequence[str], value: Any) -> str:
    return _render_table(path, value, "\n")


def _append_table(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    newline = _find_newline(text)
    above = text if not text or text.endswith("\n") else text + newline
    return above + (newline if above.strip() else "") + _render_table(path, value, newline)


def _render_table(path: Sequence[str], value: dict[str, Any], newline: str) -> str:
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_dump(each)}" for key, each in value.items())]
    return newline.join(lines) + newline


def _dump(value: Any) -> str:
    """Render a string, or a list of strings. TOML has the escapes of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _find_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _iterate_statements(text: str) -> Iterator[TomlStatement]:
    header: tuple[str, ...] = ()
    start = end = 0
    for line in _LINE_PATTERN.finditer(text):
        end = line.end()
        is_continued = line.start() > start
        if is_continued and not any(sign in line[0] for sign in _CLOSING_SIGNS):
            continue
        found = _parse_or_none(text[start:end])
        if found is None:
            continue
        if found and text[start:end].lstrip().startswith("["):
            header = _find_path(found)
            yield TomlStatement(header, start, end, None)
        elif found:
            yield _parse_pair(text, header, start, end)
        start = end


def _parse_or_none(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _parse_pair(text: str, header: tuple[str, ...], start: int, end: int) -> TomlStatement:
    """Parse a key with its value. The key ends at the first equals sign that has a complete key before it."""
    place = text.index("=", start, end)
    while (key := _parse_or_none(text[start:place] + "= 0")) is None:
        place = text.index("=", place + 1, end)
    value = place + 1
    while text[value] in " \t":
        value += 1
    return TomlStatement(header + _find_path(key), start, end, value)


def _find_path(found: Any) -> tuple[str, ...]:
    """Return the path of the only key in a parsed header or pair."""
    path: list[str] = []
    while isinstance(found, dict) and found:
        key, found = next(iter(found.items()))
        path.append(key)
        found = found[0] if isinstance(found, list) and found else found
    return tuple(path)


def _find_value_end(text: str, start: int, end: int) -> int:
    """Return the end of the value, so that a comment behind it stays: the shortest part that means the same."""
    whole = tomllib.loads("x = " + text[start:end])
    return next(place for place in range(start + 1, end + 1) if _parse_or_none("x = " + text[start:place]) == whole)
