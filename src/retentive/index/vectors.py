"""The vectors of a namespace in one space, and the search for those near a question.

    flat   exact: a float16 matrix, and its codes (`quantized.py`) for a first scan
    graph  approximate: an HNSW (`hnsw.py`), once there are many; the flat part then holds only what is newer

Measured with 384 dimensions: flat 0.25 ms at 10,000 rows, 3 ms at 100,000; graph 0.3 ms at 100,000 with every one of
the ten nearest found, but 30 s to build. So flat answers at once, the graph is built in the background from it and
takes over. A new row always goes to the flat part and is folded into the graph later, a few at a time: inserting into
a graph costs 0.4 ms, appending to a matrix 2 us.

Filters are applied during the search, not after it. Flat scores all rows and drops those that the filter does not
allow. The graph cannot filter: it is asked for more rows than wanted, and for more again, until enough of them are
allowed, or until scoring each allowed row is cheaper. Asking once and filtering afterwards would find nothing if few
rows are allowed.

Scores are always the float32 cosine with the stored float16 vector: rows that codes and graph find are scored again.
"""

from collections.abc import Sequence

import numpy as np

from retentive.index.arrays import TIE, Doubles, Floats, Halves, Ints, Mask, grow, select_best, split_batches, widen
from retentive.index.columns import AnyRow, Rows
from retentive.index.hnsw import Hnsw
from retentive.index.quantized import Codes

# A vector of length 1, rounded to float16, has a smaller squared length than this.
_MAX_SQUARED_NORM = 1.1

# Below every cosine, exact or rough. Rows that are masked out have -inf.
_NO_MIN_SCORE = -3.0

# Fewer rows than this are scored at once, without a first scan of the codes.
_SCAN_FROM = 500

# The graph is asked for this much more than the share of allowed rows suggests, then for this many times more.
_OVERFETCH_FACTOR = 1.5
_OVERFETCH_GROWTH = 4

# Finding a row in the graph and scoring it costs as much as scoring four in a scan (4 us and 0.9 us at 100,000). If
# more than one row of eight has to be found, the searches that failed before and the last one cost more than a scan.
_MAX_FOUND_DIVISOR = 8

# Rows scored at once when they must be copied out of the graph: 6 MB of float32 at 384 dimensions.
_EXACT_BATCH = 4096


def decode_vectors(rows: Sequence[AnyRow], dimension: int) -> tuple[Ints, Halves]:
    """Decode the vectors of rows. Returns the indexes of the rows that have a usable vector, and these vectors."""
    size = 2 * dimension
    usable = [i for i, row in enumerate(rows) if row[-1] is not None and len(row[-1]) == size]
    data = b"".join(rows[i][-1] for i in usable)
    vectors = np.frombuffer(data, np.float16).reshape(-1, dimension)
    indexes = np.array(usable, np.int64)
    # A vector that is too long is damaged, and must not be near everything.
    wide = widen(vectors)
    sane = np.einsum("ij,ij->i", wide, wide) < _MAX_SQUARED_NORM
    return (indexes, vectors) if sane.all() else (indexes[sane], vectors[sane])


def compute_cosines(vectors: Floats, query: Floats) -> Floats:
    """The cosine of every row. `vecdot` stays on one core."""
    scores: Floats = np.vecdot(vectors, query)
    return scores


