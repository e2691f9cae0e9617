"""The image of one namespace: its rows, their vectors, their terms, and how they stay in step with the database.

In step means: everything up to change `sequence` is in the image. To follow, read the newest sequence, ask which
chunks changed since, read those chunks as they are now, and make the image the same. What is read may be newer than
the sequence; the change that made it so will be seen next time and changes nothing. Loading is the same with all
chunks: the sequence is read first. When the log no longer reaches back, or more changed than there is, load again.

Locks. Whoever touches the image holds `lock`; a search takes well under a millisecond, so they take turns. Work that
is long (parsing postings, building a graph) runs in the background without it, on copies, and takes it only to copy
out, and to catch up and swap in at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from retentive.index.arrays import batches, widen
from retentive.index.columns import Rows
from retentive.index.graph_build import Growth, load_unfinished
from retentive.index.graph_file import Sidecar
from retentive.index.hnsw import Exam, Hnsw
from retentive.index.terms import Terms, gathered, parse
from retentive.index.vectors import Vectors, decode, exact, in_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from retentive.index import Source
    from retentive.index.arrays import Floats, Ints
    from retentive.index.worker import Job, Turn
    from retentive.model import Match, Scope, Space

# Rows read at once. Following asks for this many; loading turns this many into columns at a time.
_BATCH = 1000
_LOAD_BATCH = 1000

# More changed chunks than this, and tokenising them (about 40 us each) would hold up the question: the postings are
# loaded again in the background, and the database answers meanwhile.
_MOST_TERMS = 1000

# A program that asks once, such as the command line, should not begin what takes minutes.
_BUILD_DELAY = 1.0

# Rows added to a graph between two looks at whether to stop: about 0.1 s.
_BUILD_BATCH = 500

# A question may wait for this many insertions (0.4 ms each) while rows are folded into a graph.
_FOLD_BATCH = 8
_FOLD_PAUSE = 0.0005

# Scanning this many flat rows beside a graph costs 0.03 ms; beyond, they are folded in.
_FOLD_FROM = 1000

# Rows of a saved graph that are compared with the database: 1 ms.
_COMPARED = 64

# A saved graph is written again when this share of it has changed: until then catching up takes a second at most.
_SAVE_SHARE = 10


@dataclass(frozen=True, slots=True)
class Setting:
    """What all images of a store have in common."""

    source: Source
    weights: Sequence[float]
    cache: Path | None
    store: str
    hnsw_from: int
    few: int


class Image:
    def __init__(self, namespace: str, setting: Setting) -> None:
        self.lock = RLock()
        self.saving = Lock()
        self.erased = False
        """What it holds must not be written any more."""
        self.namespace = namespace
        self._setting = setting
        self._source = setting.source
        self._sequence = 0
        self._rows: Rows | None = None
        self._space: Space | None = None
        self._vectors: Vectors | None = None
        self._terms: Terms | None = None
        self._graph_sequence = 0
        """What the graph alone, without the flat part, is in step with."""
        self._declined = 0
        """The size at which a graph was found not to be worth it."""

    @property
    def size(self) -> int:
        """In rows; asked without the lock, so perhaps a moment old."""
        rows = self._rows
        return 0 if rows is None else rows.live

    @property
    def has_terms(self) -> bool:
        return self._terms is not None

    def has_vectors(self, space: Space) -> bool:
        return self._vectors is not None and self._space == space

    def load_vectors(self, space: Space, _: Turn) -> None:
        with self.lock:
            if not self.has_vectors(space):
                self._load(space)

    def follow(self, head: int) -> None:
        """Ahead of the next question. What was never asked for is not loaded for it."""
        with self.lock:
            if self._rows is not None:
                self._follow(head)

    def near(
        self,
        vector: Floats,
        space: Space,
        scope: Scope,
        limit: int | None,
        floor: float | None,
        head: int | None = None,
    ) -> list[Match]:
        with self.lock:
            if not self.has_vectors(space):
                self._load(space)
            rows = self._follow(head)
            if self._vectors is None:
                return []
            slots, scores = self._vectors.near(vector, rows.mask(scope), limit, floor)
            return rows.matches(slots, scores, limit)

    def cosines(self, vector: Floats, space: Space, chunks: Ints) -> dict[int, float]:
        """How near these rows are, as far as they are here and have a vector."""
        with self.lock:
            if self._vectors is None or not self.has_vectors(space):
                return {}
            found, vectors = self._vectors.fetch(chunks)
            return dict(zip(found.tolist(), exact(vectors, vector).clip(-1, 1).tolist(), strict=True))

    def match(self, terms: Sequence[str], scope: Scope, limit: int, head: int | None = None) -> list[Match] | None:
        """None: the terms are not loaded."""
        with self.lock:
            rows = self._follow(head) if self._terms is not None else None
            if self._terms is None or rows is None:
                return None
            slots, scores = self._terms.search(terms, rows.mask(scope), rows.live, limit)
            return rows.matches(slots, scores, limit)

    def stats(self) -> dict[str, Any]:
        with self.lock:
            parts = [part for part in (self._rows, self._vectors, self._terms) if part is not None]
            graph = self._vectors.graph if self._vectors is not None else None
            return {
                "rows": self._rows.live if self._rows is not None else 0,
                "vectors": len(self._vectors) if self._vectors is not None else 0,
                "tier": None if self._vectors is None else "flat" if graph is None else "hnsw",
                "terms": self.has_terms,
                "bytes": sum(part.bytes for part in parts),
            }

    def chore(self) -> tuple[str, Job] | None:
        """What should be done in the background now."""
        vectors = self._vectors
        if vectors is None:
            return None
        graph = vectors.graph
        if graph is None:
            due = len(vectors) >= max(self._setting.hnsw_from, 2 * self._declined)
            return ("build", self.build) if due else None
        if graph.worn:
            return "build", self.build
        return ("fold", self.fold) if len(vectors.flat) >= _FOLD_FROM else None

    def load_terms(self, turn: Turn) -> None:
        with self.lock:
            rows = self._rows or self._load(None)
            since, chunks = self._sequence, rows.chunk[: rows.used][rows.alive[: rows.used]]
        parsed = parse(takewhile(lambda _: not turn.is_over(), self._postings(chunks, turn)), self._setting.weights)
        if turn.is_over():
            return
        with self.lock:
            rows = self._follow()
            missed = self._source.changed(self.namespace, since, self._sequence)
            # Too much happened meanwhile: the next question starts this again.
            if since >= self._source.floor() and len(missed) <= _MOST_TERMS:
                terms = Terms(parsed, rows.find(parsed.chunks), self._setting.weights)
                self._reread(terms, rows, np.array(missed, np.int64))
                self._terms = terms

    def _postings(self, chunks: Ints, turn: Turn) -> Iterable[tuple[str, str, str]]:
        if len(chunks) > self._setting.few:
            return self._source.postings(self.namespace)
        some = takewhile(lambda _: not turn.is_over(), in_batches(chunks, _BATCH))
        return gathered(row for batch in some for row in self._source.fields(batch.tolist()))

    def build(self, turn: Turn) -> None:
        """Make a graph of what is here, and answer from it if it is worth it."""
        if turn.rest(_BUILD_DELAY):
            return
        with self.lock:
            vectors, space, since = self._vectors, self._space, self._sequence
            if vectors is None or space is None:
                return
            chunks = vectors.chunks()
            vectors.watch()
        graph = None
        if len(chunks) >= self._setting.hnsw_from:
            growth = self._begin_growth(vectors, chunks, space, since)
            if not self._grow(growth, vectors, turn):
                growth.stop()
                return
            graph = growth.finish()
        try:
            self._save_finished(graph, space, since)
        finally:
            with self.lock:
                if self._vectors is vectors:
                    vectors.adopt(graph)
                    self._graph_sequence = since
                    self._declined = len(chunks) if graph is None else 0

    def fold(self, turn: Turn) -> None:
        """Move the flat rows into the graph, letting questions in between."""
        while not turn.rest(_FOLD_PAUSE):
            with self.lock:
                if self._vectors is None or not self._vectors.fold(_FOLD_BATCH):
                    self._graph_sequence = self._sequence
                    break
        self.save_if_due()

    def save_if_due(self) -> None:
        """Write the graph to its file if enough of it changed; questions wait for that (0.1 s per 100,000 rows)."""
        with self.lock:
            graph = self._vectors.graph if self._vectors is not None else None
            if graph is not None and self._space is not None and graph.unsaved * _SAVE_SHARE >= max(len(graph), 1):
                self._save(self._sidecar(self._space), graph, self._graph_sequence)

    def _begin_growth(self, vectors: Vectors, chunks: Ints, space: Space, since: int) -> Growth:
        finished = self._sidecar(space)
        sidecar = finished.unfinished() if finished is not None else None
        with self.lock:
            sample = vectors.fetch(Exam.sample(chunks))[1]
        graph = load_unfinished(sidecar, since)
        return Growth(graph, chunks, sample, lambda part: self._save(sidecar, part, since))

    def _grow(self, growth: Growth, vectors: Vectors, turn: Turn) -> bool:
        """Add all the rows; False if the time is over before that."""
        for batch in in_batches(growth.chunks, _BUILD_BATCH):
            turn.give_way()
            if turn.is_over():
                return False
            with self.lock:
                found, matrix = vectors.fetch(batch)
            growth.add(found, matrix)
        return True

    def _load(self, space: Space | None) -> Rows:
        """Read what is missing. An error leaves the image as it was."""
        rows, sequence = self._rows, self._sequence
        if rows is None:
            rows, sequence = Rows(self.namespace), self._source.head()
        vectors = None if space is None else Vectors(rows, space.dimension)
        saved = None if space is None else self._saved(space, sequence)
        if vectors is None or space is None:
            self._read(rows, None, None)
        elif saved is None:
            vectors.flat.reserve(self._source.count(self.namespace))
            self._read(rows, vectors, space.name)
        else:
            self._read(rows, None, None)
            # In step with what the graph is in step with: following brings the rest.
            vectors.graph, sequence = saved
            self._graph_sequence = sequence
            self._complete(rows, vectors, vectors.graph, space)
        self._rows, self._sequence, self._space, self._vectors = rows, sequence, space, vectors
        return rows

    def _complete(self, rows: Rows, vectors: Vectors, graph: Hnsw, space: Space) -> None:
        """Read the vectors that a saved graph lacks, whatever the change log says of them."""
        # No chunk is there twice. Not to make sure of it, nor to sort, takes 2 ms for 300,000 instead of 190.
        lacking = np.setdiff1d(rows.chunk[: rows.used][rows.alive[: rows.used]], graph.chunks(), assume_unique=True)
        for batch in in_batches(lacking, _BATCH):
            active = self._source.rows_of(self.namespace, space.name, batch.tolist())
            vectors.put(rows.put(active), active)

    def _read(self, rows: Rows, vectors: Vectors | None, space: str | None) -> None:
        for batch in batches(self._source.rows(self.namespace, space), _LOAD_BATCH):
            slots = rows.put(batch)
            if vectors is not None:
                vectors.put(slots, batch)

    def _follow(self, seen: int | None = None) -> Rows:
        """Come in step with the database, as far as the caller has seen it or as it is now."""
        rows = self._rows or self._load(self._space)
        # Another question may have come further meanwhile; only a look of our own tells that from a log that was lost.
        head = seen if seen is not None and seen >= self._sequence else self._source.head()
        if head == self._sequence:
            return rows
        chunks = self._source.changed(self.namespace, self._sequence, head)
        lost = head < self._sequence or self._sequence < self._source.floor()
        if lost or len(chunks) > max(_BATCH, rows.live):
            self._rows = self._vectors = self._terms = None
            return self._follow()
        self._apply(rows, chunks)
        self._sequence = head
        if self._vectors is not None and not len(self._vectors.flat):
            self._graph_sequence = head
        return rows

    def _apply(self, rows: Rows, chunks: list[int]) -> None:
        space = self._space.name if self._space is not None else None
        if len(chunks) > _MOST_TERMS:
            self._terms = None
        for batch in batches(chunks, _BATCH):
            active = self._source.rows_of(self.namespace, space, batch)
            gone = np.array(sorted({*batch}.difference(row[0] for row in active)), np.int64)
            free = rows.remove(gone)
            slots = rows.put(active)
            if self._vectors is not None:
                self._vectors.remove(gone, free)
                self._vectors.put(slots, active)
            if self._terms is not None:
                self._terms.remove(free)
                self._reread(self._terms, rows, rows.chunk[slots])
        if rows.untidy:
            self._compact(rows)

    def _reread(self, terms: Terms, rows: Rows, chunks: Ints) -> None:
        for batch in in_batches(chunks, _BATCH):
            slots = rows.find(batch)
            terms.remove(slots[slots >= 0])
            here = dict(zip(batch.tolist(), slots.tolist(), strict=True))
            for chunk, fields in self._source.fields([chunk for chunk, slot in here.items() if slot >= 0]):
                terms.add(here[chunk], fields)
        terms.tidy()

    def _compact(self, rows: Rows) -> None:
        moved = rows.compact()
        if self._vectors is not None:
            self._vectors.renumber(moved)
        if self._terms is not None:
            self._terms.renumber(moved)

    def _sidecar(self, space: Space) -> Sidecar | None:
        setting = self._setting
        if setting.cache is None:
            return None
        return Sidecar(setting.cache, setting.store, self.namespace, space.name, space.dimension)

    def _save(self, sidecar: Sidecar | None, graph: Hnsw, sequence: int) -> None:
        with self.saving:
            if sidecar is not None and not self.erased:
                sidecar.save(graph, sequence)

    def _save_finished(self, graph: Hnsw | None, space: Space, sequence: int) -> None:
        sidecar = self._sidecar(space)
        if graph is not None:
            self._save(sidecar, graph, sequence)
        if sidecar is not None:
            sidecar.unfinished().remove()

    def _saved(self, space: Space, head: int) -> tuple[Hnsw, int] | None:
        """The saved graph, if most of it still holds."""
        sidecar, count = self._sidecar(space), self._source.count(self.namespace)
        if sidecar is None or count < self._setting.hnsw_from:
            return None
        saved = sidecar.load(self._source.floor(), head)
        if saved is None or len(self._source.changed(self.namespace, saved[1], head)) * 2 > count:
            return None
        return saved if self._is_of_this_past(saved[0], space) else None

    def _is_of_this_past(self, graph: Hnsw, space: Space) -> bool:
        """Whether the newest rows of a saved graph are in the database as they are in the graph.

        A store put back from a copy goes on from there and gives the same numbers to other rows.
        """
        newest = np.sort(graph.chunks())[-_COMPARED:].tolist()
        rows = self._source.rows_of(self.namespace, space.name, newest)
        held, vectors = decode(rows, space.dimension)
        chunks = np.array([rows[place][0] for place in held], np.int64)
        return bool(graph.same(chunks, widen(vectors)).all())
