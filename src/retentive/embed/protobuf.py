"""Protocol buffers: read and write messages whose classes are declared with `optional` and `repeated`.

A message is a sequence of fields, each a tag and a value:

    tag      varint: number of the field * 8 + wire type
    value    0 varint: seven bits a byte, the lowest first; all bytes but the last have the eighth bit set
             1 eight bytes, 5 four bytes, little-endian
             2 varint length, and so many bytes: a text, a nested message, or packed numbers

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
_UINT64_LIMIT = 1 << 64


class BadFormat(ValueError):
    """The bytes are not valid, or use a part of the format that is not supported."""


class WireType(IntEnum):
    VARINT = 0
    EIGHT_BYTES = 1
    LENGTH = 2
    FOUR_BYTES = 5


class ValueKind(Enum):
    """The type of a field's value, unless it is a message."""

    INTEGER = "integer"
    FLOAT = "float"
    DOUBLE = "double"
    TEXT = "text"
    BYTES = "bytes"


_NUMBER_WIRES = {
    ValueKind.INTEGER: WireType.VARINT,
    ValueKind.FLOAT: WireType.FOUR_BYTES,
    ValueKind.DOUBLE: WireType.EIGHT_BYTES,
}


@dataclass(slots=True, kw_only=True)
class ProtoMessage:
    """A sequence of fields. An absent one is None, or an empty list."""

    unknown: bytes = b""


M = TypeVar("M", bound=ProtoMessage)


class FieldSpec(NamedTuple):
    number: int
    kind: ValueKind | type[ProtoMessage]
    is_list: bool = False
    is_packed: bool = False
    """Whether a list of numbers is written as one field."""

    @property
    def wire(self) -> WireType:
        return _NUMBER_WIRES.get(self.kind, WireType.LENGTH) if isinstance(self.kind, ValueKind) else WireType.LENGTH


def optional(number: int, kind: ValueKind | type[ProtoMessage]) -> Any:
    """Declare a field of a message that may be absent."""
    return field(default=None, metadata={"field": FieldSpec(number, kind)})


def repeated(number: int, kind: ValueKind | type[ProtoMessage], *, packed: bool = False) -> Any:
    """Declare a field of a message that is a list."""
    return field(default_factory=list, metadata={"field": FieldSpec(number, kind, is_list=True, is_packed=packed)})


def _list_fields(message: type[ProtoMessage]) -> dict[int, tuple[str, FieldSpec]]:
    """Return the declared fields by number, in the order in which they are written."""
    declared = [(each.name, each.metadata["field"]) for each in fields(message) if "field" in each.metadata]
    return {spec.number: (name, spec) for name, spec in declared}


def read_message(message: type[M], data: memoryview) -> M:
    result, declared = message(), _list_fields(message)
    unknown: list[memoryview] = []
    for number, wire, value, content in _split_fields(data):
        name, spec = declared.get(number, ("", None))
        if spec is None:
            unknown.append(content)
        elif spec.is_list:
            getattr(result, name).extend(_read_list(spec, wire, value))
        else:
            setattr(result, name, _read_value(spec, wire, value))
    result.unknown = b"".join(unknown)
    return result


def _split_fields(data: memoryview) -> Iterator[tuple[int, int, int | memoryview, memoryview]]:
    """Yield number, wire type and value of each field, and all its bytes with the tag."""
    position = 0
    while position < len(data):
        begin = position
        tag, position = _read_varint(data, position)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise BadFormat("There is no field 0.")
        value, position = _read_raw(data, position, wire)
        yield number, wire, value, data[begin:position]


def _read_raw(data: memoryview, position: int, wire: int) -> tuple[int | memoryview, int]:
    """Read the raw value at a position. Returns it with the position after it."""
    match wire:
        case WireType.VARINT:
            return _read_varint(data, position)
        case WireType.FOUR_BYTES:
            return _take(data, position, 4)
        case WireType.EIGHT_BYTES:
            return _take(data, position, 8)
        case WireType.LENGTH:
            length, position = _read_varint(data, position)
            return _take(data, position, length)
        case _:
            raise BadFormat(f"There is no wire type {wire}.")


def _take(data: memoryview, position: int, length: int) -> tuple[memoryview, int]:
    if position + length > len(data):
        raise BadFormat("The file is cut short.")
    return data[position : position + length], position + length


def _read_varint(data: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for at, byte in enumerate(data[position : position + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * at
        if byte < 0x80:  # noqa: PLR2004 - the eighth bit says that more follows
            return value % _UINT64_LIMIT, position + at + 1
    raise BadFormat("A number has no end.")


def _read_list(spec: FieldSpec, wire: int, value: Any) -> list[Any]:
    if wire == WireType.LENGTH != spec.wire:
        return [*_unpack(spec, value)]
    return [_read_value(spec, wire, value)]


def _unpack(spec: FieldSpec, data: memoryview) -> Iterator[Any]:
    position = 0
    while position < len(data):
        value, position = _read_raw(data, position, spec.wire)
        yield _read_value(spec, spec.wire, value)


def _read_value(spec: FieldSpec, wire: int, value: Any) -> Any:
    if wire != spec.wire:
        raise BadFormat(f"Field {spec.number} is of the wire type {wire}, not {spec.wire}.")
    match spec.kind:
        case ValueKind.INTEGER:
            return _to_signed(value)
        case ValueKind.FLOAT:
            return struct.unpack("<f", value)[0]
        case ValueKind.DOUBLE:
            return struct.unpack("<d", value)[0]
        case ValueKind.TEXT:
            return _read_text(value)
        case ValueKind.BYTES:
            return value
        case message:
            return read_message(message, value)


def _read_text(value: memoryview) -> str:
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError as error:
        raise BadFormat("A name is not UTF-8.") from error


def _to_signed(value: int) -> int:
    return value - _UINT64_LIMIT if value >= _UINT64_LIMIT // 2 else value


def write_message(message: ProtoMessage) -> list[Bytes]:
    """Return the pieces of the message, in order: large ones are not copied together."""
    pieces: list[Bytes] = []
    for name, spec in _list_fields(type(message)).values():
        value = getattr(message, name)
        if not spec.is_list:
            pieces += [] if value is None else _write_field(spec, value)
        elif not spec.is_packed:
            pieces += [piece for each in value for piece in _write_field(spec, each)]
        elif value:
            packed = b"".join(piece for each in value for piece in _write_value(spec, each))
            pieces += [_write_tag(spec.number, WireType.LENGTH), _write_varint(len(packed)), packed]
    return [*pieces, message.unknown]


def _write_field(spec: FieldSpec, value: Any) -> list[Bytes]:
    pieces = _write_value(spec, value)
    if spec.wire == WireType.LENGTH:
        pieces = [_write_varint(sum(map(len, pieces))), *pieces]
    return [_write_tag(spec.number, spec.wire), *pieces]


def _write_value(spec: FieldSpec, value: Any) -> list[Bytes]:
    match spec.kind:
        case ValueKind.INTEGER:
            return [_write_varint(value)]
        case ValueKind.FLOAT:
            return [struct.pack("<f", value)]
        case ValueKind.DOUBLE:
            return [struct.pack("<d", value)]
        case ValueKind.TEXT:
            return [value.encode()]
        case ValueKind.BYTES:
            return [value]
        case _:
            return write_message(value)


def _write_tag(number: int, wire: WireType) -> bytes:
    return _write_varint(number << 3 | wire)


def _write_varint(value: int) -> bytes:
    value %= _UINT64_LIMIT
    written = bytearray()
    while value >= 0x80:  # noqa: PLR2004 - what does not fit in seven bits
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
