"""Lets ONNX Runtime map the weights from the model's file instead of copying them.

Given the path of a file, ONNX Runtime reads all of it and copies the weights. It maps only weights in another file,
which the format calls external. Mapped pages are read when they are needed, and processes with the same model share
them. So ONNX Runtime gets the model without its large tensors; each of them refers to its position in the original
file. The file is not changed, and the vectors are the same to the last bit. The rebuilt graph takes 19 MB less.

A file in use may be replaced or deleted, because its pages stay. It must not be written to.
"""

# ruff: noqa: RUF009 - optional and repeated are fields of a dataclass, and give each object a default of its own

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retentive.embed.onnx_format import EXTERNAL_DATA, StringStringEntryProto, TensorProto, find_number_size
from retentive.embed.protobuf import (
    BadFormat,
    Bytes,
    ProtoMessage,
    ValueKind,
    optional,
    read_message,
    repeated,
    write_message,
)  # fmt: skip

if TYPE_CHECKING:
    from pathlib import Path

_MIN_MAPPED_BYTES = 1 << 16  # a smaller tensor is not worth a mapping


@dataclass(slots=True, kw_only=True)
class _LazyGraph(ProtoMessage):
    """A graph whose tensors stay bytes; only the large ones are parsed: 3 ms instead of 30."""

    initializer: list[Bytes] = repeated(5, ValueKind.BYTES)


@dataclass(slots=True, kw_only=True)
class _LazyModel(ProtoMessage):
    graph: _LazyGraph | None = optional(7, _LazyGraph)


def map_weights(path: Path) -> bytes | None:
    """Return the model with references to its large tensors; None if it must be read in the usual way."""
    if os.name == "nt":  # a mapped file could not be renamed or deleted
        return None
    try:
        with path.open("rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return _replace_large_tensors(data, path.name)
    except (BadFormat, OSError, ValueError):
        return None  # ONNX Runtime will report the error in the file


def _replace_large_tensors(data: memoryview, name: str) -> bytes | None:
    model = read_message(_LazyModel, data)
    if model.graph is None:
        return None
    tensors = model.graph.initializer
    for index, tensor in enumerate(tensors):
        if len(tensor) > _MIN_MAPPED_BYTES:
            tensors[index] = _refer_to_file(memoryview(tensor), data, name)
    return b"".join(write_message(model))


def _refer_to_file(data: memoryview, file_data: memoryview, name: str) -> Bytes:
    """Replace a tensor's numbers by a reference to their position in the file."""
    tensor = read_message(TensorProto, data)
    if tensor.raw_data is None:
        return data
    offset = _find_address(tensor.raw_data) - _find_address(file_data)
    if offset % find_number_size(tensor):  # numbers need an aligned address in memory, though not in a file
        return data
    reference = {"location": name, "offset": str(offset), "length": str(len(tensor.raw_data))}
    tensor.raw_data = None
    tensor.external_data = [StringStringEntryProto(key=key, value=value) for key, value in reference.items()]
    tensor.data_location = EXTERNAL_DATA
    return b"".join(write_message(tensor))


def _find_address(data: Bytes) -> int:
    address: int = np.frombuffer(data, np.uint8).__array_interface__["data"][0]
    return address
