"""Restores indexed files. Of two versions with one id the one that was indexed later stays."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import partial

from retentive.model import Section
from retentive.storage import Step
from retentive.storage.tables import restore as restored_rows
from retentive.storage.tables.files import FileRow as Kept
from retentive.storage.tables.files import FileRows, replace_chunks_steps
from retentive.transfer.export_format import FILE_LINE, Line, Row
from retentive.transfer.export_reader import ExportLine
from retentive.transfer.restore_export import vectors
from retentive.transfer.restore_export.run import BatchPlan, Outcome, RestoreRun

SAME_PATH_NOTE = "the file is indexed here under another id"


def restore_files(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    for entry in entries:  # each brings its text, so few would share a commit
        run.apply(namespace, partial(_decide, run, entry))


def _decide(run: RestoreRun, entry: ExportLine, _: int) -> BatchPlan:
    plan, row = BatchPlan(), entry.row
    old = _read_here(run, row)
    if old and _is_equal(old, FILE_LINE.reencode(row)):
        plan.add_result(entry, Outcome.SAME)
    elif old and not _is_later(row, old):
        plan.add_result(entry, Outcome.KEPT)
    elif any(each.id != row["id"] for each in _find_at_path(run, row)):
        plan.add_result(entry, Outcome.KNOWN, SAME_PATH_NOTE)
    else:
        plan.add_result(entry, Outcome.REPLACED if old else Outcome.CREATED)
        plan.steps += _steps(run, row, old)
    return plan


def _read_here(run: RestoreRun, row: Row) -> Line | None:
    stored = run.rows(row["namespace"])
    file = stored.read_file(row["id"])
    if file is None:
        return None
    chunks = stored.read_file_chunks(row["id"])
    return {**FILE_LINE.encode(file), "slices": [FILE_LINE.inner["slices"].encode(each) for each in chunks]}


def _find_at_path(run: RestoreRun, row: Row) -> Sequence[Kept]:
    return FileRows(run.store.engine).list_by_path(row["namespace"], row["session"], [row["path"]])


def _is_equal(old: Line, new: Line) -> bool:
    return all(old[name] == new[name] for name in old)


def _is_later(row: Row, old: Line) -> bool:
    return (row["indexed"], row["version"]) > (FILE_LINE.formats["indexed"].decode(old["indexed"]), old["version"])


def _steps(run: RestoreRun, row: Row, old: Line | None) -> Iterator[Step]:
    file = {**row, "sections": len(row["slices"])}
    yield from restored_rows.replace_file_steps(file, old["version"] if old else None)
    yield from replace_chunks_steps(
        _make_file(row), [_make_section(each) for each in row["slices"]], 0, None, [None] * len(row["slices"])
    )
    matching = vectors.select_matching([each["text"] for each in row["slices"]], row["vectors"])
    given = [vectors.OwnedVector(row["namespace"], "file", row["id"], vector) for vector in matching]
    yield from vectors.insert_steps(run, given)


def _make_section(given: Row) -> Section:
    headings = tuple(given["context"].split("\n")) if given["context"] else ()
    return Section(headings, given["first"], given["last"], given["text"])


def _make_file(row: Row) -> Kept:
    read: Row = {name: json.loads(row[name]) if row[name] else None for name in ("tags", "metadata", "links", "mark")}
    lists: Row = {"tags": tuple(read["tags"] or ()), "links": tuple(read["links"] or ())}
    names = [each.name for each in fields(Kept)]
    known = {**row, **read, **lists, "metadata": read["metadata"] or {}, "sections": len(row["slices"])}
    return Kept(**{name: known[name] for name in names})
