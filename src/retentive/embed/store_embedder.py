"""The embedder as a store uses it: its space remembers how to open it again, and wrong shapes are refused."""

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

_HINT = "This is not the model that made the store's vectors. Choose another, or run `reembed(model=NAME)`."


class StoreEmbedder:
    def __init__(self, inner: Embedder, model: str | None) -> None:
        """`model` is the setting that opens the inner embedder again; None if a program gave it."""
        self._inner, self.model = inner, model
        self._inner_space: Space | None = None
        self._space: Space | None = None

    @property
    def space(self) -> Space:
        """A provider's space changes once: its first answer gives the dimension and the scale."""
        current = self._inner.space
        if self._space is None or current is not self._inner_space:
            self._inner_space, self._space = current, replace(current, model=self.model)
        return self._space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._inner.embed(texts)
        self._require_shape(vectors, (len(texts), self.space.dimension))
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = self._inner.embed_query(text)
        self._require_shape(vector, (self.space.dimension,))
        return vector

    def describe(self) -> Mapping[str, str]:
        return self._inner.describe()

    def close(self) -> None:
        self._inner.close()

    def _require_shape(self, vectors: NDArray[np.float32], shape: tuple[int, ...]) -> None:
        if vectors.shape != shape:
            raise EmbedError(f"{self.space.name} gave vectors of shape {vectors.shape}, not {shape}", _HINT)
