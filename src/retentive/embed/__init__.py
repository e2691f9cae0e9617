"""What does text mean? The seam between the store and a model that turns text into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from retentive.errors import BadConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retentive.model import Space

__all__ = ["CHOICES", "Embedder", "open_embedder"]

CHOICES = ("minilm", "hashing", "none")


class Embedder(Protocol):
    """Turns texts into unit vectors of one `Space`.

    Guarantees: the same text gives the same vector, whatever else is in the call (to the last bits),
    in any thread and any process on the same machine; every vector is finite and of length 1; order is kept.
    Threads: every method may be called from any thread at any time; a model is loaded once, by the first to need it.
    Errors: `EmbedError` or a subclass, nothing else. A failed call changes nothing and may be repeated.
    Network: never, unless a download was asked for when it was opened.
    Must not know: memories, namespaces, storage.
    """

    @property
    def space(self) -> Space:
        """Known without loading the model."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimension). No texts give (0, dimension)."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Shape (dimension,), read-only: the last few hundred are remembered."""
        ...

    def describe(self) -> Mapping[str, str]:
        """What is used, whether it is loaded, and under `degraded` what is not as it should be. Loads nothing."""
        ...

    def close(self) -> None:
        """Give the memory back. A later call loads again."""
        ...


def open_embedder(
    name: str,
    *,
    cache: Path,
    model_path: Path | None = None,
    threads: int | None = None,
    download: bool = False,
    wait: float = 0,
) -> Embedder | None:
    """Instant for every choice: the model itself is loaded by the first text. "none" gives None.

    `wait` is for how many seconds a call may wait for that, as long as it takes if 0.
    """
    match name:
        case "minilm":
            from retentive.embed.minilm import MiniLM
            from retentive.embed.patient import Patient

            model = MiniLM(cache, model_path=model_path, threads=threads, download=download)
            return Patient(model, wait) if wait else model
        case "hashing":
            from retentive.embed.hashing import Hashing

            return Hashing()
        case "none":
            return None
        case _:
            raise BadConfig(f"There is no embedder {name!r}.", f"Choose one of: {', '.join(CHOICES)}.")
