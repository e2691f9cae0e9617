"""An embedder whose calls have a time limit, for models that are far away or slow.

The model is called in a thread. When the limit is over, the caller gets `PartlyEmbedded`, with the vectors so far. A
request without any answer goes on in its thread. While it does, other calls fail at once: a provider that hangs costs
its callers one wait, not one each. Work that nobody waits for, such as the backfill of vectors, runs inside
`without_time_limit()`.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from retentive.errors import EmbedError, PartlyEmbedded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed.measured_embedder import MeasuredEmbedder
    from retentive.model import Space

    Batches = Iterable[NDArray[np.float32]]

_has_no_limit = ContextVar("has_no_limit", default=False)


@contextmanager
def without_time_limit() -> Iterator[None]:
    """Let embedders take as long as they need inside the body."""
    token = _has_no_limit.set(True)
    try:
        yield
    finally:
        _has_no_limit.reset(token)


class TimeLimitEmbedder:
    """Wraps an embedder, and limits each call to so many seconds."""

    def __init__(self, inner: MeasuredEmbedder, seconds: float) -> None:
        self._inner, self._seconds = inner, seconds
        self._lock = threading.Lock()
        self._overdue: _Call | None = None

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if not texts or _has_no_limit.get():
            return self._inner.embed(texts)
        return np.concatenate(self._run(lambda: self._inner.embed_batches(texts)))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if _has_no_limit.get():
            return self._inner.embed_query(text)
        return self._run(lambda: [self._inner.embed_query(text)])[0]

    def describe(self) -> Mapping[str, str]:
        return self._inner.describe()

    def close(self) -> None:
        self._inner.close()

    def _run(self, embed: Callable[[], Batches]) -> Sequence[NDArray[np.float32]]:
        self._require_no_overdue_call()
        call = _Call(embed)
        if call.ended.wait(self._seconds):
            if call.error is None:
                return call.batches
            if not isinstance(call.error, EmbedError):
                raise call.error
            raise PartlyEmbedded(str(call.error), call.error.hint, vectors=call.take_rows()) from call.error
        rows = call.take_rows()
        if not rows:
            with self._lock:
                self._overdue = call
        raise PartlyEmbedded(f"{self.space.name} did not answer within {self._seconds:g} s", vectors=rows)

    def _require_no_overdue_call(self) -> None:
        with self._lock:
            call = self._overdue
        if call and not call.ended.is_set():
            waited = time.monotonic() - call.start_time
            raise EmbedError(f"{self.space.name} has not answered for {waited:.0f} s")


class _Call:
    """A call in a thread of its own, with its vectors so far."""

    def __init__(self, embed: Callable[[], Batches]) -> None:
        self.start_time = time.monotonic()
        self.ended = threading.Event()
        self.batches: list[NDArray[np.float32]] = []
        self.error: Exception | None = None
        self._is_cancelled = False
        threading.Thread(target=self._run, args=(embed,), name="retentive-embed", daemon=True).start()

    def take_rows(self) -> Sequence[NDArray[np.float32]]:
        """Return the vectors so far, and end the call after its current batch."""
        self._is_cancelled = True
        return [row for batch in [*self.batches] for row in batch]

    def _run(self, embed: Callable[[], Batches]) -> None:
        try:
            for batch in embed():
                self.batches.append(batch)
                if self._is_cancelled:
                    return
        except Exception as error:  # noqa: BLE001 - it is raised in the thread of the caller
            self.error = error
        finally:
            self.ended.set()
