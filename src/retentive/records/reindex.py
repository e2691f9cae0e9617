"""Records whose words are not in the index, and how they get there again."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from retentive.errors import Stale
from retentive.records.collection import Store
from retentive.records.fields import SHAPES, chunk_status
from retentive.storage.tables.records import Row, unchanged_step
from retentive.store import OpenStore

AT_ONCE = 500  # records read at a time


class _Anew(Store[Any]):
    def broken(self, type: str) -> Iterator[Row]:
        """Of a type, those whose slices are not what they should be."""
        last: str | None = None
        while page := self._rows.page(self._store.namespace, type, AT_ONCE, last):
            there = self._rows.slices(self._store.namespace, type, [row.id for row in page])
            yield from (row for row in page if there.get(row.id, []) != self._expected_slices(row))
            last = page[-1].id

    def _expected_slices(self, row: Row) -> list[tuple[str, str]]:
        return [(text, chunk_status(row)) for text in self._cut(row, self._called(row))]

    def index(self, row: Row) -> None:
        self._store.engine.apply([unchanged_step(row), *self._slices(row, self._called(row), {})])


def unsearchable(store: OpenStore) -> Iterator[Row]:
    """Of all namespaces."""
    for namespace in store.tables.memories.namespaces():
        anew = _Anew(replace(store, namespace=namespace))
        for type in SHAPES:
            yield from anew.broken(type)


def index_anew(store: OpenStore, row: Row) -> None:
    """Unless it was changed meanwhile, which made its slices anew, too."""
    with suppress(Stale):
        _Anew(replace(store, namespace=row.namespace)).index(row)
