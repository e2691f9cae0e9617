"""all-MiniLM-L6-v2, written anew for speed: eight-bit matrices, fused operators, pooling inside.

The weights are taken by name from an export of the model (float, or int8 that is multiplied back to float) and the
graph around them is built here, because the exports run at float speed and cost 100 MB more.

    token     Gather the row of int8, its scale, multiply: the table of 30,522 words stays int8 in memory
    layer x6  q,k,v as one matrix -> MultiHeadAttention -> matrix -> SkipLayerNormalization
              -> matrix -> BiasGelu -> matrix -> SkipLayerNormalization
    end       sum over the tokens that are not padding, length 1

Two kinds of matrix product, against float on the known texts (lowest / mean cosine) and in speed (texts/s in batches
of 8, ms for one text; medians of four alternating rounds on two busy cores with VNNI, which vary by a fifth):

    as exported                                                                     .996 / .999   234   2.4
    ONNX Runtime's DynamicQuantizeMatMul, one scale for the whole batch             .975 / .991   549   1.0
    by row: one scale per token, one per column of the matrix; MatMulInteger        .981 / .996   456   1.5
    by block: MatMulNBits, one scale per 64 numbers on both sides                   .992 / .998   249   1.4
    q,k,v by block, the rest by row: what is built here                             .989 / .998   359   1.6

The fastest one gives a text another vector when its neighbours in the batch change (cosine .958), so it is out. A
coarse scale hurts attention most, where q and k multiply each other's error; hence the mixture. In both of its kinds
a token's numbers depend on that token's own, never on the batch.

When the graph that is built here changes, raise `models.RECIPE`: it is part of the cached file's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from retentive.embed import onnx_format as onnx
from retentive.embed.onnx_format import NumberType
from retentive.embed.protobuf import BadFormat
from retentive.errors import ModelUnfit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]

_LAYERS = 6
_HEADS = 12
_DIMENSION = 384
_POSITIONS = 256
_EPSILON = 1e-12
_BLOCK = 64

# The full range of eight bits. Kernels without VNNI add pairs of products in 16 bits and clip the sum. By block they
# split the pair and cannot clip. By row 3 pairs in 100,000 clip and the mean cosine goes from .9980 to .9978: that is
# simulated (twelve known texts, q,k,v in float), not run on such a machine. Seven bits never clip, and leave .9951.
_FULL = 127
_MIDDLE = 128

_TINY = np.float32(1e-12)
_MICROSOFT = "com.microsoft"


def rebuild(source: Path, target: Path) -> None:
    try:
        made = _build(Weights(onnx.read_model(source.read_bytes()).graph or onnx.Graph()))
    except BadFormat as error:
        raise ModelUnfit(f"{source.name} cannot be read as an ONNX file: {error}") from error
    with target.open("wb") as file:
        file.writelines(onnx.write_model(made))


class Weights:
    """The arrays of an export, by the names they had in PyTorch."""

    def __init__(self, graph: onnx.Graph) -> None:
        self._kept = {kept.name or "": kept for kept in graph.initializer}
        self._made = {output: node for node in graph.node for output in node.output}
        self._users = {name: node for node in graph.node for name in node.input}

    def array(self, name: str) -> Floats:
        return self.read_value(self._full(name))

    def matrix(self, name: str) -> Floats:
        """Of a linear layer: what is multiplied before the layer's bias is added. Shape (inputs, outputs)."""
        bias = self._full(f"{name}.bias")
        product = next(self._made[other] for other in self._users[bias].input if other != bias)
        if product.op_type != "MatMul":
            raise ModelUnfit(f"{name} is not a matrix product but {product.op_type}.")
        return self.read_value(product.input[1])

    def _full(self, name: str) -> str:
        """The exporter may have put the model inside another, which shows as a prefix."""
        full: str
        for full in (*self._kept, *self._made):
            if full == name or full.endswith(f".{name}"):
                return full
        raise ModelUnfit(f"There is no {name} in the model.")

    def read_value(self, name: str) -> Floats:
        if name in self._kept:
            return onnx.read_array(self._kept[name]).astype(np.float32)
        if name not in self._made:
            raise ModelUnfit(f"{name} is not a constant.")
        node = self._made[name]
        match node.op_type:
            case "Cast":
                return self.read_value(node.input[0])
            case "Mul":
                factors: list[Floats] = [self.read_value(factor) for factor in node.input]
                return factors[0] * factors[1]
            case operator:
                raise ModelUnfit(f"{name} is not a constant but the result of {operator}.")


