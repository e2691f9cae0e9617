"""The images of a store: one per namespace that is asked, the least recently asked given up first.

A vector question loads the image it needs and waits for that (10,000 rows: 40 ms). A text question never waits: the
database can answer it too, so until the postings are loaded in the background the answer is None.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from retentive.errors import Invalid
from retentive.index import CAPACITY, FEW, HNSW_FROM, ROOM, TERMS_FROM
from retentive.index.graph_file import erase_files
from retentive.index.image import Image, Setting
from retentive.index.worker import Worker
from retentive.model import Match, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from retentive.index import Source
    from retentive.index.arrays import Floats
    from retentive.model import Scope, Space


_EMPTY = 15  # rows that an image counts for by itself: 25 KB, at 2 KB a row


def _best_first(match: Match) -> tuple[float, int, int]:
    return -match.score, -match.time, -match.chunk


def _merge(parts: list[list[Match]], limit: int | None) -> list[Match]:
    if len(parts) == 1:
        return parts[0]
    return sorted((match for part in parts for match in part), key=_best_first)[:limit]


class Images:
    """Thread-safe. `close` ends the background thread; nothing else needs it."""

    def __init__(
        self,
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
    ) -> None:
        self._source = source
        self._terms_from = terms_from
        self._capacity, self._room = capacity, room
        self._setting = Setting(source, tuple(weights), cache, store_id, hnsw_from, few)
        self._images: OrderedDict[str, Image] = OrderedDict()
        self._lock = Lock()
        self._counted: dict[str, tuple[int, int]] = {}
        """Of a namespace: how many rows at which change."""
        self._worker = Worker()

    def answers(self, scope: Scope) -> bool:
        """Whether images can answer this: they hold what is active now."""
        wanted = scope.filter
        return tuple(wanted.statuses) == (Status.ACTIVE,) and not wanted.past and not wanted.ignored

    def search_vectors(
        self,
        vector: Floats,
        space: Space,
        scope: Scope,
        limit: int | None,
        floor: float | None = None,
        head: int | None = None,
    ) -> list[Match]:
        """The nearest by cosine, best first: at most `limit`, of at least `floor`; None sets no bound.

        `vector` is L2-normalised float32. In step with what was committed before the call, or before `head` was read:
        whoever asks for several things at once looks only once.
        """
        vector = np.ascontiguousarray(vector, np.float32)
        parts = []
        for image in self._of(scope):
            parts.append(image.near(vector, space, scope, limit, floor, head))
            self._see_to(image)
        return _merge(parts, limit)

    def cosines(self, vector: Floats, space: Space, scope: Scope, chunks: Sequence[int]) -> dict[int, float]:
        """How near each of these rows is to a vector, whatever else is; those without a vector are left out."""
        vector, rows = np.ascontiguousarray(vector, np.float32), np.array(chunks, np.int64)
        cosines: dict[int, float] = {}
        for image in self._of(scope):
            cosines |= image.cosines(vector, space, rows)
        return cosines

    def follow(self, head: int) -> None:
        """Bring what is loaded in step with what was committed up to this change: then the next question need not."""
        with self._lock:
            images = list(self._images.values())
        for image in images:
            image.follow(head)
            self._see_to(image)

    def prepare(self, space: Space, scope: Scope) -> None:
        """Begin to load what `search_vectors` will want, in the background."""
        for image in self._of(scope):
            if not image.has_vectors(space):
                self._worker.submit((image.namespace, "load"), partial(image.load_vectors, space), urgent=True)

    def search_text(
        self, terms: Sequence[str], scope: Scope, limit: int, head: int | None = None
    ) -> list[Match] | None:
        """The best by BM25, best first; None: ask the database.

        `terms` are tokens of the source's tokenizer. None when a namespace of the scope is small, or still loading;
        the first call starts the loading.
        """
        parts = []
        for image in self._of(scope):
            part = image.match(terms, scope, limit, head)
            if part is None:
                if self._is_large(image.namespace, head):
                    self._worker.submit((image.namespace, "terms"), image.load_terms, urgent=True)
            else:
                parts.append(part)
        return _merge(parts, limit) if len(parts) == len(set(scope.namespaces)) else None

    def _is_large(self, namespace: str, seen: int | None) -> bool:
        """Counting costs as much as the question: not again before enough has changed to make a difference."""
        head = self._source.head() if seen is None else seen
        known = self._counted.get(namespace)
        if known is None or abs(head - known[1]) >= abs(known[0] - self._terms_from):
            known = self._counted[namespace] = self._source.count(namespace), head
        return known[0] >= self._terms_from

    def wait(self, timeout: float | None = None) -> bool:
        """Until no background work is left; False when that took longer."""
        return self._worker.wait(timeout)

    def drop(self, namespace: str | None = None) -> None:
        """Forget the image of a namespace, or all; the next question loads it again."""
        with self._lock:
            for name in [namespace] if namespace is not None else list(self._images):
                self._images.pop(name, None)

    def erase(self, namespace: str, spaces: Iterable[str]) -> None:
        """Forget a namespace here and in the files of the cache: what was removed from it must not stay in a graph."""
        with self._lock:
            image = self._images.pop(namespace, None)
        if image is not None:
            with image.saving:  # a graph that is being built ends without being saved
                image.erased = True
        if self._setting.cache is not None:
            for space in spaces:
                erase_files(self._setting.cache, self._setting.store, namespace, space)

    def stats(self) -> dict[str, dict[str, Any]]:
        """For each namespace: rows, vectors, tier ("flat", "hnsw" or None), terms loaded, bytes, and errors by job."""
        with self._lock:
            images = list(self._images.values())
        errors = dict(self._worker.errors)
        return {
            image.namespace: image.stats()
            | {"errors": {job: str(error) for (name, job), error in errors.items() if name == image.namespace}}
            for image in images
        }

    def close(self) -> None:
        """Stop background work, save the graphs that changed much, let go of everything."""
        self._worker.close()
        with self._lock:
            for image in self._images.values():
                # A graph that could not be saved is built again next time; that is no reason not to close.
                with suppress(OSError, RuntimeError):
                    image.save_if_due()
            self._images.clear()

    def _see_to(self, image: Image) -> None:
        if (chore := image.chore()) is not None:
            name, job = chore
            self._worker.submit((image.namespace, name), job)

    def _of(self, scope: Scope) -> list[Image]:
        if not self.answers(scope):
            raise Invalid("images hold active rows only", hint="Ask the database when `Images.answers` says no.")
        names = dict.fromkeys(scope.namespaces)
        with self._lock:
            new = [name for name in names if name not in self._images]
            self._images.update((name, Image(name, self._setting)) for name in new)
            for name in names:
                self._images.move_to_end(name)
            if new:
                self._give_up(len(names))
            return [self._images[name] for name in names]

    def _give_up(self, asked: int) -> None:
        """Those asked longest ago, until there is room for the rest.

        A question about more namespaces than there is room for must not load them all each time.
        """
        rows = sum(_EMPTY + image.size for image in self._images.values())
        while len(self._images) > max(self._capacity, asked) and rows > self._room:
            rows -= _EMPTY + self._images.popitem(last=False)[1].size
