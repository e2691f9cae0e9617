"""What engines that speak SQLite have in common: full text by FTS5, vectors by reading every row that may be seen."""

from collections.abc import Sequence
from typing import Any

from retentive.model import Bounds, Match, Matches, Scope, Space
from retentive.storage import Engine
from retentive.storage.namespace_guard import Fence
from retentive.storage.scopes import chunk_filters

MAX_STRAY = 0.1  # by which the squared length of a unit vector may differ from 1: rounding to float16 takes 0.001


class Scanning:
    """The three searches of `Engine`, by what it reads; and a fence around it, as the database has none."""

    def search_text(self: Engine, words: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        return text_search(self, words, scope, limit)

    def search_vectors(
        self: Engine, vector: Any, space: Space, scope: Scope, limit: int | None, floor: float | None
    ) -> list[Match]:
        return vector_scan(self, vector, space, scope, limit, floor)

    def search_both(
        self: Engine, words: Sequence[str], vector: Any, space: Space, scope: Scope, limit: int, floor: float | None
    ) -> Matches:
        text, near = self.search_text(words, scope, limit), self.search_vectors(vector, space, scope, limit, floor)
        return Matches(text, near, read_cosines(self, vector, space, scope.namespaces, [match.chunk for match in text]))

    def within(self: Engine, bounds: Bounds) -> Engine:
        return Fence(self, bounds)


def text_search(engine: Engine, words: Sequence[str], scope: Scope, limit: int) -> list[Match]:
    if not words:
        return []
    filters, params = chunk_filters(scope)
    match = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
    rows = engine.read("text_search", {**params, "match": match, "limit": limit}, filters)
    return [Match(*row) for row in rows]


def vector_scan(
    engine: Engine, vector: Any, space: Space, scope: Scope, limit: int | None, floor: float | None
) -> list[Match]:
    import numpy as np

    filters, params = chunk_filters(scope)
    rows = engine.read("chunk_scan", {**params, "space": space.name}, filters)
    rows = keep_unit_vectors(rows, 11, space.dimension)
    if not rows:
        return []
    matrix = np.frombuffer(b"".join(row[11] for row in rows), dtype="<f2").reshape(len(rows), -1)
    scores = (matrix.astype(np.float32) @ vector).clip(-1, 1).tolist()
    matches = [
        Match(row[0], score, row[1], row[2], row[9], row[7], row[6], row[12])
        for row, score in zip(rows, scores, strict=True)
        if floor is None or score >= floor
    ]
    matches.sort(key=lambda match: (-match.score, -match.time, -match.chunk))
    return matches[:limit]


def keep_unit_vectors(rows: Sequence[tuple[Any, ...]], column: int, dimension: int) -> list[tuple[Any, ...]]:
    """The rows whose vector is one of this space: of its size, finite, of length one."""
    import numpy as np

    rows = [row for row in rows if isinstance(row[column], bytes) and len(row[column]) == 2 * dimension]
    matrix = np.frombuffer(b"".join(row[column] for row in rows), dtype="<f2").reshape(len(rows), dimension)
    wide = matrix.astype(np.float32)
    squares = np.einsum("ij,ij->i", wide, wide)
    sound = np.abs(squares - 1) < MAX_STRAY  # false for what is no number
    return [row for row, is_sound in zip(rows, sound, strict=True) if is_sound]


def read_cosines(
    engine: Engine, vector: Any, space: Space, namespaces: Sequence[str], chunks: Sequence[int]
) -> dict[int, float]:
    """How near each of these chunks is to a vector, by what is stored; those without a vector are left out."""
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
