"""Rebuilds all-MiniLM-L6-v2 for speed: eight-bit matrices, fused operators, pooling inside the graph.

The weights are taken by name from an export of the model (float, or int8 that is multiplied back to float). The graph
around them is built here, because the exports run at float speed and cost 100 MB more.

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

The fastest one gives a text another vector when its neighbours in the batch change (cosine .958), so it is not used. A
coarse scale hurts attention most, where q and k multiply each other's error; hence the mixture. In both of its kinds
the numbers of a token depend on that token only, never on the batch.

When the graph that is built here changes, raise `minilm_embedder.BUILD_VERSION`: it is part of the cached file's name.
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
_MAX_POSITIONS = 256
_EPSILON = 1e-12
_BLOCK_SIZE = 64

# The full range of eight bits. Kernels without VNNI add pairs of products in 16 bits and clip the sum. By block they
# split the pair and cannot clip. By row 3 pairs in 100,000 clip and the mean cosine goes from .9980 to .9978: that is
# simulated (twelve known texts, q,k,v in float), not run on such a machine. Seven bits never clip, and leave .9951.
_MAX_INT8 = 127
_ZERO_POINT = 128

_MIN_SCALE = np.float32(1e-12)
_MICROSOFT_DOMAIN = "com.microsoft"


def quantize_minilm(source: Path, target: Path) -> None:
    """Build the fast graph from an export, and write it to a file."""
    try:
        model = _build_model(Weights(onnx.read_model(source.read_bytes()).graph or onnx.GraphProto()))
    except BadFormat as error:
        raise ModelUnfit(f"{source.name} cannot be read as an ONNX file: {error}") from error
    with target.open("wb") as file:
        file.writelines(onnx.write_model(model))


class Weights:
    """The arrays of an export, by the names they had in PyTorch."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._tensors = {tensor.name or "": tensor for tensor in graph.initializer}
        self._producers = {output: node for node in graph.node for output in node.output}
        self._users = {name: node for node in graph.node for name in node.input}

    def read_array(self, name: str) -> Floats:
        return self.read_value(self._find_full_name(name))

    def read_matrix(self, name: str) -> Floats:
        """Read the matrix of a linear layer, in the shape (inputs, outputs)."""
        bias = self._find_full_name(f"{name}.bias")
        product = next(self._producers[other] for other in self._users[bias].input if other != bias)
        if product.op_type != "MatMul":
            raise ModelUnfit(f"{name} is not a matrix product but {product.op_type}.")
        return self.read_value(product.input[1])

    def _find_full_name(self, name: str) -> str:
        """Find a name that may have a prefix: the exporter may have put the model inside another."""
        full_name: str
        for full_name in (*self._tensors, *self._producers):
            if full_name == name or full_name.endswith(f".{name}"):
                return full_name
        raise ModelUnfit(f"There is no {name} in the model.")

    def read_value(self, name: str) -> Floats:
        if name in self._tensors:
            return onnx.read_array(self._tensors[name]).astype(np.float32)
        if name not in self._producers:
            raise ModelUnfit(f"{name} is not a constant.")
        node = self._producers[name]
        match node.op_type:
            case "Cast":
                return self.read_value(node.input[0])
            case "Mul":
                factors: list[Floats] = [self.read_value(factor) for factor in node.input]
                return factors[0] * factors[1]
            case operator:
                raise ModelUnfit(f"{name} is not a constant but the result of {operator}.")


