"""Profiles, contacts, projects and skills, held against those that are here: of one id the newer stays."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from retentive.records.fields import SHAPES, chunk_status
from retentive.records.fuzzy_names import folded
from retentive.records.render import told
from retentive.storage import Step, step
from retentive.storage.tables.purges import Purges
from retentive.storage.tables.records import Row as Kept
from retentive.storage.tables.records import Rows, slice_steps
from retentive.text.chunk import chunk
from retentive.transfer.export_format import RECORDS, Row
from retentive.transfer.export_reader import Entry
from retentive.transfer.restore_export import vectors
from retentive.transfer.restore_export.run import Decided, Desk, Outcome

ONE = "one of this name is here, under another id"


def take_in(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    rest = [*entries]
    while rest:
        done = desk.apply(namespace, partial(_decide, desk, rest))
        rest = rest[done:]


def _decide(desk: Desk, entries: Sequence[Entry], _: int) -> Decided:
    """Up to the first that depends on what becomes of an earlier one, by its id or its name."""
    decided, touched = Decided(), set[Any]()
    called: dict[str, str] = {}
    for entry in entries:
        type, row, body = entry.type, entry.row, json.loads(entry.row["fields"])
        keys = {(type, row["id"]), (type, "name", _key(body))} if SHAPES[type].unique else {(type, row["id"])}
        if keys & touched:
            break
        touched |= keys
        if type == "contact" and "name" in body:
            called[row["id"]] = body["name"]
        try:
            _fate(desk, decided, entry, body, called)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            decided.refuse(entry, f"its fields cannot be read: {type} {error}")
    return decided


def _key(body: Row) -> str:
    return folded(body.get("name", ""))


def _fate(desk: Desk, decided: Decided, entry: Entry, body: Row, called: dict[str, str]) -> None:
    type, row = entry.type, entry.row
    kept = Kept(row["namespace"], type, row["id"], body, *(row[name] for name in _TIMES))
    text = told(SHAPES[type].read(kept), _names(desk, kept, called)) if not kept.deleted else ""
    old = _here(desk, row["namespace"], type, row["id"])
    if old and _alike(old, RECORDS[type].again(row)):
        return decided.settle(entry, Outcome.SAME)
    if old and not _is_newer(row, old):
        return decided.settle(entry, Outcome.KEPT)
    if old is None and _is_purged(desk, row):
        return decided.settle(entry, Outcome.PURGED)
    if SHAPES[type].unique and not kept.deleted:
        named = Rows(desk.store.engine).named(row["namespace"], type, _key(body))
        if any(each.id != row["id"] for each in named):
            return decided.settle(entry, Outcome.KNOWN, ONE)
    decided.settle(entry, Outcome.REPLACED if old else Outcome.CREATED)
    decided.steps += _steps(desk, kept, row, old, chunk(text) if text else [])
    return None


_TIMES = ("version", "created", "updated", "deleted", "merged_into")


def _names(desk: Desk, row: Kept, called: dict[str, str]) -> dict[str, str]:
    """What the contacts are called that it names: here, or in this file."""
    found = dict(called)
    for id in SHAPES[row.type].targets(row.body):
        if id not in found and (contact := Rows(desk.store.engine).get(row.namespace, "contact", id)):
            found[id] = contact.body.get("name", id)
    return found


def _here(desk: Desk, namespace: str, type: str, id: str) -> Row | None:
    key: Row = {"namespace": namespace, "ids": [id]}
    found = desk.store.engine.read("export_record_some", {**key, "type": type})
    if not found:
        return None
    line = RECORDS[type]
    links = desk.store.engine.read("export_record_links", {**key, "types": [type]})
    past = desk.store.engine.read("export_record_history", {**key, "types": [type]})
    made = line.encode([*found[0][1:], [target for *_, target in links]])
    return {**made, "history": [line.inner["history"].encode(each[2:]) for each in past]}


def _is_purged(desk: Desk, row: Row) -> bool:
    line = Purges(desk.store.engine).of(row["namespace"], row["id"])
    return line is not None and row["updated"] <= line.at


def _alike(old: Row, new: Row) -> bool:
    return all(old[name] == new[name] for name in old)


def _is_newer(row: Row, old: Row) -> bool:
    return (row["updated"], row["version"]) > (
        RECORDS["contact"].shapes["updated"].back(old["updated"]),
        old["version"],
    )


def _steps(desk: Desk, kept: Kept, row: Row, old: Row | None, slices: Sequence[str]) -> Iterator[Step]:
    key: Row = {"namespace": kept.namespace, "type": kept.type, "id": kept.id}
    if old:
        yield step("record_delete", expect=1, **key, version=old["version"])
        yield step("revision_delete", **key)
        yield step("link_delete", **key)
    yield Step("put_records", [{**row, **key, "key": _key(dict(kept.body)), "body": row["fields"]}])
    yield Step("put_record_history", [{**key, **each, "body": each["fields"]} for each in row["history"]])
    yield Step("put_record_links", [{**key, "target": target} for target in row["links"]])
    yield from slice_steps(kept, slices, None, [None] * len(slices), chunk_status(kept))
    given = ((kept.namespace, kept.type, kept.id, each) for each in vectors.fitting(slices, row["vectors"]))
    yield from vectors.steps(desk, given)
