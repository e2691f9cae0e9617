"""The vectors of a namespace in one space, and which of them are near a question.

    flat   exact: a float16 matrix, and its codes (`codes.py`) for a first look
    graph  approximate: an HNSW (`hnsw.py`), once there are many; the flat part then holds only what is newer

Measured with 384 dimensions: flat 0.25 ms at 10,000 rows, 3 ms at 100,000; graph 0.3 ms at 100,000 with every one of
the ten nearest found, but 30 s to build. So flat answers at once, the graph is built in the background from it and
takes over. A new row always goes to the flat part and is folded into the graph later, a few at a time: inserting into
a graph costs 0.4 ms, appending to a matrix 2 us.

Filters hold inside. Flat scores everything and looks at the allowed. The graph cannot be told what is allowed; it is
asked for more than wanted, and more again, until enough of what it gives is allowed or until scoring the allowed rows
one by one is cheaper. Asking and then filtering once, the naive way, finds nothing when few rows are allowed.

Scores are always the float32 cosine with the stored float16 vector: what codes and graph find is scored again.
"""

from collections.abc import Sequence

import numpy as np

from retentive.index.arrays import TIE, Doubles, Floats, Halves, Ints, Mask, batches, best, grow, widen
from retentive.index.columns import AnyRow, Rows
from retentive.index.hnsw import Hnsw
from retentive.index.quantized import Codes

# The square of a length that rounding to float16 cannot make of 1.
_LONGEST = 1.1

# The lowest a score can be: a row that is masked out is below.
_LOWEST = -3.0

# Fewer rows than this are scored at once, without a first look.
_LOOK_FROM = 500

# The graph is asked for this much more than the share of allowed rows suggests, then for this many times more.
_OVERFETCH = 1.5
_GROWTH = 4

# Rows scored at once when they must be copied out of the graph: 6 MB of float32 at 384 dimensions.
_EXACT_BATCH = 4096


def decode(rows: Sequence[AnyRow], dimension: int) -> tuple[Ints, Halves]:
    """Which of the rows have a usable vector, and those vectors."""
    size = 2 * dimension
    held = [i for i, row in enumerate(rows) if row[-1] is not None and len(row[-1]) == size]
    data = b"".join(rows[i][-1] for i in held)
    vectors = np.frombuffer(data, np.float16).reshape(-1, dimension)
    places = np.array(held, np.int64)
    # What is no unit vector was never one: a damaged row must not be near everything.
    wide = widen(vectors)
    sane = np.einsum("ij,ij->i", wide, wide) < _LONGEST
    return (places, vectors) if sane.all() else (places[sane], vectors[sane])


def exact(vectors: Floats, query: Floats) -> Floats:
    """The cosine of every row. `vecdot` stays on one core."""
    scores: Floats = np.vecdot(vectors, query)
    return scores


