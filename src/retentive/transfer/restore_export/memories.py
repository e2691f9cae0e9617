"""Restores the memories of an export, compared with those in the store.

If a memory of the same id exists, the newer one stays. If another memory has the same text, the line adds nothing. If
the slot is taken, the memory with the later valid_from holds it, and the other is kept as superseded.

A line may change a memory only if its source is trusted enough (`model/trust.py`). It counts for no more than an import
unless the person who imports it vouches for it. What the user said in this store stays as it is; a change of it is
proposed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from retentive.ids import new_ids
from retentive.memories.plan import ProposalSide, expiry_steps, make_proposal
from retentive.model import (
    ImportTrust,
    Kind,
    Memory,
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
from retentive.storage import Step
from retentive.storage.tables import restore as restored_rows
from retentive.storage.tables.chunks import chunk_values, field_values
from retentive.storage.tables.memories import (
    chunk_status_step,
    json_or_none,
    make_inserted_memory,
    snapshot,
    status_steps,
)
from retentive.storage.tables.proposals import ProposalRows
from retentive.storage.tables.purges import Purges
from retentive.text.chunk import CHUNK_SIZE, chunk_text
from retentive.text.normalize import hash_content
from retentive.transfer.export_format import MEMORY_LINE, Line, Row
from retentive.transfer.export_reader import ExportLine
from retentive.transfer.restore_export import vectors
from retentive.transfer.restore_export.run import BatchPlan, Outcome, RestoreRun

KEPT_NOTE = "the memory here was said by the user, so it stays; `trust='user'` lets the newer version replace it"
MAX_REPLACEMENTS = 100  # followed from one memory to the next
USAGE_FIELDS = ("access_count", "last_access")  # changed by reading, so ignored in comparisons
IMPORT_ACTOR = "import"

Key = tuple[str | None, str]
"""The session of a memory, and the hash of its text or the name of its slot."""


@dataclass(slots=True)
class StoredMemories:
    """The memories in the store with the ids, the texts or the slots of some lines."""

    lines: dict[str, Line] = field(default_factory=dict)
    """By id: the line that an export of the memory would have."""
    texts: dict[Key, Memory] = field(default_factory=dict)
    slots: dict[Key, Memory] = field(default_factory=dict)
    purged: dict[str, int] = field(default_factory=dict)
    """When ids were purged."""
    forgotten: dict[Key, int] = field(default_factory=dict)
    """When active texts were forgotten, by session and hash."""


def restore_memories(run: RestoreRun, namespace: str, entries: Sequence[ExportLine]) -> None:
    rest = [*entries]
    while rest:
        done = run.apply(namespace, partial(_decide, run, namespace, rest))
        rest = rest[done:]


def _decide(run: RestoreRun, namespace: str, entries: Sequence[ExportLine], now: int) -> BatchPlan:
    """Decide on the lines up to the first that depends on the result of an earlier one."""
    plan = BatchPlan()
    existing = _load_stored(run, namespace, entries, now)
    touched: set[Any] = set()
    new: list[Row] = []
    for entry in entries:
        keys = _list_touched_keys(entry.row, existing)
        if keys & touched:
            break
        touched |= keys
        if row := _decide_line(run, plan, existing, entry, now):
            new.append(row)
    plan.steps += _insert_steps(run, new)
    return plan


def _load_stored(run: RestoreRun, namespace: str, entries: Sequence[ExportLine], now: int) -> StoredMemories:
    rows = [entry.row for entry in entries]
    ids = [row["id"] for row in rows]
    hashes = [hash_content(row["content"]) for row in rows if row["status"] == Status.ACTIVE]
    slots = [row["slot"] for row in rows if row["slot"] and row["status"] == Status.ACTIVE]
    found = StoredMemories()
    memories, stored = run.store.tables.memories, run.rows(namespace)
    for values in stored.read_memories(ids):
        found.lines[values.id] = {**MEMORY_LINE.encode(values), "history": []}
    history = stored.read_memory_history([*found.lines]) if found.lines else {}
    for id, changes in history.items():
        found.lines[id]["history"] = [MEMORY_LINE.inner["history"].encode(change) for change in changes]
    same_text = memories.load_active_by_text(namespace, hashes, now)
    same_slot = memories.load_active_by_slot(namespace, slots, now)
    found.texts = {(each.session, each.content_hash): each for each in same_text}
    found.slots = {(each.session, each.slot or ""): each for each in same_slot}
    purges = Purges(run.store.engine)
    if any(id not in found.lines for id in ids) and stored.has_purges():
        found.purged = {id: line.at for id in ids if (line := purges.get(namespace, id))}
    found.forgotten = _find_forgotten(run, namespace, hashes, now)
    return found


def _find_forgotten(run: RestoreRun, namespace: str, hashes: Sequence[str], now: int) -> dict[Key, int]:
    """Return when active texts were forgotten. A line that is older than that does not bring its text back."""
    if namespace not in run.forgotten_exists:
        counts = run.store.tables.metrics.count_memories(namespace, now)
        run.forgotten_exists[namespace] = any(each.status == Status.FORGOTTEN for each in counts)
    if not run.forgotten_exists[namespace] or not hashes:
        return {}
    ended = run.store.tables.memories.load_ended_and_notes(namespace, hashes, now)
    return {
        (each.session, each.content_hash): to_micros(each.updated)
        for each in ended
        if each.status is Status.FORGOTTEN and _was_active(run, each)
    }


def _was_active(run: RestoreRun, memory: Memory) -> bool:
    """Whether a forgotten memory was active until then."""
    changes = run.store.tables.memories.list_history(memory.namespace, memory.id)
    last = changes[-1] if changes else None
    return last is not None and last.action == "forgotten" and (last.before or {}).get("status") == Status.ACTIVE


def _list_touched_keys(row: Row, existing: StoredMemories) -> set[Any]:
    """Return the keys of everything that a line may change or depends on."""
    keys: set[Any] = {row["id"]}
    versions = [row] if row["status"] == Status.ACTIVE else []
    if old := existing.lines.get(row["id"]):
        versions.append(old)
    for each in versions:
        keys.add(("text", each["session"], hash_content(each["content"])))
        if each["slot"]:
            keys.add(("slot", each["session"], each["slot"]))
    return keys


def _decide_line(run: RestoreRun, plan: BatchPlan, existing: StoredMemories, entry: ExportLine, now: int) -> Row | None:
    """Record the outcome of a line. Return the row to be written, if any."""
    old = existing.lines.get(entry.row["id"])
    row = _limit_source(run, entry.row, old)
    outcome = _compare_by_id(row, old, existing)
    if outcome is Outcome.REPLACED and old and not may_replace(_effective_source(run, row), Source(old["source"])):
        return _propose_version(plan, existing, entry, row, old, now)
    if outcome in (Outcome.CREATED, Outcome.REPLACED) and row["status"] == Status.ACTIVE:
        outcome, row = _compare_with_others(run, plan, existing, row, outcome, now)
    plan.add_result(entry, outcome)
    if outcome not in (Outcome.CREATED, Outcome.REPLACED, Outcome.SUPERSEDED, Outcome.PROPOSED):
        return None
    if old:
        plan.before += _delete_steps(row, old)
    return row


def _limit_source(run: RestoreRun, row: Row, old: Line | None) -> Row:
    """Return the row with the source that it may claim.

    With the trust `user` that is its own. With `stated` it is no more trusted than that of the stored memory; with
    `import` it is also no more trusted than an import.
    """
    sources = [Source(row["source"])]
    if run.trust is ImportTrust.IMPORT:
        sources.append(Source.IMPORT)
    if run.trust is not ImportTrust.USER and old:
        sources.append(Source(old["source"]))
    return {**row, "source": str(find_lowest_trust(sources))}


def _effective_source(run: RestoreRun, row: Row) -> Source:
    """Return the source that decides whether a row may end or change a memory.

    With the trust `user` that is its own. With `stated` and `import` it is no more trusted than an import.
    """
    own = Source(row["source"])
    return own if run.trust is ImportTrust.USER else find_lowest_trust([own, Source.IMPORT])


def _propose_version(
    plan: BatchPlan, existing: StoredMemories, entry: ExportLine, row: Row, old: Line, now: int
) -> Row | None:
    """Keep a memory of the user. A different text becomes a new memory, which is proposed as its replacement."""
    has_new_text = row["content"] != old["content"] and row["kind"] != Kind.NOTE
    if not has_new_text or not row["status"] == old["status"] == Status.ACTIVE:
        if row["superseded_by"] and old["status"] == Status.ACTIVE:
            plan.successors[row["namespace"], row["id"]] = row["superseded_by"]
        plan.add_result(entry, Outcome.KEPT, KEPT_NOTE)
        return None
    new_values: Row = {"id": new_ids(now, 1)[0], "slot": None, "history": [], "version": 1, "access_count": 0}
    copy = {**row, **new_values, "last_access": None}
    outcome = _decide_new(copy, existing)
    same_text = existing.texts.get((row["session"], hash_content(row["content"])))
    if same_text and same_text.status is Status.ACTIVE:
        outcome = Outcome.KNOWN
    if outcome is not Outcome.CREATED:
        plan.add_result(entry, outcome)
        return None
    _propose(plan, _make_memory(copy), _make_memory(MEMORY_LINE.decode(old)), VERSION, "its text there", now)
    plan.add_result(entry, Outcome.PROPOSED, KEPT_NOTE)
    return copy


def _propose(plan: BatchPlan, newer: Memory, older: Memory, rule: str, why: str, now: int) -> None:
    reason = f"{why}; an import does not replace a memory {describe_source(older.source)}"
    proposal = make_proposal(older.namespace, ProposalSide.of(newer), ProposalSide.of(older), rule, reason, now)
    plan.proposals.append(proposal)


def _compare_by_id(row: Row, old: Line | None, existing: StoredMemories) -> Outcome:
    if old is None:
        return _decide_new(row, existing)
    if _is_equal(old, row):
        return Outcome.SAME
    return Outcome.REPLACED if _is_newer(row, old) else Outcome.KEPT


def _decide_new(row: Row, existing: StoredMemories) -> Outcome:
    if row["updated"] <= existing.purged.get(row["id"], -1):
        return Outcome.PURGED
    forgotten_at = existing.forgotten.get((row["session"], hash_content(row["content"])), -1)
    has_text = row["status"] == Status.ACTIVE and row["kind"] != Kind.NOTE
    return Outcome.FORGOTTEN if has_text and row["updated"] <= forgotten_at else Outcome.CREATED


def _compare_with_others(
    run: RestoreRun, plan: BatchPlan, existing: StoredMemories, row: Row, outcome: Outcome, now: int
) -> tuple[Outcome, Row]:
    """Compare with other memories that have the same text or hold the same slot."""
    same_text = holder = None
    if row["kind"] != Kind.NOTE:
        same_text = _other_than(row, existing.texts.get((row["session"], hash_content(row["content"]))))
    if row["slot"]:
        holder = _other_than(row, existing.slots.get((row["session"], row["slot"])))
    if same_text and same_text.status is Status.ACTIVE:
        is_vouched = run.trust is ImportTrust.USER and find_trust(Source(row["source"])) > find_trust(same_text.source)
        if not is_vouched:
            return Outcome.KNOWN, row
        plan.before += _end_steps(same_text, row, now)
    if holder and same_text and holder.id == same_text.id:
        holder = None  # one memory has both
    for other in (same_text, holder):
        if other and other.status is not Status.ACTIVE:  # its time ran out, which its row does not say yet
            plan.before += expiry_steps(other, now, IMPORT_ACTOR)
    if holder and holder.status is Status.ACTIVE:
        return _decide_slot(run, plan, row, holder, outcome, now)
    return outcome, row


def _other_than(row: Row, memory: Memory | None) -> Memory | None:
    return memory if memory and memory.id != row["id"] else None


def _decide_slot(
    run: RestoreRun, plan: BatchPlan, row: Row, holder: Memory, outcome: Outcome, now: int
) -> tuple[Outcome, Row]:
    """Give the slot to the later of the row and its holder, as far as the source of the row may."""
    is_later = row["valid_from"] >= to_micros(holder.valid_from)
    if is_later and may_replace(_effective_source(run, row), holder.source):
        plan.before += _end_steps(holder, row, now)
        plan.superseded += 1
        return outcome, row
    if not is_later and may_replace(holder.source, Source(row["source"])):
        return Outcome.SUPERSEDED, _supersede_row(row, holder, now)
    without_slot = {**row, "slot": None}
    newer, older = (_make_memory(without_slot), holder) if is_later else (holder, _make_memory(without_slot))
    _propose(plan, newer, older, SLOT, f"same slot {row['slot']}", now)
    return Outcome.PROPOSED, without_slot


def propose_successors(run: RestoreRun) -> None:
    """Propose the replacements that the export has for memories of the user, after all lines are restored."""
    if run.dry_run:
        for (namespace, _), newer in run.successors.items():
            if (namespace, newer) in run.would_create:
                run.report.proposed += 1
        return
    links_by_namespace: dict[str, dict[str, str]] = {}
    for (namespace, older), newer in run.successors.items():
        links_by_namespace.setdefault(namespace, {})[older] = newer
    for namespace, links in links_by_namespace.items():
        run.apply(namespace, partial(_decide_successors, run, namespace, links))


def _decide_successors(run: RestoreRun, namespace: str, links: Mapping[str, str], now: int) -> BatchPlan:
    plan, rows = BatchPlan(), ProposalRows(run.store.engine)
    olds = run.store.tables.memories.load_by_ids(namespace, [*links], now)
    known = {(each.newer_id, each.older_id) for each in rows.list_of_memories(namespace, [*links])}
    for id, old in olds.items():
        newer = _find_current(run, namespace, links[id], now)
        if newer is None or old.status is not Status.ACTIVE or (newer.id, id) in known or newer.id == id:
            continue
        if (newer.content_hash, old.content_hash) not in rows.find_rejected(namespace, [newer.content_hash]):
            _propose(plan, newer, old, SUCCESSOR, "replaced there", now)
    return plan


def _find_current(run: RestoreRun, namespace: str, id: str | None, now: int) -> Memory | None:
    """Follow the chain of replacements to the active memory."""
    for _ in range(MAX_REPLACEMENTS):
        memory = run.store.tables.memories.get(namespace, id, now) if id else None
        if memory is None or memory.status is Status.ACTIVE:
            return memory
        id = memory.superseded_by
    return None


def _is_equal(old: Line, row: Row) -> bool:
    new = MEMORY_LINE.reencode(row)
    return all(old[name] == new[name] for name in old if name not in USAGE_FIELDS)


def _is_newer(row: Row, old: Line) -> bool:
    return (row["updated"], row["version"]) > (MEMORY_LINE.formats["updated"].decode(old["updated"]), old["version"])


def _end_steps(holder: Memory, row: Row, now: int) -> Iterator[Step]:
    end = max(to_micros(holder.valid_from), row["valid_from"])
    ended = replace(
        holder,
        status=Status.SUPERSEDED,
        superseded_by=row["id"],
        valid_to=from_micros(end),
        updated=from_micros(now),
    )
    return status_steps(holder, ended, IMPORT_ACTOR, None)


def _supersede_row(row: Row, holder: Memory, now: int) -> Row:
    """Return the row as superseded by the memory that holds its slot in this store."""
    before = json_or_none(snapshot(_make_memory(row)))
    change = {"version": row["version"], "action": "superseded", "at": now, "actor": IMPORT_ACTOR, "reason": None}
    ended = {"status": str(Status.SUPERSEDED), "superseded_by": holder.id, "valid_to": to_micros(holder.valid_from)}
    history = [*row["history"], {**change, "before": before}]
    return {**row, **ended, "updated": now, "version": row["version"] + 1, "history": history}


def _make_memory(row: Row) -> Memory:
    return make_inserted_memory({**row, "content_hash": hash_content(row["content"])}, now=0)  # nothing expired by then


def _delete_steps(row: Row, old: Line) -> Iterator[Step]:
    """Delete the older version. `Stale` if it was changed since it was read."""
    return restored_rows.delete_memory_steps(row["namespace"], row["id"], old["version"])


def _insert_steps(run: RestoreRun, rows: Sequence[Row]) -> Iterator[Step]:
    hashed = [{**row, "content_hash": hash_content(row["content"])} for row in rows]
    yield restored_rows.insert_memories_step(hashed)
    history = [{"namespace": row["namespace"], "memory": row["id"], **each} for row in rows for each in row["history"]]
    yield restored_rows.insert_memory_history_step(history)
    split_rows = [(row, _split_text(row)) for row in rows]
    chunks = [chunk for row, texts in split_rows for chunk in _make_chunks(row, texts)]
    yield restored_rows.insert_memory_chunks_step(chunks)
    for row in rows:
        if row["status"] != Status.ACTIVE:  # its chunks were inserted as active
            yield chunk_status_step(row["namespace"], row["id"], row["status"])
    owned_vectors = (
        vectors.OwnedVector(row["namespace"], "memory", row["id"], vector)
        for row, texts in split_rows
        for vector in vectors.select_matching(texts, row["vectors"])
    )
    yield from vectors.insert_steps(run, owned_vectors)


def _split_text(row: Row) -> Sequence[str]:
    """Split the text of a memory; one with a vector of its own stays whole."""
    if len(row["content"]) <= CHUNK_SIZE or any(each["whole"] for each in row["vectors"]):
        return (row["content"],)
    return chunk_text(row["content"])


def _make_chunks(row: Row, texts: Sequence[str]) -> Iterator[Row]:
    tags = json.loads(row["tags"]) if row["tags"] else ()
    common = {
        **row,
        "owner": row["id"],
        "owner_type": "memory",
        "status": Status.ACTIVE,  # as the query inserts it, whatever the memory is
        **field_values(row["context"], tags),
        "space": None,
    }
    return ({**common, **own} for own in chunk_values(texts, [None] * len(texts)))
