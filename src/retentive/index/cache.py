"""The images of a store: one per namespace that is searched. The least recently searched is dropped first.

A vector search loads the image that it needs and waits for that (10,000 rows: 40 ms). A keyword search never waits: the
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
from retentive.index.graph_file import erase_files
from retentive.index.image import Image, ImageSettings
from retentive.index.worker import IndexWorker
from retentive.model import Match, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retentive.index.arrays import Floats
    from retentive.model import Scope, Space


_ROWS_PER_IMAGE = 15  # rows that an image counts for by itself: 25 KB, at 2 KB a row


def _best_first(match: Match) -> tuple[float, int, int]:
    return -match.score, -match.time, -match.chunk


def _merge_matches(parts: list[list[Match]], limit: int | None) -> list[Match]:
    if len(parts) == 1:
        return parts[0]
    return sorted((match for part in parts for match in part), key=_best_first)[:limit]


class Images:
    """The images of a store. Thread-safe. `close` ends the background thread."""

    def __init__(self, settings: ImageSettings, *, terms_from: int, min_images: int, max_rows: int) -> None:
        self._settings = settings
        self._terms_from = terms_from
        self._min_images, self._max_rows = min_images, max_rows
        self._images: OrderedDict[str, Image] = OrderedDict()
        self._lock = Lock()
        self._counted: dict[str, tuple[int, int]] = {}
        """The number of rows of each namespace, and the change at which they were counted."""
        self._worker = IndexWorker()

    def answers(self, scope: Scope) -> bool:
        """Whether images can answer this scope: they hold only rows that are active now."""
        wanted = scope.filter
        return tuple(wanted.statuses) == (Status.ACTIVE,) and not wanted.past and not wanted.ignored

    def search_vectors(
        self,
        vector: Floats,
        space: Space,
        scope: Scope,
        limit: int | None,
        min_score: float | None = None,
        head: int | None = None,
    ) -> list[Match]:
        """The nearest rows by cosine, best first: at most `limit`, of at least `min_score`; None sets no bound.

        `vector` is L2-normalised float32. The images are in step with all commits before the call, or before `head`
        was read: a caller that searches several times reads the head once.
        """
        vector = np.ascontiguousarray(vector, np.float32)
        parts = []
        for image in self._open_images(scope):
            parts.append(image.search_vectors(vector, space, scope, limit, min_score, head))
            self._schedule_job(image)
        return _merge_matches(parts, limit)

    def cosines(self, vector: Floats, space: Space, scope: Scope, chunks: Sequence[int]) -> dict[int, float]:
        """The cosines of these rows with a vector, by chunk; rows without a vector are left out."""
        vector, rows = np.ascontiguousarray(vector, np.float32), np.array(chunks, np.int64)
        cosines: dict[int, float] = {}
        for image in self._open_images(scope):
            cosines |= image.cosines(vector, space, rows)
        return cosines

    def follow(self, head: int) -> None:
        """Bring loaded images in step with this change, so that the next search need not."""
        with self._lock:
            images = list(self._images.values())
        for image in images:
            image.follow(head)
            self._schedule_job(image)

    def prepare(self, space: Space, scope: Scope) -> None:
        """Start to load in the background what `search_vectors` will need."""
        for image in self._open_images(scope):
            if not image.has_vectors(space):
                self._worker.submit((image.namespace, "load"), partial(image.load_vectors, space), urgent=True)

    def search_text(
        self, terms: Sequence[str], scope: Scope, limit: int, head: int | None = None
    ) -> list[Match] | None:
        """The best by BM25, best first; None if the database must be searched.

        `terms` are tokens of the source's tokenizer. None when a namespace of the scope is small, or still loading;
        the first call starts the loading.
        """
        parts = []
        for image in self._open_images(scope):
            part = image.search_terms(terms, scope, limit, head)
            if part is None:
                if self._is_large(image.namespace, head):
                    self._worker.submit((image.namespace, "terms"), image.load_terms, urgent=True)
            else:
                parts.append(part)
        return _merge_matches(parts, limit) if len(parts) == len(set(scope.namespaces)) else None

    def _is_large(self, namespace: str, head: int | None) -> bool:
        """Whether the terms of a namespace are worth loading.

        Counting costs as much as a search: it is repeated only when enough has changed to make a difference.
        """
        head = self._settings.source.head() if head is None else head
        rows, counted_at = self._counted.get(namespace, (0, None))
        if counted_at is None or abs(head - counted_at) >= abs(rows - self._terms_from):
            rows = self._settings.source.count(namespace)
            self._counted[namespace] = rows, head
        return rows >= self._terms_from

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no background work is left; False if that takes longer than the timeout."""
        return self._worker.wait(timeout)

    def drop(self, namespace: str | None = None) -> None:
        """Drop the image of a namespace, or all; the next search loads it again."""
        with self._lock:
            for name in [namespace] if namespace is not None else list(self._images):
                self._images.pop(name, None)

    def erase(self, namespace: str, spaces: Iterable[str]) -> None:
        """Drop the image of a namespace and delete its files: removed rows must not stay in a graph."""
        with self._lock:
            image = self._images.pop(namespace, None)
        if image is not None:
            with image.saving:  # a graph that is being built ends without being saved
                image.erased = True
        if self._settings.cache_folder is not None:
            for space in spaces:
                erase_files(self._settings.cache_folder, self._settings.store_id, namespace, space)

    def stats(self) -> dict[str, dict[str, Any]]:
        """By namespace: rows, vectors, tier ("flat", "hnsw" or None), terms loaded, bytes, and errors by job."""
        with self._lock:
            images = list(self._images.values())
        errors = dict(self._worker.errors)
        return {
            image.namespace: image.stats()
            | {"errors": {job: str(error) for (name, job), error in errors.items() if name == image.namespace}}
            for image in images
        }

    def close(self) -> None:
        """Stop background work, save the graphs that changed much, and release everything."""
        self._worker.close()
        with self._lock:
            for image in self._images.values():
                # A graph that could not be saved is rebuilt next time; that must not keep the store from closing.
                with suppress(OSError, RuntimeError):
                    image.save_if_due()
            self._images.clear()

    def _schedule_job(self, image: Image) -> None:
        if (due := image.choose_job()) is not None:
            name, job = due
            self._worker.submit((image.namespace, name), job)

    def _open_images(self, scope: Scope) -> list[Image]:
        if not self.answers(scope):
            raise Invalid("images hold active rows only", hint="Ask the database when `Images.answers` says no.")
        names = dict.fromkeys(scope.namespaces)
        with self._lock:
            new = [name for name in names if name not in self._images]
            self._images.update((name, Image(name, self._settings)) for name in new)
            for name in names:
                self._images.move_to_end(name)
            if new:
                self._drop_oldest(len(names))
            return [self._images[name] for name in names]

    def _drop_oldest(self, searched: int) -> None:
        """Drop the images that were searched longest ago, until the rest fits.

        The `searched` images of the running search stay: or a search of many namespaces would load them each time.
        """
        rows = sum(_ROWS_PER_IMAGE + image.size for image in self._images.values())
        while len(self._images) > max(self._min_images, searched) and rows > self._max_rows:
            rows -= _ROWS_PER_IMAGE + self._images.popitem(last=False)[1].size
