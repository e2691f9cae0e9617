"""What does text mean? The seam between the store and a model that turns text into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from retentive.errors import BadConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retentive.config import Config
    from retentive.model import Space

__all__ = ["Embedder", "is_rebuilt", "open_configured", "open_embedder"]


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
    precision: str = "int8",
    pooling: str = "auto",
    hub: str = "https://huggingface.co",
) -> Embedder | None:
    """The embedder that the setting names, see `choice`. "none" gives None.

    The model itself is loaded by the first text. `wait` is for how many seconds a call may wait for that, as long as it
    takes if 0. A folder of one's own is examined here, the first time.
    """
    from retentive.embed.choice import Named, Placed, Provided, parse_choice

    model: Embedder
    match parse_choice(name):
        case None:
            return None
        case Named(entry) if not entry.graphs:
            from retentive.embed.hashing import Hashing

            return Hashing()
        case Named() if is_rebuilt(name, precision):
            from retentive.embed.minilm import MiniLM

            model = MiniLM(cache, model_path=model_path, threads=threads, download=download, hub=hub)
        case Named(entry):
            from retentive.embed.catalogued import Catalogued

            model = Catalogued(entry, cache, precision=precision, threads=threads, download=download, hub=hub)
        case Placed(path):
            from retentive.embed.own import OwnModel

            model = OwnModel(path, cache, precision=precision, pooling=pooling, threads=threads)
        case Provided(provider):
            raise BadConfig(
                f"There is no provider {provider!r} of embeddings.", "Choose a model of `retentive models`."
            )
    return _patient(model, wait)


def open_configured(
    settings: Config, name: str | None = None, *, wait: float = 0, download: bool | None = None
) -> Embedder | None:
    """The embedder that the settings ask for; `name` and `download` in place of theirs."""
    from pathlib import Path

    return open_embedder(
        name or settings.embedder,
        cache=Path(settings.cache).expanduser(),
        model_path=Path(settings.model_path).expanduser() if settings.model_path else None,
        threads=settings.threads or None,
        download=settings.download if download is None else download,
        wait=wait,
        precision=settings.precision,
        pooling=settings.pooling,
        hub=settings.hub_url,
    )


def is_rebuilt(name: str, precision: str) -> bool:
    """Whether the setting names the model that is rebuilt for speed: MiniLM in eight bits."""
    from retentive.embed.catalogue import INT8, MINILM
    from retentive.embed.choice import Named, parse_choice

    return parse_choice(name) == Named(MINILM) and precision == INT8


def _patient(model: Embedder, wait: float) -> Embedder:
    from retentive.embed.patient import Patient

    return Patient(model, wait) if wait else model
