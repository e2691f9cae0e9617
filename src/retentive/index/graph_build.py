"""A graph on its way: rows are added batch by batch, and what there is so far is saved.

A process may end long before a large graph is built (30 s for 100,000 rows). So the unfinished graph is kept in a file
beside the finished one, and the next process goes on with it. It is trusted for nothing: each row is compared with the
vector that the image holds, and added if it is not the same. That needs no change log.

An unfinished graph is saved whenever a quarter of it is new, in case the process is killed (5 % of the time to build),
and when the process closes, if a fiftieth is new. Less would cost more than it spares: saving and loading take 7 us a
row of the graph, adding a row 350.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retentive.index.hnsw import Exam, Hnsw

if TYPE_CHECKING:
    from collections.abc import Callable

    from retentive.index.arrays import Floats, Ints
    from retentive.index.graph_file import Sidecar

_SAVE_SHARE = 4
_CLOSE_SHARE = 50

_WORN_SHARE = 4


class Growth:
    def __init__(self, begun: Hnsw | None, chunks: Ints, sample: Floats, save: Callable[[Hnsw], None]) -> None:
        """Go on with what was begun. `sample` is what the graph is examined by; `save` keeps it for later."""
        self._graph = Hnsw(sample.shape[1]) if begun is None or _is_worn(begun, chunks) else begun
        self._graph.remove(_rows_gone(self._graph, chunks))
        self._exam = Exam(sample)
        self._save = save
        self._can_save = True
        lacking = np.setdiff1d(chunks, self._graph.chunks(), assume_unique=True)
        self.chunks = np.concatenate((lacking, np.setdiff1d(chunks, lacking, assume_unique=True)))
        """In which order to add them: first what the graph lacks, so that every process brings it further."""

    def add(self, chunks: Ints, vectors: Floats) -> None:
        lacking = ~self._graph.same(chunks, vectors)
        self._graph.remove(chunks[lacking])
        self._graph.add(chunks[lacking], vectors[lacking])
        self._exam.see(chunks, vectors)
        self._save_if_new(_SAVE_SHARE)

    def stop(self) -> None:
        self._save_if_new(_CLOSE_SHARE)

    def finish(self) -> Hnsw | None:
        """The graph, if it is worth answering from."""
        return self._graph if self._exam.grade(self._graph) else None

    def _save_if_new(self, share: int) -> None:
        if not self._can_save or self._graph.unsaved * share < max(len(self._graph), 1):
            return
        try:
            self._save(self._graph)
        except (OSError, RuntimeError):
            # Saving the finished graph will fail too, and is reported. Until then, do not try with every batch.
            self._can_save = False


def _rows_gone(graph: Hnsw, chunks: Ints) -> Ints:
    return np.setdiff1d(graph.chunks(), chunks, assume_unique=True)


def _is_worn(graph: Hnsw, chunks: Ints) -> bool:
    """Whether a quarter is gone: as of a finished graph, better build it anew."""
    return len(_rows_gone(graph, chunks)) * _WORN_SHARE > len(graph)


def load_unfinished(sidecar: Sidecar | None, head: int) -> Hnsw | None:
    """The graph that another process began."""
    found = sidecar.load(0, head) if sidecar is not None else None
    return found[0] if found is not None else None
