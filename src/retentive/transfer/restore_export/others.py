"""Namespaces, runs, expectations, proposals, hidden messages, the access log, and what is on record of purges."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

from retentive.model import ProposalStatus, Status, to_micros
from retentive.storage import Step, step
from retentive.storage.tables.proposals import Proposals
from retentive.storage.tables.purges import Purges
from retentive.store.views import can_write
from retentive.text.purged_message import PURGED
from retentive.transfer.export_format import ACCESS, EXPECTATION, MEMORY, PROPOSAL, RECORDS, Row
from retentive.transfer.export_reader import Entry
from retentive.transfer.restore_export.run import Decided, Desk, Outcome

STILL = "purged there, and still here; `retentive purge` removes it"
PAGE = 1000  # rows of the log read at a time

Key = tuple[Any, ...]
Seen = dict[str, Counter[bytes]]
"""By namespace: the entries of the access log here that no line was held against yet. Settings bound the log."""


def namespaces(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    def decide(_: int) -> Decided:
        known = bool(desk.store.engine.read("export_namespaces", {"namespace": namespace}))
        decided = Decided()
        for entry in entries:
            decided.settle(entry, Outcome.SAME if known else Outcome.CREATED)
        if not known:
            decided.steps.append(step("namespace_insert", namespace=namespace, now=entries[0].row["created"]))
        return decided

    desk.apply(namespace, decide)


def runs(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    first = min((entry.row["skill"], entry.row["at"]) for entry in entries)
    here = partial(_keys, desk, namespace, "export_skill_runs", (*first, ""), 3)
    _put_new(desk, namespace, entries, "run_insert", here, ("skill", "at", "memory"))


def purges(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    id, at = min((entry.row["id"], entry.row["at"]) for entry in entries)
    here = partial(_keys, desk, namespace, "export_purges", (id, at - 1), 2)
    _put_new(desk, namespace, entries, "purge_restore", here, ("id", "at"))
    for entry in entries:
        if _is_still_here(desk, entry.row):
            desk.tally.note(f"line {entry.number}, {entry.row['id']}: {STILL}")


def _is_still_here(desk: Desk, purge: Row) -> bool:
    """Not if it was told anew since."""
    asked = {"namespace": purge["namespace"], "ids": [purge["id"]]}
    engine, (session, _, number) = desk.store.engine, purge["id"].rpartition("#")
    times = [dict(zip(MEMORY.shapes, row, strict=True))["updated"] for row in engine.read("export_memory_some", asked)]
    for type in RECORDS:
        times += [row[6] for row in engine.read("export_record_some", {**asked, "type": type})]
    if session and number.isascii() and number.isdecimal():
        event = desk.store.tables.conversations.event(purge["namespace"], session, int(number))
        times += [to_micros(event.time)] if event and event.content != PURGED else []
    return any(time <= purge["at"] for time in times)


def _put_new(
    desk: Desk,
    namespace: str,
    entries: Sequence[Entry],
    query: str,
    here: Callable[[Key], set[Key]],
    names: tuple[str, ...],
) -> None:
    """Rows that never change: those that are not here."""
    keyed = [(tuple(entry.row[name] for name in names), entry) for entry in entries]

    def decide(_: int) -> Decided:
        decided, known = Decided(), here(max(key for key, _ in keyed))
        for key, entry in keyed:
            decided.settle(entry, Outcome.SAME if key in known else Outcome.CREATED)
        decided.steps.append(Step(query, [entry.row for key, entry in keyed if key not in known]))
        return decided

    desk.apply(namespace, decide)


def _keys(desk: Desk, namespace: str, query: str, after: Key, length: int, last: Key) -> set[Key]:
    """Of the rows here after one key, up to another."""
    found: set[Key] = set()
    while after < last:
        values = {f"k{at}": value for at, value in enumerate(after, start=1)}
        page = desk.store.engine.read(query, {"namespace": namespace, **values, "limit": PAGE})
        if not page:
            break
        found.update(tuple(row[1 : length + 1]) for row in page)
        after = tuple(page[-1][1 : length + 1])
    return found


def expectations(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    def decide(_: int) -> Decided:
        decided, here, new = Decided(), _expected(desk, namespace), dict[str, Row]()
        for entry in entries:
            old = here.get(entry.row["id"])
            made = EXPECTATION.again(entry.row)
            if old is None and _is_of_purged(desk, entry.row):
                decided.settle(entry, Outcome.PURGED)
            elif old is None and entry.row["id"] not in new:
                new[entry.row["id"]] = entry.row
                decided.settle(entry, Outcome.CREATED)
            else:
                decided.settle(entry, Outcome.SAME if old in (made, None) else Outcome.KEPT)
        decided.steps.append(Step("put_expectations", [*new.values()]))
        return decided

    desk.apply(namespace, decide)


def _is_of_purged(desk: Desk, row: Row) -> bool:
    """Its question may say what is gone: it went with a memory that it names."""
    lines = (Purges(desk.store.engine).of(row["namespace"], id) for id in _named(row))
    return any(line is not None and row["created"] <= line.at for line in lines)


def _named(row: Row) -> list[str]:
    return [*json.loads(row["finds"]), *json.loads(row["absent"])]


def _expected(desk: Desk, namespace: str) -> dict[str, Row]:
    """People write them: there are few."""
    asked = {"namespace": namespace, "k1": "", "limit": 1_000_000}
    return {row[1]: EXPECTATION.encode(row) for row in desk.store.engine.read("export_expectations", asked)}


def proposals(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    """Those whose memories are here, and that lead nowhere where this view may not write.

    A decision goes before a question that is still open.
    """

    def decide(now: int) -> Decided:
        decided = Decided()
        here = _proposed(desk, namespace)
        taken = {row["id"] for row in here.values()}
        apart = Proposals(desk.store.engine).rejected(namespace, [entry.row["newer_hash"] for entry in entries])
        known = desk.store.tables.memories.named(namespace, [*{id for each in entries for id in _pair(each.row)}], now)
        for entry in entries:
            row, pair = entry.row, _pair(entry.row)
            is_about_known = all(id in known or (namespace, id) in desk.would_create for id in pair)
            leads_out = row["move_to"] and not can_write(desk.store, row["move_to"])
            old = here.get(pair)
            if old is not None:
                decided.settle(entry, _beside(old, PROPOSAL.again(row)))
                if decided.fates[-1].outcome is Outcome.REPLACED:
                    decided.steps.append(step("proposal_decide_against", **row))
                continue
            if row["id"] in taken:
                decided.refuse(entry, "its id is that of another proposal")
            elif leads_out or not is_about_known:
                decided.settle(entry, Outcome.SKIPPED)
            elif row["status"] == ProposalStatus.OPEN and (row["newer_hash"], row["older_hash"]) in apart:
                decided.settle(entry, Outcome.KNOWN)
            else:
                decided.settle(entry, Outcome.CREATED)
                decided.steps.append(step("proposal_restore", expect=1, **row))
                here[pair] = PROPOSAL.again(row)
                taken.add(row["id"])
        return decided

    desk.apply(namespace, decide)


def _pair(row: Row) -> tuple[str, str]:
    return row["newer"], row["older"]


def _beside(here: Row, there: Row) -> Outcome:
    """What becomes of a proposal about two memories that are proposed here, too."""
    if here == there:
        return Outcome.SAME
    rejected = ProposalStatus.REJECTED
    return Outcome.REPLACED if there["status"] == rejected != here["status"] else Outcome.KEPT


def _proposed(desk: Desk, namespace: str) -> dict[tuple[str, str], Row]:
    """By their pair of memories: people decide on them, so there are not many."""
    asked = {"namespace": namespace, "k1": "", "limit": 1_000_000}
    found = (PROPOSAL.encode(row) for row in desk.store.engine.read("export_proposals", asked))
    return {_pair(row): row for row in found}


def hidden_messages(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    """Those whose memory is not active here: what was restored here stays visible."""

    def decide(now: int) -> Decided:
        decided = Decided()
        asked = {"namespace": namespace, "k1": "", "k2": -1, "k3": "", "limit": 1_000_000}
        here = {row[1:4] for row in desk.store.engine.read("export_hidden_messages", asked)}
        known = desk.store.tables.memories.named(namespace, [*{entry.row["memory"] for entry in entries}], now)
        for entry in entries:
            row = entry.row
            key = (row["session"], row["sequence"], row["memory"])
            memory = known.get(row["memory"])
            if key in here:
                decided.settle(entry, Outcome.SAME)
            elif memory is not None and memory.status is not Status.FORGOTTEN:
                decided.settle(entry, Outcome.KEPT)
            elif not desk.dry_run and desk.store.tables.conversations.event(namespace, *key[:2]) is None:
                decided.settle(entry, Outcome.SKIPPED)
            else:
                here.add(key)
                decided.settle(entry, Outcome.CREATED)
                values = {"namespace": namespace, "session": key[0], "sequence": key[1], "memory": key[2]}
                decided.steps.append(step("message_hide", **values, now=row["hidden"]))
        return decided

    desk.apply(namespace, decide)


def accesses(desk: Desk, seen: Seen, namespace: str, entries: Sequence[Entry]) -> None:
    """They have no ids: each is held against one that is here and says the same."""
    if namespace not in seen:
        seen[namespace] = _logged(desk, namespace)
    left = seen[namespace]
    new: list[Row] = []
    decided = Decided()
    for entry in entries:
        name = _digest(ACCESS.again(entry.row))
        if left[name] > 0:
            left[name] -= 1
            decided.settle(entry, Outcome.SAME)
        else:
            new.append({**entry.row, "id": entry.row["memory"]})
            decided.settle(entry, Outcome.CREATED)
    decided.steps.append(Step("access_insert", new))
    desk.apply(namespace, lambda _: decided)


def _logged(desk: Desk, namespace: str) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    after = 0
    while page := desk.store.engine.read("export_access_log", {"namespace": namespace, "k1": after, "limit": PAGE}):
        found.update(_digest(ACCESS.encode(row[1:])) for row in page)
        after = page[-1][0]
    return found


def _digest(line: Any) -> bytes:
    return blake2b(json.dumps(line).encode(), digest_size=12).digest()
