"""Protocol buffers: read and write messages whose classes are declared with `one` and `many`.

A message is a row of fields, each a tag and a value:

    tag      varint: number of the field * 8 + wire type
    value    0 varint: seven bits a byte, the lowest first; all bytes but the last have the eighth bit set
             1 eight bytes, 5 four bytes, little-endian
             2 varint length, and so many bytes: a text, a nested message, or numbers packed in a row

A field that may occur several times is a list, each occurrence one item. Lists of numbers may also be packed, and both
forms are read. Negative integers are 64 bits in two's complement.

Fields that a class does not declare are kept as they came, in `unknown`, and written back after the declared ones, so
nothing is lost. Bytes are not copied when they are read: they stay part of what `read_message` was given.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, fields
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Bytes: TypeAlias = bytes | memoryview

_MAX_VARINT_BYTES = 10  # 64 bits, seven in a byte
_WORD = 1 << 64


class BadFormat(ValueError):
    """The bytes are not what they should be, or use a part of the format that is not read here."""


class Wire(IntEnum):
    VARINT = 0
    EIGHT_BYTES = 1
    LENGTH = 2
    FOUR_BYTES = 5


class Kind(Enum):
    """What the value of a field is, if not a message."""

    INTEGER = "integer"
    FLOAT = "float"
    DOUBLE = "double"
    TEXT = "text"
    BYTES = "bytes"


_NUMBER_WIRES = {Kind.INTEGER: Wire.VARINT, Kind.FLOAT: Wire.FOUR_BYTES, Kind.DOUBLE: Wire.EIGHT_BYTES}


@dataclass(slots=True, kw_only=True)
class Message:
    """A row of fields. One that is absent is None, or an empty list."""

    unknown: bytes = b""


M = TypeVar("M", bound=Message)


class Field(NamedTuple):
    number: int
    kind: Kind | type[Message]
    is_list: bool = False
    is_packed: bool = False
    """How a list of numbers is written."""

    @property
    def wire(self) -> Wire:
        return _NUMBER_WIRES.get(self.kind, Wire.LENGTH) if isinstance(self.kind, Kind) else Wire.LENGTH


def one(number: int, kind: Kind | type[Message]) -> Any:
    """A field of a message that may be absent."""
    return field(default=None, metadata={"field": Field(number, kind)})


def many(number: int, kind: Kind | type[Message], *, packed: bool = False) -> Any:
    """A field of a message that is a list."""
    return field(default_factory=list, metadata={"field": Field(number, kind, is_list=True, is_packed=packed)})


def _list_fields(message: type[Message]) -> dict[int, tuple[str, Field]]:
    """The known fields by number, in the order in which they are written."""
    known = [(each.name, each.metadata["field"]) for each in fields(message) if "field" in each.metadata]
    return {found.number: (name, found) for name, found in known}


def read_message(message: type[M], data: memoryview) -> M:
    found, known = message(), _list_fields(message)
    unknown: list[memoryview] = []
    for number, wire, value, whole in _split(data):
        name, kind = known.get(number, ("", None))
        if kind is None:
            unknown.append(whole)
        elif kind.is_list:
            getattr(found, name).extend(_read_list(kind, wire, value))
        else:
            setattr(found, name, _read_value(kind, wire, value))
    found.unknown = b"".join(unknown)
    return found


def _split(data: memoryview) -> Iterator[tuple[int, int, int | memoryview, memoryview]]:
    """Number, wire type and value of each field, and the whole of it with its tag."""
    place = 0
    while place < len(data):
        begin = place
        tag, place = _read_varint(data, place)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise BadFormat("There is no field 0.")
        value, place = _read_raw(data, place, wire)
        yield number, wire, value, data[begin:place]


def _read_raw(data: memoryview, place: int, wire: int) -> tuple[int | memoryview, int]:
    """The value at this place, as it is on the wire, and the place after it."""
    match wire:
        case Wire.VARINT:
            return _read_varint(data, place)
        case Wire.FOUR_BYTES:
            return _take(data, place, 4)
        case Wire.EIGHT_BYTES:
            return _take(data, place, 8)
        case Wire.LENGTH:
            length, place = _read_varint(data, place)
            return _take(data, place, length)
        case _:
            raise BadFormat(f"There is no wire type {wire}.")


def _take(data: memoryview, place: int, length: int) -> tuple[memoryview, int]:
    if place + length > len(data):
        raise BadFormat("The file is cut short.")
    return data[place : place + length], place + length


def _read_varint(data: memoryview, place: int) -> tuple[int, int]:
    value = 0
    for at, byte in enumerate(data[place : place + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * at
        if byte < 0x80:  # noqa: PLR2004 - the eighth bit says that more follows
            return value % _WORD, place + at + 1
    raise BadFormat("A number has no end.")


def _read_list(kind: Field, wire: int, value: Any) -> list[Any]:
    if wire == Wire.LENGTH != kind.wire:
        return [*_unpack(kind, value)]
    return [_read_value(kind, wire, value)]


def _unpack(kind: Field, data: memoryview) -> Iterator[Any]:
    place = 0
    while place < len(data):
        value, place = _read_raw(data, place, kind.wire)
        yield _read_value(kind, kind.wire, value)


def _read_value(kind: Field, wire: int, value: Any) -> Any:
    if wire != kind.wire:
        raise BadFormat(f"Field {kind.number} is of the wire type {wire}, not {kind.wire}.")
    match kind.kind:
        case Kind.INTEGER:
            return _sign(value)
        case Kind.FLOAT:
            return struct.unpack("<f", value)[0]
        case Kind.DOUBLE:
            return struct.unpack("<d", value)[0]
        case Kind.TEXT:
            return _read_text(value)
        case Kind.BYTES:
            return value
        case message:
            return read_message(message, value)


def _read_text(value: memoryview) -> str:
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError as error:
        raise BadFormat("A name is not UTF-8.") from error


def _sign(value: int) -> int:
    return value - _WORD if value >= _WORD // 2 else value


def write_message(message: Message) -> list[Bytes]:
    """Pieces of the message, in order: large ones are not copied together."""
    pieces: list[Bytes] = []
    for name, kind in _list_fields(type(message)).values():
        value = getattr(message, name)
        if not kind.is_list:
            pieces += [] if value is None else _write_field(kind, value)
        elif not kind.is_packed:
            pieces += [piece for each in value for piece in _write_field(kind, each)]
        elif value:
            packed = b"".join(piece for each in value for piece in _write_value(kind, each))
            pieces += [_write_tag(kind.number, Wire.LENGTH), _write_varint(len(packed)), packed]
    return [*pieces, message.unknown]


def _write_field(kind: Field, value: Any) -> list[Bytes]:
    pieces = _write_value(kind, value)
    if kind.wire == Wire.LENGTH:
        pieces = [_write_varint(sum(map(len, pieces))), *pieces]
    return [_write_tag(kind.number, kind.wire), *pieces]


def _write_value(kind: Field, value: Any) -> list[Bytes]:
    match kind.kind:
        case Kind.INTEGER:
            return [_write_varint(value)]
        case Kind.FLOAT:
            return [struct.pack("<f", value)]
        case Kind.DOUBLE:
            return [struct.pack("<d", value)]
        case Kind.TEXT:
            return [value.encode()]
        case Kind.BYTES:
            return [value]
        case _:
            return write_message(value)


def _write_tag(number: int, wire: Wire) -> bytes:
    return _write_varint(number << 3 | wire)


def _write_varint(value: int) -> bytes:
    value %= _WORD
    written = bytearray()
    while value >= 0x80:  # noqa: PLR2004 - what does not fit in seven bits
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
