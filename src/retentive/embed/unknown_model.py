"""Embedders whose models nobody here has measured: those of providers, and functions of a program.

The first use asks for the vectors of a few sentences of ours (`scale.py`). They tell the dimension and the scale, which
are remembered in the cache folder. Each answer is checked: as many vectors as texts, all of that dimension, finite, and
not zero. A store that has vectors of the model decides what its dimension is; vectors of another are an error, so
nothing is ever kept beside them that cannot be compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import uuid
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from retentive.embed.scale import QUESTIONS, TEXTS, estimate_scale
from retentive.errors import EmbedError, ModelUnfit
from retentive.fs.folders import make_private
from retentive.model import Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed import FindDimension

_REMEMBERED = 512  # vectors of queries
_UNMEASURED = 0.35  # the threshold until the scale is known, when there are no vectors to compare with it: MiniLM's


class Measured(ABC):
    """An `Embedder`. A subclass asks the model."""

    batch_size = 64

    def __init__(
        self, name: str, cache: Path, *, dimension: int | None = None, find_dimension: FindDimension | None = None
    ) -> None:
        """`dimension`: what the caller says it is. `find_dimension`: what a store says."""
        self._name = name
        self._file = cache / "spaces" / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"
        self._given = dimension
        self._find_dimension = find_dimension or (lambda _: None)
        self._lock = threading.Lock()
        self._space: Space | None = None
        self._is_confirmed = False
        """Whether the model has answered in this process, with vectors of the space's dimension."""
        self._query = lru_cache(_REMEMBERED)(self._embed_one)

    @property
    def space(self) -> Space:
        """The dimension is 0 while neither the cache nor the store nor the model itself has told it."""
        if self._space is None or not self._space.dimension:
            known = _read_space(self._file, self._name)
            required = self._given or self._find_dimension(self._name)
            if known and required in (None, known.dimension):
                self._space = known
            else:
                self._space = Space(self._name, required or 0, _UNMEASURED)
        return self._space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.zeros((0, self.space.dimension), np.float32)
        return np.concatenate([*self.embed_batches(texts)])

    def embed_batches(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """The vectors of the texts, a part of them after each request."""
        self._prepare()
        for start in range(0, len(texts), self.batch_size):
            yield self._checked(texts[start : start + self.batch_size], is_query=False)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._query(text)

    def close(self) -> None:
        self._query.cache_clear()

    @abstractmethod
    def describe(self) -> Mapping[str, str]: ...

    @abstractmethod
    def _ask(self, texts: Sequence[str], *, is_query: bool) -> Any:
        """What the model gives for these texts, in their order. `EmbedError` if it gives nothing."""

    def _embed_one(self, text: str) -> NDArray[np.float32]:
        self._prepare()
        vector: NDArray[np.float32] = self._checked([text], is_query=True)[0]
        vector.setflags(write=False)
        return vector

    def _prepare(self) -> None:
        """Measure the model, unless that was done before."""
        if self._is_confirmed:
            return
        with self._lock:
            if _read_space(self._file, self._name) != self.space:
                self._measure()

    def _measure(self) -> None:
        statements = self._unit(self._ask(TEXTS, is_query=False), len(TEXTS))
        questions = self._unit(self._ask(QUESTIONS, is_query=True), len(QUESTIONS))
        self._require_dimension(statements.shape[1])
        self._require_dimension(questions.shape[1])
        if statements.shape[1] != questions.shape[1]:
            raise EmbedError(f"{self._name} gave vectors of {statements.shape[1]} and of {questions.shape[1]} numbers")
        scale = estimate_scale(questions, statements)
        self._space = Space(self._name, statements.shape[1], *scale)
        self._is_confirmed = True
        _write_space(self._file, self._space)

    def _checked(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        vectors = self._unit(self._ask(texts, is_query=is_query), len(texts))
        if vectors.shape[1] == self.space.dimension:
            self._is_confirmed = True
            return vectors
        with self._lock:
            self._require_dimension(vectors.shape[1])
            if vectors.shape[1] != self.space.dimension:
                self._measure()  # what the cache remembers is of another model, of which the store has nothing
        return vectors

    def _require_dimension(self, dimension: int) -> None:
        """Refuse a dimension other than that of the vectors there are."""
        required = self.space.dimension if self._is_confirmed else self._given or self._find_dimension(self._name)
        if required and dimension != required:
            raise ModelUnfit(
                f"{self._name} gives vectors of {dimension} numbers, and those of the store have {required}",
                "Another model answers under this name. Serve the old one again, or name the new one otherwise.",
            )

    def _unit(self, given: Any, count: int) -> NDArray[np.float32]:
        """Float32 rows of length one, as many as there were texts."""
        import numpy as np

        try:
            vectors = np.asarray(given, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise EmbedError(f"{self._name} gave vectors that are no numbers, or of several lengths") from None
        if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:  # noqa: PLR2004 - rows and columns
            shape = " x ".join(map(str, vectors.shape))
            raise EmbedError(f"{self._name} gave an array of {shape} for {count} texts")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedError(f"{self._name} gave a vector that is not finite, or has only zeros")
        unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
        return unit


def _read_space(file: Path, name: str) -> Space | None:
    """What the cache remembers; None if that is nothing, or not to be read."""
    try:
        kept = json.loads(file.read_bytes())
        space = Space(kept["name"], int(kept["dimension"]), float(kept["min_similarity"]), float(kept["spread"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return space if space.name == name and space.dimension > 0 and space.spread > 0 else None


def _write_space(file: Path, space: Space) -> None:
    """Remember it. A cache that cannot be written is asked for nothing: the next process measures again."""
    kept = {"name": space.name, "dimension": space.dimension}
    kept |= {"min_similarity": space.min_similarity, "spread": space.spread}
    part = file.with_suffix(f".{uuid.uuid4().hex}.part")
    with suppress(OSError):
        make_private(file.parent)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as target:
            json.dump(kept, target)
        part.replace(file)
