"""The graph of a large namespace's vectors (HNSW, by usearch), keyed by chunk, float16.

A graph trades recall for speed by its effort: how many candidates a question keeps while it walks. The effort that a
recall needs depends on the data. Measured at 20,000 rows of 384 dimensions, connectivity 16, recall@10:

    effort           64     128    256    512    1024   2048
    clustered        1.00                                       0.12 ms at 64
    unclustered      0.26   0.44   0.63   0.83   0.95   0.996   0.19 ms at 64, 2.8 ms at 2048; exact: 0.6 ms

Text clusters, but that is not certain. So each graph has a recall test. Its questions are near stored vectors; their
exact answers are gathered while the graph is built; at the end, the least effort that finds them is set. If that effort
costs as much as scoring every row, no graph is used and every row is scored.

Connectivity 32 with twice the effort in building needs half the effort on unclustered data, and as much on clustered.
But building takes 2.6 times as long (10.8 s against 4.0 s for 20,000), and searches are slower.

The metric is the inner product: on normalised vectors it is the cosine, a quarter faster.
"""

import ctypes
import os
import sys
from contextlib import suppress
from typing import Any, Self

import numpy as np

from retentive.index.arrays import Floats, Ints, Mask, widen

_CONNECTIVITY = 16
_BUILD_EFFORT = 128

_EFFORTS = (64, 128, 256, 512, 1024)

# One unit of effort costs 2 us, one row of an exact scan 0.05 us: they break even at an effort of rows / 40. A graph
# should at least halve the time.
_ROWS_PER_EFFORT = 80

_QUESTIONS = 100
_NEAREST = 10

# The promise is a recall@10 of 0.98. A sample of 1000 answers has a standard error of 0.004 there, so ask for more.
_MIN_RECALL = 0.99

# A graph of 1000 is built in a fraction of a second, and walks around the gaps of fewer.
_REBUILD_FROM = 1000

_THREADS = min(4, os.cpu_count() or 1)


def _read_chunks(found: Any) -> Ints:
    return np.asarray(found.keys).astype(np.int64)


def _load_usearch() -> Any:
    """Load the library so that ONNX Runtime can be loaded after it.

    On Linux its wheel shows others its own copy of the C++ library, and ONNX Runtime, loaded later, dies of it
    (usearch 2.26 with onnxruntime 1.31). The system's copy, if it is there first, is the one that both use.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
    import usearch.index

    return usearch.index


class Hnsw:
    """A graph of vectors by chunk."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._index: Any = _load_usearch().Index(
            ndim=dimension, metric="ip", dtype="f16", connectivity=_CONNECTIVITY, expansion_add=_BUILD_EFFORT
        )
        self.effort = _EFFORTS[0]
        self.built = 0
        """The size of the graph when its effort was set."""
        self.removed = 0
        self.unsaved = 0
        """How many rows were added and removed since the graph was saved."""

    @classmethod
    def load(cls, path: str, dimension: int, effort: int) -> Self:
        """Load a graph from a file. Raises RuntimeError if usearch cannot read it."""
        graph = cls(dimension)
        graph._index.load(path)
        if graph._index.ndim != dimension:
            raise RuntimeError(f"{path} has {graph._index.ndim} dimensions")
        graph.set_effort(effort)
        return graph

    def save(self, path: str) -> None:
        self._index.save(path)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def bytes(self) -> int:
        return int(self._index.memory_usage)

    @property
    def needs_rebuild(self) -> bool:
        """Whether a quarter of the rows is gone, or the graph is twice as large as when its effort was set."""
        return (self.removed >= _REBUILD_FROM and self.removed * 4 >= self.built) or len(self) >= 2 * self.built

    def set_effort(self, effort: int) -> None:
        self.effort = effort
        self._index.expansion_search = effort
        self.built = len(self)

    def chunks(self) -> Ints:
        return np.asarray(self._index.keys).astype(np.int64)

    def add(self, chunks: Ints, vectors: Floats, threads: int | None = None) -> None:
        if len(chunks):
            self._index.add(chunks.astype(np.uint64), vectors.astype(np.float16), threads=threads or _THREADS)
            self.unsaved += len(chunks)

    def remove(self, chunks: Ints) -> None:
        if len(chunks):
            count = int(self._index.remove(chunks.astype(np.uint64)))
            self.removed += count
            self.unsaved += count

    def search(self, query: Floats, count: int) -> Ints:
        """About the nearest `count` chunks, best first."""
        return _read_chunks(self._index.search(query, count, threads=1))

    def fetch(self, chunks: Ints) -> tuple[Mask, Floats]:
        """Mask the chunks that are here, and return their vectors."""
        vectors = self._index.get(chunks.astype(np.uint64)) if len(chunks) else ()
        here = np.array([vector is not None for vector in vectors], np.bool_)
        if not here.any():
            return here, np.empty((0, self._dimension), np.float32)
        found = vectors if here.all() else [vector for vector in vectors if vector is not None]
        return here, widen(np.concatenate(found).reshape(-1, self._dimension))

    def holds_same(self, chunks: Ints, vectors: Floats) -> Mask:
        """Mask the chunks that are here with exactly this vector."""
        here, stored = self.fetch(chunks)
        here[here] = (stored == vectors[here]).all(axis=1)
        return here


class RecallTest:
    """Questions to a graph, with their exact answers among the rows so far."""

    def __init__(self, sample: Floats) -> None:
        # The seed is fixed: the same rows get the same graph. A question shares about 0.7 of its direction with a row.
        noise = np.random.default_rng(1).standard_normal(sample.shape).astype(np.float32)
        self._questions: Floats = sample + noise / np.linalg.norm(noise, axis=1, keepdims=True)
        self._questions /= np.linalg.norm(self._questions, axis=1, keepdims=True)
        self._chunks: Ints = np.empty((len(sample), 0), np.int64)
        self._scores: Floats = np.empty((len(sample), 0), np.float32)

    @staticmethod
    def choose_questions(chunks: Ints) -> Ints:
        """Choose chunks whose vectors become questions."""
        return np.random.default_rng(1).choice(chunks, min(_QUESTIONS, len(chunks)), replace=False)

    def add_answers(self, chunks: Ints, vectors: Floats) -> None:
        """Compare rows with the questions, and keep the nearest so far."""
        scores = np.hstack((self._scores, self._questions @ vectors.T))
        known = np.hstack((self._chunks, np.broadcast_to(chunks, (len(scores), len(chunks)))))
        nearest = np.argsort(-scores, axis=1)[:, :_NEAREST]
        self._scores = np.take_along_axis(scores, nearest, axis=1)
        self._chunks = np.take_along_axis(known, nearest, axis=1)

    def find_effort(self, graph: Hnsw) -> bool:
        """Set the least effort with which the graph passes; False if every such effort costs too much."""
        most = max(_EFFORTS[0], len(graph) // _ROWS_PER_EFFORT)
        for effort in _EFFORTS:
            if effort > most:
                return False
            graph.set_effort(effort)
            if self._measure_recall(graph) >= _MIN_RECALL:
                return True
        return False

    def _measure_recall(self, graph: Hnsw) -> float:
        found = sum(
            len(set(graph.search(question, _NEAREST).tolist()).intersection(right))
            for question, right in zip(self._questions, self._chunks.tolist(), strict=True)
        )
        return found / max(self._chunks.size, 1)
