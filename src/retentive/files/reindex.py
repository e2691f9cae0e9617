"""Repair the index of files whose sections are not all searchable."""

from dataclasses import replace

from retentive.model import Section
from retentive.storage.tables import files as rows
from retentive.store import OpenStore


def reindex_file(store: OpenStore, namespace: str, id: str) -> None:
    """Rebuild the index of a file from its stored sections. If one is missing, the file is read again next time."""
    files = store.tables.files
    row = files.get(namespace, id)
    if row is None:
        return
    chunks = files.list_chunks(row, store.space)
    if [each.ordinal for each in chunks] != [*range(row.sections)]:
        store.engine.apply([rows.reset_step(namespace, id)])
        return
    new = replace(row, version=row.version + 1)
    sections = [
        Section(tuple(each.context.split("\n")) if each.context else (), each.first, each.last, each.text)
        for each in chunks
    ]
    vectors = [each.vector for each in chunks]
    store.engine.apply([*rows.save_steps(new), *rows.replace_chunks_steps(new, sections, 0, store.space, vectors)])
