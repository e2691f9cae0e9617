"""An embedder as a store uses it: it says how it is opened again, and vectors of another shape are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from retentive.errors import EmbedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed import Embedder
    from retentive.model import Space

_HINT = "The model is not the one that the store was filled with. Choose another, or run `retentive reembed`."


class VerifiedEmbedder:
    def __init__(self, inner: Embedder, model: str | None) -> None:
        self._inner, self.model = inner, model
        self._found: Space | None = None
        self._space: Space | None = None

    @property
    def space(self) -> Space:
        """A provider's changes once: when its first answer tells the dimension and the scale."""
        found = self._inner.space
        if self._space is None or found is not self._found:
            self._found, self._space = found, replace(found, model=self.model)
        return self._space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._inner.embed(texts)
        self._check(vectors, (len(texts), self.space.dimension))
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = self._inner.embed_query(text)
        self._check(vector, (self.space.dimension,))
        return vector

    def describe(self) -> Mapping[str, str]:
        return self._inner.describe()

    def close(self) -> None:
        self._inner.close()

    def _check(self, vectors: NDArray[np.float32], shape: tuple[int, ...]) -> None:
        if vectors.shape != shape:
            raise EmbedError(f"{self.space.name} gave vectors of shape {vectors.shape}, not {shape}", _HINT)
