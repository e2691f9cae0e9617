"""An embedder that loads its model in the background, so that no call waits long for it."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from retentive.errors import EmbedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed import Embedder
    from retentive.model import Space


class BackgroundLoadEmbedder:
    """Wraps an embedder and calls it only when its model is loaded.

    Until then each call waits for at most `seconds`, then fails. A question is then answered by keyword search, and a
    memory is stored with its vector pending.
    """

    def __init__(self, inner: Embedder, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._lock = threading.Lock()
        self._loading: threading.Thread | None = None

    @property
    def space(self) -> Space:
        return self._inner.space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._wait_until_loaded()
        return self._inner.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self._wait_until_loaded()
        return self._inner.embed_query(text)

    def describe(self) -> Mapping[str, str]:
        return self._inner.describe()

    def close(self) -> None:
        self._inner.close()

    def _wait_until_loaded(self) -> None:
        with self._lock:
            if self._loading is None:
                self._loading = threading.Thread(target=self._load, name="retentive-model", daemon=True)
                self._loading.start()
        self._loading.join(self._seconds)
        if self._loading.is_alive():
            raise EmbedError("the model is still being loaded", "Retry in a moment; searches use keywords until then.")

    def _load(self) -> None:
        """Load the model. An error is dropped here: the call that waits meets it again in the inner embedder."""
        with suppress(EmbedError):
            self._inner.embed_query("")
