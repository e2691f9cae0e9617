"""What does text mean? The seam between the store and a model that turns text into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from retentive.providers.registry import is_provider_spec, parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retentive.config import Config
    from retentive.model import Space

    FindDimension = Callable[[str], int | None]
    """The dimension of the vectors that a store has of a space; None if it has none."""

__all__ = [
    "REMOTE_WAIT", "Embedder", "RemoteSettings", "is_rebuilt", "open_configured", "open_embedder", "open_given",
]  # fmt: skip

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
    precision: str = "int8",
    pooling: str = "auto",
    hub: str = "https://huggingface.co",
    remote: RemoteSettings | None = None,
    find_dimension: FindDimension | None = None,
) -> Embedder | None:
    """The embedder that the setting names, see `choice`. "none" gives None.

    The model itself is loaded, or its provider asked, by the first text. `wait` is for how many seconds a call may wait
    for that; 0: as long as it takes, `REMOTE_WAIT` for a provider. A folder of one's own is examined here, the first
    time. `find_dimension` says what the store has of a space, for models whose dimension is not known here.
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
            from retentive.embed.folder_model import OwnModel

            model = OwnModel(path, cache, precision=precision, pooling=pooling, threads=threads)
        case Provided():
            from retentive.embed.remote import Remote
            from retentive.embed.time_limit import Hurried

            served = Remote(parse_spec(name), remote or RemoteSettings(), cache, find_dimension)
            return Hurried(served, wait or REMOTE_WAIT)
    return _patient(model, wait)


def open_configured(
    settings: Config,
    name: str | None = None,
    *,
    wait: float = 0,
    download: bool | None = None,
    find_dimension: FindDimension | None = None,
    on_usage: Callable[[int], None] | None = None,
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
        remote=_choose_remote(settings, name or settings.embedder, on_usage),
        find_dimension=find_dimension,
    )


def _choose_remote(settings: Config, name: str, on_usage: Callable[[int], None] | None) -> RemoteSettings | None:
    """How the provider of a model is asked. The address and the key that are set are for the provider that is set."""
    from retentive.config import find_provider_key

    if not is_provider_spec(name):
        return None
    chosen = settings.embedder
    is_set = not is_provider_spec(chosen) or parse_spec(chosen).provider == parse_spec(name).provider
    url, key = (settings.embedder_url, settings.embedder_key) if is_set else ("", "")
    return RemoteSettings(url, key or find_provider_key(name, url), settings.embedder_timeout, on_usage)


def open_given(given: Any, cache: Path, wait: float = 0, find_dimension: FindDimension | None = None) -> Embedder:
    """The embedder that a program gave: a function from texts to vectors, or an object that keeps to `Embedder`."""
    from retentive.embed.function import EmbedderFunction, FunctionModel, check_given
    from retentive.embed.time_limit import Hurried

    checked = check_given(given)
    if not isinstance(checked, EmbedderFunction):
        return checked
    model = FunctionModel(checked, cache, find_dimension)
    return Hurried(model, wait) if wait else model


def is_rebuilt(name: str, precision: str) -> bool:
    """Whether the setting names the model that is rebuilt for speed: MiniLM in eight bits."""
    from retentive.embed.catalogue import INT8, MINILM
    from retentive.embed.choice import Named, parse_choice

    return parse_choice(name) == Named(MINILM) and precision == INT8


def _patient(model: Embedder, wait: float) -> Embedder:
    from retentive.embed.background import Patient

    return Patient(model, wait) if wait else model
