"""Values as the server takes them.

The rows of a step are the same for every engine. What PostgreSQL wants beside them is made here and nowhere else:

  f_x      the text of a field x of the full text: its tokens, separated by blanks, None where there are none. SQL
           counts them; only the tokenizer is ours (`storage/tokenizer.py`).
  raw_x    the same text as it was given, which is what moves on to another engine.
  vector   float16 bytes, little-endian: pgvector's own binary format, big-endian behind a header. What is read is made
           the same bytes again.
  sets     tuples become lists, which the driver sends as arrays.
"""

import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg import Column, Connection
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper

from retentive.storage import Params


class Packed:
    """A vector in the server's binary format."""

    __slots__ = ("data",)

    def __init__(self, dimension: int, numbers: bytes) -> None:
        self.data = struct.pack(">HH", dimension, 0) + numbers


class PackedDumper(Dumper):
    format = Format.BINARY
    oid = 0  # the cast in the query says which type it is

    def dump(self, obj: Packed) -> Buffer:
        return obj.data


def register(connection: Connection[Any]) -> None:
    connection.adapters.register_dumper(Packed, PackedDumper)
    connection.adapters.register_dumper(int, Int8Dumper)  # one type for all sizes, so statements are prepared once


def half(vector: bytes) -> Packed:
    """Of float16 bytes as the store's rows have them."""
    numbers = array("H", vector)
    numbers.byteswap()
    return Packed(len(numbers), numbers.tobytes())


def unpacked(rows: list[tuple[Any, ...]], columns: Sequence[Column]) -> list[tuple[Any, ...]]:
    """With the vectors among them as the store's rows have them."""
    places = [place for place, column in enumerate(columns) if column.name == "vector"]
    for place in places:
        rows = [(*row[:place], row[place] and _bytes(row[place]), *row[place + 1 :]) for row in rows]
    return rows


def _bytes(packed: bytes) -> bytes:
    numbers = array("H", packed[4:])
    numbers.byteswap()
    return numbers.tobytes()


def asked(vector: Any) -> dict[str, Packed]:
    """A question's vector, rounded and in full."""
    size = len(vector)
    return {"half": Packed(size, vector.astype(">f2").tobytes()), "full": Packed(size, vector.astype(">f4").tobytes())}


class Binder:
    """Puts the values of a row into the order of a statement's parameters."""

    def __init__(self, tokens: Callable[[str], list[str]]) -> None:
        self._tokens = tokens

    def __call__(self, names: Sequence[str], row: Params) -> list[Any]:
        return [self._value(name, row) for name in names]

    def _value(self, name: str, row: Params) -> Any:
        if name.startswith("raw_"):
            return row[f"f_{name[4:]}"]
        value = row[name]
        if value is None:
            return None
        if name.startswith("f_"):
            return " ".join(self._tokens(value)) or None
        if name == "vector":
            return half(value)
        return [*value] if isinstance(value, tuple) else value


def weighted(weights: Mapping[str, float]) -> str:
    """The fields of a row x of texts beside what a word in each of them counts."""
    return ", ".join(f"(x.{name}, {weight}::float8)" for name, weight in weights.items())
