"""A model of one's own: any folder with an ONNX file or a table of vectors, and a tokenizer.

Nobody can say beforehand what its vectors should be. So those of a dozen texts are recorded at its first use, in the
cache folder, and compared at each later load: a runtime or a file that gives other vectors is noticed. The record also
keeps the hashes of the files, which name the space, so that opening a store hashes nothing again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from retentive.embed.catalogue import INT8, MINILM, PRECISIONS
from retentive.embed.checksum import hash_file, verify_file
from retentive.embed.folder import AUTO, POOLINGS, Contents, read_folder
from retentive.embed.local import Encoder, Loaded, Local
from retentive.errors import EmbedError, ModelMissing, ModelUnfit
from retentive.fs.folders import make_private
from retentive.model import Space

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_AGREES = 0.985  # as for MiniLM: another runtime's rounding stays above it, other weights or pooling do not
_CHANGED = (
    "If the change was meant, run `retentive models verify PATH --accept`, then `retentive reembed --model PATH`."
)


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a model of one's own."""

    space: str
    dimension: int
    hashes: tuple[str, ...]
    """Of its files, in the order of `Contents.files`."""
    stamps: tuple[tuple[int, int], ...]
    """Size and time of the files that were hashed: as long as these stay, the hashes do."""
    min_similarity: float = MINILM.space.min_similarity
    """MiniLM's, until the first use has shown the model's own; so is the spread."""
    spread: float = MINILM.space.spread
    vectors: str = ""
    """Of the known texts, as float16 in base64; empty until the first use."""


class OwnModel(Local[Encoder]):
    def __init__(
        self, path: Path, cache: Path, *, precision: str = INT8, pooling: str = AUTO, threads: int | None = None
    ) -> None:
        self._path, self._threads = path, threads
        self._record_path = find_record(path, cache, precision, pooling)
        self._problem: EmbedError | None = None
        self._contents, self._record = self._examine(precision, pooling)
        found = self._contents
        super().__init__(
            query_prefix=found.query_prefix if found else "", document_prefix=found.document_prefix if found else ""
        )

    @property
    def space(self) -> Space:
        known = self._record
        return Space(known.space, known.dimension, known.min_similarity, known.spread)

    @property
    def contents(self) -> Contents | None:
        """What the folder holds; None while it is away or damaged."""
        return self._contents

    @property
    def hashes(self) -> tuple[str, ...]:
        """Of the files of `contents`."""
        return self._record.hashes

    def _examine(self, precision: str, pooling: str) -> tuple[Contents | None, Record]:
        """What is there, and its record.

        A model that was here before keeps its space while its folder is away or damaged: the store can be opened.
        """
        known = read_record(self._record_path)
        try:
            contents = read_folder(self._path, precision, pooling)
            stamps = _stamps(contents)
            if known and known.stamps == stamps:
                return contents, known
            made = self._make_record(contents, stamps)
        except EmbedError as error:
            if known is None:
                raise
            self._problem = error
            return None, known
        if known and known.space == made.space:
            made = replace(known, stamps=stamps)
        write_record(self._record_path, made)
        return contents, made

    def _make_record(self, contents: Contents, stamps: tuple[tuple[int, int], ...]) -> Record:
        hashes = tuple(hash_file(file) for file in contents.files)
        dimension = contents.reading.dimension
        if dimension is None or contents.is_static:
            dimension = open_contents(contents, self._threads).dimension
        return Record(_name_space(self._path, contents, hashes), dimension, hashes, stamps)

    def _open(self) -> Loaded[Encoder]:
        if (contents := self._contents) is None:
            hint = "Put it back, or choose another embedder."
            if isinstance(self._problem, ModelUnfit):
                raise ModelUnfit(str(self._problem), hint)
            raise ModelMissing(f"There is no model at {self._path}.", hint)
        hint = "It was changed after the store was opened; open it again."
        with ExitStack() as verified:
            for file, sha256 in zip(contents.files, self._record.hashes, strict=True):
                verified.enter_context(verify_file(file, sha256, hint))
            graph = open_contents(contents, self._threads)
        self._record = self._check(graph, contents)
        pooling = "" if contents.is_static else f", {contents.reading.pooling} pooling"
        assumed = "" if contents.is_pooling_known or contents.is_static else " (assumed)"
        return Loaded(graph, f"a folder of your own{pooling}{assumed}")

    def _check(self, graph: Encoder, contents: Contents) -> Record:
        """Compare with the vectors that were recorded, or record them."""
        if self._record.vectors:
            found = compare(graph, self._record)
            if found < _AGREES:
                said = f"{self._path} gives other vectors than at its first use: they agree by {found:.2f} only."
                raise ModelUnfit(said, _CHANGED)
            return self._record
        record = measure(graph, self._record, contents)
        write_record(self._record_path, record)
        return record

    def _expect(self) -> Mapping[str, str]:
        if self._contents is None:
            return {"graph": "", "origin": "", "degraded": str(self._problem)}
        return {"graph": str(self._contents.weights), "origin": "a folder of your own"}


