"""Files whose slices cannot all be found: made searchable again from what is kept of them, or read again next time."""

from dataclasses import replace

from retentive.model import Section
from retentive.storage.tables import files as rows
from retentive.storage.tables.files import FileRows
from retentive.store import Parts


def index_anew(parts: Parts, namespace: str, id: str) -> None:
    """Its slices have all their words, so nothing is read from the disk, unless one of them is missing."""
    known = FileRows(parts.engine)
    row = known.get(namespace, id)
    if row is None:
        return
    slices = known.slices(row, parts.space)
    if [each.ordinal for each in slices] != [*range(row.sections)]:
        parts.engine.apply([rows.reset_step(namespace, id)])
        return
    new = replace(row, version=row.version + 1)
    sections = [
        Section(tuple(each.context.split("\n")) if each.context else (), each.first, each.last, each.text)
        for each in slices
    ]
    vectors = [each.vector for each in slices]
    parts.engine.apply([*rows.save_steps(new), *rows.slice_steps(new, sections, 0, parts.space, vectors)])
