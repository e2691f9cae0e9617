"""An embedder that lets nobody wait longer than they said, though its model is far away or slow.

The model is asked in a thread; after so many seconds the caller goes on without. What came until then is not lost:
`PartlyEmbedded` has it. A request that got no answer at all in this time goes on, and while it does, other calls fail
at once, so a provider that hangs costs its callers one wait and not one each. Work that nobody waits for, such as
filling in vectors, is done inside `background()`, and has as much time as the model takes.
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

    from retentive.embed.unknown_model import Measured
    from retentive.model import Space

    Batches = Iterable[NDArray[np.float32]]

_in_background = ContextVar("in_background", default=False)


@contextmanager
def background() -> Iterator[None]:
    """Let embedders take as long as they need: nobody waits."""
    token = _in_background.set(True)
    try:
        yield
    finally:
        _in_background.reset(token)


class Hurried:
    """Another embedder, asked for no longer than so many seconds a call."""

    def __init__(self, inner: Measured, seconds: float) -> None:
        self._inner, self._seconds = inner, seconds
        self._lock = threading.Lock()
        self._overdue: _Call | None = None

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if not texts or _in_background.get():
            return self._inner.embed(texts)
        return np.concatenate(self._run(lambda: self._inner.embed_batches(texts)))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if _in_background.get():
            return self._inner.embed_query(text)
        return self._run(lambda: [self._inner.embed_query(text)])[0]

    def describe(self) -> Mapping[str, str]:
        return self._inner.describe()

    def close(self) -> None:
        self._inner.close()

    def _run(self, ask: Callable[[], Batches]) -> Sequence[NDArray[np.float32]]:
        self._refuse_while_overdue()
        call = _Call(ask)
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

    def _refuse_while_overdue(self) -> None:
        with self._lock:
            call = self._overdue
        if call and not call.ended.is_set():
            waited = time.monotonic() - call.begun
            raise EmbedError(f"{self.space.name} has not answered for {waited:.0f} s")


class _Call:
    """What a thread asks, and what came of it so far."""

    def __init__(self, ask: Callable[[], Batches]) -> None:
        self.begun = time.monotonic()
        self.ended = threading.Event()
        self.batches: list[NDArray[np.float32]] = []
        self.error: Exception | None = None
        self._is_given_up = False
        threading.Thread(target=self._run, args=(ask,), name="retentive-embed", daemon=True).start()

    def take_rows(self) -> Sequence[NDArray[np.float32]]:
        """The vectors so far. Nothing more is asked."""
        self._is_given_up = True
        return [row for batch in [*self.batches] for row in batch]

    def _run(self, ask: Callable[[], Batches]) -> None:
        try:
            for batch in ask():
                self.batches.append(batch)
                if self._is_given_up:
                    return
        except Exception as error:  # noqa: BLE001 - it is raised in the thread of the caller
            self.error = error
        finally:
            self.ended.set()
