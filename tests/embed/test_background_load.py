"""A model that loads in the background."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.embed.background_load import BackgroundLoadEmbedder
from retentive.embed.hashing_embedder import HashingEmbedder
from retentive.errors import EmbedError


class Slow(HashingEmbedder):
    """Loaded when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        self.loaded.wait()
        return super().embed(texts)

    def embed_query(self, text: str) -> Any:
        self.loaded.wait()
        return super().embed_query(text)


def test_nobody_waits_longer_than_they_said() -> None:
    slow = Slow()
    hasty, patient = BackgroundLoadEmbedder(slow, 0.01), BackgroundLoadEmbedder(slow, 60)
    with pytest.raises(EmbedError, match="still being loaded"):
        hasty.embed_query("tide")
    with pytest.raises(EmbedError, match="still being loaded"):
        hasty.embed(["tide"])
    slow.loaded.set()
    assert (patient.embed_query("tide") == HashingEmbedder().embed_query("tide")).all()


def test_what_cannot_be_loaded_is_told_as_it_is() -> None:
    class Broken(HashingEmbedder):
        def embed_query(self, text: str) -> Any:
            raise EmbedError(f"no model for {text!r}")

    with pytest.raises(EmbedError, match="no model for 'tide'"):
        BackgroundLoadEmbedder(Broken(), 60).embed_query("tide")


def test_meanwhile_full_text_answers_and_says_so(db: Path) -> None:
    """Nothing is lost: the vector comes later."""
    with Retentive.open(db, embedder="minilm", model_wait=0.0001) as store:
        added = store.add("The tide turns at noon")
        assert added.pending
        assert [hit.id for hit in store.search("when does the tide turn?")] == [added.id]


def test_a_warm_store_has_its_model(db: Path) -> None:
    with Retentive.open(db, embedder="minilm", model_wait=60) as store:
        store.warm()
        assert store.search("tide").notes == ()
        assert store.stats()["queries"] == 1
