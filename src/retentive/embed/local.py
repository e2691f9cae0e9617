"""Embedders that run on this machine: the model is loaded by the first text that needs it."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from retentive.errors import EmbedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

    import numpy as np
    from numpy.typing import NDArray

    from retentive.model import Space

# All texts of unknown pieces have nearly the same vector (cosine .9 and more), so it says nothing of what they mean.
_MOST_UNKNOWN = 0.5
_REMEMBERED = 512  # vectors of queries, 1.5 KB each


class Encoder(Protocol):
    """What is loaded: a graph, or a table of vectors. Safe to use from many threads at once."""

    path: Path

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def unknown(self, text: str) -> float:
        """The share of a text's word pieces that the model has never seen."""
        ...


Encoder_co = TypeVar("Encoder_co", bound=Encoder, covariant=True)


@dataclass(frozen=True, slots=True)
class Loaded(Generic[Encoder_co]):
    graph: Encoder_co
    origin: str
    degraded: str = ""


class Local(ABC, Generic[Encoder_co]):
    """An `Embedder` of this machine. A subclass says how its model is opened."""

    def __init__(self, *, query_prefix: str = "", document_prefix: str = "") -> None:
        self._prefixes = query_prefix, document_prefix
        self._loading = Lock()
        self._loaded: Loaded[Encoder_co] | None = None
        self._query = lru_cache(_REMEMBERED)(self._embed_query)

    @property
    @abstractmethod
    def space(self) -> Space: ...

    @abstractmethod
    def _open(self) -> Loaded[Encoder_co]:
        """Load the model. Called by one thread at a time."""

    @abstractmethod
    def _expect(self) -> Mapping[str, str]:
        """What `describe` says before the model is loaded: `graph`, `origin`, and `degraded` if none can be loaded."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        _, prefix = self._prefixes
        return self._load().graph.embed([prefix + text for text in texts] if prefix else texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._query(text)

    def describe(self) -> Mapping[str, str]:
        if loaded := self._loaded:
            said = {"loaded": "yes", "graph": str(loaded.graph.path), "origin": loaded.origin}
            if loaded.degraded:
                said["degraded"] = loaded.degraded
        else:
            said = {"loaded": "no", **self._expect()}
        return {"space": self.space.name, **said}

    def close(self) -> None:
        self._query.cache_clear()
        self._loaded = None

    def _load(self) -> Loaded[Encoder_co]:
        if loaded := self._loaded:
            return loaded
        with self._loading:
            with interrupts_waiting():
                loaded = self._loaded or self._open_here()
                self._loaded = loaded
            return loaded

    def _open_here(self) -> Loaded[Encoder_co]:
        try:
            return self._open()
        except ImportError as error:  # installed, but not for this machine
            raise EmbedError(f"The model cannot be run here: {error}") from error
        except OSError as error:
            raise EmbedError(f"The model cannot be read: {error}") from error

    def _embed_query(self, text: str) -> NDArray[np.float32]:
        graph, (prefix, _) = self._load().graph, self._prefixes
        if graph.unknown(text) > _MOST_UNKNOWN:
            raise EmbedError("the model does not know the words of the question")
        vector: NDArray[np.float32] = graph.embed([prefix + text])[0]
        vector.setflags(write=False)
        return vector


@contextmanager
def interrupts_waiting() -> Iterator[None]:
    """Ctrl-C in the middle of an import leaves half a library behind; it is heard when the load is done."""
    if current_thread() is not main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    if came and callable(before):
        before(*came[0])
