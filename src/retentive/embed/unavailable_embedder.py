"""The embedder of a model that cannot be opened here: each call fails with the reason and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from retentive.errors import EmbedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from retentive.model import Space


class UnavailableEmbedder:
    def __init__(self, space: Space, reason: str, hint: str) -> None:
        self.space, self._reason, self._hint = space, reason, hint

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:  # noqa: ARG002 - it fails for any text
        self._fail()

    def embed_query(self, text: str) -> NDArray[np.float32]:  # noqa: ARG002 - it fails for any text
        self._fail()

    def describe(self) -> Mapping[str, str]:
        return {"space": self.space.name, "loaded": "no", "degraded": self._reason}

    def close(self) -> None:
        """Do nothing: nothing was opened."""

    def _fail(self) -> NoReturn:
        raise EmbedError(self._reason, self._hint)
