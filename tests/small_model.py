"""A second quick model, with another dimension than `hashing` has."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retentive import Retentive
from retentive.embed.hashing_embedder import HashingEmbedder
from retentive.model import Space
from retentive.testing import parts_of

DIMENSION = 64


class SmallModel:
    """Hashing folded to fewer dimensions: words that are shared still make texts alike."""

    space = Space("small-64", DIMENSION, 0.3)

    def __init__(self) -> None:
        self._inner = HashingEmbedder()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        folded = self._inner.embed(texts).reshape(len(texts), -1, DIMENSION).sum(axis=1)
        folded[:, 0] += 1e-3  # a text without words has a direction, too
        return np.asarray(folded / np.linalg.norm(folded, axis=1, keepdims=True), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(self.embed([text])[0])

    def describe(self) -> Mapping[str, str]:
        return {"space": self.space.name, "loaded": "yes"}

    def close(self) -> None:
        """Nothing is held."""


class Forgetful(SmallModel):
    """Every text has the same vector: nothing is found by it."""

    space = Space("forgetful-64", DIMENSION, 0.3)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.eye(1, DIMENSION, dtype=np.float32), (len(texts), 1))


def open_with_small(target: Any, **settings: Any) -> Retentive:
    """A store of a process that knows the small model."""
    store = Retentive.open(target, **{"embedder": "hashing", **settings})
    parts_of(store).active.open(SmallModel())
    parts_of(store).active.expire_check()
    return store
