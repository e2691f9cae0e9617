"""Convert the values of rows between the store's form and PostgreSQL's.

The rows of a step are the same for every engine. Values that only PostgreSQL needs are made here:

  f_x      the text of a field x of the full text: its tokens, separated by blanks, None where there are none. SQL
           counts them; only the tokenizer is ours (`storage/tokenizer.py`).
  raw_x    the same text as it was given, for a migration to another engine.
  vector   float16 bytes, little-endian, become pgvector's binary format: big-endian behind a header. A vector that is
           read becomes the same bytes again.
  sets     tuples become lists, which the driver sends as arrays.

`fresh_number` is made here: a number that no row has, for a statement that inserts what it selects. The number of a
sequence would be known to the coordinator of a cluster alone, so the rows would have to travel through it.
"""

import random
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg import Column, Connection
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8Dumper

from retentive.storage import Params

FRESH_BITS = 61  # random; the bit above them keeps clear of the numbers of a sequence


class PackedVector:
    """A vector in the server's binary format."""

    __slots__ = ("data",)

    def __init__(self, dimension: int, numbers: bytes) -> None:
        self.data = struct.pack(">HH", dimension, 0) + numbers


class PackedVectorDumper(Dumper):
    format = Format.BINARY
    oid = 0  # the cast in the query says which type it is

    def dump(self, obj: PackedVector) -> Buffer:
        return obj.data


def register_dumpers(connection: Connection[Any]) -> None:
    connection.adapters.register_dumper(PackedVector, PackedVectorDumper)
    connection.adapters.register_dumper(int, Int8Dumper)  # one type for all sizes, so statements are prepared once


def pack_vector(vector: bytes) -> PackedVector:
    """Convert float16 bytes as the store's rows have them."""
    numbers = array("H", vector)
    numbers.byteswap()
    return PackedVector(len(numbers), numbers.tobytes())


def unpack_vectors(rows: list[tuple[Any, ...]], columns: Sequence[Column]) -> list[tuple[Any, ...]]:
    """The rows with the values of each column `vector` as the store's rows have them."""
    places = [place for place, column in enumerate(columns) if column.name == "vector"]
    for place in places:
        rows = [(*row[:place], row[place] and _unpack_vector(row[place]), *row[place + 1 :]) for row in rows]
    return rows


def _unpack_vector(packed: bytes) -> bytes:
    numbers = array("H", packed[4:])
    numbers.byteswap()
    return numbers.tobytes()


def encode_question(vector: Any) -> dict[str, PackedVector]:
    """The vector of a question in half and in full precision."""
    size = len(vector)
    half, full = vector.astype(">f2").tobytes(), vector.astype(">f4").tobytes()
    return {"half": PackedVector(size, half), "full": PackedVector(size, full)}


class Binder:
    """Puts the values of a row into the order of a statement's parameters."""

    def __init__(self, tokens: Callable[[str], list[str]]) -> None:
        self._tokens = tokens

    def __call__(self, names: Sequence[str], row: Params) -> list[Any]:
        return [self._value(name, row) for name in names]

    def _value(self, name: str, row: Params) -> Any:
        if name == "fresh_number":
            return random.getrandbits(FRESH_BITS) | 1 << FRESH_BITS
        if name.startswith("raw_"):
            return row[f"f_{name[4:]}"]
        value = row[name]
        if value is None:
            return None
        if name.startswith("f_"):
            return " ".join(self._tokens(value)) or None
        if name == "vector":
            return pack_vector(value)
        return [*value] if isinstance(value, tuple) else value


def render_weights(weights: Mapping[str, float]) -> str:
    """SQL pairs of each full-text field of a row x and its weight."""
    return ", ".join(f"(x.{name}, {weight}::float8)" for name, weight in weights.items())
