"""Files of an index, held against those that are here: of one id the one that was indexed later stays."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import partial

from retentive.model import Section
from retentive.storage import Step, step
from retentive.storage.tables.files import FileRows, slice_steps
from retentive.storage.tables.files import Row as Kept
from retentive.transfer.export_format import FILE, Row
from retentive.transfer.export_reader import Entry
from retentive.transfer.restore_export import vectors
from retentive.transfer.restore_export.run import Decided, Desk, Outcome

HERE = "the file is in the index here under another id"


def take_in(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    for entry in entries:  # each brings its text, so few would share a commit
        desk.apply(namespace, partial(_decide, desk, entry))


def _decide(desk: Desk, entry: Entry, _: int) -> Decided:
    decided, row = Decided(), entry.row
    old = _here(desk, row)
    if old and _alike(old, FILE.again(row)):
        decided.settle(entry, Outcome.SAME)
    elif old and not _is_later(row, old):
        decided.settle(entry, Outcome.KEPT)
    elif any(each.id != row["id"] for each in _at_path(desk, row)):
        decided.settle(entry, Outcome.KNOWN, HERE)
    else:
        decided.settle(entry, Outcome.REPLACED if old else Outcome.CREATED)
        decided.steps += _steps(desk, row, old)
    return decided


def _here(desk: Desk, row: Row) -> Row | None:
    key = {"namespace": row["namespace"]}
    found = desk.store.engine.read("export_file_some", {**key, "ids": [row["id"]]})
    if not found:
        return None
    slices = desk.store.engine.read("export_file_slices", {**key, "id": row["id"]})
    return {**FILE.encode(found[0]), "slices": [FILE.inner["slices"].encode(each) for each in slices]}


def _at_path(desk: Desk, row: Row) -> Sequence[Kept]:
    return FileRows(desk.store.engine).at(row["namespace"], row["session"], [row["path"]])


def _alike(old: Row, new: Row) -> bool:
    return all(old[name] == new[name] for name in old)


def _is_later(row: Row, old: Row) -> bool:
    return (row["indexed"], row["version"]) > (FILE.shapes["indexed"].back(old["indexed"]), old["version"])


def _steps(desk: Desk, row: Row, old: Row | None) -> Iterator[Step]:
    key: Row = {"namespace": row["namespace"], "id": row["id"]}
    if old:
        yield step("file_delete", expect=1, **key, version=old["version"])
    yield step("file_chunk_delete", namespace=row["namespace"], owner=row["id"], first=0)
    yield Step("put_files", [{**row, "sections": len(row["slices"])}])
    yield from slice_steps(_file(row), [_section(each) for each in row["slices"]], 0, None, [None] * len(row["slices"]))
    fitting = vectors.fitting([each["text"] for each in row["slices"]], row["vectors"])
    yield from vectors.steps(desk, ((row["namespace"], "file", row["id"], each) for each in fitting))


def _section(given: Row) -> Section:
    headings = tuple(given["context"].split("\n")) if given["context"] else ()
    return Section(headings, given["first"], given["last"], given["text"])


def _file(row: Row) -> Kept:
    read: Row = {name: json.loads(row[name]) if row[name] else None for name in ("tags", "metadata", "links", "mark")}
    lists: Row = {"tags": tuple(read["tags"] or ()), "links": tuple(read["links"] or ())}
    names = [each.name for each in fields(Kept)]
    known = {**row, **read, **lists, "metadata": read["metadata"] or {}, "sections": len(row["slices"])}
    return Kept(**{name: known[name] for name in names})
