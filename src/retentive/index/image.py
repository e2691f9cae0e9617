"""The image of one namespace: its rows, their vectors, their terms, and how they stay in step with the database.

An image is in step with change `sequence` if it holds every change up to that one. To catch up, it reads the newest
sequence, then which chunks changed since, and then those chunks as they are now. A chunk may be newer than the
sequence; the change that made it so is seen next time and changes nothing. Loading is the same with all chunks: the
sequence is read first. The image is loaded again if the log no longer reaches back, or if more chunks changed than it
has rows (and more than 1000).

Locks. All access to the image holds `lock`; a search takes well under a millisecond, so searches take turns. Long work
(parsing postings, building a graph) runs in the background on copies. It takes the lock only to make the copies, and at
the end to catch up and swap its result in.
"""

from __future__ import annotations

from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from retentive.frozen_dataclass import dataclass
from retentive.index.arrays import split_batches, widen
from retentive.index.columns import Rows, read_chunk_numbers
from retentive.index.graph_build import GraphBuilder, load_unfinished_graph
from retentive.index.graph_file import GraphFile, SavedGraph
from retentive.index.hnsw import Hnsw, RecallTest
from retentive.index.terms import Terms, group_by_term, parse_postings
from retentive.index.vectors import Vectors, compute_cosines, decode_vectors, split_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from retentive.index import ChunkSource, TermPostings
    from retentive.index.arrays import Floats, Ints
    from retentive.index.worker import Job, JobControl
    from retentive.model import Match, Scope, Space

# Rows read at once: when catching up, and when loading.
_CHUNKS_PER_READ = 1000
_LOAD_BATCH = 1000

# If more chunks changed, tokenising them (about 40 us each) would delay the search: the postings are loaded again in
# the background, and the database answers meanwhile.
_MAX_CHANGED_TEXTS = 1000

# A program that searches once, such as the command line, should not begin work that takes minutes.
_BUILD_DELAY = 1.0

# Rows added to a graph between two checks whether to stop: about 0.1 s.
_BUILD_BATCH = 500

# A search may wait for this many insertions (0.4 ms each) while rows are folded into a graph.
_FOLD_BATCH = 8
_FOLD_PAUSE = 0.0005

# Scanning this many flat rows beside a graph costs 0.03 ms; beyond, they are folded in.
_FOLD_FROM = 1000

# Rows of a saved graph that are compared with the database: 1 ms.
_COMPARED_ROWS = 64

# A saved graph is written again when a tenth of it has changed: until then catching up takes a second at most.
_SAVE_DIVISOR = 10


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """The settings that all images of a store share."""

    source: ChunkSource
    field_weights: Sequence[float]
    cache_folder: Path | None
    store_id: str
    hnsw_from: int
    max_tokenized_rows: int