class Flat:
    """Exact. Rows lie densely in no order: the last takes the place of one that goes, so nothing needs compacting."""

    def __init__(self, dimension: int) -> None:
        self._matrix: Halves = np.empty((0, dimension), np.float16)
        self._codes = Codes(dimension)
        self._slots: Ints = np.empty(0, np.int64)
        self._places: Ints = np.empty(0, np.int64)
        """By slot; -1 for none."""
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def bytes(self) -> int:
        return int(self._matrix.nbytes + self._codes.bytes + self._slots.nbytes + self._places.nbytes)

    @property
    def slots(self) -> Ints:
        return self._slots[: self._used]

    def reserve(self, count: int) -> None:
        self._matrix = grow(self._matrix, count, self._used)
        self._codes.reserve(count, self._used)
        self._slots = grow(self._slots, count, self._used)

    def put(self, slots: Ints, vectors: Halves) -> None:
        if not len(slots):
            return
        self._cover(int(slots.max()) + 1)
        places = self._places[slots]
        new = np.flatnonzero(places < 0)
        end = self._used + len(new)
        self.reserve(end)
        places[new] = np.arange(self._used, end)
        self._slots[places] = slots
        self._places[slots] = places
        self._matrix[places] = vectors
        self._codes.put(places, widen(vectors))
        self._used = end

    def remove(self, slots: Ints) -> None:
        for slot in slots[slots < len(self._places)].tolist():
            place = int(self._places[slot])
            if place >= 0:
                self._used = last = self._used - 1
                self._matrix[place] = self._matrix[last]
                self._codes.move(last, place)
                self._slots[place] = moved = self._slots[last]
                self._places[moved] = place
                self._places[slot] = -1

    def fetch(self, slots: Ints) -> tuple[Mask, Floats]:
        """Which of the slots are here, and their vectors."""
        places = np.full(len(slots), -1)
        known = slots < len(self._places)
        places[known] = self._places[slots[known]]
        return places >= 0, widen(self._matrix[places[places >= 0]])

    def near(self, query: Floats, mask: Mask | None, limit: int | None, floor: float) -> tuple[Ints, Floats]:
        """Slots and scores of the best, in no order, with ties of the last."""
        found = self._likely(query, mask, limit, floor)
        scores = exact(widen(self._matrix[found]), query)
        kept = best(scores, limit, floor)
        return self._slots[found[kept]], scores[kept]

    def _likely(self, query: Floats, mask: Mask | None, limit: int | None, floor: float) -> Ints:
        """The places that may be among the best."""
        allowed = None if mask is None else mask[self.slots]
        few = self._used if allowed is None else int(np.count_nonzero(allowed))
        if few < _LOOK_FROM:
            return np.arange(self._used) if allowed is None else np.flatnonzero(allowed)
        rough, margin = self._codes.scan(query, self._used)
        if allowed is not None:
            rough[~allowed] = -np.inf
        return best(rough, limit, floor - margin, 2 * margin)

    def renumber(self, moved: Ints) -> None:
        slots = moved[self.slots]
        self._slots[: self._used] = slots
        self._places = np.full(int(slots.max(initial=-1)) + 1, -1)
        self._places[slots] = np.arange(self._used)

    def _cover(self, slots: int) -> None:
        covered = len(self._places)
        self._places = grow(self._places, slots, covered)
        self._places[covered:] = -1