def open_contents(contents: Contents, threads: int | None) -> Any:
    if contents.is_static:
        from retentive.embed.static import Static

        return Static(
            contents.weights, vocabulary=contents.tokenizer, reading=replace(contents.reading, dimension=None)
        )
    from retentive.embed.graph import Graph

    return Graph(contents.weights, vocabulary=contents.tokenizer, threads=threads, reading=contents.reading)


def find_record(path: Path, cache: Path, precision: str, pooling: str) -> Path:
    key = "\n".join((str(path), precision, pooling))
    return cache / f"own-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def list_records(path: Path, cache: Path) -> list[Path]:
    """The records of a model that are there, for all settings."""
    chosen = ((precision, pooling) for precision in PRECISIONS for pooling in POOLINGS)
    places = (find_record(path, cache, *each) for each in chosen)
    return [place for place in places if place.is_file()]


def read_record(path: Path) -> Record | None:
    """The record, if there is one that can be read; else it is made again."""
    try:
        kept = json.loads(path.read_text("utf-8"))
        stamps = tuple((int(size), int(time)) for size, time in kept.pop("stamps"))
        return Record(**kept | {"hashes": tuple(kept["hashes"]), "stamps": stamps})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_record(path: Path, record: Record) -> None:
    """Without a place to keep it, the model is used all the same: it is examined anew each time."""
    with suppress(OSError):
        make_private(path.parent)
        half = path.with_name(f"{path.name}.{os.getpid()}.part")
        half.write_text(json.dumps(asdict(record)), "utf-8")
        half.replace(path)


def compare(graph: Encoder, record: Record) -> float:
    """The lowest cosine over the known texts."""
    import numpy as np

    from retentive.embed.verify import known

    kept = np.frombuffer(base64.b64decode(record.vectors), np.dtype("<f2")).astype(np.float32)
    found = graph.embed(known().texts)
    if kept.size != found.size:
        raise EmbedError("the record of the model has another shape")
    return float((found * kept.reshape(found.shape)).sum(axis=1).min())


def measure(graph: Encoder, record: Record, contents: Contents) -> Record:
    """Record the vectors of the known texts, and the model's scale."""
    from retentive.embed.scale import QUESTIONS, TEXTS, estimate_scale
    from retentive.embed.verify import known

    vectors = base64.b64encode(graph.embed(known().texts).astype("<f2").tobytes()).decode()
    questions = graph.embed([contents.query_prefix + question for question in QUESTIONS])
    scale = estimate_scale(questions, graph.embed([contents.document_prefix + text for text in TEXTS]))
    return replace(record, vectors=vectors, min_similarity=scale.min_similarity, spread=scale.spread)


def _stamps(contents: Contents) -> tuple[tuple[int, int], ...]:
    found = [file.stat() for file in contents.files]
    return tuple((each.st_size, each.st_mtime_ns) for each in found)


def _name_space(path: Path, contents: Contents, hashes: tuple[str, ...]) -> str:
    """The folder's name for people, and a hash of all that makes its vectors what they are."""
    reading = contents.reading
    parts = (*hashes, reading.pooling, reading.max_tokens, contents.query_prefix, contents.document_prefix)
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
    name = re.sub(r"[^\w.-]+", "-", path.stem if path.suffix == ".onnx" else path.name).strip("-") or "model"
    return f"{name[:60]}@{digest}"
