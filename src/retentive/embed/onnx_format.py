"""Reads and writes ONNX files: the part of the format that rebuilding a model needs.

A file is one protocol buffer, a `ModelProto`. Classes and fields are named and numbered as in `onnx.proto`. Fields that
are not declared here are kept unchanged.
"""

# ruff: noqa: RUF009 - optional and repeated are fields of a dataclass, and give each object a default of its own

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from retentive.embed.protobuf import (
    BadFormat,
    Bytes,
    ProtoMessage,
    ValueKind,
    optional,
    read_message,
    repeated,
    write_message,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray


@dataclass(slots=True, kw_only=True)
class StringStringEntryProto(ProtoMessage):
    key: str | None = optional(1, ValueKind.TEXT)
    value: str | None = optional(2, ValueKind.TEXT)


@dataclass(slots=True, kw_only=True)
class TensorProto(ProtoMessage):
    """An array. Its numbers are in `raw_data`, in the list for their type, or in another file."""

    dims: list[int] = repeated(1, ValueKind.INTEGER)
    data_type: int | None = optional(2, ValueKind.INTEGER)
    float_data: list[float] = repeated(4, ValueKind.FLOAT, packed=True)
    int32_data: list[int] = repeated(5, ValueKind.INTEGER, packed=True)
    int64_data: list[int] = repeated(7, ValueKind.INTEGER, packed=True)
    name: str | None = optional(8, ValueKind.TEXT)
    raw_data: Bytes | None = optional(9, ValueKind.BYTES)
    double_data: list[float] = repeated(10, ValueKind.DOUBLE, packed=True)
    uint64_data: list[int] = repeated(11, ValueKind.INTEGER, packed=True)
    external_data: list[StringStringEntryProto] = repeated(13, StringStringEntryProto)
    data_location: int | None = optional(14, ValueKind.INTEGER)


@dataclass(slots=True, kw_only=True)
class AttributeProto(ProtoMessage):
    """A constant of a node. `type` says which of the values it has."""

    name: str | None = optional(1, ValueKind.TEXT)
    f: float | None = optional(2, ValueKind.FLOAT)
    i: int | None = optional(3, ValueKind.INTEGER)
    s: Bytes | None = optional(4, ValueKind.BYTES)
    type: int | None = optional(20, ValueKind.INTEGER)


@dataclass(slots=True, kw_only=True)
class NodeProto(ProtoMessage):
    """One operation: names of values in, names of values out."""

    input: list[str] = repeated(1, ValueKind.TEXT)
    output: list[str] = repeated(2, ValueKind.TEXT)
    name: str | None = optional(3, ValueKind.TEXT)
    op_type: str | None = optional(4, ValueKind.TEXT)
    attribute: list[AttributeProto] = repeated(5, AttributeProto)
    domain: str | None = optional(7, ValueKind.TEXT)


@dataclass(slots=True, kw_only=True)
class DimensionProto(ProtoMessage):
    """A length, or its name if it is known only when the graph is run."""

    dim_value: int | None = optional(1, ValueKind.INTEGER)
    dim_param: str | None = optional(2, ValueKind.TEXT)


@dataclass(slots=True, kw_only=True)
class TensorShapeProto(ProtoMessage):
    dim: list[DimensionProto] = repeated(1, DimensionProto)


@dataclass(slots=True, kw_only=True)
class TensorTypeProto(ProtoMessage):
    elem_type: int | None = optional(1, ValueKind.INTEGER)
    shape: TensorShapeProto | None = optional(2, TensorShapeProto)


@dataclass(slots=True, kw_only=True)
class TypeProto(ProtoMessage):
    tensor_type: TensorTypeProto | None = optional(1, TensorTypeProto)


@dataclass(slots=True, kw_only=True)
class ValueInfoProto(ProtoMessage):
    """An input or output of the graph."""

    name: str | None = optional(1, ValueKind.TEXT)
    type: TypeProto | None = optional(2, TypeProto)


@dataclass(slots=True, kw_only=True)
class GraphProto(ProtoMessage):
    """Nodes in the order in which they run; the initializers are the constants that they read."""

    node: list[NodeProto] = repeated(1, NodeProto)
    name: str | None = optional(2, ValueKind.TEXT)
    initializer: list[TensorProto] = repeated(5, TensorProto)
    input: list[ValueInfoProto] = repeated(11, ValueInfoProto)
    output: list[ValueInfoProto] = repeated(12, ValueInfoProto)


@dataclass(slots=True, kw_only=True)
class OperatorSetIdProto(ProtoMessage):
    domain: str | None = optional(1, ValueKind.TEXT)
    version: int | None = optional(2, ValueKind.INTEGER)


@dataclass(slots=True, kw_only=True)
class ModelProto(ProtoMessage):
    ir_version: int | None = optional(1, ValueKind.INTEGER)
    graph: GraphProto | None = optional(7, GraphProto)
    opset_import: list[OperatorSetIdProto] = repeated(8, OperatorSetIdProto)


class NumberType(IntEnum):
    """The types of numbers in a tensor, without those that numpy lacks."""

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
EXTERNAL_DATA = 1  # the numbers are in another file


def read_model(data: Bytes) -> ModelProto:
    return read_message(ModelProto, memoryview(data))


def write_model(model: ModelProto) -> list[Bytes]:
    """Return the pieces of the file, in order: the weights are not copied together."""
    return write_message(model)


def read_array(tensor: TensorProto) -> NDArray[Any]:
    """Read the numbers of a tensor. The array may be read-only and share the memory of the file."""
    type = _read_type(tensor)
    if tensor.data_location == EXTERNAL_DATA:
        raise BadFormat(f"The numbers of {tensor.name} are in another file.")
    values = _read_numbers(tensor, type)
    if any(length < 0 for length in tensor.dims) or values.size != math.prod(tensor.dims):
        raise BadFormat(f"{tensor.name} has {values.size} numbers for the shape {tensor.dims}.")
    return values.reshape(tensor.dims)


def find_number_size(tensor: TensorProto) -> int:
    """Return the bytes of one number."""
    return np.dtype(_DTYPES[_read_type(tensor)]).itemsize


def _read_type(tensor: TensorProto) -> NumberType:
    try:
        return NumberType(tensor.data_type or 0)
    except ValueError as error:
        raise BadFormat(f"{tensor.name} has numbers of the unknown type {tensor.data_type}.") from error


def _read_numbers(tensor: TensorProto, type: NumberType) -> NDArray[Any]:
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


def write_array(values: NDArray[Any], name: str) -> TensorProto:
    type = _TYPES.get(values.dtype.newbyteorder("<"))
    if type is None:
        raise BadFormat(f"Numbers of the type {values.dtype} have no place in {name}.")
    raw = np.ascontiguousarray(values, _DTYPES[type]).tobytes()
    return TensorProto(dims=[*values.shape], data_type=type, name=name, raw_data=raw)


def make_node(
    operator: str, inputs: Sequence[str], outputs: Sequence[str], domain: str, **constants: float
) -> NodeProto:
    """Make a node. Its constants are integers and floats, the only types that are needed here."""
    attributes = [_make_attribute(name, constants[name]) for name in sorted(constants)]
    return NodeProto(input=[*inputs], output=[*outputs], op_type=operator, attribute=attributes, domain=domain)


def _make_attribute(name: str, value: float) -> AttributeProto:
    if isinstance(value, int):
        return AttributeProto(name=name, i=int(value), type=_INTEGER_ATTRIBUTE)
    return AttributeProto(name=name, f=value, type=_FLOAT_ATTRIBUTE)


def make_value_info(name: str, type: NumberType, shape: Sequence[int | str]) -> ValueInfoProto:
    """Make an input or output of a graph. A length that is known only when it runs is a name."""
    lengths = [
        DimensionProto(dim_param=each) if isinstance(each, str) else DimensionProto(dim_value=each) for each in shape
    ]
    tensor = TensorTypeProto(elem_type=type, shape=TensorShapeProto(dim=lengths))
    return ValueInfoProto(name=name, type=TypeProto(tensor_type=tensor))
