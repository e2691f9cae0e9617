"""An embedder that loads in the background, and lets nobody wait longer than they said."""

from __future__ import annotations

import atexit
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from retentive.errors import EmbedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed import Embedder
    from retentive.model import Space

LEAVE_SECONDS = 10.0  # that the end waits for a model at the most: loading takes 0.2, its first rebuilding about 10


class Patient:
    """Another embedder, asked only once it is loaded.

    Until then a call waits so many seconds, then fails: a question is answered from full text, a memory kept with its
    vector pending.
    """

    def __init__(self, inner: Embedder, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._state = threading.Condition()
        self._loading: threading.Thread | None = None
        self._calls = 0
        self._closed = False

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._wait()
        with self._call():
            return self._inner.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self._wait()
        with self._call():
            return self._inner.embed_query(text)

    def describe(self) -> Mapping[str, str]:
        return self._inner.describe()

    def close(self) -> None:
        """An interpreter that ends while a thread is inside the model's C++ aborts, so what is begun is waited for."""
        with self._state:
            self._closed = True
            self._state.wait_for(lambda: not self._calls, LEAVE_SECONDS)
        self._inner.close()

    def _wait(self) -> None:
        with self._state:
            if self._loading is None:
                self._loading = threading.Thread(target=self._load, name="retentive-model", daemon=True)
                atexit.register(self.close)  # for those who do not close
                self._loading.start()
        self._loading.join(self._seconds)
        if self._loading.is_alive():
            raise EmbedError("the model is still being loaded", "Ask again in a moment; full text answers meanwhile.")

    def _load(self) -> None:
        """What fails here fails again, and is told, when the embedder itself is asked."""
        with suppress(EmbedError), self._call():
            self._inner.embed_query("")
        atexit.unregister(self.close)

    @contextmanager
    def _call(self) -> Iterator[None]:
        with self._state:
            if self._closed:
                raise EmbedError("the model is closed")
            self._calls += 1
        try:
            yield
        finally:
            with self._state:
                self._calls -= 1
                self._state.notify_all()
