"""Texts that are not UTF-8, in engines that speak SQLite: how a row that has one is read and named.

SQLite keeps any bytes as text. Drivers and servers decode them, and fail for the whole query. Such a query is asked
again with each text as its bytes; then only the text that cannot be decoded stays bytes, as `BrokenText`. It may be
given back as a value, so that a row can be found by a key that is no UTF-8.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_PARAMETER = re.compile(r"(?<!:):([a-z]\w*)")


class BrokenText(bytes):
    """The bytes of a text that is not UTF-8."""


def spell_out(sql: str, columns: int) -> str:
    """The query with two columns for each: its type, and its value with text as bytes."""
    names = [f"c{number}" for number in range(columns)]
    shown = ", ".join(
        f"typeof({name}), CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in names
    )
    return f"WITH spelled_out ({', '.join(names)}) AS (\n{sql}\n) SELECT {shown} FROM spelled_out"


def read_out(row: Sequence[Any]) -> tuple[Any, ...]:
    """The values of a row of a query that was spelled out."""
    pairs = zip(row[::2], row[1::2], strict=True)
    return tuple(_decode(value) if kind == "text" else value for kind, value in pairs)


def _decode(raw: bytes) -> str | BrokenText:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return BrokenText(raw)


def has_broken(values: Iterable[Any]) -> bool:
    return BrokenText in map(type, values)


def write_set(values: Sequence[Any]) -> str:
    """A set of values as a query takes it. A broken text is written as one that no row has."""
    return json.dumps(values, ensure_ascii=False, default=lambda raw: bytes(raw).decode("utf-8", "replace"))


def bind_broken(sql: str, values: Mapping[str, Any]) -> str:
    """The query for values among which there are broken texts: they are bound as bytes, and compared as text."""

    def place(match: re.Match[str]) -> str:
        return f"CAST({match[0]} AS TEXT)" if isinstance(values.get(match[1]), BrokenText) else match[0]

    return _PARAMETER.sub(place, sql)
