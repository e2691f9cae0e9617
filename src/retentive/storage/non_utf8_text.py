"""Texts that are not UTF-8, in engines that speak SQLite: how a row that has one is read and named.

SQLite stores any bytes as text. Drivers and servers decode them, and fail for the whole query. Such a query runs again
with each text as its bytes; then only a text that cannot be decoded stays bytes, as `NonUtf8Text`. A caller may pass it
back as a value, so that a row can be found by a key that is not UTF-8.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_PARAMETER = re.compile(r"(?<!:):([a-z]\w*)")


class NonUtf8Text(bytes):
    """The bytes of a text that is not UTF-8."""


def select_as_bytes(sql: str, columns: int) -> str:
    """The query with two columns for each of its columns: the type, and the value with text as bytes."""
    names = [f"c{number}" for number in range(columns)]
    shown = ", ".join(
        f"typeof({name}), CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in names
    )
    return f"WITH as_bytes ({', '.join(names)}) AS (\n{sql}\n) SELECT {shown} FROM as_bytes"


def decode_row(row: Sequence[Any]) -> tuple[Any, ...]:
    """The values of a row of `select_as_bytes`."""
    pairs = zip(row[::2], row[1::2], strict=True)
    return tuple(_decode(value) if kind == "text" else value for kind, value in pairs)


def _decode(raw: bytes) -> str | NonUtf8Text:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return NonUtf8Text(raw)


def has_non_utf8(values: Iterable[Any]) -> bool:
    return NonUtf8Text in map(type, values)


def encode_set(values: Sequence[Any]) -> str:
    """Encode a set of values as a query takes it. A `NonUtf8Text` becomes a text that no row has."""
    return json.dumps(values, ensure_ascii=False, default=lambda raw: bytes(raw).decode("utf-8", "replace"))


def bind_non_utf8(sql: str, values: Mapping[str, Any]) -> str:
    """The query for values with a `NonUtf8Text` among them: it is bound as bytes, and compared as text."""

    def place(match: re.Match[str]) -> str:
        return f"CAST({match[0]} AS TEXT)" if isinstance(values.get(match[1]), NonUtf8Text) else match[0]

    return _PARAMETER.sub(place, sql)
