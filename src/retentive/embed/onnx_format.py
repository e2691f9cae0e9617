"""ONNX files, read and written: as much of the format as rebuilding a model needs.

A file is one protocol buffer, a `Model`. The classes have the fields that are used here, numbered and named as in
`onnx.proto`; the others are kept as they came.
"""

# ruff: noqa: RUF009 - one and many are fields of a dataclass, and give each object a default of its own

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from retentive.embed.protobuf import BadFormat, Bytes, Kind, Message, many, one, read_message, write_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray


@dataclass(slots=True, kw_only=True)
class Entry(Message):
    key: str | None = one(1, Kind.TEXT)
    value: str | None = one(2, Kind.TEXT)


@dataclass(slots=True, kw_only=True)
class Tensor(Message):
    """Numbers and their shape. They are in `raw_data`, in the list for their type, or in another file."""

    dims: list[int] = many(1, Kind.INTEGER)
    data_type: int | None = one(2, Kind.INTEGER)
    float_data: list[float] = many(4, Kind.FLOAT, packed=True)
    int32_data: list[int] = many(5, Kind.INTEGER, packed=True)
    int64_data: list[int] = many(7, Kind.INTEGER, packed=True)
    name: str | None = one(8, Kind.TEXT)
    raw_data: Bytes | None = one(9, Kind.BYTES)
    double_data: list[float] = many(10, Kind.DOUBLE, packed=True)
    uint64_data: list[int] = many(11, Kind.INTEGER, packed=True)
    external_data: list[Entry] = many(13, Entry)
    data_location: int | None = one(14, Kind.INTEGER)


@dataclass(slots=True, kw_only=True)
class Attribute(Message):
    """A constant of a node. `type` says which of the values it has."""

    name: str | None = one(1, Kind.TEXT)
    f: float | None = one(2, Kind.FLOAT)
    i: int | None = one(3, Kind.INTEGER)
    s: Bytes | None = one(4, Kind.BYTES)
    type: int | None = one(20, Kind.INTEGER)


@dataclass(slots=True, kw_only=True)
class Node(Message):
    """One operation: names of values in, names of values out."""

    input: list[str] = many(1, Kind.TEXT)
    output: list[str] = many(2, Kind.TEXT)
    name: str | None = one(3, Kind.TEXT)
    op_type: str | None = one(4, Kind.TEXT)
    attribute: list[Attribute] = many(5, Attribute)
    domain: str | None = one(7, Kind.TEXT)


@dataclass(slots=True, kw_only=True)
class Dimension(Message):
    """A length, or a name for one that is known when the graph is run."""

    dim_value: int | None = one(1, Kind.INTEGER)
    dim_param: str | None = one(2, Kind.TEXT)


@dataclass(slots=True, kw_only=True)
class Shape(Message):
    dim: list[Dimension] = many(1, Dimension)


@dataclass(slots=True, kw_only=True)
class TensorType(Message):
    elem_type: int | None = one(1, Kind.INTEGER)
    shape: Shape | None = one(2, Shape)


@dataclass(slots=True, kw_only=True)
class ValueType(Message):
    tensor_type: TensorType | None = one(1, TensorType)


@dataclass(slots=True, kw_only=True)
class ValueInfo(Message):
    """An input or output of the graph."""

    name: str | None = one(1, Kind.TEXT)
    type: ValueType | None = one(2, ValueType)


@dataclass(slots=True, kw_only=True)
class Graph(Message):
    """Nodes in the order they are run; initializers are the constants that they read."""

    node: list[Node] = many(1, Node)
    name: str | None = one(2, Kind.TEXT)
    initializer: list[Tensor] = many(5, Tensor)
    input: list[ValueInfo] = many(11, ValueInfo)
    output: list[ValueInfo] = many(12, ValueInfo)


@dataclass(slots=True, kw_only=True)
class OperatorSet(Message):
    domain: str | None = one(1, Kind.TEXT)
    version: int | None = one(2, Kind.INTEGER)


@dataclass(slots=True, kw_only=True)
class Model(Message):
    ir_version: int | None = one(1, Kind.INTEGER)
    graph: Graph | None = one(7, Graph)
    opset_import: list[OperatorSet] = many(8, OperatorSet)


class NumberType(IntEnum):
    """Types of the numbers in a tensor. Those that numpy lacks are missing."""

    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13


