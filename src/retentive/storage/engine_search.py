"""The searches of engines with SQLite's dialect: keyword search with FTS5, vector search by scanning all rows.

Reading stored vectors and their cosines is for every engine.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from retentive.model import Bounds, Match, Matches, Scope, Space
from retentive.storage import Engine, Read
from retentive.storage.namespace_guard import NamespaceGuard
from retentive.storage.scopes import chunk_filters

T = TypeVar("T")

MAX_STRAY = 0.1  # by which the squared length of a unit vector may differ from 1: rounding to float16 takes 0.001


_VECTOR_COLUMN = 11  # of the rows of `chunk_scan`


class SqliteSearch:
    """The three searches of `Engine` on top of its `read`, and a `NamespaceGuard`: SQLite cannot restrict rows."""

    def search_text(self: Engine, words: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        return search_fts(self, words, scope, limit)

    def search_vectors(
        self: Engine, vector: Any, space: Space, scope: Scope, limit: int | None, min_score: float | None
    ) -> list[Match]:
        return scan_vectors(self, vector, space, scope, limit, min_score)

    def search_both(
        self: Engine, words: Sequence[str], vector: Any, space: Space, scope: Scope, limit: int, min_score: float | None
    ) -> Matches:
        text = self.search_text(words, scope, limit)
        near = self.search_vectors(vector, space, scope, limit, min_score)
        cosines = read_cosines(self, vector, space, scope.namespaces, [match.chunk for match in text])
        return Matches(text, near, cosines)

    def read_many(self: Engine, reads: Sequence[Read]) -> list[list[tuple[Any, ...]]]:
        return [self.read(*each) for each in reads]

    def together(self: Engine, works: Sequence[Callable[[Engine], T]]) -> list[T]:
        return [work(self) for work in works]

    def read_nearest(self: Engine, vector: Any, space: Space, scope: Scope, limit: int) -> list[tuple[Any, ...]]:
        raise NotImplementedError("images in memory answer this")

    def within(self: Engine, bounds: Bounds) -> Engine:
        return NamespaceGuard(self, bounds)


def search_fts(engine: Engine, words: Sequence[str], scope: Scope, limit: int) -> list[Match]:
    if not words:
        return []
    filters, params = chunk_filters(scope)
    match = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
    rows = engine.read("text_search", {**params, "match": match, "limit": limit}, filters)
    return [Match(*row) for row in rows]


def scan_vectors(
    engine: Engine, vector: Any, space: Space, scope: Scope, limit: int | None, min_score: float | None
) -> list[Match]:
    import numpy as np

    filters, params = chunk_filters(scope)
    rows = engine.read("chunk_scan", {**params, "space": space.name}, filters)
    rows = keep_unit_vectors(rows, _VECTOR_COLUMN, space.dimension)
    if not rows:
        return []
    matrix = np.frombuffer(b"".join(row[_VECTOR_COLUMN] for row in rows), dtype="<f2").reshape(len(rows), -1)
    scores = (matrix.astype(np.float32) @ vector).clip(-1, 1).tolist()
    matches = []
    for row, score in zip(rows, scores, strict=True):
        if min_score is None or score >= min_score:
            chunk, owner, type, _, _, _, importance, confidence, _, time, _, _, namespace = row
            matches.append(Match(chunk, score, owner, type, time, confidence, importance, namespace))
    matches.sort(key=lambda match: (-match.score, -match.time, -match.chunk))
    return matches[:limit]


def keep_unit_vectors(rows: Sequence[tuple[Any, ...]], column: int, dimension: int) -> list[tuple[Any, ...]]:
    """The rows with a valid vector of this space: of its size, finite, of length one."""
    import numpy as np

    rows = [row for row in rows if isinstance(row[column], bytes) and len(row[column]) == 2 * dimension]
    matrix = np.frombuffer(b"".join(row[column] for row in rows), dtype="<f2").reshape(len(rows), dimension)
    wide = matrix.astype(np.float32)
    squares = np.einsum("ij,ij->i", wide, wide)
    is_unit = np.abs(squares - 1) < MAX_STRAY  # false for NaN
    return [row for row, is_valid in zip(rows, is_unit, strict=True) if is_valid]


def read_cosines(
    engine: Engine, vector: Any, space: Space, namespaces: Sequence[str], chunks: Sequence[int]
) -> dict[int, float]:
    """The cosine of each of these chunks with a vector; chunks without a stored vector are left out."""
    import numpy as np

    if not chunks:
        return {}
    values = {"namespaces": [*namespaces], "chunks": [*chunks], "space": space.name}
    rows = keep_unit_vectors(engine.read("chunk_vectors", values), 1, space.dimension)
    if not rows:
        return {}
    matrix = np.frombuffer(b"".join(stored for _, stored in rows), dtype="<f2").reshape(len(rows), -1)
    cosines = (matrix.astype(np.float32) @ vector).clip(-1, 1).tolist()
    return dict(zip((chunk for chunk, _ in rows), cosines, strict=True))
