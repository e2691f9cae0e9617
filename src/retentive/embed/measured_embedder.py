"""The base of embedders whose dimension and scale are measured at first use: providers, and functions of a program.

The first use asks for the vectors of a few sample sentences (`similarity_scale.py`). Dimension and scale are computed
from them and remembered in the cache folder. Each answer is checked: as many vectors as texts, all of that dimension,
finite, and not zero. If a store has vectors of the model, they decide the dimension. Vectors of another dimension are
an error, so a store never holds vectors that cannot be compared.
"""

from __future__ import annotations

import hashlib
import json
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from retentive.embed.local_embedder import QUERY_CACHE_SIZE
from retentive.embed.similarity_scale import SAMPLE_QUESTIONS, SAMPLE_TEXTS, estimate_scale
from retentive.errors import EmbedError, ModelUnfit
from retentive.fs.atomic import PRIVATE_MODE, atomic_write
from retentive.fs.folders import make_private
from retentive.model import Space
from retentive.text.caches import text_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed import FindDimension

_DEFAULT_MIN_SIMILARITY = 0.35  # MiniLM's; replaced when the scale is measured, before any vector is compared


class MeasuredEmbedder(ABC):
    """An `Embedder`. A subclass calls the model."""

    batch_size = 64

    def __init__(
        self, name: str, cache: Path, *, dimension: int | None = None, find_dimension: FindDimension | None = None
    ) -> None:
        """`dimension` is declared by the caller; `find_dimension` finds that of a store's vectors."""
        self._name = name
        self._file = cache / "spaces" / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"
        self._declared_dimension = dimension
        self._find_dimension = find_dimension or (lambda _: None)
        self._lock = threading.Lock()
        self._space: Space | None = None
        self._is_confirmed = False
        """Whether the model has answered in this process, with vectors of the space's dimension."""
        self._query = text_cache(QUERY_CACHE_SIZE)(self._embed_query)

    @property
    def space(self) -> Space:
        """The dimension is 0 while it is in neither the cache nor the store, and the model has not answered."""
        if self._space is None or not self._space.dimension:
            known = _read_space(self._file, self._name)
            required = self._declared_dimension or self._find_dimension(self._name)
            if known and required in (None, known.dimension):
                self._space = known
            else:
                self._space = Space(self._name, required or 0, _DEFAULT_MIN_SIMILARITY)
        return self._space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.zeros((0, self.space.dimension), np.float32)
        return np.concatenate([*self.embed_batches(texts)])

    def embed_batches(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the vectors of the texts, batch by batch."""
        self._ensure_measured()
        for start in range(0, len(texts), self.batch_size):
            yield self._embed_batch(texts[start : start + self.batch_size], is_query=False)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._query(text)

    def close(self) -> None:
        self._query.cache_clear()

    @abstractmethod
    def describe(self) -> Mapping[str, str]: ...

    @abstractmethod
    def _call_model(self, texts: Sequence[str], *, is_query: bool) -> Any:
        """Return the model's vectors of these texts, in their order. Raises `EmbedError` if it gives none."""

    def _embed_query(self, text: str) -> NDArray[np.float32]:
        self._ensure_measured()
        vector: NDArray[np.float32] = self._embed_batch([text], is_query=True)[0]
        vector.setflags(write=False)
        return vector

    def _ensure_measured(self) -> None:
        """Measure the model, unless it was measured before."""
        if self._is_confirmed:
            return
        with self._lock:
            if _read_space(self._file, self._name) != self.space:
                self._measure()

    def _measure(self) -> None:
        statements = self._normalise(self._call_model(SAMPLE_TEXTS, is_query=False), len(SAMPLE_TEXTS))
        questions = self._normalise(self._call_model(SAMPLE_QUESTIONS, is_query=True), len(SAMPLE_QUESTIONS))
        self._require_dimension(statements.shape[1])
        self._require_dimension(questions.shape[1])
        if statements.shape[1] != questions.shape[1]:
            raise EmbedError(f"{self._name} gave vectors of {statements.shape[1]} and of {questions.shape[1]} numbers")
        scale = estimate_scale(questions, statements)
        self._space = Space(self._name, statements.shape[1], *scale)
        self._is_confirmed = True
        _write_space(self._file, self._space)

    def _embed_batch(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        vectors = self._normalise(self._call_model(texts, is_query=is_query), len(texts))
        if vectors.shape[1] == self.space.dimension:
            self._is_confirmed = True
            return vectors
        with self._lock:
            self._require_dimension(vectors.shape[1])
            if vectors.shape[1] != self.space.dimension:
                self._measure()  # the cache remembers another model, and the store has no vectors of it
        return vectors

    def _require_dimension(self, dimension: int) -> None:
        """Require the dimension of the vectors that exist already."""
        required = (
            self.space.dimension if self._is_confirmed else self._declared_dimension or self._find_dimension(self._name)
        )
        if required and dimension != required:
            raise ModelUnfit(
                f"{self._name} gives vectors of {dimension} numbers, and those of the store have {required}",
                "A different model now has this name. Serve the old one again, or give the new one another name.",
            )

    def _normalise(self, answer: Any, count: int) -> NDArray[np.float32]:
        """Return float32 rows of length one. Raises `EmbedError` unless there is one for each text."""
        import numpy as np

        try:
            vectors = np.asarray(answer, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise EmbedError(f"{self._name} returned vectors that are not numbers, or differ in length") from None
        if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:  # noqa: PLR2004 - rows and columns
            shape = " x ".join(map(str, vectors.shape))
            raise EmbedError(f"{self._name} gave an array of {shape} for {count} texts")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedError(f"{self._name} returned a vector that is not finite, or has only zeros")
        unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
        return unit


def _read_space(file: Path, name: str) -> Space | None:
    """Read a remembered space; None if there is none that can be read."""
    try:
        fields = json.loads(file.read_bytes())
        space = Space(
            fields["name"], int(fields["dimension"]), float(fields["min_similarity"]), float(fields["spread"])
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return space if space.name == name and space.dimension > 0 and space.spread > 0 else None


def _write_space(file: Path, space: Space) -> None:
    """Remember a space. If the cache cannot be written, the next process measures again."""
    fields = {"name": space.name, "dimension": space.dimension}
    fields |= {"min_similarity": space.min_similarity, "spread": space.spread}
    with suppress(OSError):
        make_private(file.parent)
        atomic_write(file, json.dumps(fields).encode(), PRIVATE_MODE)
