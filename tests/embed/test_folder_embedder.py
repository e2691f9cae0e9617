"""Is a model of one's own read, recorded and recognised?"""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retentive import Retentive
from retentive.embed import Embedder, open_embedder
from retentive.embed.catalogue import BGE, FLOAT32, INT8
from retentive.embed.folder_embedder import FolderEmbedder, name_record, read_record
from retentive.embed.minilm_known_vectors import load_known_vectors
from retentive.embed.model_folder import read_model_folder
from retentive.errors import ModelMissing, ModelUnfit
from tests.embed.stand_ins import make_graph, write_folder
from tests.weights import weights_or_skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "mine")


def write_json(folder: Path, name: str, value: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(value))


def test_the_dimension_is_that_of_the_graph(folder: Path, tmp_path: Path) -> None:
    """Nothing but a graph and a tokenizer is there."""
    embedder = FolderEmbedder(folder, tmp_path / "cache")
    assert embedder.space.dimension == 48
    assert embedder.embed(["the dog"]).shape == (1, 48)
    assert "mean pooling (assumed)" in embedder.describe()["origin"]


def test_what_sentence_transformers_writes_is_read(folder: Path) -> None:
    write_json(folder, "1_Pooling/config.json", {"word_embedding_dimension": 48, "pooling_mode_cls_token": True})
    write_json(folder, "sentence_bert_config.json", {"max_seq_length": 128})
    write_json(folder, "config_sentence_transformers.json", {"prompts": {"query": "ask: ", "passage": "text: "}})
    found = read_model_folder(folder, INT8)
    assert found.options.pooling == "cls"
    assert found.options.dimension == 48
    assert found.options.max_tokens == 128
    assert (found.query_prefix, found.document_prefix) == ("ask: ", "text: ")
    assert found.is_pooling_known


def test_pooling_may_be_given(folder: Path, tmp_path: Path) -> None:
    """Another pooling is another space: the vectors are not comparable."""
    first, mean = (FolderEmbedder(folder, tmp_path / "cache", pooling=pooling) for pooling in ("cls", "mean"))
    assert first.space.name != mean.space.name
    assert abs(first.embed(["the dog"])[0] @ mean.embed(["the dog"])[0]) < 0.9


