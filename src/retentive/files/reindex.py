"""Files whose slices cannot all be found: made searchable again from what is kept of them, or read again next time."""

from dataclasses import replace

from retentive.model import Section
from retentive.storage.tables import files as rows
from retentive.store import OpenStore


def index_anew(store: OpenStore, namespace: str, id: str) -> None:
    """Its slices have all their words, so nothing is read from the disk, unless one of them is missing."""
    known = store.tables.files
    row = known.get(namespace, id)
    if row is None:
        return
    slices = known.slices(row, store.space)
    if [each.ordinal for each in slices] != [*range(row.sections)]:
        store.engine.apply([rows.reset_step(namespace, id)])
        return
    new = replace(row, version=row.version + 1)
    sections = [
        Section(tuple(each.context.split("\n")) if each.context else (), each.first, each.last, each.text)
        for each in slices
    ]
    vectors = [each.vector for each in slices]
    store.engine.apply([*rows.save_steps(new), *rows.slice_steps(new, sections, 0, store.space, vectors)])