class Vectors:
    """Flat and graph together. Not for two threads at once: the image's lock is held by whoever calls."""

    def __init__(self, rows: Rows, dimension: int) -> None:
        self._rows = rows
        self.dimension = dimension
        self.flat = Flat(dimension)
        self.graph: Hnsw | None = None
        self._touched: set[int] | None = None
        """The chunks that changed while a graph is being built."""

    def __len__(self) -> int:
        return len(self.flat) + (len(self.graph) if self.graph is not None else 0)

    @property
    def bytes(self) -> int:
        return self.flat.bytes + (self.graph.bytes if self.graph is not None else 0)

    def put(self, slots: Ints, rows: Sequence[AnyRow]) -> None:
        """Make the vectors of these rows as given; without one, a row has none from now on."""
        places, vectors = decode(rows, self.dimension)
        if len(places) < len(rows):
            pending = np.delete(slots, places)
            self.remove(self._rows.chunk[pending], pending)
        slots = slots[places]
        chunks = self._rows.chunk[slots]
        if self._touched is not None:
            self._touched.update(chunks.tolist())
        if self.graph is not None:
            new = ~self.graph.same(chunks, widen(vectors))
            self.graph.remove(chunks[new])
            slots, vectors = slots[new], vectors[new]
        self.flat.put(slots, vectors)

    def remove(self, chunks: Ints, slots: Ints) -> None:
        """By both: a graph from a file may know chunks that have no slot any more."""
        if self._touched is not None:
            self._touched.update(chunks.tolist())
        self.flat.remove(slots)
        if self.graph is not None:
            self.graph.remove(chunks)

    def renumber(self, moved: Ints) -> None:
        self.flat.renumber(moved)

    def near(self, query: Floats, mask: Mask | None, limit: int | None, floor: float | None) -> tuple[Ints, Doubles]:
        """Slots and scores of the best, in no order, with ties of the last."""
        bound = _LOWEST if floor is None else floor - TIE
        slots, scores = self.flat.near(query, mask, limit, bound)
        if self.graph is not None:
            more, their = self._near_graph(self.graph, query, mask, limit, bound)
            slots, scores = np.concatenate((slots, more)), np.concatenate((scores, their))
        # Equal vectors must tie (see TIE); scores carry six digits.
        rounded: Doubles = scores.astype(np.float64).round(6).clip(-1, 1)
        return slots, rounded

    def chunks(self) -> Ints:
        """All chunks that have a vector, ascending."""
        parts = [self._rows.chunk[self.flat.slots]]
        if self.graph is not None:
            parts.append(self.graph.chunks())
        return np.sort(np.concatenate(parts))

    def fetch(self, chunks: Ints) -> tuple[Ints, Floats]:
        """Those of the chunks that have a vector, and the vectors."""
        slots = self._rows.find(chunks)
        chunks, slots = chunks[slots >= 0], slots[slots >= 0]
        here, vectors = self.flat.fetch(slots)
        if self.graph is None:
            return chunks[here], vectors
        there, more = self.graph.fetch(chunks[~here])
        return np.concatenate((chunks[here], chunks[~here][there])), np.concatenate((vectors, more))

    def watch(self) -> None:
        """From now on, remember what changes: a graph is being built from what is here."""
        self._touched = set()

    def adopt(self, graph: Hnsw | None) -> None:
        """Answer from this graph, built from what was here at `watch`; what changed since is flat. None: all is."""
        touched = np.array(sorted(self._touched or ()), np.int64)
        if graph is None and self.graph is None:
            self._touched = None
            return
        kept, vectors = self.fetch(self.chunks() if graph is None else touched)
        self._touched = None
        self.graph = graph
        self.flat = Flat(self.dimension)
        self.flat.put(self._rows.find(kept), vectors.astype(np.float16))
        if graph is not None:
            graph.remove(touched)

    def fold(self, count: int) -> bool:
        """Move a few rows from flat to graph; False when there was nothing to move."""
        slots = self.flat.slots[-count:].copy()
        if self.graph is None or not len(slots):
            return False
        _, vectors = self.flat.fetch(slots)
        self.graph.add(self._rows.chunk[slots], vectors, threads=1)
        self.flat.remove(slots)
        return True

    def _near_graph(
        self, graph: Hnsw, query: Floats, mask: Mask | None, limit: int | None, floor: float
    ) -> tuple[Ints, Floats]:
        allowed = len(graph) if mask is None else min(len(graph), int(np.count_nonzero(mask)))
        count = graph.effort
        if limit is not None:
            count = max(limit, int(_OVERFETCH * limit * len(graph) / max(allowed, 1)) if mask is not None else 0)
        elif floor <= _LOWEST:
            count = len(graph)
        while count < allowed:
            chunks = graph.search(query, count)
            slots = self._rows.find(chunks)
            seen = slots >= 0 if mask is None else (slots >= 0) & mask[slots]
            scores = exact(graph.fetch(chunks[seen])[1], query)
            if (limit is not None and len(scores) >= limit) or self._passed(scores, len(chunks), floor):
                found = best(scores, limit, floor)
                return slots[seen][found], scores[found]
            count *= _GROWTH
        return self._exact(graph, query, mask, limit, floor)

    @staticmethod
    def _passed(scores: Floats, asked: int, floor: float) -> bool:
        """Half of what came is below the floor. One would do if the graph forgot nothing, but it does near the end."""
        return int(np.count_nonzero(scores >= floor)) * 2 <= asked and bool((scores < floor).any())

    def _exact(
        self, graph: Hnsw, query: Floats, mask: Mask | None, limit: int | None, floor: float
    ) -> tuple[Ints, Floats]:
        rows = self._rows
        allowed = np.flatnonzero(rows.alive[: rows.used] if mask is None else mask)
        slots, scores = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        for start in range(0, len(allowed), _EXACT_BATCH):
            batch = allowed[start : start + _EXACT_BATCH]
            there, vectors = graph.fetch(rows.chunk[batch])
            slots.append(batch[there])
            scores.append(exact(vectors, query))
        every, all_scores = np.concatenate(slots), np.concatenate(scores)
        found = best(all_scores, limit, floor)
        return every[found], all_scores[found]


def in_batches(chunks: Ints, size: int) -> list[Ints]:
    return [np.array(batch, np.int64) for batch in batches(chunks.tolist(), size)]