def test_a_pooling_that_is_not_known_is_refused(folder: Path) -> None:
    write_json(folder, "1_Pooling/config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(ModelUnfit, match="pooling_mode_max_tokens"):
        read_model_folder(folder, INT8)


@pytest.mark.parametrize(
    ("there", "precision", "chosen"),
    [
        (["model.onnx", "model_quantized.onnx"], INT8, "model_quantized.onnx"),
        (["model.onnx", "model_quantized.onnx"], FLOAT32, "model.onnx"),
        (["model.onnx"], INT8, "model.onnx"),  # the only one there is
        (["onnx/model.onnx", "onnx/model_int8.onnx"], INT8, "onnx/model_int8.onnx"),  # as the hub lays it out
        (["other.onnx"], FLOAT32, "other.onnx"),
        (["model.safetensors"], INT8, "model.safetensors"),
    ],
)
def test_the_weights_are_found_by_precision(tmp_path: Path, there: list[str], precision: str, chosen: str) -> None:
    for name in (*there, "tokenizer.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert read_model_folder(tmp_path, precision).weights == tmp_path / chosen


def test_one_of_several_must_be_named(tmp_path: Path) -> None:
    for name in ("a.onnx", "b.onnx", "vocab.txt"):
        (tmp_path / name).touch()
    with pytest.raises(ModelUnfit, match=r"a\.onnx, b\.onnx"):
        read_model_folder(tmp_path, INT8)
    assert read_model_folder(tmp_path / "b.onnx", INT8).weights.name == "b.onnx"


@pytest.mark.parametrize("left_out", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_part_says_what_it_needs(folder: Path, tmp_path: Path, left_out: str) -> None:
    (folder / left_out).unlink()
    with pytest.raises(ModelMissing) as caught:
        FolderEmbedder(folder, tmp_path / "cache")
    assert "tokenizer.json" in caught.value.hint


@pytest.mark.parametrize("name", ["1_Pooling/config.json", "config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", ["[]", "{", "\x00", "[" * 100_000])
def test_a_broken_description_is_refused_by_name(folder: Path, name: str, content: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    with pytest.raises(ModelUnfit, match=name):
        read_model_folder(folder, INT8)


@pytest.mark.parametrize("prompts", [[], "query", 1, {"query": 1}])
def test_prompts_of_another_shape_are_none(folder: Path, prompts: object) -> None:
    write_json(folder, "config_sentence_transformers.json", {"prompts": prompts})
    assert read_model_folder(folder, INT8).query_prefix == ""


def test_weights_beside_the_graph_are_part_of_the_model(folder: Path, tmp_path: Path) -> None:
    """A large graph has its weights in a file of its own: if that changes, so does the space."""
    (folder / "model.onnx_data").write_bytes(b"one")
    before = FolderEmbedder(folder, tmp_path / "cache").space.name
    (folder / "model.onnx_data").write_bytes(b"two!")
    assert FolderEmbedder(folder, tmp_path / "cache").space.name != before


def test_a_wrong_dimension_is_refused(folder: Path, tmp_path: Path) -> None:
    write_json(folder, "config.json", {"hidden_size": 64})
    with pytest.raises(ModelUnfit, match="not 64"):
        FolderEmbedder(folder, tmp_path / "cache").embed(["a"])


def test_the_space_is_the_content(folder: Path, tmp_path: Path) -> None:
    """A folder that is moved keeps its vectors, one whose weights change does not."""
    before = FolderEmbedder(folder, tmp_path / "cache").space.name
    assert before.startswith("mine@")
    elsewhere = tmp_path / "elsewhere" / "mine"
    shutil.copytree(folder, elsewhere)
    assert FolderEmbedder(elsewhere, tmp_path / "cache").space.name == before
    (folder / "model.onnx").write_bytes(make_graph(200, 48))
    assert FolderEmbedder(folder, tmp_path / "cache").space.name != before


def test_known_vectors_are_recorded_at_the_first_use_and_compared_later(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    path = name_record(folder, cache, INT8, "auto")
    embedder = FolderEmbedder(folder, cache)
    unused = read_record(path)
    assert unused
    assert unused.vectors == ""
    embedder.embed(["the dog"])
    record = read_record(path)
    assert record
    assert record.vectors
    assert FolderEmbedder(folder, cache).embed(["the dog"]).any()
    kept = json.loads(path.read_text())
    spoilt = np.zeros((len(load_known_vectors().texts), 48), "<f2")
    path.write_text(json.dumps(kept | {"vectors": base64.b64encode(spoilt.tobytes()).decode()}))
    with pytest.raises(ModelUnfit, match="different vectors"):
        FolderEmbedder(folder, cache).embed(["the dog"])


def test_a_record_that_cannot_be_read_or_written_is_no_obstacle(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    before = FolderEmbedder(folder, cache).space
    name_record(folder, cache, INT8, "auto").write_text("{")
    assert FolderEmbedder(folder, cache).space == before
    (tmp_path / "file").touch()
    assert FolderEmbedder(folder, tmp_path / "file" / "cache").embed(["the dog"]).any()


def test_a_folder_that_is_away_keeps_its_space(folder: Path, tmp_path: Path) -> None:
    """A disk that is not mounted: the store opens, texts wait for their vectors."""
    cache = tmp_path / "cache"
    space = FolderEmbedder(folder, cache).space
    folder.rename(tmp_path / "away")
    embedder = FolderEmbedder(folder, cache)
    assert embedder.space == space
    assert "degraded" in embedder.describe()
    with pytest.raises(ModelMissing):
        embedder.embed(["the dog"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "1_Pooling/config.json"])
def test_a_store_whose_folder_is_damaged_is_opened(folder: Path, db: Path, name: str) -> None:
    """A copy that broke off: texts are kept without vectors, and what is wrong is told."""
    with Retentive.open(db, embedder=str(folder)) as store:
        store.add("the dog is about the key")
    damaged = folder / name
    damaged.parent.mkdir(exist_ok=True)
    damaged.write_text("damaged")
    with Retentive.open(db, embedder=str(folder)) as store:
        assert store.add("the key is about the dog").pending
        found = store.search("the dog")
        assert len(found) == 2
        assert any(str(folder) in note or damaged.name in note for note in found.notes)


def test_a_damaged_folder_that_was_never_used_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "model.onnx").write_text("damaged")
    with pytest.raises(ModelUnfit):
        FolderEmbedder(folder, tmp_path / "cache")


def test_a_file_that_is_changed_after_opening_is_refused(folder: Path, tmp_path: Path) -> None:
    """Its vectors would be kept under the name of another space."""
    embedder = FolderEmbedder(folder, tmp_path / "cache")
    (folder / "model.onnx").write_bytes(make_graph(200, 48))
    with pytest.raises(ModelUnfit, match="sha256"):
        embedder.embed(["the dog"])


def test_a_store_is_opened_with_a_folder(folder: Path, db: Path) -> None:
    with Retentive.open(db, embedder=str(folder)) as store:
        added = store.add("the dog is about the key")
        assert not added.pending
        assert [hit.id for hit in store.search("where is the dog")] == [added.id]
        assert store.stats()["spaces"][0]["name"].startswith("mine@")


def test_the_scale_is_estimated_from_the_model(opened: Callable[[str], Embedder]) -> None:
    """The same weights as the catalogue's: what is estimated is near what was measured."""
    embedder = opened("folder")
    embedder.embed(["load it"])
    assert embedder.space.min_similarity == pytest.approx(BGE.space.min_similarity, abs=0.05)
    assert embedder.space.spread == pytest.approx(BGE.space.spread, abs=0.02)


def test_a_static_folder_is_used_as_it_is(tmp_path: Path) -> None:
    folder = weights_or_skip("potion-base-8M")
    embedder = open_embedder(str(folder), cache=tmp_path)
    assert embedder
    assert embedder.space.dimension == 256
    question = embedder.embed_query("What pet does she have?")
    dog, invoice = embedder.embed(["Her dog is her pet, called Max.", "The invoice is due on Friday."])
    assert question @ dog > question @ invoice