_DTYPES: dict[NumberType, DTypeLike] = {
    NumberType.FLOAT: "<f4",
    NumberType.UINT8: "u1",
    NumberType.INT8: "i1",
    NumberType.UINT16: "<u2",
    NumberType.INT16: "<i2",
    NumberType.INT32: "<i4",
    NumberType.INT64: "<i8",
    NumberType.BOOL: "?",
    NumberType.FLOAT16: "<f2",
    NumberType.DOUBLE: "<f8",
    NumberType.UINT32: "<u4",
    NumberType.UINT64: "<u8",
}
_TYPES = {np.dtype(dtype): type for type, dtype in _DTYPES.items()}
_FLOAT_ATTRIBUTE, _INTEGER_ATTRIBUTE = 1, 2
IN_ANOTHER_FILE = 1


def read_model(data: Bytes) -> Model:
    return read_message(Model, memoryview(data))


def write_model(model: Model) -> list[Bytes]:
    """Pieces of the file, in order: the weights are not copied together."""
    return write_message(model)


def read_array(tensor: Tensor) -> NDArray[Any]:
    """The numbers of a tensor. The array may be read-only and share the memory of the file."""
    type = _read_type(tensor)
    if tensor.data_location == IN_ANOTHER_FILE:
        raise BadFormat(f"The numbers of {tensor.name} are in another file.")
    values = _read_numbers(tensor, type)
    if any(length < 0 for length in tensor.dims) or values.size != math.prod(tensor.dims):
        raise BadFormat(f"{tensor.name} has {values.size} numbers for the shape {tensor.dims}.")
    return values.reshape(tensor.dims)


def measure_number(tensor: Tensor) -> int:
    """Bytes of one number."""
    return np.dtype(_DTYPES[_read_type(tensor)]).itemsize


def _read_type(tensor: Tensor) -> NumberType:
    try:
        return NumberType(tensor.data_type or 0)
    except ValueError as error:
        raise BadFormat(f"{tensor.name} has numbers of the unknown type {tensor.data_type}.") from error


def _read_numbers(tensor: Tensor, type: NumberType) -> NDArray[Any]:
    dtype = np.dtype(_DTYPES[type])
    if tensor.raw_data is not None:
        if len(tensor.raw_data) % dtype.itemsize:
            raise BadFormat(f"The numbers of {tensor.name} are cut short.")
        return np.frombuffer(tensor.raw_data, dtype)
    match type:
        case NumberType.FLOAT | NumberType.DOUBLE:
            return np.array(tensor.float_data or tensor.double_data, dtype)
        case NumberType.UINT32 | NumberType.UINT64:
            return np.array([value % 2**64 for value in tensor.uint64_data], np.uint64).astype(dtype)
        case NumberType.FLOAT16:
            bits = np.array(tensor.int32_data, np.int64).astype("<u2")
            return bits.view(dtype)
        case _:
            return np.array(tensor.int64_data or tensor.int32_data, np.int64).astype(dtype)


def write_array(values: NDArray[Any], name: str) -> Tensor:
    type = _TYPES.get(values.dtype.newbyteorder("<"))
    if type is None:
        raise BadFormat(f"Numbers of the type {values.dtype} have no place in {name}.")
    raw = np.ascontiguousarray(values, _DTYPES[type]).tobytes()
    return Tensor(dims=[*values.shape], data_type=type, name=name, raw_data=raw)


def make_node(operator: str, inputs: Sequence[str], outputs: Sequence[str], domain: str, **constants: float) -> Node:
    """A node whose constants are integers and floats: the only ones that are needed here."""
    attributes = [_make_attribute(name, constants[name]) for name in sorted(constants)]
    return Node(input=[*inputs], output=[*outputs], op_type=operator, attribute=attributes, domain=domain)


def _make_attribute(name: str, value: float) -> Attribute:
    if isinstance(value, int):
        return Attribute(name=name, i=int(value), type=_INTEGER_ATTRIBUTE)
    return Attribute(name=name, f=value, type=_FLOAT_ATTRIBUTE)


def make_value(name: str, type: NumberType, shape: Sequence[int | str]) -> ValueInfo:
    """An input or output of a graph; a length that is known later is a name."""
    lengths = [Dimension(dim_param=each) if isinstance(each, str) else Dimension(dim_value=each) for each in shape]
    tensor = TensorType(elem_type=type, shape=Shape(dim=lengths))
    return ValueInfo(name=name, type=ValueType(tensor_type=tensor))
