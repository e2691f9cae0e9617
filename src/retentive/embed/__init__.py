"""What does text mean? The seam between the store and a model that turns text into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from retentive.errors import BadConfig
from retentive.providers.registry import is_provider_spec, parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retentive.model import Space

    FindDimension = Callable[[str], int | None]
    """The dimension of the vectors that a store has of a space; None if it has none."""

__all__ = ["CHOICES", "REMOTE_WAIT", "Embedder", "RemoteSettings", "open_embedder", "open_given"]

CHOICES = ("minilm", "hashing", "none")
REMOTE_WAIT = 5.0  # seconds that a call waits for a provider, unless set: a batch takes one, a hung server a minute


class Embedder(Protocol):
    """Turns texts into unit vectors of one `Space`.

    Guarantees: the same text gives the same vector, whatever else is in the call (to the last bits),
    in any thread and any process on the same machine; every vector is finite and of length 1; order is kept.
    Threads: every method may be called from any thread at any time; a model is loaded once, by the first to need it.
    Errors: `EmbedError` or a subclass, nothing else. A failed call changes nothing and may be repeated.
    Network: never, unless a download was asked for or a provider named when it was opened.
    Must not know: memories, namespaces, storage.
    """

    @property
    def space(self) -> Space:
        """Known without loading the model; of a provider's, the dimension is 0 until it has answered once."""
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


class RemoteSettings(NamedTuple):
    """How a provider is asked."""

    url: str = ""
    key: str = ""
    timeout: float = 60.0
    """Seconds for an answer: a server of one's own may have to load the model first."""
    on_usage: Callable[[int], None] | None = None
    """Hears of each answer how many tokens it cost."""


def open_embedder(
    name: str,
    *,
    cache: Path,
    model_path: Path | None = None,
    threads: int | None = None,
    download: bool = False,
    wait: float = 0,
    remote: RemoteSettings | None = None,
    find_dimension: FindDimension | None = None,
) -> Embedder | None:
    """Instant for every choice: the model is loaded, or its provider asked, by the first text. "none" gives None.

    `wait` is for how many seconds a call may wait for that; 0: as long as it takes, `REMOTE_WAIT` for a provider.
    `find_dimension` says what the store has of a space, for models whose dimension is not known here.
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
        case _ if is_provider_spec(name):
            from retentive.embed.hurried import Hurried
            from retentive.embed.remote import Remote

            served = Remote(parse_spec(name), remote or RemoteSettings(), cache, find_dimension)
            return Hurried(served, wait or REMOTE_WAIT)
        case _:
            raise BadConfig(f"There is no embedder {name!r}.", f"Choose one of: {', '.join(CHOICES)}, PROVIDER:MODEL.")


def open_given(given: Any, cache: Path, wait: float = 0, find_dimension: FindDimension | None = None) -> Embedder:
    """The embedder that a program gave: a function from texts to vectors, or an object that keeps to `Embedder`."""
    from retentive.embed.function import EmbedderFunction, FunctionModel, check_given
    from retentive.embed.hurried import Hurried

    checked = check_given(given)
    if not isinstance(checked, EmbedderFunction):
        return checked
    model = FunctionModel(checked, cache, find_dimension)
    return Hurried(model, wait) if wait else model