class Image:
    """The image of one namespace."""

    def __init__(self, namespace: str, settings: ImageSettings) -> None:
        self.lock = RLock()
        self.saving = Lock()
        self.erased = False
        """Whether the namespace was erased: its graph must not be saved any more."""
        self.namespace = namespace
        self._settings = settings
        self._source = settings.source
        self._sequence = 0
        self._rows: Rows | None = None
        self._space: Space | None = None
        self._vectors: Vectors | None = None
        self._terms: Terms | None = None
        self._graph_sequence = 0
        """The change with which the graph alone, without the flat part, is in step."""
        self._rows_when_graph_failed = 0
        """The number of rows when a graph failed its recall test; 0 if none did."""

    @property
    def size(self) -> int:
        """The number of rows. It is read without the lock, so it may be a moment old."""
        rows = self._rows
        return 0 if rows is None else rows.live

    @property
    def has_terms(self) -> bool:
        return self._terms is not None

    def has_vectors(self, space: Space) -> bool:
        return self._vectors is not None and self._space == space

    def load_vectors(self, space: Space, _: JobControl) -> None:
        with self.lock:
            if not self.has_vectors(space):
                self._load_rows(space)

    def follow(self, head: int) -> None:
        """Catch up ahead of the next search, if the image is loaded."""
        with self.lock:
            if self._rows is not None:
                self._catch_up(head)

    def search_vectors(
        self,
        vector: Floats,
        space: Space,
        scope: Scope,
        limit: int | None,
        min_score: float | None,
        head: int | None = None,
    ) -> list[Match]:
        with self.lock:
            if not self.has_vectors(space):
                self._load_rows(space)
            rows = self._catch_up(head)
            if self._vectors is None:
                return []
            positions, scores = self._vectors.search(vector, rows.mask(scope), limit, min_score)
            return rows.matches(positions, scores, limit)

    def cosines(self, vector: Floats, space: Space, chunks: Ints) -> dict[int, float]:
        """The cosines of these chunks, by chunk; chunks without a vector in the image are left out."""
        with self.lock:
            if self._vectors is None or not self.has_vectors(space):
                return {}
            found, vectors = self._vectors.fetch(chunks)
            return dict(zip(found.tolist(), compute_cosines(vectors, vector).clip(-1, 1).tolist(), strict=True))

    def search_terms(
        self, terms: Sequence[str], scope: Scope, limit: int, head: int | None = None
    ) -> list[Match] | None:
        """Find the best rows by BM25; None if the terms are not loaded."""
        with self.lock:
            rows = self._catch_up(head) if self.has_terms else None
            if rows is None or self._terms is None:  # catching up may drop the terms
                return None
            positions, scores = self._terms.search(terms, rows.mask(scope), rows.live, limit)
            return rows.matches(positions, scores, limit)

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

    def choose_job(self) -> tuple[str, Job] | None:
        """The next background job and its name; None if none is due."""
        vectors = self._vectors
        if vectors is None:
            return None
        graph = vectors.graph
        if graph is None:
            due = len(vectors) >= max(self._settings.hnsw_from, 2 * self._rows_when_graph_failed)
            return ("build", self.build_graph) if due else None
        if graph.needs_rebuild:
            return "build", self.build_graph
        return ("fold", self.fold_rows) if len(vectors.flat) >= _FOLD_FROM else None

    def load_terms(self, control: JobControl) -> None:
        with self.lock:
            rows = self._rows or self._load_rows(None)
            sequence, chunks = self._sequence, rows.live_chunks()
        postings = control.until_stop(self._read_postings(chunks, control))
        parsed = parse_postings(postings, self._settings.field_weights)
        if control.must_stop():
            return
        with self.lock:
            rows = self._catch_up()
            changed = self._source.list_changed(self.namespace, sequence, self._sequence)
            # If too much changed meanwhile, the next search starts this again.
            if changed.is_complete and len(changed.chunks) <= _MAX_CHANGED_TEXTS:
                terms = Terms(parsed, rows.find(parsed.chunks), self._settings.field_weights)
                self._update_terms(terms, rows, np.array(changed.chunks, np.int64))
                self._terms = terms

    def _read_postings(self, chunks: Ints, control: JobControl) -> Iterable[TermPostings]:
        """Read the postings: of few rows by tokenising their texts, of many from the index of the whole store."""
        if len(chunks) > self._settings.max_tokenized_rows:
            return self._source.postings(self.namespace)
        batches = control.until_stop(split_array(chunks, _CHUNKS_PER_READ))
        return group_by_term(row for batch in batches for row in self._source.fields(batch.tolist()))

    def build_graph(self, control: JobControl) -> None:
        """Build a graph of the vectors, and search it from then on if it passes its recall test."""
        if control.run_urgent_jobs_for(_BUILD_DELAY):
            return
        with self.lock:
            vectors, space, sequence = self._vectors, self._space, self._sequence
            if vectors is None or space is None:
                return
            chunks = vectors.chunks()
            vectors.start_recording_changes()
        graph = None
        if len(chunks) >= self._settings.hnsw_from:
            builder = self._begin_graph(vectors, chunks, space, sequence)
            if not self._add_rows(builder, vectors, control):
                builder.stop()
                return
            graph = builder.finish_and_test()
        try:
            self._save_finished_graph(graph, space, sequence)
        finally:
            with self.lock:
                if self._vectors is vectors:
                    vectors.switch_to_graph(graph)
                    self._graph_sequence = sequence
                    self._rows_when_graph_failed = len(chunks) if graph is None else 0

    def fold_rows(self, control: JobControl) -> None:
        """Move the flat rows into the graph, a few at a time; searches may run in between."""
        while not control.run_urgent_jobs_for(_FOLD_PAUSE):
            with self.lock:
                if self._vectors is None or not self._vectors.fold(_FOLD_BATCH):
                    self._graph_sequence = self._sequence
                    break
        self.save_if_due()

    def save_if_due(self) -> None:
        """Write the graph to its file if enough of it changed; searches wait for that (0.1 s per 100,000 rows)."""
        with self.lock:
            graph = self._vectors.graph if self._vectors is not None else None
            if graph is not None and self._space is not None and graph.unsaved * _SAVE_DIVISOR >= max(len(graph), 1):
                self._save(self._graph_file(self._space), graph, self._graph_sequence)

    def _begin_graph(self, vectors: Vectors, chunks: Ints, space: Space, sequence: int) -> GraphBuilder:
        """Begin a graph, or continue the unfinished one of a process that ended."""
        file = self._graph_file(space)
        unfinished = file.unfinished_file() if file is not None else None
        with self.lock:
            sample = vectors.fetch(RecallTest.choose_questions(chunks))[1]
        graph = load_unfinished_graph(unfinished, sequence)
        return GraphBuilder(graph, chunks, sample, lambda part: self._save(unfinished, part, sequence))

    def _add_rows(self, builder: GraphBuilder, vectors: Vectors, control: JobControl) -> bool:
        """Add all rows to the graph; False if the job has to end before that."""
        for batch in split_array(builder.chunks, _BUILD_BATCH):
            control.run_urgent_jobs()
            if control.must_stop():
                return False
            with self.lock:
                found, matrix = vectors.fetch(batch)
            builder.add(found, matrix)
        return True

    def _load_rows(self, space: Space | None) -> Rows:
        """Read rows that are not loaded, and vectors if a space is given. An error leaves the image as it was."""
        rows, sequence = self._rows, self._sequence
        if rows is None:
            rows, sequence = Rows(self.namespace), self._source.head()
        vectors = None
        saved = None if space is None else self._load_saved_graph(space, sequence)
        if space is None:
            self._read_rows(rows, None, None)
        elif saved is None:
            vectors = self._read_rows_and_vectors(rows, space)
        else:
            vectors = self._read_rows_beside_graph(rows, saved.graph, space)
            # The graph is older than the rows: the image is in step with the graph, and catching up brings the rest.
            self._graph_sequence = sequence = saved.sequence
        self._rows, self._sequence, self._space, self._vectors = rows, sequence, space, vectors
        return rows

    def _read_rows_and_vectors(self, rows: Rows, space: Space) -> Vectors:
        vectors = Vectors(rows, space.dimension)
        vectors.flat.reserve(self._source.count(self.namespace))
        self._read_rows(rows, vectors, space.name)
        return vectors

    def _read_rows_beside_graph(self, rows: Rows, graph: Hnsw, space: Space) -> Vectors:
        """Read all rows, and the vectors that a saved graph lacks, whether or not the change log has them."""
        self._read_rows(rows, None, None)
        vectors = Vectors(rows, space.dimension)
        vectors.graph = graph
        # No chunk is there twice. Relying on that takes 2 ms for 300,000 rows instead of 190.
        lacking = np.setdiff1d(rows.live_chunks(), graph.chunks(), assume_unique=True)
        for batch in split_array(lacking, _CHUNKS_PER_READ):
            active = self._source.rows_of(self.namespace, space.name, batch.tolist())
            vectors.put(rows.put(active), active)
        return vectors

    def _read_rows(self, rows: Rows, vectors: Vectors | None, space: str | None) -> None:
        for batch in split_batches(self._source.rows(self.namespace, space), _LOAD_BATCH):
            positions = rows.put(batch)
            if vectors is not None:
                vectors.put(positions, batch)

    def _catch_up(self, seen: int | None = None) -> Rows:
        """Catch up with the database: to the change that the caller has seen, or to the newest."""
        rows = self._rows or self._load_rows(self._space)
        # Another search may have caught up further meanwhile; reading the head tells that apart from a lost log.
        head = seen if seen is not None and seen >= self._sequence else self._source.head()
        if head == self._sequence:
            return rows
        changed = self._source.list_changed(self.namespace, self._sequence, head)
        is_log_lost = head < self._sequence or not changed.is_complete
        if is_log_lost or len(changed.chunks) > max(_CHUNKS_PER_READ, rows.live):
            self._rows = self._vectors = self._terms = None
            return self._catch_up()
        self._apply_changes(rows, changed.chunks)
        self._sequence = head
        if self._vectors is not None and not len(self._vectors.flat):
            self._graph_sequence = head
        return rows

    def _apply_changes(self, rows: Rows, chunks: list[int]) -> None:
        space = self._space.name if self._space is not None else None
        if len(chunks) > _MAX_CHANGED_TEXTS:
            self._terms = None
        for batch in split_batches(chunks, _CHUNKS_PER_READ):
            active = self._source.rows_of(self.namespace, space, batch)
            gone = np.array(sorted({*batch}.difference(row[0] for row in active)), np.int64)
            free = rows.remove(gone)
            slots = rows.put(active)
            if self._vectors is not None:
                self._vectors.remove(gone, free)
                self._vectors.put(slots, active)
            if self._terms is not None:
                self._terms.remove(free)
                self._update_terms(self._terms, rows, rows.chunk[slots])
        if rows.is_untidy:
            self._compact_rows(rows)

    def _update_terms(self, terms: Terms, rows: Rows, chunks: Ints) -> None:
        for batch in split_array(chunks, _CHUNKS_PER_READ):
            positions = rows.find(batch)
            is_live = positions >= 0
            terms.remove(positions[is_live])
            position_of = dict(zip(batch[is_live].tolist(), positions[is_live].tolist(), strict=True))
            for chunk, fields in self._source.fields([*position_of]):
                terms.add(position_of[chunk], fields)
        terms.tidy()

    def _compact_rows(self, rows: Rows) -> None:
        moved = rows.compact()
        if self._vectors is not None:
            self._vectors.renumber(moved)
        if self._terms is not None:
            self._terms.renumber(moved)

    def _graph_file(self, space: Space) -> GraphFile | None:
        settings = self._settings
        if settings.cache_folder is None:
            return None
        return GraphFile(settings.cache_folder, settings.store_id, self.namespace, space.name, space.dimension)

    def _save(self, file: GraphFile | None, graph: Hnsw, sequence: int) -> None:
        with self.saving:
            if file is not None and not self.erased:
                file.save(graph, sequence)

    def _save_finished_graph(self, graph: Hnsw | None, space: Space, sequence: int) -> None:
        """Save a graph, if it passed its recall test, and delete the file of the unfinished one."""
        file = self._graph_file(space)
        if graph is not None:
            self._save(file, graph, sequence)
        if file is not None:
            file.unfinished_file().remove()

    def _load_saved_graph(self, space: Space, head: int) -> SavedGraph | None:
        """Load the saved graph; None if less than half of it still holds."""
        file, count = self._graph_file(space), self._source.count(self.namespace)
        if file is None or count < self._settings.hnsw_from:
            return None
        saved = file.load(self._source.floor(), head)
        if saved is None or len(self._source.list_changed(self.namespace, saved.sequence, head).chunks) * 2 > count:
            return None
        return saved if self._fits_database(saved.graph, space) else None

    def _fits_database(self, graph: Hnsw, space: Space) -> bool:
        """Whether the newest rows of a saved graph have the same vectors in the database.

        A store that was restored from a backup goes on from there, and gives the same numbers to other rows.
        """
        newest = np.sort(graph.chunks())[-_COMPARED_ROWS:].tolist()
        rows = self._source.rows_of(self.namespace, space.name, newest)
        usable, vectors = decode_vectors(rows, space.dimension)
        chunks = read_chunk_numbers(rows)[usable]
        return bool(graph.holds_same(chunks, widen(vectors)).all())
