"""Repair the search index of records: find those whose chunks are wrong or missing, and rebuild them."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from retentive.errors import Stale
from retentive.records.collection import RecordCollection
from retentive.records.fields import RECORD_TYPES, chunk_status
from retentive.storage.tables.records import RecordRow, require_unchanged_step
from retentive.store import OpenStore

RECORD_PAGE_SIZE = 500  # records read at a time


class _Reindexing(RecordCollection[Any]):
    """The records of a namespace, of all types, compared with their chunks."""

    def find_broken(self, type: str) -> Iterator[RecordRow]:
        """Yield the records of a type whose chunks differ from what they should be."""
        last: str | None = None
        while page := self._table.list_page(self._store.namespace, type, RECORD_PAGE_SIZE, last):
            stored = self._table.list_chunks(self._store.namespace, type, [row.id for row in page])
            yield from (row for row in page if stored.get(row.id, []) != self._make_chunks(row))
            last = page[-1].id

    def _make_chunks(self, row: RecordRow) -> list[tuple[str, str]]:
        return [(text, chunk_status(row)) for text in self._chunks(row, self._contact_names(row))]

    def rebuild(self, row: RecordRow) -> None:
        chunks = self._chunk_steps(row, self._contact_names(row), {})
        self._store.engine.apply([require_unchanged_step(row), *chunks])


def find_unsearchable(store: OpenStore) -> Iterator[RecordRow]:
    """Yield the records of all namespaces whose chunks are wrong or missing."""
    for namespace in store.tables.memories.list_namespaces():
        records = _Reindexing(replace(store, namespace=namespace))
        for type in RECORD_TYPES:
            yield from records.find_broken(type)


def reindex_record(store: OpenStore, row: RecordRow) -> None:
    """Rebuild the chunks of a record. If it was changed meanwhile, the change already rebuilt them."""
    with suppress(Stale):
        _Reindexing(replace(store, namespace=row.namespace)).rebuild(row)
