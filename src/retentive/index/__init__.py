"""Which rows are near? Images of the database, kept in process for speed.

Two legs of a search read every row of a namespace: cosine similarity and BM25. In the database that costs a hundred
times what it costs over arrays in memory, so each namespace that is asked gets an image: its facets (`rows.py`), its
vectors (`vectors.py` exact, `hnsw.py` when large) and its postings (`terms.py`). An image is derived and may be thrown
away at any time; the database is the truth. `images.py` keeps the images, `image.py` keeps one in step.

What an image needs of a database is `Source`. It does not know SQL, embedding models or ranking.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from retentive.index.cache import Images

__all__ = ["CAPACITY", "FEW", "HNSW_FROM", "ROOM", "TERMS_FROM", "Images", "Row", "Source", "has_graphs", "open_images"]

# Below this many rows the database's own full text is as quick: 0.1 ms for 200 memories. It searches the whole store,
# whatever the namespace: for one of 600 messages beside four of its like it took 1.6 ms, an image takes 0.25.
TERMS_FROM = 200

# Up to here the texts of a namespace are read and tokenised (70 us each) rather than the index of the whole store.
FEW = 5000

# Up to here an exact scan takes at most 0.6 ms, and nothing approximate can be wrong.
HNSW_FROM = 20_000

# Namespaces at a time, whatever their size; and rows at a time, so that of small ones many more stay: 50 namespaces of
# 20 to 20,000 rows, asked in turn, p95 511 -> 38 ms (on a busy machine). 160,000 rows with vectors and terms are about
# 300 MB.
CAPACITY = 16
ROOM = 160_000


def __getattr__(name: str) -> Any:
    """Give `Images` to whoever names it; importing this folder alone imports neither numpy nor usearch."""
    if name == "Images":
        from retentive.index.cache import Images

        return Images
    raise AttributeError(name)


def has_graphs() -> bool:
    """Whether usearch is installed, which large namespaces are searched with."""
    return find_spec("usearch") is not None


class Row(NamedTuple):
    """An active chunk as an image sees it. A plain tuple of the same shape will do: rows are read by position."""

    chunk: int
    owner: str
    type: str
    """What the owner is: a memory, an event."""
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
    One of another dimension, or that is no unit vector, is taken as pending."""


class Source(Protocol):
    """The database, as far as images read it.

    Changes. Every commit that touches a chunk appends a change with a larger sequence number, in commit order. A
    change says only "look again at this chunk": a follower reads the chunk's present state and makes the image the
    same, so reading newer state than the change meant is harmless, and so is doing it twice. Reaching an expiry is no
    change. Chunk numbers grow and are never given twice; a chunk may become active again.

    Threads: every method may be called from any thread, several at once. Errors: a `RetentiveError` goes through to
    whoever searched; in background work it is remembered, shown in `Images.stats()`, and the work is tried again.
    """

    def head(self) -> int:
        """The newest sequence ever, 0 when there was none; pruning does not lower it. Called at every search: 10 us."""
        ...

    def floor(self) -> int:
        """Changes up to and including this one may be missing from the log."""
        ...

    def count(self, namespace: str) -> int:
        """Active chunks. Cheap; may be slightly off."""
        ...

    def rows(self, namespace: str, space: str | None) -> Iterable[tuple[Any, ...]]:
        """A `Row` for each active chunk, by ascending number, each as it is at some moment after the call."""
        ...

    def rows_of(self, namespace: str, space: str | None, chunks: Sequence[int]) -> list[tuple[Any, ...]]:
        """A `Row` for each of these chunks that is active, in any order. At most 1000 are asked for at a time."""
        ...

    def changed(self, namespace: str, after: int, upto: int) -> list[int]:
        """The distinct chunks with a change in (after, upto]."""
        ...

    def postings(self, namespace: str) -> Iterable[tuple[str, str, str]]:
        """For each term: the term, its chunks and its fields, both as numbers joined by commas.

        One entry per occurrence, at the same place in both; a field is its index. Chunks that are not active, or of
        other namespaces, may be among them and are ignored.
        """
        ...

    def fields(self, chunks: Sequence[int]) -> list[tuple[int, list[list[str]]]]:
        """For each chunk, the tokens of each field, as the same tokenizer made them. At most 1000 at a time."""
        ...


def open_images(
    source: Source,
    *,
    weights: Sequence[float],
    cache: Path | None = None,
    store_id: str = "",
    terms_from: int = TERMS_FROM,
    few: int = FEW,
    hnsw_from: int = HNSW_FROM,
    capacity: int = CAPACITY,
    room: int = ROOM,
) -> Images:
    """The images of a store. `weights` are BM25's, one per field.

    `cache` is a folder for derived files (None: nothing is written), `store_id` tells whose they are. Without usearch
    every vector is looked at, however many there are.
    """
    from retentive.index.cache import Images

    return Images(
        source,
        weights=weights,
        cache=cache,
        store_id=store_id,
        terms_from=terms_from,
        few=few,
        hnsw_from=hnsw_from if has_graphs() else sys.maxsize,
        capacity=capacity,
        room=room,
    )
