"""What every embedder promises."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.embed import Embedder, open_embedder
from retentive.embed.hashing_embedder import HashingEmbedder
from tests.embed.conftest import EMBEDDERS

ODD = ["", " \n\t", "...", "\x00\x07", "\ud800 half a pair", "🙂", "[CLS] [SEP] [PAD]", "a" * 5000, "漢字" * 3000]


@pytest.fixture(params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest, opened: Callable[[str], Embedder]) -> Embedder:
    return opened(request.param)


def test_space_tells_the_shape(embedder: Embedder) -> None:
    """The vectors have the dimension their space says."""
    assert embedder.embed(["one", "two"]).shape == (2, embedder.space.dimension)


def test_nothing_gives_nothing(embedder: Embedder) -> None:
    """No texts give an empty array of the right width."""
    assert embedder.embed([]).shape == (0, embedder.space.dimension)


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_have_unit_vectors(embedder: Embedder, text: str) -> None:
    """Any string has a finite vector of length 1."""
    vector = embedder.embed([text])[0]
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)


def test_order_is_kept(embedder: Embedder) -> None:
    """Batching by length is not seen from outside, and neighbours do not change a text's vector."""
    texts = [f"{'word ' * (place * 7 % 60)}number {place}" for place in range(40)]
    together = embedder.embed(texts)
    alone = np.stack([embedder.embed([text])[0] for text in texts])
    assert (together * alone).sum(axis=1).min() > 0.99999


def test_a_query_is_remembered_and_read_only(embedder: Embedder) -> None:
    vector = embedder.embed_query("where is the key?")
    assert vector.shape == (embedder.space.dimension,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)
    assert embedder.embed_query("where is the key?") is vector
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


def test_a_query_finds_its_text(embedder: Embedder) -> None:
    """A question is nearer to the text that has its words than to another, whatever is put before the two."""
    question = embedder.embed_query("where is the key?")
    near, far = embedder.embed(["the key is where the dog is", "42, 17!"]) @ question
    assert near > far


def test_the_space_is_known_before_the_model_is_loaded(embedder: Embedder) -> None:
    """Name and dimension; they stay, and the scale is one of cosines."""
    before = embedder.space
    embedder.embed(["load it"])
    after = embedder.space
    assert (before.name, before.dimension) == (after.name, after.dimension)
    assert 0 < after.min_similarity < 1
    assert 0 < after.spread < 0.5


def test_describe_says_what_is_used(embedder: Embedder) -> None:
    embedder.embed(["load it"])
    said = embedder.describe()
    assert said["space"] == embedder.space.name
    assert said["loaded"] == "yes"
    assert "degraded" not in said
    embedder.close()
    assert embedder.describe()["space"] == embedder.space.name


def test_threads_agree(embedder: Embedder) -> None:
    """Many threads at once get the vectors one alone gets."""
    texts = [f"fact {place % 7} about threads" for place in range(60)]
    with ThreadPoolExecutor(8) as pool:
        found = np.stack(list(pool.map(lambda text: embedder.embed([text])[0], texts)))
    assert np.allclose(found, embedder.embed(texts), atol=1e-5)


def test_close_gives_back_and_reopens(embedder: Embedder) -> None:
    """After close the next text loads again."""
    before = embedder.embed(["again"])
    embedder.close()
    assert np.array_equal(embedder.embed(["again"]), before)


def test_none_is_none(tmp_path: Path) -> None:
    assert open_embedder("none", cache=tmp_path) is None


def test_opening_imports_nothing_heavy(tmp_path: Path) -> None:
    """The cost of a model is paid by the first text, not by the import."""
    code = f"""
import sys, pathlib
from retentive.embed import open_embedder
embedder = open_embedder("minilm", cache=pathlib.Path({str(tmp_path)!r}))
print(embedder.space.dimension, embedder.describe()["loaded"])
print([name for name in ("numpy", "onnxruntime", "onnx", "tokenizers", "httpx") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["384 no", "[]"]


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_hashing_any_text(text: str) -> None:
    """Hashing never gives a vector without a direction."""
    assert np.linalg.norm(HashingEmbedder().embed([text])[0]) == pytest.approx(1, abs=1e-4)


def test_hashing_is_the_same_everywhere() -> None:
    """Processes with different hash seeds make the same bytes, which are those of the first release."""
    code = (
        "import hashlib; from retentive.embed.hashing_embedder import HashingEmbedder;"
        "vector = HashingEmbedder().embed(['Ünïcode, cats & cats']) * 1000;"
        "print(hashlib.sha256(vector.astype('int16').tobytes()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {"537410b9c7eb7907439395e1edef52c0be5d239c85451eba997e13aeec094690"}


def test_hashing_finds_shared_words() -> None:
    """What shares words or spellings is nearer than what does not."""
    question, near, spelt, far = HashingEmbedder().embed(
        ["deploying the billing service", "the billing service", "deployment of bills", "my cat sleeps"]
    )
    assert question @ near > question @ spelt > question @ far
    assert question @ near > HashingEmbedder.space.min_similarity > question @ far
