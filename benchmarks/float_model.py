"""The packaged model in float: its eight-bit matrices multiplied back, its graph as it is.

It computes what the float export of the hub computes, operator by operator, from weights that were rounded to eight
bits once. So its speed and memory are those of the float model; its vectors are those of the packaged one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retentive.embed.minilm_quantize import Weights
from retentive.embed.onnx_format import GraphProto, NodeProto, read_model, write_array, write_model

if TYPE_CHECKING:
    from pathlib import Path


def write_float_model(source: Path, target: Path) -> None:
    model = read_model(source.read_bytes())
    graph = model.graph or GraphProto()
    weights = Weights(graph)
    products = [node for node in graph.node if is_scaled_weight(node)]
    outputs = [node.output[0] for node in products]
    scaled = [write_array(weights.read_value(name), name) for name in outputs]
    unneeded = {name for node in products for name in (*node.input, *node.output)}
    graph.node = [node for node in graph.node if unneeded.isdisjoint(node.output)]
    read = {name for node in graph.node for name in node.input}
    graph.initializer = [*(kept for kept in graph.initializer if kept.name in read), *scaled]
    with target.open("wb") as file:
        file.writelines(write_model(model))


def is_scaled_weight(node: NodeProto) -> bool:
    """A product of an eight-bit matrix, cast to float, and its scale."""
    return node.op_type == "Mul" and node.input[0].endswith("_f")