class GraphBuilder:
    """Collects nodes and arrays. Each method returns the name of the value that it adds."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: list[onnx.TensorProto] = []

    def add_array(self, value: NDArray[Any]) -> str:
        name = f"array{len(self.arrays)}"
        self.arrays.append(onnx.write_array(value, name))
        return name

    def add_number(self, value: Any) -> str:
        return self.add_array(np.array(value))

    def add_node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self._add_outputs(operator, "", inputs, 1, attributes)[0]

    def add_fused_node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self._add_outputs(operator, _MICROSOFT_DOMAIN, inputs, 1, attributes)[0]

    def add_split(self, value: str) -> list[str]:
        return self._add_outputs("Split", "", (value,), 3, {"axis": -1, "num_outputs": 3})

    def _add_outputs(
        self, operator: str, domain: str, inputs: tuple[str, ...], outputs: int, attributes: dict[str, Any]
    ) -> list[str]:
        names = [f"{operator}{len(self.nodes)}.{index}" for index in range(outputs)]
        self.nodes.append(onnx.make_node(operator, inputs, names, domain, **attributes))
        return names


def _build_model(weights: Weights) -> onnx.ModelProto:
    graph = GraphBuilder()
    mask = graph.add_node("Cast", "attention_mask", to=NumberType.INT32)
    hidden = _add_token_embedding(graph, weights)
    for layer in range(_LAYERS):
        hidden = _add_layer(graph, weights, f"encoder.layer.{layer}", hidden, mask)
    output = _add_pooling(graph, hidden)
    graph_proto = onnx.GraphProto(
        node=graph.nodes,
        name="minilm",
        initializer=graph.arrays,
        input=[*_make_inputs()],
        output=[_make_output(output)],
    )
    operators = [
        onnx.OperatorSetIdProto(domain="", version=18),
        onnx.OperatorSetIdProto(domain=_MICROSOFT_DOMAIN, version=1),
    ]
    return onnx.ModelProto(ir_version=10, graph=graph_proto, opset_import=operators)


def _make_inputs() -> Iterator[onnx.ValueInfoProto]:
    for name in ("input_ids", "attention_mask"):
        yield onnx.make_value_info(name, NumberType.INT64, ["texts", "tokens"])


def _make_output(name: str) -> onnx.ValueInfoProto:
    return onnx.make_value_info(name, NumberType.FLOAT, ["texts", _DIMENSION])


def _add_token_embedding(graph: GraphBuilder, weights: Weights) -> str:
    words, scales = _quantize(weights.read_array("embeddings.word_embeddings.weight"), axis=1)
    row = graph.add_node("Cast", graph.add_node("Gather", graph.add_array(words), "input_ids"), to=NumberType.FLOAT)
    word = graph.add_node("Mul", row, graph.add_node("Gather", graph.add_array(scales), "input_ids"))
    # Every token has the first type here, so its vector is added to that of the position.
    positions = weights.read_array("embeddings.position_embeddings.weight")[:_MAX_POSITIONS]
    positions = positions + weights.read_array("embeddings.token_type_embeddings.weight")[0]
    length = graph.add_node("Shape", "input_ids", start=1, end=2)
    position = graph.add_node("Slice", graph.add_array(positions), graph.add_number([0]), length)
    norm = (graph.add_array(weights.read_array(f"embeddings.LayerNorm.{part}")) for part in ("weight", "bias"))
    return graph.add_node("LayerNormalization", graph.add_node("Add", word, position), *norm, axis=-1, epsilon=_EPSILON)


def _add_layer(graph: GraphBuilder, weights: Weights, name: str, hidden: str, mask: str) -> str:
    attended = _add_attention(graph, weights, f"{name}.attention.self", hidden, mask)
    product = _add_product_by_row(graph, attended, weights.read_matrix(f"{name}.attention.output.dense"))
    hidden = _add_norm(graph, weights, f"{name}.attention.output", product, hidden)
    product = _add_product_by_row(graph, hidden, weights.read_matrix(f"{name}.intermediate.dense"))
    wide = graph.add_fused_node(
        "BiasGelu", product, graph.add_array(weights.read_array(f"{name}.intermediate.dense.bias"))
    )
    product = _add_product_by_row(graph, wide, weights.read_matrix(f"{name}.output.dense"))
    return _add_norm(graph, weights, f"{name}.output", product, hidden)


def _add_attention(graph: GraphBuilder, weights: Weights, name: str, hidden: str, mask: str) -> str:
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    product = _add_product_by_block(
        graph, hidden, np.concatenate([weights.read_matrix(part) for part in parts], axis=1)
    )
    bias = graph.add_array(np.concatenate([weights.read_array(f"{part}.bias") for part in parts]))
    return graph.add_fused_node("MultiHeadAttention", *graph.add_split(product), bias, mask, num_heads=_HEADS)


def _add_norm(graph: GraphBuilder, weights: Weights, name: str, product: str, skipped: str) -> str:
    parts = (f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias", f"{name}.dense.bias")
    arrays = (graph.add_array(weights.read_array(part)) for part in parts)
    return graph.add_fused_node("SkipLayerNormalization", product, skipped, *arrays, epsilon=_EPSILON)


def _add_pooling(graph: GraphBuilder, hidden: str) -> str:
    """Add the sum of the tokens: it has the direction of the mean, and only the direction matters."""
    mask = graph.add_node("Cast", "attention_mask", to=NumberType.FLOAT)
    axis = graph.add_number([1])
    total = graph.add_node("MatMul", graph.add_node("Unsqueeze", mask, axis), hidden)
    return graph.add_node("LpNormalization", graph.add_node("Squeeze", total, axis), axis=-1, p=2)


def _add_product_by_row(graph: GraphBuilder, value: str, matrix: Floats) -> str:
    largest = graph.add_node("ReduceMax", graph.add_node("Abs", value), graph.add_number([-1]), keepdims=1)
    scale = graph.add_node(
        "Max", graph.add_node("Mul", largest, graph.add_number(np.float32(1 / _MAX_INT8))), graph.add_number(_MIN_SCALE)
    )
    zero_point, one = graph.add_number(np.uint8(_ZERO_POINT)), graph.add_number(np.float32(1))
    rows = graph.add_node("QuantizeLinear", graph.add_node("Div", value, scale), one, zero_point)
    numbers, scales = _quantize(matrix, axis=0)
    columns = (graph.add_array(numbers), one, graph.add_array(scales[0]))
    return graph.add_node("Mul", graph.add_fused_node("MatMulIntegerToFloat", rows, *columns, zero_point), scale)


def _add_product_by_block(graph: GraphBuilder, value: str, matrix: Floats) -> str:
    inputs, outputs = matrix.shape
    blocks, scales = _quantize(matrix.T.reshape(outputs, inputs // _BLOCK_SIZE, _BLOCK_SIZE), axis=2)
    numbers = graph.add_array((blocks.astype(np.int16) + _ZERO_POINT).astype(np.uint8))
    shape = {"K": inputs, "N": outputs, "bits": 8, "block_size": _BLOCK_SIZE}
    # Level 4: eight-bit products. Without it the matrix is multiplied back to float at every run.
    return graph.add_fused_node(
        "MatMulNBits", value, numbers, graph.add_array(scales[:, :, 0]), **shape, accuracy_level=4
    )


def _quantize(values: Floats, axis: int) -> tuple[NDArray[np.int8], Floats]:
    """Quantise to eight bits, symmetric, with one scale along the axis. An int8 export stays unchanged."""
    scales = np.maximum(np.abs(values).max(axis=axis, keepdims=True) / _MAX_INT8, _MIN_SCALE)
    return np.rint(values / scales).astype(np.int8), scales.astype(np.float32)