class Graph:
    """Nodes and arrays as they are added; each method returns the name of what it makes."""

    def __init__(self) -> None:
        self.nodes: list[onnx.Node] = []
        self.arrays: list[onnx.Tensor] = []

    def array(self, value: NDArray[Any]) -> str:
        name = f"array{len(self.arrays)}"
        self.arrays.append(onnx.write_array(value, name))
        return name

    def number(self, value: Any) -> str:
        return self.array(np.array(value))

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self._add(operator, "", inputs, 1, attributes)[0]

    def fused(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self._add(operator, _MICROSOFT, inputs, 1, attributes)[0]

    def thirds(self, value: str) -> list[str]:
        return self._add("Split", "", (value,), 3, {"axis": -1, "num_outputs": 3})

    def _add(
        self, operator: str, domain: str, inputs: tuple[str, ...], outputs: int, given: dict[str, Any]
    ) -> list[str]:
        names = [f"{operator}{len(self.nodes)}.{place}" for place in range(outputs)]
        self.nodes.append(onnx.make_node(operator, inputs, names, domain, **given))
        return names


def _build(weights: Weights) -> onnx.Model:
    graph = Graph()
    mask = graph.node("Cast", "attention_mask", to=NumberType.INT32)
    hidden = _tokens(graph, weights)
    for layer in range(_LAYERS):
        hidden = _layer(graph, weights, f"encoder.layer.{layer}", hidden, mask)
    output = _pool(graph, hidden)
    whole = onnx.Graph(
        node=graph.nodes, name="minilm", initializer=graph.arrays, input=[*_inputs()], output=[_vector(output)]
    )
    operators = [onnx.OperatorSet(domain="", version=18), onnx.OperatorSet(domain=_MICROSOFT, version=1)]
    return onnx.Model(ir_version=10, graph=whole, opset_import=operators)


def _inputs() -> Iterator[onnx.ValueInfo]:
    for name in ("input_ids", "attention_mask"):
        yield onnx.make_value(name, NumberType.INT64, ["texts", "tokens"])


def _vector(name: str) -> onnx.ValueInfo:
    return onnx.make_value(name, NumberType.FLOAT, ["texts", _DIMENSION])


def _tokens(graph: Graph, weights: Weights) -> str:
    words, scales = _quantised(weights.array("embeddings.word_embeddings.weight"), axis=1)
    row = graph.node("Cast", graph.node("Gather", graph.array(words), "input_ids"), to=NumberType.FLOAT)
    word = graph.node("Mul", row, graph.node("Gather", graph.array(scales), "input_ids"))
    # Every token is of the first type here, so that its vector is part of the position's.
    places = weights.array("embeddings.position_embeddings.weight")[:_POSITIONS]
    places = places + weights.array("embeddings.token_type_embeddings.weight")[0]
    length = graph.node("Shape", "input_ids", start=1, end=2)
    place = graph.node("Slice", graph.array(places), graph.number([0]), length)
    norm = (graph.array(weights.array(f"embeddings.LayerNorm.{part}")) for part in ("weight", "bias"))
    return graph.node("LayerNormalization", graph.node("Add", word, place), *norm, axis=-1, epsilon=_EPSILON)


def _layer(graph: Graph, weights: Weights, name: str, hidden: str, mask: str) -> str:
    attended = _attention(graph, weights, f"{name}.attention.self", hidden, mask)
    product = _by_row(graph, attended, weights.matrix(f"{name}.attention.output.dense"))
    hidden = _add_norm(graph, weights, f"{name}.attention.output", product, hidden)
    product = _by_row(graph, hidden, weights.matrix(f"{name}.intermediate.dense"))
    wide = graph.fused("BiasGelu", product, graph.array(weights.array(f"{name}.intermediate.dense.bias")))
    product = _by_row(graph, wide, weights.matrix(f"{name}.output.dense"))
    return _add_norm(graph, weights, f"{name}.output", product, hidden)


def _attention(graph: Graph, weights: Weights, name: str, hidden: str, mask: str) -> str:
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    product = _by_block(graph, hidden, np.concatenate([weights.matrix(part) for part in parts], axis=1))
    bias = graph.array(np.concatenate([weights.array(f"{part}.bias") for part in parts]))
    return graph.fused("MultiHeadAttention", *graph.thirds(product), bias, mask, num_heads=_HEADS)


def _add_norm(graph: Graph, weights: Weights, name: str, product: str, skipped: str) -> str:
    parts = (f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias", f"{name}.dense.bias")
    arrays = (graph.array(weights.array(part)) for part in parts)
    return graph.fused("SkipLayerNormalization", product, skipped, *arrays, epsilon=_EPSILON)


def _pool(graph: Graph, hidden: str) -> str:
    """The sum of the tokens: the mean has the same direction, and only the direction is kept."""
    mask = graph.node("Cast", "attention_mask", to=NumberType.FLOAT)
    middle = graph.number([1])
    total = graph.node("MatMul", graph.node("Unsqueeze", mask, middle), hidden)
    return graph.node("LpNormalization", graph.node("Squeeze", total, middle), axis=-1, p=2)


def _by_row(graph: Graph, value: str, matrix: Floats) -> str:
    largest = graph.node("ReduceMax", graph.node("Abs", value), graph.number([-1]), keepdims=1)
    scale = graph.node("Max", graph.node("Mul", largest, graph.number(np.float32(1 / _FULL))), graph.number(_TINY))
    middle, one = graph.number(np.uint8(_MIDDLE)), graph.number(np.float32(1))
    rows = graph.node("QuantizeLinear", graph.node("Div", value, scale), one, middle)
    numbers, scales = _quantised(matrix, axis=0)
    columns = (graph.array(numbers), one, graph.array(scales[0]))
    return graph.node("Mul", graph.fused("MatMulIntegerToFloat", rows, *columns, middle), scale)


def _by_block(graph: Graph, value: str, matrix: Floats) -> str:
    inputs, outputs = matrix.shape
    blocks, scales = _quantised(matrix.T.reshape(outputs, inputs // _BLOCK, _BLOCK), axis=2)
    numbers = graph.array((blocks.astype(np.int16) + _MIDDLE).astype(np.uint8))
    shape = {"K": inputs, "N": outputs, "bits": 8, "block_size": _BLOCK}
    # Level 4: eight-bit products. Without it the matrix is multiplied back to float at every run.
    return graph.fused("MatMulNBits", value, numbers, graph.array(scales[:, :, 0]), **shape, accuracy_level=4)


def _quantised(values: Floats, axis: int) -> tuple[NDArray[np.int8], Floats]:
    """Eight bits with one scale along the axis, symmetric: an int8 export comes through unchanged."""
    scales = np.maximum(np.abs(values).max(axis=axis, keepdims=True) / _FULL, _TINY)
    return np.rint(values / scales).astype(np.int8), scales.astype(np.float32)
