"""Builds a graph: rows are added batch by batch, and the unfinished graph is saved now and then.

A process may end long before a large graph is built (30 s for 100,000 rows). So the unfinished graph is kept in a file
beside the finished one, and the next process continues it. The file is not trusted: each row is compared with the
vector in the image, and added again if they differ. So no change log is needed.

An unfinished graph is saved whenever a quarter of it is new, in case the process is killed (5 % of the time to build),
and when the process closes, if a fiftieth is new. Saving less would cost more than it spares: saving and loading take
7 us a row of the graph, adding a row 350.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retentive.index.hnsw import Hnsw, RecallTest

if TYPE_CHECKING:
    from collections.abc import Callable

    from retentive.index.arrays import Floats, Ints
    from retentive.index.graph_file import GraphFile

_SAVE_DIVISOR = 4
_CLOSE_DIVISOR = 50

_REBUILD_DIVISOR = 4


class GraphBuilder:
    """A graph that is being built."""

    def __init__(self, begun: Hnsw | None, chunks: Ints, sample: Floats, save: Callable[[Hnsw], None]) -> None:
        """Begin a graph, or continue one. `sample` are vectors for its recall test; `save` stores it unfinished."""
        self._graph = Hnsw(sample.shape[1]) if begun is None or _needs_rebuild(begun, chunks) else begun
        self._graph.remove(_rows_gone(self._graph, chunks))
        self._recall_test = RecallTest(sample)
        self._save = save
        self._can_save = True
        lacking = np.setdiff1d(chunks, self._graph.chunks(), assume_unique=True)
        self.chunks = np.concatenate((lacking, np.setdiff1d(chunks, lacking, assume_unique=True)))
        """All chunks, in the order in which to add them: those that the graph lacks first. So every process makes
        progress."""

    def add(self, chunks: Ints, vectors: Floats) -> None:
        """Add rows that the graph lacks or has with another vector."""
        lacking = ~self._graph.holds_same(chunks, vectors)
        self._graph.remove(chunks[lacking])
        self._graph.add(chunks[lacking], vectors[lacking])
        self._recall_test.add_answers(chunks, vectors)
        self._save_if_new(_SAVE_DIVISOR)

    def stop(self) -> None:
        """Save the unfinished graph, if enough of it is new."""
        self._save_if_new(_CLOSE_DIVISOR)

    def finish_and_test(self) -> Hnsw | None:
        """Return the graph if it passes its recall test, else None."""
        return self._graph if self._recall_test.find_effort(self._graph) else None

    def _save_if_new(self, divisor: int) -> None:
        """Save the graph if at least the part 1 / `divisor` of it is new."""
        if not self._can_save or self._graph.unsaved * divisor < max(len(self._graph), 1):
            return
        try:
            self._save(self._graph)
        except (OSError, RuntimeError):
            # Saving the finished graph will fail too, and is reported. Until then, do not try with every batch.
            self._can_save = False


def _rows_gone(graph: Hnsw, chunks: Ints) -> Ints:
    return np.setdiff1d(graph.chunks(), chunks, assume_unique=True)


def _needs_rebuild(graph: Hnsw, chunks: Ints) -> bool:
    """Whether a quarter of a graph's rows is gone, as `Hnsw.needs_rebuild` decides for a finished graph."""
    return len(_rows_gone(graph, chunks)) * _REBUILD_DIVISOR > len(graph)


def load_unfinished_graph(file: GraphFile | None, head: int) -> Hnsw | None:
    """Load the graph that another process began, if there is one."""
    saved = file.load(0, head) if file is not None else None
    return saved.graph if saved is not None else None
