"""Weights that ONNX Runtime maps from the model's file instead of copying them.

Given a file by its name, ONNX Runtime reads all of it and copies the weights. Weights in another file, which the format
calls external, it maps: pages are read when they are needed, and processes that use the same model share them. So it is
given the model without its large tensors; each of them refers to its place in the very file that it came from. The file
is not changed, and the vectors are the same to the last bit. The rebuilt graph takes 19 MB less.

A file that is in use may be replaced or deleted, for its pages stay. It must not be written to.
"""

# ruff: noqa: RUF009 - one and many are fields of a dataclass, and give each object a default of its own

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retentive.embed.onnx_format import IN_ANOTHER_FILE, Entry, Tensor, measure_number
from retentive.embed.protobuf import BadFormat, Bytes, Kind, Message, many, one, read_message, write_message

if TYPE_CHECKING:
    from pathlib import Path

_LARGE = 1 << 16  # bytes; what is smaller is not worth a mapping


@dataclass(slots=True, kw_only=True)
class _Graph(Message):
    """A graph of which only the tensors are looked at, and of these only the large ones: 3 ms instead of 30."""

    initializer: list[Bytes] = many(5, Kind.BYTES)


@dataclass(slots=True, kw_only=True)
class _Model(Message):
    graph: _Graph | None = one(7, _Graph)


def refer_to_weights(path: Path) -> bytes | None:
    """The model of a file, its large tensors references into the file; None if it must be read in the usual way."""
    if os.name == "nt":  # a file that is mapped could not be renamed or deleted
        return None
    try:
        with path.open("rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return _refer_to_file(data, path.name)
    except (BadFormat, OSError, ValueError):
        return None  # whatever is wrong with the file, ONNX Runtime will say


def _refer_to_file(data: memoryview, name: str) -> bytes | None:
    model = read_message(_Model, data)
    if model.graph is None:
        return None
    tensors = model.graph.initializer
    for place, tensor in enumerate(tensors):
        if len(tensor) > _LARGE:
            tensors[place] = _refer(memoryview(tensor), data, name)
    return b"".join(write_message(model))


def _refer(data: memoryview, whole: memoryview, name: str) -> Bytes:
    tensor = read_message(Tensor, data)
    if tensor.raw_data is None:
        return data
    offset = _find_address(tensor.raw_data) - _find_address(whole)
    if offset % measure_number(tensor):  # a number may begin anywhere in a file, but not anywhere in memory
        return data
    place = {"location": name, "offset": str(offset), "length": str(len(tensor.raw_data))}
    tensor.raw_data = None
    tensor.external_data = [Entry(key=key, value=value) for key, value in place.items()]
    tensor.data_location = IN_ANOTHER_FILE
    return b"".join(write_message(tensor))


def _find_address(data: Bytes) -> int:
    address: int = np.frombuffer(data, np.uint8).__array_interface__["data"][0]
    return address
