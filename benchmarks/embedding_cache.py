"""Vectors that are kept between runs, so that a collection is embedded once and not each time its store is built."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from retentive import Retentive
from retentive.embed import Embedder
from retentive.model import Space


class CachedEmbedder:
    """An embedder that looks a text up in a file before it is embedded. Questions are embedded each time."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._file = apsw.Connection(str(path))
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    @property
    def space(self) -> Space:
        return self._embedder.space

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        known = {key: self._look_up(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if known[key] is None}
        if missing:
            vectors = self._embedder.embed([*missing.values()])
            known |= zip(missing, (vector.astype(np.float16).tobytes() for vector in vectors), strict=True)
            with self._file:
                self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", [(k, known[k]) for k in missing])
        rows = b"".join(known[key] or b"" for key in keys)
        return np.frombuffer(rows, np.float16).reshape(len(keys), -1).astype(np.float32)

    def _look_up(self, key: str) -> bytes | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE text = ?", (key,)).fetchone()
        return row[0] if row else None

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)

    def describe(self) -> Mapping[str, str]:
        return self._embedder.describe()

    def close(self) -> None:
        self._embedder.close()


def with_cached_embeddings(memory: Retentive, path: Path) -> Retentive:
    """The same store, with an embedder that keeps its vectors in a file."""
    parts = memory._store  # noqa: SLF001 - the interface takes no embedder of one's own
    if parts.embedder is None:
        return memory
    return Retentive(replace(parts, embedder=CachedEmbedder(parts.embedder, path)))