class Flat:
    """Exact search of a dense matrix. Its rows are in no order: the last one fills the gap of a removed one.

    A position is that of a row in `Rows`; an offset is that of its vector in the matrix.
    """

    def __init__(self, dimension: int) -> None:
        self._matrix: Halves = np.empty((0, dimension), np.float16)
        self._codes = Codes(dimension)
        self._positions: Ints = np.empty(0, np.int64)
        self._offsets: Ints = np.empty(0, np.int64)
        """By position; -1 for none."""
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def bytes(self) -> int:
        return int(self._matrix.nbytes + self._codes.bytes + self._positions.nbytes + self._offsets.nbytes)

    @property
    def positions(self) -> Ints:
        return self._positions[: self._used]

    def reserve(self, count: int) -> None:
        self._matrix = grow(self._matrix, count, self._used)
        self._codes.reserve(count, self._used)
        self._positions = grow(self._positions, count, self._used)

    def put(self, positions: Ints, vectors: Halves) -> None:
        if not len(positions):
            return
        self._reserve_offsets(int(positions.max()) + 1)
        offsets = self._offsets[positions]
        new = np.flatnonzero(offsets < 0)
        end = self._used + len(new)
        self.reserve(end)
        offsets[new] = np.arange(self._used, end)
        self._positions[offsets] = positions
        self._offsets[positions] = offsets
        self._matrix[offsets] = vectors
        self._codes.put(offsets, widen(vectors))
        self._used = end

    def remove(self, positions: Ints) -> None:
        for position in positions[positions < len(self._offsets)].tolist():
            offset = int(self._offsets[position])
            if offset >= 0:
                self._used = last = self._used - 1
                self._matrix[offset] = self._matrix[last]
                self._codes.move(last, offset)
                self._positions[offset] = moved = self._positions[last]
                self._offsets[moved] = offset
                self._offsets[position] = -1

    def fetch(self, positions: Ints) -> tuple[Mask, Floats]:
        """Mask the positions that are here, and return their vectors."""
        offsets = np.full(len(positions), -1)
        known = positions < len(self._offsets)
        offsets[known] = self._offsets[positions[known]]
        return offsets >= 0, widen(self._matrix[offsets[offsets >= 0]])

    def search(self, query: Floats, mask: Mask | None, limit: int | None, min_score: float) -> tuple[Ints, Floats]:
        """Positions and scores of the best of each part, with ties of the last. The caller sorts and cuts."""
        found = self._find_likely(query, mask, limit, min_score)
        scores = compute_cosines(widen(self._matrix[found]), query)
        kept = select_best(scores, limit, min_score)
        return self._positions[found[kept]], scores[kept]

    def _find_likely(self, query: Floats, mask: Mask | None, limit: int | None, min_score: float) -> Ints:
        """The offsets that may be among the best."""
        allowed = None if mask is None else mask[self.positions]
        count = self._used if allowed is None else int(np.count_nonzero(allowed))
        if count < _SCAN_FROM:
            return np.arange(self._used) if allowed is None else np.flatnonzero(allowed)
        rough, margin = self._codes.scan(query, self._used)
        if allowed is not None:
            rough[~allowed] = -np.inf
        return select_best(rough, limit, min_score - margin, 2 * margin)

    def renumber(self, new_positions: Ints) -> None:
        """Take over new positions, given by the old ones."""
        positions = new_positions[self.positions]
        self._positions[: self._used] = positions
        self._offsets = np.full(int(positions.max(initial=-1)) + 1, -1)
        self._offsets[positions] = np.arange(self._used)

    def _reserve_offsets(self, count: int) -> None:
        covered = len(self._offsets)
        self._offsets = grow(self._offsets, count, covered)
        self._offsets[covered:] = -1


