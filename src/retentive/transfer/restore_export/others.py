"""Restores namespaces, skill runs, expectations, proposals, hidden messages, accesses and purges."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

from retentive.model import ProposalStatus, Status, to_micros
from retentive.storage import Step
from retentive.storage.tables import restore as restored_rows
from retentive.storage.tables.proposals import ProposalRows
from retentive.storage.tables.purges import Purges
from retentive.store.views import can_write
from retentive.text.purged_message import PURGED
from retentive.transfer.export_format import ACCESS_LINE, EXPECTATION_LINE, PROPOSAL_LINE, RECORD_LINES, Row
from retentive.transfer.export_reader import ExportLine
from retentive.transfer.restore_export.run import BatchPlan, Outcome, RestoreRun

STILL_STORED_NOTE = "purged there, but still here; `purge()` removes it"

Key = tuple[Any, ...]
UnmatchedAccesses = dict[str, Counter[bytes]]
"""By namespace: how many stored access log entries have no line yet. Settings limit the size of the log."""


def restore_namespaces(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    def decide(_: int) -> BatchPlan:
        known = bool(run.rows(namespace).read_namespace())
        plan = BatchPlan()
        for entry in entries:
            plan.add_result(entry, Outcome.SAME if known else Outcome.CREATED)
        if not known:
            plan.steps.append(restored_rows.insert_namespace_step(namespace, entries[0].row["created"]))
        return plan

    run.apply(namespace, decide)


def restore_skill_runs(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    skill, at = min((entry.row["skill"], entry.row["at"]) for entry in entries)

    def read_keys(last: Key) -> set[Key]:
        pages = run.rows(namespace).page_skill_runs(after=(skill, at, ""))
        return _collect_keys(([(row.skill, row.at, row.memory) for row in page] for page in pages), last)

    _add_new(run, namespace, entries, ("skill", "at", "memory"), read_keys, restored_rows.insert_skill_runs_step)


def restore_purges(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    id, at = min((entry.row["id"], entry.row["at"]) for entry in entries)

    def read_keys(last: Key) -> set[Key]:
        pages = run.rows(namespace).page_purges(after=(id, at - 1))
        return _collect_keys(([(row.id, row.at) for row in page] for page in pages), last)

    _add_new(run, namespace, entries, ("id", "at"), read_keys, restored_rows.insert_purges_step)
    for entry in entries:
        if _is_still_here(run, entry.row):
            run.report.note(f"line {entry.number}, {entry.row['id']}: {STILL_STORED_NOTE}")


def _is_still_here(run: RestoreRun, purge: Row) -> bool:
    """Whether the store still has what was purged in the file, and it was not added again since."""
    stored, ids = run.rows(purge["namespace"]), [purge["id"]]
    session, _, number = purge["id"].rpartition("#")
    times = [row.updated for row in stored.read_memories(ids)]
    for type in RECORD_LINES:
        times += [row.updated for row in stored.read_records(type, ids)]
    if session and number.isascii() and number.isdecimal():
        event = run.store.tables.conversations.load_event(purge["namespace"], session, int(number))
        times += [to_micros(event.time)] if event and event.content != PURGED else []
    return any(time <= purge["at"] for time in times)


def _add_new(
    run: RestoreRun,
    namespace: str,
    entries: Sequence[ExportLine],
    names: tuple[str, ...],
    read_keys: Callable[[Key], set[Key]],
    make_step: Callable[[list[Row]], Step],
) -> None:
    """Add rows that never change, unless their key, the columns `names`, is in the store.

    `read_keys` reads the keys in the store up to the given one.
    """
    keyed = [(tuple(entry.row[name] for name in names), entry) for entry in entries]

    def decide(_: int) -> BatchPlan:
        plan, known = BatchPlan(), read_keys(max(key for key, _ in keyed))
        for key, entry in keyed:
            plan.add_result(entry, Outcome.SAME if key in known else Outcome.CREATED)
        plan.steps.append(make_step([entry.row for key, entry in keyed if key not in known]))
        return plan

    run.apply(namespace, decide)


def _collect_keys(pages: Iterable[Sequence[Key]], last: Key) -> set[Key]:
    """The keys of all pages up to the one that reaches the key `last`."""
    found: set[Key] = set()
    for keys in pages:
        found.update(keys)
        if keys[-1] >= last:
            break
    return found


def restore_expectations(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    def decide(_: int) -> BatchPlan:
        plan, stored_rows, new = BatchPlan(), _read_expectations(run, namespace), dict[str, Row]()
        for entry in entries:
            old = stored_rows.get(entry.row["id"])
            made = EXPECTATION_LINE.reencode(entry.row)
            if old is None and _is_of_purged(run, entry.row):
                plan.add_result(entry, Outcome.PURGED)
            elif old is None and entry.row["id"] not in new:
                new[entry.row["id"]] = entry.row
                plan.add_result(entry, Outcome.CREATED)
            else:
                plan.add_result(entry, Outcome.SAME if old in (made, None) else Outcome.KEPT)
        plan.steps.append(restored_rows.insert_expectations_step([*new.values()]))
        return plan

    run.apply(namespace, decide)


def _is_of_purged(run: RestoreRun, row: Row) -> bool:
    """Whether an expectation names a purged memory: its question may repeat the text."""
    lines = (Purges(run.store.engine).get(row["namespace"], id) for id in _list_named_memories(row))
    return any(line is not None and row["created"] <= line.at for line in lines)


def _list_named_memories(row: Row) -> list[str]:
    return [*json.loads(row["finds"]), *json.loads(row["absent"])]


def _read_expectations(run: RestoreRun, namespace: str) -> dict[str, Row]:
    """All stored expectations. People write them, so there are few."""
    return {row.id: EXPECTATION_LINE.encode(row) for row in run.rows(namespace).read_expectations()}


def restore_proposals(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    """Restore proposals whose memories are stored, and whose target namespace this view may write.

    A decision replaces a proposal that is still open.
    """

    def decide(now: int) -> BatchPlan:
        plan = BatchPlan()
        stored_rows = _read_proposals(run, namespace)
        taken = {row["id"] for row in stored_rows.values()}
        apart = ProposalRows(run.store.engine).find_rejected(namespace, [entry.row["newer_hash"] for entry in entries])
        known = run.store.tables.memories.load_by_ids(
            namespace, [*{id for each in entries for id in _pair_of(each.row)}], now
        )
        for entry in entries:
            row, pair = entry.row, _pair_of(entry.row)
            is_about_known = all(id in known or (namespace, id) in run.would_create for id in pair)
            leads_out = row["move_to"] and not can_write(run.store, row["move_to"])
            old = stored_rows.get(pair)
            if old is not None:
                plan.add_result(entry, _compare_proposals(old, PROPOSAL_LINE.reencode(row)))
                if plan.results[-1].outcome is Outcome.REPLACED:
                    plan.steps.append(restored_rows.reject_proposal_step(row))
                continue
            if row["id"] in taken:
                plan.refuse(entry, "its id is that of another proposal")
            elif leads_out or not is_about_known:
                plan.add_result(entry, Outcome.SKIPPED)
            elif row["status"] == ProposalStatus.OPEN and (row["newer_hash"], row["older_hash"]) in apart:
                plan.add_result(entry, Outcome.KNOWN)
            else:
                plan.add_result(entry, Outcome.CREATED)
                plan.steps.append(restored_rows.insert_proposal_step(row))
                stored_rows[pair] = PROPOSAL_LINE.reencode(row)
                taken.add(row["id"])
        return plan

    run.apply(namespace, decide)


def _pair_of(row: Row) -> tuple[str, str]:
    return row["newer"], row["older"]


def _compare_proposals(stored_rows: Row, there: Row) -> Outcome:
    """The outcome for a proposal about two memories for which there is a stored proposal."""
    if stored_rows == there:
        return Outcome.SAME
    rejected = ProposalStatus.REJECTED
    return Outcome.REPLACED if there["status"] == rejected != stored_rows["status"] else Outcome.KEPT


def _read_proposals(run: RestoreRun, namespace: str) -> dict[tuple[str, str], Row]:
    """All stored proposals by their pair of memories. People decide on them, so there are not many."""
    found = (PROPOSAL_LINE.encode(row) for row in run.rows(namespace).read_proposals())
    return {_pair_of(row): row for row in found}


def restore_hidden_messages(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    """Hide messages again, unless their memory is stored and not forgotten."""

    def decide(now: int) -> BatchPlan:
        plan = BatchPlan()
        stored_rows = {(row.session, row.sequence, row.memory) for row in run.rows(namespace).read_hidden_messages()}
        known = run.store.tables.memories.load_by_ids(namespace, [*{entry.row["memory"] for entry in entries}], now)
        for entry in entries:
            row = entry.row
            key = (row["session"], row["sequence"], row["memory"])
            memory = known.get(row["memory"])
            if key in stored_rows:
                plan.add_result(entry, Outcome.SAME)
            elif memory is not None and memory.status is not Status.FORGOTTEN:
                plan.add_result(entry, Outcome.KEPT)
            elif not run.dry_run and run.store.tables.conversations.load_event(namespace, *key[:2]) is None:
                plan.add_result(entry, Outcome.SKIPPED)
            else:
                stored_rows.add(key)
                plan.add_result(entry, Outcome.CREATED)
                plan.steps.append(restored_rows.hide_message_step(namespace, *key, row["hidden"]))
        return plan

    run.apply(namespace, decide)


def restore_accesses(
    run: RestoreRun, unmatched: UnmatchedAccesses, namespace: str, entries: Sequence[ExportLine]
) -> None:
    """Restore accesses. They have no ids, so each line is matched with one equal stored entry."""
    if namespace not in unmatched:
        unmatched[namespace] = _count_stored_accesses(run, namespace)
    left = unmatched[namespace]
    new: list[Row] = []
    plan = BatchPlan()
    for entry in entries:
        name = _digest(ACCESS_LINE.reencode(entry.row))
        if left[name] > 0:
            left[name] -= 1
            plan.add_result(entry, Outcome.SAME)
        else:
            new.append({**entry.row, "id": entry.row["memory"]})
            plan.add_result(entry, Outcome.CREATED)
    plan.steps.append(restored_rows.insert_accesses_step(new))
    run.apply(namespace, lambda _: plan)


def _count_stored_accesses(run: RestoreRun, namespace: str) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    for page in run.rows(namespace).page_accesses():
        found.update(_digest(ACCESS_LINE.encode(row.columns)) for row in page)
    return found


def _digest(line: Any) -> bytes:
    return blake2b(json.dumps(line).encode(), digest_size=12).digest()
