"""Memories of an export, held against those that are here.

The same id: the newer stays. Another id with the same text: known already. A slot that is taken: what tells of the
later time holds it, and the other is kept as what held it before.

All that as far as the source of a line may (`model/trust.py`), and a line counts for no more than an import unless the
person who imports it vouches for it. What the user said here stays as it is; what would change it is proposed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from retentive.ids import new_ids
from retentive.memories.plan import Side, expiry, make_proposal
from retentive.model import (
    ImportTrust,
    Kind,
    Memory,
    Replacement,
    Source,
    Status,
    describe_source,
    find_lowest_trust,
    find_trust,
    from_micros,
    may_replace,
    to_micros,
)
from retentive.model.proposals import SLOT, SUCCESSOR, VERSION
from retentive.storage import Step, step
from retentive.storage.tables.chunks import chunk_values, field_values
from retentive.storage.tables.memories import as_json, memory_of, snapshot, status_steps
from retentive.storage.tables.proposals import Proposals
from retentive.storage.tables.purges import Purges
from retentive.text.chunk import CHUNK_SIZE, chunk
from retentive.text.normalize import content_hash
from retentive.transfer.export_format import MEMORY, Row
from retentive.transfer.export_reader import Entry
from retentive.transfer.restore_export import vectors
from retentive.transfer.restore_export.run import Decided, Desk, Outcome

HELD = 'the one here is said by the user, and stays; `--trust user` (trust="user") has the newer version replace it'
MAX_CHAIN = 100  # of memories that replaced one another
OF_USE = ("access_count", "last_access")  # differ by being read; not a difference
ACTOR = "import"

Key = tuple[str | None, str]


@dataclass(slots=True)
class Here:
    """What is here of the ids, the texts and the slots of some lines."""

    lines: dict[str, Row] = field(default_factory=dict)
    texts: dict[Key, Memory] = field(default_factory=dict)
    slots: dict[Key, Memory] = field(default_factory=dict)
    purged: dict[str, int] = field(default_factory=dict)
    forgotten: dict[Key, int] = field(default_factory=dict)
    """Texts that held until they were forgotten, and when that was."""


def take_in(desk: Desk, namespace: str, entries: Sequence[Entry]) -> None:
    rest = [*entries]
    while rest:
        done = desk.apply(namespace, partial(_decide, desk, namespace, rest))
        rest = rest[done:]


def _decide(desk: Desk, namespace: str, entries: Sequence[Entry], now: int) -> Decided:
    """Up to the first line that depends on what becomes of an earlier one."""
    decided, here = Decided(), _here(desk, namespace, entries, now)
    touched: set[Any] = set()
    new: list[Row] = []
    for entry in entries:
        keys = _keys(entry.row, here)
        if keys & touched:
            break
        touched |= keys
        if row := _fate(desk, decided, here, entry, now):
            new.append(row)
    decided.steps += _insert_steps(desk, new)
    return decided


def _here(desk: Desk, namespace: str, entries: Sequence[Entry], now: int) -> Here:
    rows = [entry.row for entry in entries]
    known, ids = desk.store.tables.memories, [row["id"] for row in rows]
    hashes = [content_hash(row["content"]) for row in rows if row["status"] == Status.ACTIVE]
    slots = [row["slot"] for row in rows if row["slot"] and row["status"] == Status.ACTIVE]
    found = Here()
    for values in desk.store.engine.read("export_memory_some", {"namespace": namespace, "ids": ids}):
        found.lines[values[1]] = {**MEMORY.encode(values), "history": []}
    held = {"namespace": namespace, "ids": [*found.lines]}
    for id, *change in desk.store.engine.read("export_memory_history", held) if found.lines else ():
        found.lines[id]["history"].append(MEMORY.inner["history"].encode(change))
    found.texts = {(each.session, each.content_hash): each for each in known.same_text(namespace, hashes, now)}
    found.slots = {(each.session, each.slot or ""): each for each in known.same_slot(namespace, slots, now)}
    purges = Purges(desk.store.engine)
    if any(id not in found.lines for id in ids) and desk.store.engine.read(*_any_purge(namespace)):
        found.purged = {id: line.at for id in ids if (line := purges.of(namespace, id))}
    found.forgotten = _forgotten(desk, namespace, hashes, now)
    return found


def _forgotten(desk: Desk, namespace: str, hashes: Sequence[str], now: int) -> dict[Key, int]:
    """Those that were active until then: of one store, none that is active now can be as old."""
    if namespace not in desk.forgetful:
        counted = desk.store.tables.metrics.counts(namespace, now)
        desk.forgetful[namespace] = any(status == Status.FORGOTTEN for *_, status, _ in counted)
    if not desk.forgetful[namespace] or not hashes:
        return {}
    ended = desk.store.tables.memories.ended(namespace, hashes, now)
    return {
        (each.session, each.content_hash): to_micros(each.updated)
        for each in ended
        if each.status is Status.FORGOTTEN and _held(desk, each)
    }


def _held(desk: Desk, memory: Memory) -> bool:
    last = [*desk.store.tables.memories.history(memory.namespace, memory.id)][-1:]
    return any(each.action == "forgotten" and (each.before or {}).get("status") == Status.ACTIVE for each in last)


def _any_purge(namespace: str) -> tuple[str, Row]:
    return "export_purges", {"namespace": namespace, "k1": "", "k2": -1, "limit": 1}


def _keys(row: Row, here: Here) -> set[Any]:
    """What a line may change, or must not find changed."""
    keys: set[Any] = {row["id"]}
    if row["status"] == Status.ACTIVE:
        keys |= {
            ("text", row["session"], content_hash(row["content"])),
            ("slot", row["session"], row["slot"] or row["id"]),
        }
    if old := here.lines.get(row["id"]):
        keys |= {
            ("text", old["session"], content_hash(old["content"])),
            ("slot", old["session"], old["slot"] or row["id"]),
        }
    return keys


def _fate(desk: Desk, decided: Decided, here: Here, entry: Entry, now: int) -> Row | None:
    """The row as it is to be written, if it is."""
    old = here.lines.get(entry.row["id"])
    row = _with_source(desk, entry.row, old)
    outcome = _by_id(row, old, here)
    if outcome is Outcome.REPLACED and old and not may_replace(_weight(desk, row), Source(old["source"])):
        return _hold_version(decided, here, entry, row, old, now)
    if outcome in (Outcome.CREATED, Outcome.REPLACED) and row["status"] == Status.ACTIVE:
        outcome, row = _among_others(desk, decided, here, row, outcome, now)
    decided.settle(entry, outcome)
    if outcome not in (Outcome.CREATED, Outcome.REPLACED, Outcome.SUPERSEDED, Outcome.PROPOSED):
        return None
    if old:
        decided.before += _removed(row, old)
    return row


def _with_source(desk: Desk, row: Row, old: Row | None) -> Row:
    """The row with the source that it may claim: no better one than the memory of this id has here."""
    sources = [Source(row["source"])]
    if desk.trust is ImportTrust.IMPORT:
        sources.append(Source.IMPORT)
    if desk.trust is not ImportTrust.USER and old:
        sources.append(Source(old["source"]))
    return {**row, "source": str(find_lowest_trust(sources))}


def _weight(desk: Desk, row: Row) -> Source:
    """What a row counts as where it would end or change a memory."""
    own = Source(row["source"])
    return own if desk.trust is ImportTrust.USER else find_lowest_trust([own, Source.IMPORT])


def _hold_version(decided: Decided, here: Here, entry: Entry, row: Row, old: Row, now: int) -> Row | None:
    """Leave a memory of the user as it is. Another text for it becomes a memory of its own, which may replace it."""
    is_text = row["content"] != old["content"] and row["kind"] != Kind.NOTE
    if not is_text or not row["status"] == old["status"] == Status.ACTIVE:
        if row["superseded_by"] and old["status"] == Status.ACTIVE:
            decided.successors[row["namespace"], row["id"]] = row["superseded_by"]
        decided.settle(entry, Outcome.KEPT, HELD)
        return None
    fresh: Row = {"id": new_ids(now, 1)[0], "slot": None, "history": [], "version": 1, "access_count": 0}
    copy = {**row, **fresh, "last_access": None}
    outcome = _if_new(copy, here)
    twin = here.texts.get((row["session"], content_hash(row["content"])))
    if twin and twin.status is Status.ACTIVE:
        outcome = Outcome.KNOWN
    if outcome is not Outcome.CREATED:
        decided.settle(entry, outcome)
        return None
    _propose(decided, _memory(copy), _memory(MEMORY.decode(old)), Replacement("", VERSION, "its text there"), now)
    decided.settle(entry, Outcome.PROPOSED, HELD)
    return copy


def _propose(decided: Decided, newer: Memory, older: Memory, why: Replacement, now: int) -> None:
    reason = f"{why.reason}; an import does not replace what is {describe_source(older.source)}"
    made = make_proposal(older.namespace, Side.of(newer), Side.of(older), why.rule, reason, now)
    decided.proposals.append(made)


def _by_id(row: Row, old: Row | None, here: Here) -> Outcome:
    if old is None:
        return _if_new(row, here)
    if _alike(old, row):
        return Outcome.SAME
    return Outcome.REPLACED if _is_newer(row, old) else Outcome.KEPT


def _if_new(row: Row, here: Here) -> Outcome:
    if row["updated"] <= here.purged.get(row["id"], -1):
        return Outcome.PURGED
    said = here.forgotten.get((row["session"], content_hash(row["content"])), -1)
    is_back = row["status"] == Status.ACTIVE and row["kind"] != Kind.NOTE and row["updated"] <= said
    return Outcome.FORGOTTEN if is_back else Outcome.CREATED


def _among_others(
    desk: Desk, decided: Decided, here: Here, row: Row, outcome: Outcome, now: int
) -> tuple[Outcome, Row]:
    """Beside what says the same, or holds its slot."""
    twin = here.texts.get((row["session"], content_hash(row["content"]))) if row["kind"] != Kind.NOTE else None
    holder = here.slots.get((row["session"], row["slot"])) if row["slot"] else None
    if twin and twin.id != row["id"] and twin.status is Status.ACTIVE:
        is_vouched = desk.trust is ImportTrust.USER and find_trust(Source(row["source"])) > find_trust(twin.source)
        if not is_vouched:
            return Outcome.KNOWN, row
        decided.before += _ended(twin, row, now)
    for other in {each.id: each for each in (twin, holder) if each and each.id != row["id"]}.values():
        if other.status is not Status.ACTIVE:
            decided.before += expiry(other, now, ACTOR)
    is_free = holder is None or holder.id in (row["id"], twin.id if twin else "")
    if holder and not is_free and holder.status is Status.ACTIVE:
        return _for_slot(desk, decided, row, holder, outcome, now)
    return outcome, row


def _for_slot(
    desk: Desk, decided: Decided, row: Row, holder: Memory, outcome: Outcome, now: int
) -> tuple[Outcome, Row]:
    """Of the row and what holds its slot, the later one holds it, as far as its source may."""
    is_later = row["valid_from"] >= to_micros(holder.valid_from)
    if is_later and may_replace(_weight(desk, row), holder.source):
        decided.before += _ended(holder, row, now)
        decided.superseded += 1
        return outcome, row
    if not is_later and may_replace(holder.source, Source(row["source"])):
        return Outcome.SUPERSEDED, _late(row, holder, now)
    without = {**row, "slot": None}
    newer, older = (_memory(without), holder) if is_later else (holder, _memory(without))
    _propose(decided, newer, older, Replacement("", SLOT, f"same slot {row['slot']}"), now)
    return Outcome.PROPOSED, without


def propose_successors(desk: Desk) -> None:
    """Propose what replaced a memory of the user where the lines come from, now that all of them are in."""
    if desk.dry_run:
        desk.tally.proposed += sum((space, newer) in desk.would_create for (space, _), newer in desk.successors.items())
        return
    for namespace in dict.fromkeys(space for space, _ in desk.successors):
        links = {older: newer for (space, older), newer in desk.successors.items() if space == namespace}
        desk.apply(namespace, partial(_decide_successors, desk, namespace, links))


def _decide_successors(desk: Desk, namespace: str, links: Mapping[str, str], now: int) -> Decided:
    decided, rows = Decided(), Proposals(desk.store.engine)
    olds = desk.store.tables.memories.named(namespace, [*links], now)
    known = {(each.newer_id, each.older_id) for each in rows.of_memories(namespace, [*links])}
    for id, old in olds.items():
        newer = _find_current(desk, namespace, links[id], now)
        if newer is None or old.status is not Status.ACTIVE or (newer.id, id) in known or newer.id == id:
            continue
        if (newer.content_hash, old.content_hash) not in rows.rejected(namespace, [newer.content_hash]):
            _propose(decided, newer, old, Replacement("", SUCCESSOR, "replaced there"), now)
    return decided


def _find_current(desk: Desk, namespace: str, id: str | None, now: int) -> Memory | None:
    """Follow what replaced what to the memory that holds now."""
    for _ in range(MAX_CHAIN):
        memory = desk.store.tables.memories.get(namespace, id, now) if id else None
        if memory is None or memory.status is Status.ACTIVE:
            return memory
        id = memory.superseded_by
    return None


def _alike(old: Row, row: Row) -> bool:
    new = MEMORY.again(row)
    return all(old[name] == new[name] for name in old if name not in OF_USE)


def _is_newer(row: Row, old: Row) -> bool:
    return (row["updated"], row["version"]) > (MEMORY.shapes["updated"].back(old["updated"]), old["version"])


def _ended(holder: Memory, row: Row, now: int) -> Iterator[Step]:
    end = max(to_micros(holder.valid_from), row["valid_from"])
    ended = replace(
        holder,
        status=Status.SUPERSEDED,
        superseded_by=row["id"],
        valid_to=from_micros(end),
        updated=from_micros(now),
    )
    return status_steps(holder, ended, ACTOR, None)


def _late(row: Row, holder: Memory, now: int) -> Row:
    """As what held the slot before the one that holds it here."""
    before = as_json(snapshot(_memory(row)))
    change = {"version": row["version"], "action": "superseded", "at": now, "actor": ACTOR, "reason": None}
    ended = {"status": str(Status.SUPERSEDED), "superseded_by": holder.id, "valid_to": to_micros(holder.valid_from)}
    history = [*row["history"], {**change, "before": before}]
    return {**row, **ended, "updated": now, "version": row["version"] + 1, "history": history}


def _memory(row: Row) -> Memory:
    order = (
        "id namespace session kind content context tags slot source origin confidence importance status superseded_by"
        " content_hash valid_from valid_to created updated expires access_count last_access metadata version"
    )
    whole = {**row, "content_hash": content_hash(row["content"])}
    return memory_of([whole[name] for name in order.split()], 0)


def _removed(row: Row, old: Row) -> Iterator[Step]:
    """An older version, to make room for the newer; refused if it was changed since it was read."""
    key = {"namespace": row["namespace"], "id": row["id"]}
    yield step("memory_delete", expect=1, **key, version=old["version"])
    yield step("history_delete", **key)
    yield step("chunk_delete", namespace=row["namespace"], owner=row["id"], owner_type="memory")


def _insert_steps(desk: Desk, rows: Sequence[Row]) -> Iterator[Step]:
    hashed = [{**row, "content_hash": content_hash(row["content"])} for row in rows]
    yield Step("put_memories", hashed)
    history = [{"namespace": row["namespace"], "memory": row["id"], **each} for row in rows for each in row["history"]]
    yield Step("put_memory_history", history)
    cut = [(row, _slices(row)) for row in rows]
    yield Step("chunk_insert", [chunk for row, slices in cut for chunk in _chunks(row, slices)])
    for row in rows:
        if row["status"] != Status.ACTIVE:
            key = {"namespace": row["namespace"], "owner": row["id"], "owner_type": "memory"}
            yield step("chunk_status", **key, status=row["status"])
    given = (
        (row["namespace"], "memory", row["id"], each)
        for row, slices in cut
        for each in vectors.fitting(slices, row["vectors"])
    )
    yield from vectors.steps(desk, given)


def _slices(row: Row) -> Sequence[str]:
    """A memory that brought its own vector is one piece."""
    if len(row["content"]) <= CHUNK_SIZE or any(each["whole"] for each in row["vectors"]):
        return (row["content"],)
    return chunk(row["content"])


def _chunks(row: Row, slices: Sequence[str]) -> Iterator[Row]:
    tags = json.loads(row["tags"]) if row["tags"] else ()
    common = {
        **row,
        "owner": row["id"],
        "owner_type": "memory",
        "status": Status.ACTIVE,
        **field_values(row["context"], tags),
        "space": None,
    }
    return ({**common, **own} for own in chunk_values(slices, [None] * len(slices)))