class Vectors:
    """Flat and graph together. Not for two threads at once: the caller holds the image's lock."""

    def __init__(self, rows: Rows, dimension: int) -> None:
        self._rows = rows
        self.dimension = dimension
        self.flat = Flat(dimension)
        self.graph: Hnsw | None = None
        self._changed_chunks: set[int] | None = None
        """The chunks that changed while a graph is being built; None if none is."""

    def __len__(self) -> int:
        return len(self.flat) + (len(self.graph) if self.graph is not None else 0)

    @property
    def bytes(self) -> int:
        return self.flat.bytes + (self.graph.bytes if self.graph is not None else 0)

    def put(self, positions: Ints, rows: Sequence[AnyRow]) -> None:
        """Set the vectors of rows; a row without one loses the one it had."""
        usable, vectors = decode_vectors(rows, self.dimension)
        if len(usable) < len(rows):
            pending = np.delete(positions, usable)
            self.remove(self._rows.chunk[pending], pending)
        positions = positions[usable]
        chunks = self._rows.chunk[positions]
        if self._changed_chunks is not None:
            self._changed_chunks.update(chunks.tolist())
        if self.graph is not None:
            new = ~self.graph.holds_same(chunks, widen(vectors))
            self.graph.remove(chunks[new])
            positions, vectors = positions[new], vectors[new]
        self.flat.put(positions, vectors)

    def remove(self, chunks: Ints, positions: Ints) -> None:
        """Remove rows, given by chunk and by position: a saved graph may hold chunks that have no position any more."""
        if self._changed_chunks is not None:
            self._changed_chunks.update(chunks.tolist())
        self.flat.remove(positions)
        if self.graph is not None:
            self.graph.remove(chunks)

    def renumber(self, new_positions: Ints) -> None:
        self.flat.renumber(new_positions)

    def search(
        self, query: Floats, mask: Mask | None, limit: int | None, min_score: float | None
    ) -> tuple[Ints, Doubles]:
        """Positions and scores of the best of each part, with ties of the last. The caller sorts and cuts."""
        bound = _NO_MIN_SCORE if min_score is None else min_score - TIE
        positions, scores = self.flat.search(query, mask, limit, bound)
        if self.graph is not None:
            in_graph, graph_scores = self._search_graph(self.graph, query, mask, limit, bound)
            positions, scores = np.concatenate((positions, in_graph)), np.concatenate((scores, graph_scores))
        # Equal vectors must tie (see TIE); scores carry six digits.
        rounded: Doubles = scores.astype(np.float64).round(6).clip(-1, 1)
        return positions, rounded

    def chunks(self) -> Ints:
        """All chunks that have a vector, ascending."""
        parts = [self._rows.chunk[self.flat.positions]]
        if self.graph is not None:
            parts.append(self.graph.chunks())
        return np.sort(np.concatenate(parts))

    def fetch(self, chunks: Ints) -> tuple[Ints, Floats]:
        """The chunks that have a vector, and their vectors."""
        positions = self._rows.find(chunks)
        chunks, positions = chunks[positions >= 0], positions[positions >= 0]
        here, vectors = self.flat.fetch(positions)
        if self.graph is None:
            return chunks[here], vectors
        there, more = self.graph.fetch(chunks[~here])
        return np.concatenate((chunks[here], chunks[~here][there])), np.concatenate((vectors, more))

    def start_recording_changes(self) -> None:
        """Record which chunks change from now on: a graph is being built from the present rows."""
        self._changed_chunks = set()

    def switch_to_graph(self, graph: Hnsw | None) -> None:
        """From now on search this graph. Rows that changed since its building began go to the flat part.

        None: the graph failed its recall test, and all rows are searched exactly.
        """
        changed = np.array(sorted(self._changed_chunks or ()), np.int64)
        if graph is None and self.graph is None:
            self._changed_chunks = None
            return
        flat_chunks, vectors = self.fetch(self.chunks() if graph is None else changed)
        self._changed_chunks = None
        self.graph = graph
        self.flat = Flat(self.dimension)
        self.flat.put(self._rows.find(flat_chunks), vectors.astype(np.float16))
        if graph is not None:
            graph.remove(changed)

    def fold(self, count: int) -> bool:
        """Move a few rows from flat to graph; False when there was nothing to move."""
        positions = self.flat.positions[-count:].copy()
        if self.graph is None or not len(positions):
            return False
        _, vectors = self.flat.fetch(positions)
        self.graph.add(self._rows.chunk[positions], vectors, threads=1)
        self.flat.remove(positions)
        return True

    def _search_graph(
        self, graph: Hnsw, query: Floats, mask: Mask | None, limit: int | None, min_score: float
    ) -> tuple[Ints, Floats]:
        allowed = len(graph) if mask is None else min(len(graph), int(np.count_nonzero(mask)))
        count = graph.effort
        if limit is not None:
            count = max(limit, int(_OVERFETCH_FACTOR * limit * len(graph) / max(allowed, 1)) if mask is not None else 0)
        elif min_score <= _NO_MIN_SCORE:
            count = len(graph)
        while count * _MAX_FOUND_DIVISOR < allowed:
            chunks = graph.search(query, count)
            positions = self._rows.find(chunks)
            seen = positions >= 0 if mask is None else (positions >= 0) & mask[positions]
            scores = compute_cosines(graph.fetch(chunks[seen])[1], query)
            has_enough = limit is not None and len(scores) >= limit
            if has_enough or _is_past_min_score(min_score, scores, len(chunks)):
                found = select_best(scores, limit, min_score)
                return positions[seen][found], scores[found]
            count *= _OVERFETCH_GROWTH
        return self._scan_graph(graph, query, mask, limit, min_score)

    def _scan_graph(
        self, graph: Hnsw, query: Floats, mask: Mask | None, limit: int | None, min_score: float
    ) -> tuple[Ints, Floats]:
        rows = self._rows
        allowed = np.flatnonzero(rows.alive[: rows.used] if mask is None else mask)
        positions, scores = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        for start in range(0, len(allowed), _EXACT_BATCH):
            batch = allowed[start : start + _EXACT_BATCH]
            there, vectors = graph.fetch(rows.chunk[batch])
            positions.append(batch[there])
            scores.append(compute_cosines(vectors, query))
        every, all_scores = np.concatenate(positions), np.concatenate(scores)
        found = select_best(all_scores, limit, min_score)
        return every[found], all_scores[found]


def _is_past_min_score(min_score: float, scores: Floats, found_count: int) -> bool:
    """Whether at most half of the rows that the graph returned are allowed and reach `min_score`, and one is below it.

    One below it would do if the graph missed nothing near the end.
    """
    return int(np.count_nonzero(scores >= min_score)) * 2 <= found_count and bool((scores < min_score).any())


def split_array(chunks: Ints, size: int) -> list[Ints]:
    return [np.array(batch, np.int64) for batch in split_batches(chunks.tolist(), size)]
