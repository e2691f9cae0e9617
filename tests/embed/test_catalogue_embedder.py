"""Are models of the catalogue fetched, verified, and what their makers made them?"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from retentive import Retentive
from retentive.embed import Embedder, open_embedder
from retentive.embed.catalogue import ARCTIC, E5, FLOAT32, INT8, MINILM, POTION
from retentive.embed.catalogue_embedder import CatalogueEmbedder
from retentive.embed.minilm_embedder import MiniLMEmbedder
from retentive.embed.minilm_known_vectors import load_known_vectors
from retentive.embed.static_encoder import read_table
from retentive.errors import EmbedError, ModelMissing, ModelUnfit
from tests.embed.hub import Hub, running_hub
from tests.embed.stand_ins import make_e5
from tests.weights import weights_or_skip

QUESTION = "What pet does she have?"
TEXTS = ["Her dog is called Max.", "The invoice is due on Friday.", "Paris is in France."]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running_hub() as running:
        yield running


@pytest.mark.parametrize("name", ["bge", "arctic", "minilm float32", "potion"])
def test_meaning_ranks(opened: Callable[[str], Embedder], name: str) -> None:
    """The nearest text is the one that means the same, and above the model's threshold."""
    embedder = opened(name)
    similar = embedder.embed(TEXTS) @ embedder.embed_query(QUESTION)
    assert similar.argmax() == 0
    assert similar[1:].max() < embedder.space.min_similarity
    if name != "potion":  # without a shared word it does not see that much
        assert similar[0] > embedder.space.min_similarity


@pytest.mark.parametrize("name", ["bge", "arctic", "e5 stand-in"])
def test_questions_have_a_prefix(opened: Callable[[str], Embedder], name: str) -> None:
    embedder = opened(name)
    assert embedder.embed_query("the dog") @ embedder.embed(["the dog"])[0] < 0.999


def test_float_is_what_the_known_vectors_are(opened: Callable[[str], Embedder]) -> None:
    """The same space in both precisions."""
    texts, vectors = load_known_vectors()
    embedder = opened("minilm float32")
    assert (embedder.embed(texts) * vectors).sum(axis=1).min() > 0.99
    assert embedder.space == opened("minilm int8").space


def test_the_default_is_the_rebuilt_minilm(tmp_path: Path) -> None:
    for name in ("minilm", "all-MiniLM-L6-v2"):
        assert isinstance(open_embedder(name, cache=tmp_path), MiniLMEmbedder)
    assert isinstance(open_embedder("minilm", cache=tmp_path, precision=FLOAT32), CatalogueEmbedder)


@pytest.mark.parametrize("entry", [ARCTIC, POTION], ids=lambda entry: entry.name)
def test_a_model_is_fetched_when_it_may_be(entry: object, hub: Hub, tmp_path: Path) -> None:
    """The very files that are pinned, over HTTP: then they are found without the hub."""
    assert entry in (ARCTIC, POTION)
    chosen = ARCTIC if entry == ARCTIC else POTION
    folder = weights_or_skip(chosen.name)
    for file in chosen.list_files(INT8):
        hub.serve(file, folder / file.path.rpartition("/")[2])
    for download in (True, False):
        embedder = open_embedder(chosen.name, cache=tmp_path, download=download, hub=hub.url)
        assert embedder
        assert embedder.embed(["it works"]).shape == (1, chosen.space.dimension)
    assert len(hub.asked) == 2


def test_a_multilingual_model_is_fetched_and_read(hub: Hub, tmp_path: Path) -> None:
    """Small weights of its shape stand in for it: another tokenizer, marks and prefixes for both sides."""
    entry, contents = make_e5()
    for file in entry.list_files(INT8):
        hub.serve(file, contents[file.name])
    embedder = CatalogueEmbedder(entry, tmp_path, precision=INT8, download=True, hub=hub.url)
    assert embedder.embed(["wo ist der Hund?"]).shape == (1, 384)
    assert embedder.space == E5.space
    assert hub.count() == {"model_quantized.onnx": 1, "tokenizer.json": 1}


def test_nothing_is_fetched_unasked(hub: Hub, tmp_path: Path) -> None:
    embedder = open_embedder("bge-small-en-v1.5", cache=tmp_path, hub=hub.url)
    assert embedder
    assert "models.pull" in embedder.describe()["degraded"]
    with pytest.raises(ModelMissing) as caught:
        embedder.embed(["anything"])
    assert "models.pull('bge-small-en-v1.5')" in caught.value.hint
    assert hub.asked == []


def test_a_store_without_its_model_keeps_what_it_is_told(db: Path, tmp_path: Path) -> None:
    with Retentive.open(db, embedder="fast", cache=str(tmp_path / "empty")) as store:
        assert store.add("The tide turns at noon").pending
        assert store.search("tide").tier == "text"


def test_a_changed_file_is_refused_or_fetched_again(hub: Hub, tmp_path: Path) -> None:
    entry, contents = make_e5()
    for file in entry.list_files(INT8):
        hub.serve(file, contents[file.name])
        (tmp_path / file.name).write_bytes(contents[file.name][:-1] + b"x")
    with pytest.raises(ModelUnfit, match="sha256") as caught:
        CatalogueEmbedder(entry, tmp_path, precision=INT8).embed(["anything"])
    assert "models.pull" in caught.value.hint
    assert CatalogueEmbedder(entry, tmp_path, precision=INT8, download=True, hub=hub.url).embed(["anything"]).any()


def test_a_question_of_unknown_words_has_no_vector(opened: Callable[[str], Embedder]) -> None:
    for name in ("potion", "bge"):
        with pytest.raises(EmbedError, match="knows none"):
            opened(name).embed_query("\U0001f382")


def test_static_vectors_are_the_mean_of_their_words(opened: Callable[[str], Embedder]) -> None:
    """As Model2Vec computes them: without marks, and without what is unknown."""
    from tokenizers import Tokenizer

    folder = weights_or_skip(POTION.name)
    table, words = read_table(folder / "model.safetensors"), Tokenizer.from_file(str(folder / "tokenizer.json"))
    text = "Her dog \U0001f382 is called Max."
    numbers = [
        number for number in words.encode(text, add_special_tokens=False).ids if number != words.token_to_id("[UNK]")
    ]
    mean = table[numbers].mean(axis=0)
    assert np.allclose(opened("potion").embed([text])[0], mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.parametrize("content", [b"", b"\x00" * 40, b"\xff" * 8, b"\x02\x00\x00\x00\x00\x00\x00\x00{}"])
def test_a_table_that_cannot_be_read_is_unfit(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelUnfit):
        read_table(tmp_path / "model.safetensors")


def test_existing_stores_keep_the_name_of_their_space() -> None:
    assert MINILM.space.name == "all-MiniLM-L6-v2"
    assert MINILM.space.min_similarity == 0.35
