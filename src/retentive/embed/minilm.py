"""all-MiniLM-L6-v2 on the processor, loaded by the first text."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING

from retentive.embed import models
from retentive.errors import EmbedError
from retentive.model import Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

    import numpy as np
    from numpy.typing import NDArray

# All texts of unknown pieces have nearly the same vector (cosine .9 and more), so it says nothing of what they mean.
_MOST_UNKNOWN = 0.5
_REMEMBERED = 512  # vectors of queries, 1.5 KB each


class MiniLM:
    space = Space("all-MiniLM-L6-v2", 384, 0.35)
    """The same for every graph of the model: their vectors agree by .985 and better."""

    def __init__(
        self, cache: Path, *, model_path: Path | None = None, threads: int | None = None, download: bool = False
    ) -> None:
        self._where = models.Where(cache, model_path, threads, download)
        self._loading = Lock()
        self._loaded: models.Loaded | None = None
        self._query = lru_cache(_REMEMBERED)(self._one)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._load().graph.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._query(text)

    def describe(self) -> Mapping[str, str]:
        if loaded := self._loaded:
            said = {"loaded": "yes", "graph": str(loaded.graph.path), "origin": loaded.origin}
            if loaded.degraded:
                said["degraded"] = loaded.degraded
        else:
            said = {"loaded": "no", **_expected(self._where)}
        return {"space": self.space.name, **said}

    def close(self) -> None:
        self._query.cache_clear()
        self._loaded = None

    def _load(self) -> models.Loaded:
        if loaded := self._loaded:
            return loaded
        with self._loading:
            with interrupts_waiting():
                loaded = self._loaded or _load(self._where)
                self._loaded = loaded
            return loaded

    def _one(self, text: str) -> NDArray[np.float32]:
        if self._load().graph.unknown(text) > _MOST_UNKNOWN:
            raise EmbedError("the model does not know the words of the question")
        vector: NDArray[np.float32] = self.embed([text])[0]
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


def _load(where: models.Where) -> models.Loaded:
    try:
        return models.load(where)
    except ImportError as error:  # installed, but not for this machine
        raise EmbedError(f"The model cannot be run here: {error}") from error


def _expected(where: models.Where) -> dict[str, str]:
    if where.path:
        return {"graph": str(where.path), "origin": "configured"}
    source = models.find_source(where)
    if cached := models.find_cached(where, source):
        return {"graph": str(cached), "origin": "rebuilt, from the cache"}
    if source:
        return {"graph": str(source.path), "origin": "as shipped; the first text rebuilds it"}
    if where.download:
        return {"graph": "", "origin": "the first text downloads it"}
    return {"graph": "", "origin": "", "degraded": "No embedding model is on this machine."}
