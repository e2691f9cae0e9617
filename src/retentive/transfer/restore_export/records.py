"""Restores profiles, contacts, projects and skills. Of two versions with one id the newer stays."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from retentive.records.fields import RECORD_TYPES, chunk_status
from retentive.records.fuzzy_names import fold_name
from retentive.records.render import render_record
from retentive.storage import Step
from retentive.storage.tables import restore as restored_rows
from retentive.storage.tables.purges import Purges
from retentive.storage.tables.records import RecordRow as Kept
from retentive.storage.tables.records import RecordRows, replace_chunks_steps
from retentive.text.chunk import chunk_text
from retentive.transfer.export_format import RECORD_LINES, Line, Row
from retentive.transfer.export_reader import ExportLine
from retentive.transfer.restore_export import vectors
from retentive.transfer.restore_export.run import BatchPlan, Outcome, RestoreRun

SAME_NAME_NOTE = "one of this name exists here, under another id"


def restore_records(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    rest = [*entries]
    while rest:
        done = run.apply(namespace, partial(_decide, run, rest))
        rest = rest[done:]


def _decide(run: RestoreRun, entries: Sequence[ExportLine], _: int) -> BatchPlan:
    """Decide on the lines up to the first that shares its id or its name with an earlier one."""
    plan, touched = BatchPlan(), set[Any]()
    contact_names: dict[str, str] = {}
    for entry in entries:
        type, row, body = entry.type, entry.row, json.loads(entry.row["fields"])
        keys = (
            {(type, row["id"]), (type, "name", _fold_name(body))} if RECORD_TYPES[type].unique else {(type, row["id"])}
        )
        if keys & touched:
            break
        touched |= keys
        if type == "contact" and "name" in body:
            contact_names[row["id"]] = body["name"]
        try:
            _decide_line(run, plan, entry, body, contact_names)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            plan.refuse(entry, f"its fields cannot be read: {type} {error}")
    return plan


def _fold_name(body: Row) -> str:
    return fold_name(body.get("name", ""))


def _decide_line(run: RestoreRun, plan: BatchPlan, entry: ExportLine, body: Row, contact_names: dict[str, str]) -> None:
    type, row = entry.type, entry.row
    kept = Kept(row["namespace"], type, row["id"], body, *(row[name] for name in _TIMES))
    text = (
        render_record(RECORD_TYPES[type].read(kept), _find_contact_names(run, kept, contact_names))
        if not kept.deleted
        else ""
    )
    old = _read_here(run, row["namespace"], type, row["id"])
    if old and _is_equal(old, RECORD_LINES[type].reencode(row)):
        return plan.add_result(entry, Outcome.SAME)
    if old and not _is_newer(row, old):
        return plan.add_result(entry, Outcome.KEPT)
    if old is None and _is_purged(run, row):
        return plan.add_result(entry, Outcome.PURGED)
    if RECORD_TYPES[type].unique and not kept.deleted:
        named = RecordRows(run.store.engine).find_by_key(row["namespace"], type, _fold_name(body))
        if any(each.id != row["id"] for each in named):
            return plan.add_result(entry, Outcome.KNOWN, SAME_NAME_NOTE)
    plan.add_result(entry, Outcome.REPLACED if old else Outcome.CREATED)
    plan.steps += _steps(run, kept, row, old, chunk_text(text) if text else [])
    return None


_TIMES = ("version", "created", "updated", "deleted", "merged_into")


def _find_contact_names(run: RestoreRun, row: Kept, contact_names: dict[str, str]) -> dict[str, str]:
    """The names of the contacts that a record refers to, from this file or from the store."""
    found = dict(contact_names)
    for id in RECORD_TYPES[row.type].list_linked_ids(row.body):
        if id not in found and (contact := RecordRows(run.store.engine).get(row.namespace, "contact", id)):
            found[id] = contact.body.get("name", id)
    return found


def _read_here(run: RestoreRun, namespace: str, type: str, id: str) -> Line | None:
    stored, owner = run.rows(namespace), (type, id)
    found = stored.read_records(type, [id])
    if not found:
        return None
    line_type = RECORD_LINES[type]
    links = stored.read_record_links([owner])[owner]
    changes = stored.read_record_history([owner])[owner]
    line = line_type.encode([*found[0].columns, links])
    return {**line, "history": [line_type.inner["history"].encode(change) for change in changes]}


def _is_purged(run: RestoreRun, row: Row) -> bool:
    line = Purges(run.store.engine).get(row["namespace"], row["id"])
    return line is not None and row["updated"] <= line.at


def _is_equal(old: Line, new: Line) -> bool:
    return all(old[name] == new[name] for name in old)


def _is_newer(row: Row, old: Line) -> bool:
    return (row["updated"], row["version"]) > (
        RECORD_LINES["contact"].formats["updated"].decode(old["updated"]),
        old["version"],
    )


def _steps(run: RestoreRun, kept: Kept, row: Row, old: Line | None, texts: Sequence[str]) -> Iterator[Step]:
    key: Row = {"namespace": kept.namespace, "type": kept.type, "id": kept.id}
    if old:
        yield from restored_rows.delete_record_steps(kept.namespace, kept.type, kept.id, old["version"])
    record = {**row, **key, "key": _fold_name(dict(kept.body)), "body": row["fields"]}
    history = [{**key, **each, "body": each["fields"]} for each in row["history"]]
    links = [{**key, "target": target} for target in row["links"]]
    yield from restored_rows.insert_record_steps(record, history, links)
    yield from replace_chunks_steps(kept, texts, None, [None] * len(texts), chunk_status(kept))
    matching = vectors.select_matching(texts, row["vectors"])
    given = [vectors.OwnedVector(kept.namespace, kept.type, kept.id, vector) for vector in matching]
    yield from vectors.insert_steps(run, given)
