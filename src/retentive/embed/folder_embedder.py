"""The user's own model: a folder with an ONNX file or a table of vectors, and a tokenizer.

Its correct vectors are not known beforehand. So the vectors of a dozen texts are recorded in the cache folder at its
first use, and compared at each later load: a runtime or a file that gives other vectors is noticed. The record also
has the hashes of the files, which name the space, so that opening a store hashes nothing again.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from retentive.embed.catalogue import INT8, MINILM, PRECISIONS
from retentive.embed.checksum import hash_file, verify_file
from retentive.embed.local_embedder import Encoder, LoadedModel, LocalEmbedder
from retentive.embed.minilm_known_vectors import decode_vectors, encode_vectors, load_known_vectors
from retentive.embed.model_folder import AUTO, POOLINGS, ModelFiles, read_model_folder
from retentive.errors import EmbedError, ModelMissing, ModelUnfit
from retentive.frozen_dataclass import dataclass
from retentive.fs.atomic import PRIVATE_MODE, atomic_write
from retentive.fs.folders import make_private
from retentive.model import Space

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from retentive.embed.onnx_encoder import OnnxEncoder
    from retentive.embed.static_encoder import StaticEncoder

_MIN_COSINE = 0.985  # as for MiniLM: another runtime's rounding stays above it, other weights or pooling do not
_CHANGED_HINT = "If the change was intended, run `models.verify(PATH, accept=True)`, then `reembed(model=PATH)`."


@dataclass(frozen=True, slots=True)
class FolderRecord:
    """The facts about a user's own model that are remembered in the cache folder."""

    space: str
    dimension: int
    hashes: tuple[str, ...]
    """The hashes of the files, in the order of `ModelFiles.paths`."""
    stamps: tuple[tuple[int, int], ...]
    """Size and time of the hashed files. While these are the same, so are the hashes."""
    min_similarity: float = MINILM.space.min_similarity
    """MiniLM's until the first use has measured the model's own; the spread, too."""
    spread: float = MINILM.space.spread
    vectors: str = ""
    """The vectors of the known texts, as float16 in base64; empty until the first use."""


class FolderEmbedder(LocalEmbedder[Encoder]):
    def __init__(
        self, path: Path, cache: Path, *, precision: str = INT8, pooling: str = AUTO, threads: int | None = None
    ) -> None:
        self._path, self._threads = path, threads
        self._record_path = name_record(path, cache, precision, pooling)
        self._problem: EmbedError | None = None
        self._files, self._record = self._examine(precision, pooling)
        files = self._files
        super().__init__(
            query_prefix=files.query_prefix if files else "", document_prefix=files.document_prefix if files else ""
        )

    @property
    def space(self) -> Space:
        record = self._record
        return Space(record.space, record.dimension, record.min_similarity, record.spread)

    @property
    def files(self) -> ModelFiles | None:
        """The files in the folder; None while it is away or damaged."""
        return self._files

    @property
    def hashes(self) -> tuple[str, ...]:
        """The hashes of `files.paths`."""
        return self._record.hashes

    def _examine(self, precision: str, pooling: str) -> tuple[ModelFiles | None, FolderRecord]:
        """Return the files of the folder, and their record.

        If the folder is away or damaged, the space of an older record is kept, so that the store can be opened.
        """
        known = read_record(self._record_path)
        try:
            files = read_model_folder(self._path, precision, pooling)
            stamps = _stamp_files(files)
            if known and known.stamps == stamps:
                return files, known
            record = self._make_record(files, stamps)
        except EmbedError as error:
            if known is None:
                raise
            self._problem = error
            return None, known
        if known and known.space == record.space:
            record = replace(known, stamps=stamps)
        write_record(self._record_path, record)
        return files, record

    def _make_record(self, files: ModelFiles, stamps: tuple[tuple[int, int], ...]) -> FolderRecord:
        hashes = tuple(hash_file(path) for path in files.paths)
        dimension = files.options.dimension
        if dimension is None or files.is_static:
            dimension = _open_encoder(files, self._threads).dimension
        return FolderRecord(_name_space(self._path, files, hashes), dimension, hashes, stamps)

    def _open(self) -> LoadedModel[Encoder]:
        if (files := self._files) is None:
            hint = "Restore the file, or choose another embedder."
            if isinstance(self._problem, ModelUnfit):
                raise ModelUnfit(str(self._problem), hint)
            raise ModelMissing(f"There is no model at {self._path}.", hint)
        hint = "It was changed after the store was opened; open it again."
        with ExitStack() as verified_files:
            for path, sha256 in zip(files.paths, self._record.hashes, strict=True):
                verified_files.enter_context(verify_file(path, sha256, hint))
            encoder = _open_encoder(files, self._threads)
        self._record = self._compare_or_measure(encoder, files)
        pooling = "" if files.is_static else f", {files.options.pooling} pooling"
        assumed = "" if files.is_pooling_known or files.is_static else " (assumed)"
        return LoadedModel(encoder, f"a folder of your own{pooling}{assumed}")

    def _compare_or_measure(self, encoder: Encoder, files: ModelFiles) -> FolderRecord:
        """Compare the encoder with its recorded vectors; at the first use, record them."""
        if not self._record.vectors:
            record = measure_encoder(encoder, self._record, files)
            write_record(self._record_path, record)
            return record
        cosine = compare_encoder(encoder, self._record)
        if cosine < _MIN_COSINE:
            problem = f"{self._path} gives different vectors than at its first use: the cosine is only {cosine:.2f}."
            raise ModelUnfit(problem, _CHANGED_HINT)
        return self._record

    def _describe_unloaded(self) -> Mapping[str, str]:
        if self._files is None:
            return {"graph": "", "origin": "", "degraded": str(self._problem)}
        return {"graph": str(self._files.weights), "origin": "a folder of your own"}


