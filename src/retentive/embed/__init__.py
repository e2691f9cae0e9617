"""What does a text mean? The seam between a store and a model that turns texts into vectors.

Each `*_embedder.py` is one kind of embedder. `catalogue.py` is the table of known models, `embedder_setting.py` parses
the setting `embedder`. `onnx_encoder.py` and `static_encoder.py` run a model that is loaded.
"""

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
    """Finds the dimension of the vectors that a store has of a space; None if it has none."""

__all__ = [
    "PROVIDER_WAIT_SECONDS", "Embedder", "ProviderSettings", "is_int8_minilm", "open_configured", "open_embedder",
    "wrap_embedder",
]  # fmt: skip

PROVIDER_WAIT_SECONDS = 5.0  # the default of `wait`: a batch takes one second, a hung server a minute


class Embedder(Protocol):
    """Turns texts into unit vectors of one `Space`.

    Guarantees: the same text gives the same vector, whatever else is in the call (to the last bits),
    in any thread and any process on the same machine; every vector is finite and of length 1; order is kept.
    Threads: every method may be called from any thread at any time; a model is loaded once, by the first call.
    Errors: `EmbedError` or a subclass, nothing else. A failed call changes nothing and may be repeated.
    Network: none, unless a download or a provider was asked for when it was opened.
    Must not know: memories, namespaces, storage.
    """

    @property
    def space(self) -> Space:
        """Known without loading the model. The dimension of a provider's model is 0 until its first answer."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array of the shape (len(texts), dimension), also for no texts."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a read-only array of the shape (dimension,). The last few hundred are cached."""
        ...

    def describe(self) -> Mapping[str, str]:
        """Describe the model, whether it is loaded, and under `degraded` any problem. Loads nothing."""
        ...

    def close(self) -> None:
        """Free the memory. A later call loads again."""
        ...


class ProviderSettings(NamedTuple):
    """How a provider is called."""

    url: str = ""
    key: str = ""
    timeout: float = 60.0
    """Seconds for an answer: a local server may have to load the model first."""
    on_usage: Callable[[int], None] | None = None
    """Called with the number of tokens of each answer."""


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
    provider: ProviderSettings | None = None,
    find_dimension: FindDimension | None = None,
) -> Embedder | None:
    """Open the embedder that the setting names (see `embedder_setting`); None for "none".

    The first text loads the model, or calls its provider. `wait` limits the seconds that a call waits for that. 0 means
    no limit, and `PROVIDER_WAIT_SECONDS` for a provider. A folder of the user is examined here, the first time.
    `find_dimension` finds the dimension in the store, for models whose dimension is not known beforehand.
    """
    from retentive.embed.embedder_setting import CatalogueChoice, FolderChoice, ProviderChoice, parse_embedder_setting

    model: Embedder
    match parse_embedder_setting(name):
        case None:
            return None
        case CatalogueChoice(entry) if not entry.graphs:
            from retentive.embed.hashing_embedder import HashingEmbedder

            return HashingEmbedder()
        case CatalogueChoice() if is_int8_minilm(name, precision):
            from retentive.embed.minilm_embedder import MiniLMEmbedder

            model = MiniLMEmbedder(cache, model_path=model_path, threads=threads, download=download, hub=hub)
        case CatalogueChoice(entry):
            from retentive.embed.catalogue_embedder import CatalogueEmbedder

            model = CatalogueEmbedder(entry, cache, precision=precision, threads=threads, download=download, hub=hub)
        case FolderChoice(path):
            from retentive.embed.folder_embedder import FolderEmbedder

            model = FolderEmbedder(path, cache, precision=precision, pooling=pooling, threads=threads)
        case ProviderChoice():
            from retentive.embed.provider_embedder import ProviderEmbedder
            from retentive.embed.time_limit import TimeLimitEmbedder

            served = ProviderEmbedder(parse_spec(name), provider or ProviderSettings(), cache, find_dimension)
            return TimeLimitEmbedder(served, wait or PROVIDER_WAIT_SECONDS)
    if not wait:
        return model
    from retentive.embed.background_load import BackgroundLoadEmbedder

    return BackgroundLoadEmbedder(model, wait)


def open_configured(
    settings: Config,
    name: str | None = None,
    *,
    wait: float = 0,
    download: bool | None = None,
    find_dimension: FindDimension | None = None,
    on_usage: Callable[[int], None] | None = None,
) -> Embedder | None:
    """Open the embedder of the settings; `name` and `download` override them."""
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
        provider=_choose_provider_settings(settings, name or settings.embedder, on_usage),
        find_dimension=find_dimension,
    )


def _choose_provider_settings(
    settings: Config, name: str, on_usage: Callable[[int], None] | None
) -> ProviderSettings | None:
    """Choose address and key for a model. Those in the settings are for the provider in the settings only."""
    from retentive.config import find_provider_key

    if not is_provider_spec(name):
        return None
    configured = settings.embedder
    is_same_provider = not is_provider_spec(configured) or parse_spec(configured).provider == parse_spec(name).provider
    url, key = (settings.embedder_url, settings.embedder_key) if is_same_provider else ("", "")
    return ProviderSettings(url, key or find_provider_key(name, url), settings.embedder_timeout, on_usage)


def wrap_embedder(given: Any, cache: Path, wait: float = 0, find_dimension: FindDimension | None = None) -> Embedder:
    """Make an embedder of a function from texts to vectors. An object that implements `Embedder` is returned."""
    from retentive.embed.callable_embedder import CallableEmbedder, EmbedderFunction, parse_embedder
    from retentive.embed.time_limit import TimeLimitEmbedder

    parsed = parse_embedder(given)
    if not isinstance(parsed, EmbedderFunction):
        return parsed
    model = CallableEmbedder(parsed, cache, find_dimension)
    return TimeLimitEmbedder(model, wait) if wait else model


def is_int8_minilm(name: str, precision: str) -> bool:
    """Whether the setting names MiniLM in eight bits, which is rebuilt for speed."""
    from retentive.embed.catalogue import INT8, MINILM
    from retentive.embed.embedder_setting import CatalogueChoice, parse_embedder_setting

    return parse_embedder_setting(name) == CatalogueChoice(MINILM) and precision == INT8
