"""Images: in-memory copies of namespaces, in which keyword search and vector search are quick.

Both searches read every row of a namespace. The database takes a hundred times as long for that as arrays in
memory. So each namespace that is searched gets an image: its columns (`columns.py`), its vectors (`vectors.py` exact,
`hnsw.py` when large) and its postings (`terms.py`). An image is derived and may be thrown away at any time; the
database is the truth. `cache.py` holds the images, `image.py` keeps one in step with the database.

An image reads the database through `ChunkSource`. It does not know SQL, embedding models or ranking.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from retentive.index.cache import Images
    from retentive.model import ChangedChunks

__all__ = [
    "HNSW_FROM",
    "MAX_IMAGE_ROWS",
    "MAX_TOKENIZED_ROWS",
    "MIN_IMAGES",
    "TERMS_FROM",
    "ChunkSource",
    "Images",
    "IndexRow",
    "TermPostings",
    "has_graphs",
    "open_images",
]

# Below this many rows the full-text index of the database is as quick: 0.1 ms for 200 memories. It searches the whole
# store, whatever the namespace: for one of 600 messages beside four others it took 1.6 ms, an image takes 0.25 ms.
TERMS_FROM = 200

# Up to this many rows the texts of a namespace are read and tokenised (70 us each), not the index of the whole store.
MAX_TOKENIZED_ROWS = 5000

# Up to here an exact scan takes at most 0.6 ms, and nothing approximate can be wrong.
HNSW_FROM = 20_000

# An image is dropped only if there are more than MIN_IMAGES and together they have more than MAX_IMAGE_ROWS rows. So
# many small ones stay: 50 namespaces of 20 to 20,000 rows, searched in turn, p95 511 -> 38 ms (on a busy machine).
# 160,000 rows with vectors and terms are about 300 MB.
MIN_IMAGES = 16
MAX_IMAGE_ROWS = 160_000


def __getattr__(name: str) -> Any:
    """Import `Images` when it is first named: importing this folder imports neither numpy nor usearch."""
    if name == "Images":
        from retentive.index.cache import Images

        return Images
    raise AttributeError(name)


def has_graphs() -> bool:
    """Whether usearch is installed, the library of graphs for large namespaces."""
    return find_spec("usearch") is not None


class IndexRow(NamedTuple):
    """An active chunk as an image sees it. A plain tuple of the same shape will do: rows are read by position."""

    chunk: int
    owner: str
    type: str
    """The type of the owner: a memory, an event."""
    session: str | None
    kind: str
    source: str
    importance: int
    confidence: float
    tags: str | None
    """A JSON array of strings, or None."""
    time: int
    """Microseconds."""
    expires: int | None
    vector: bytes | None
    """float16, little-endian, L2-normalised, of the space asked for. None: pending, or no space was asked for.
    A vector of another dimension, or that is no unit vector, counts as pending."""


TermPostings = tuple[str, str, str]
"""A term, and the chunks and the fields of its occurrences: both are numbers joined by commas, in the same order.
A field's number is its index."""


class ChunkSource(Protocol):
    """The database, as far as images read it.

    Changes: every commit that touches a chunk appends a change with a larger sequence number, in commit order. A
    change says only "read this chunk again": a follower reads the chunk's present state and makes the image the same.
    So reading newer state than the change meant is harmless, and so is doing it twice. Reaching an expiry is no change.
    Chunk numbers grow and are never given twice; a chunk may become active again.

    Threads: every method may be called from any thread, several at once. Errors: a `RetentiveError` is raised to the
    caller of a search; in background work it is kept, shown in `Images.stats()`, and the work is tried again.
    """

    def head(self) -> int:
        """The newest sequence ever, 0 if there was none; pruning does not lower it. Called at every search: 10 us."""
        ...

    def floor(self) -> int:
        """The newest sequence that may be missing from the log; all later changes are there."""
        ...

    def count(self, namespace: str) -> int:
        """The number of active chunks. Cheap; may be slightly off."""
        ...

    def rows(self, namespace: str, space: str | None) -> Iterable[tuple[Any, ...]]:
        """An `IndexRow` for each active chunk, by ascending number, each as it is at some moment after the call."""
        ...

    def rows_of(self, namespace: str, space: str | None, chunks: Sequence[int]) -> list[tuple[Any, ...]]:
        """An `IndexRow` for each of these chunks that is active, in any order. Called with at most 1000 chunks."""
        ...

    def list_changed(self, namespace: str, after: int, upto: int) -> ChangedChunks:
        """The chunks of a namespace with a change in (after, upto]."""
        ...

    def postings(self, namespace: str) -> Iterable[TermPostings]:
        """The postings of each term. Chunks that are not active, or of other namespaces, are ignored."""
        ...

    def fields(self, chunks: Sequence[int]) -> list[tuple[int, list[list[str]]]]:
        """The tokens of each field of each chunk, by the same tokenizer. Called with at most 1000 chunks."""
        ...


def open_images(
    source: ChunkSource,
    *,
    weights: Sequence[float],
    cache: Path | None = None,
    store_id: str = "",
    terms_from: int = TERMS_FROM,
    max_tokenized_rows: int = MAX_TOKENIZED_ROWS,
    hnsw_from: int = HNSW_FROM,
    min_images: int = MIN_IMAGES,
    max_rows: int = MAX_IMAGE_ROWS,
) -> Images:
    """Open the images of a store. `weights` are BM25's, one per field.

    `cache` is a folder for derived files (None: nothing is written), `store_id` marks them. Without usearch every
    vector is scanned, however many there are.
    """
    from retentive.index.cache import Images
    from retentive.index.image import ImageSettings

    settings = ImageSettings(
        source,
        field_weights=tuple(weights),
        cache_folder=cache,
        store_id=store_id,
        hnsw_from=hnsw_from if has_graphs() else sys.maxsize,
        max_tokenized_rows=max_tokenized_rows,
    )
    return Images(settings, terms_from=terms_from, min_images=min_images, max_rows=max_rows)