def _open_encoder(files: ModelFiles, threads: int | None) -> OnnxEncoder | StaticEncoder:
    if files.is_static:
        from retentive.embed.static_encoder import StaticEncoder

        options = replace(files.options, dimension=None)
        return StaticEncoder(files.weights, vocabulary=files.tokenizer, options=options)
    from retentive.embed.onnx_encoder import OnnxEncoder

    return OnnxEncoder(files.weights, vocabulary=files.tokenizer, threads=threads, options=files.options)


def name_record(path: Path, cache: Path, precision: str, pooling: str) -> Path:
    """Return the path of the record of a model, for these settings."""
    key = "\n".join((str(path), precision, pooling))
    return cache / f"own-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def list_records(path: Path, cache: Path) -> list[Path]:
    """List the existing records of a model, for all settings."""
    settings = ((precision, pooling) for precision in PRECISIONS for pooling in POOLINGS)
    records = (name_record(path, cache, precision, pooling) for precision, pooling in settings)
    return [record for record in records if record.is_file()]


def read_record(path: Path) -> FolderRecord | None:
    """Read a record; None if it does not exist or cannot be read: it is then made again."""
    try:
        fields = json.loads(path.read_text("utf-8"))
        stamps = tuple((int(size), int(time)) for size, time in fields.pop("stamps"))
        return FolderRecord(**fields | {"hashes": tuple(fields["hashes"]), "stamps": stamps})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_record(path: Path, record: FolderRecord) -> None:
    """Write a record. If it cannot be written, the model is examined again at the next start."""
    with suppress(OSError):
        make_private(path.parent)
        atomic_write(path, json.dumps(asdict(record)).encode(), PRIVATE_MODE)


def compare_encoder(encoder: Encoder, record: FolderRecord) -> float:
    """Return the lowest cosine between new and recorded vectors of the known texts."""
    recorded = decode_vectors(record.vectors)
    vectors = encoder.embed(load_known_vectors().texts)
    if recorded.size != vectors.size:
        raise EmbedError("the record of the model has an unexpected form")
    return float((vectors * recorded.reshape(vectors.shape)).sum(axis=1).min())


def measure_encoder(encoder: Encoder, record: FolderRecord, files: ModelFiles) -> FolderRecord:
    """Add the vectors of the known texts, and the model's scale, to a record."""
    from retentive.embed.similarity_scale import SAMPLE_QUESTIONS, SAMPLE_TEXTS, estimate_scale

    vectors = encode_vectors(encoder.embed(load_known_vectors().texts))
    questions = encoder.embed([files.query_prefix + question for question in SAMPLE_QUESTIONS])
    texts = encoder.embed([files.document_prefix + text for text in SAMPLE_TEXTS])
    scale = estimate_scale(questions, texts)
    return replace(record, vectors=vectors, min_similarity=scale.min_similarity, spread=scale.spread)


def _stamp_files(files: ModelFiles) -> tuple[tuple[int, int], ...]:
    states = [path.stat() for path in files.paths]
    return tuple((state.st_size, state.st_mtime_ns) for state in states)


def _name_space(path: Path, files: ModelFiles, hashes: tuple[str, ...]) -> str:
    """Name a space: the folder's name for people, and a hash of everything that its vectors depend on."""
    options = files.options
    parts = (*hashes, options.pooling, options.max_tokens, files.query_prefix, files.document_prefix)
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
    name = re.sub(r"[^\w.-]+", "-", path.stem if path.suffix == ".onnx" else path.name).strip("-") or "model"
    return f"{name[:60]}@{digest}"
