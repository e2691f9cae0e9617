"""The base of embedders that run on this machine: the first text loads the model."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from contextlib import contextmanager
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from retentive.errors import EmbedError
from retentive.frozen_dataclass import dataclass
from retentive.text.caches import text_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

    import numpy as np
    from numpy.typing import NDArray

    from retentive.model import Space

# Texts of unknown pieces have nearly the same vector (cosine .9 and more), whatever they mean.
_MAX_UNKNOWN_SHARE = 0.5
QUERY_CACHE_SIZE = 512  # vectors of queries, 1.5 KB each


class Encoder(Protocol):
    """A loaded model: an ONNX graph, or a table of vectors. Safe to use from many threads at once."""

    path: Path

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def measure_unknown_share(self, text: str) -> float:
        """Return the share of a text's word pieces that the model has never seen."""
        ...


Encoder_co = TypeVar("Encoder_co", bound=Encoder, covariant=True)


@dataclass(frozen=True, slots=True)
class LoadedModel(Generic[Encoder_co]):
    encoder: Encoder_co
    origin: str
    degraded: str = ""


class LocalEmbedder(ABC, Generic[Encoder_co]):
    """An `Embedder` of this machine. A subclass opens its model."""

    def __init__(self, *, query_prefix: str = "", document_prefix: str = "") -> None:
        self._prefixes = query_prefix, document_prefix
        self._loading = Lock()
        self._loaded: LoadedModel[Encoder_co] | None = None
        self._query = text_cache(QUERY_CACHE_SIZE)(self._embed_query)

    @property
    @abstractmethod
    def space(self) -> Space: ...

    @abstractmethod
    def _open(self) -> LoadedModel[Encoder_co]:
        """Load the model. Called by one thread at a time."""

    @abstractmethod
    def _describe_unloaded(self) -> Mapping[str, str]:
        """Describe the model that will be loaded: `graph`, `origin`, and `degraded` if none can be."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        _, prefix = self._prefixes
        return self._load().encoder.embed([prefix + text for text in texts] if prefix else texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._query(text)

    def describe(self) -> Mapping[str, str]:
        if loaded := self._loaded:
            state = {"loaded": "yes", "graph": str(loaded.encoder.path), "origin": loaded.origin}
            if loaded.degraded:
                state["degraded"] = loaded.degraded
        else:
            state = {"loaded": "no", **self._describe_unloaded()}
        return {"space": self.space.name, **state}

    def close(self) -> None:
        self._query.cache_clear()
        self._loaded = None

    def _load(self) -> LoadedModel[Encoder_co]:
        if loaded := self._loaded:
            return loaded
        with self._loading:
            with delay_interrupts():
                loaded = self._loaded or self._open_or_fail()
                self._loaded = loaded
            return loaded

    def _open_or_fail(self) -> LoadedModel[Encoder_co]:
        try:
            return self._open()
        except ImportError as error:  # installed, but not for this machine
            raise EmbedError(f"The model cannot be run here: {error}") from error
        except OSError as error:
            raise EmbedError(f"The model cannot be read: {error}") from error

    def _embed_query(self, text: str) -> NDArray[np.float32]:
        encoder, (prefix, _) = self._load().encoder, self._prefixes
        if encoder.measure_unknown_share(text) > _MAX_UNKNOWN_SHARE:
            raise EmbedError("the model knows none of the words of the question")
        vector: NDArray[np.float32] = encoder.embed([prefix + text])[0]
        vector.setflags(write=False)
        return vector


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Delay Ctrl-C until the body has ended: in the middle of an import it would leave half a library behind."""
    if current_thread() is not main_thread():
        yield
        return
    delayed: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: delayed.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    if delayed and callable(before):
        before(*delayed[0])
