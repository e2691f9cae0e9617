"""Repairs a store: what is derived is rebuilt, what is damaged and not derived goes to the quarantine.

The order matters. What is missing is counted while all rows are still there; a text whose owner is gone is kept before
what has no owner is dropped; damaged rows go before anything is rebuilt from the tables they were in. Each row is
moved in a transaction of its own with guards, so whoever writes meanwhile does no harm, and a repair that was stopped
is simply repeated.
"""

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from retentive import clock
from retentive.config import Config
from retentive.conversations.append import index_anew
from retentive.conversations.imported import mark_imported
from retentive.errors import Corrupt, DamagedRow, EmbedError, Invalid, NotFound, Stale
from retentive.files.reindex import index_anew as index_file
from retentive.maintenance import diagnose
from retentive.maintenance.diagnose import Damaged, Unsearchable
from retentive.memories.edit import chunks_anew
from retentive.memories.write import embedded, expire
from retentive.model import RECORDS, QuarantinedRow, Repaired
from retentive.opening import open_parts
from retentive.records.fuzzy_names import folded
from retentive.records.reindex import index_anew as index_record
from retentive.records.reindex import unsearchable
from retentive.storage import Step, step
from retentive.storage.columns import TABLES
from retentive.storage.damage import collect_damage
from retentive.storage.integrity import row_name
from retentive.storage.tables import chunks, quarantine
from retentive.storage.tables.conversations import update_step
from retentive.storage.tables.files import FileRows
from retentive.storage.tables.memories import unchanged_step
from retentive.storage.tables.proposals import Proposals
from retentive.storage.tables.quarantine import Quarantine
from retentive.store import Parts, backfill, validate
from retentive.transfer.backups import store_file
from retentive.transfer.salvage import Salvaged, is_damaged, salvage

TAMPERED = "it was changed without the key of integrity mode"
DERIVED = frozenset(("memory", "event", *RECORDS))  # owners from which chunks can be made again; files are on the disk


def repair(parts: Parts, salvaged: Salvaged | None = None) -> Repaired:
    """`salvaged` is what became of a store that was written anew just now."""
    before, pending = _known_ids(parts), 0 if salvaged else _count_pending(parts)
    salvaged = salvaged or _salvage(parts)
    with collect_damage():  # what cannot be read is dealt with here
        _rebuild_text(parts)
        _note_missing(parts)
        _move_all(parts, (each for each in diagnose.find_orphans(parts) if each.table == "chunks"))
        _move_damaged(parts)
        tampered = _find_tampered(parts)
        _restore_records(parts, tampered)
        _move_all(parts, (each for each in diagnose.find_orphans(parts) if each.table != "chunks"))
        _move_tampered_states(parts, tampered)
        _rebuild_sessions(parts)
        parts.engine.rebuild()
        _rebuild_derived(parts)
        _rebuild_vectors(parts)
    moved = tuple(row for row in Quarantine(parts.engine).all() if row.id not in before)
    if _count_pending(parts) > pending or any(row.table == "spaces" for row in moved):
        with suppress(EmbedError):  # or there is no embedder; the check-up tells what is pending
            backfill.backfill(parts, backfill.BATCH, None)
    if parts.images.made:
        parts.images.made.drop(None)
    if salvaged is None:
        return Repaired(moved)
    return Repaired(moved, salvaged.kept, salvaged.rows, salvaged.unreadable)


def _known_ids(parts: Parts) -> set[str]:
    try:
        return {row.id for row in Quarantine(parts.engine).all()}
    except Corrupt:
        return set()


def _count_pending(parts: Parts) -> int:
    """Chunks without a vector: more of them after a repair than before are its doing. None, if that is unknown."""
    try:
        return parts.chunks.pending_count(parts.space)
    except Corrupt:
        return 0


def _salvage(parts: Parts) -> Salvaged | None:
    """Write the store anew if pages of its file are damaged. Servers see to their own files."""
    file = store_file(parts)
    if file is None or not is_damaged(file):
        return None
    return salvage(file, _ignore, key_file(parts.config))


def salvage_store(settings: Config) -> Repaired:
    """Write a store anew that cannot be opened, and repair it."""
    if "://" in settings.db or settings.db == ":memory:":
        raise Invalid("only the store of a file can be salvaged", "A server has backups of its own.")
    salvaged = salvage(Path(settings.db).expanduser().absolute(), _ignore, key_file(settings))
    parts = open_parts(settings)
    try:
        return repair(parts, salvaged)
    finally:
        parts.journal.close()
        parts.engine.close()
        parts.active.close()


def key_file(settings: Config) -> Path | None:
    """That of integrity mode."""
    return Path(settings.integrity_key).expanduser().absolute() if settings.integrity_key else None


def _ignore(_: str, __: int, ___: int) -> None: ...


def list_quarantine(parts: Parts) -> list[QuarantinedRow]:
    return Quarantine(parts.engine).all()


def discard_quarantine(parts: Parts, ids: str | Sequence[str]) -> int:
    rows = {row.id: row for row in Quarantine(parts.engine).all()}
    named = [*rows] if ids == "*" else [validate.plain(id, "id") for id in validate.each_of(ids, "ids")]
    if unknown := [id for id in named if id not in rows]:
        raise NotFound(f"the quarantine has no {unknown[0][:60]!r}", "See `retentive doctor --quarantine`.")
    parts.engine.apply([quarantine.discard_step(rows[id]) for id in named])
    return len(named)


def _rebuild_text(parts: Parts) -> None:
    """So that rows can be deleted from the full-text index: one that is damaged refuses that."""
    if parts.engine.in_process:
        try:
            parts.engine.apply([step("text_check")])
        except Corrupt:
            parts.engine.apply([step("text_rebuild")])


def _note_missing(parts: Parts) -> None:
    """Write down which messages are missing. They are nowhere, so the session then counts those that are there."""
    now = clock.now()
    for each in diagnose.find_missing_messages(parts):
        values = {"namespace": each.namespace, "session": each.session, "events": each.expected, "gaps": [*each.gaps]}
        parts.engine.apply([quarantine.insert_step("session_state", values, f"missing: {each}", now)])


def _move_all(parts: Parts, rows: Iterable[Damaged]) -> None:
    for each in [*rows]:
        with suppress(Stale):  # it is gone meanwhile
            parts.engine.apply([*quarantine.move_steps(each.table, each.values, each.reason, clock.now())])


def _move_damaged(parts: Parts) -> None:
    for each in [*diagnose.find_damaged(parts)]:
        if _is_derived(each):
            parts.engine.apply([quarantine.remove_step(each.table, each.values)])
        else:
            _move_all(parts, [each])


def _is_derived(damaged: Damaged) -> bool:
    """Whether it can be made again: a chunk of something that is there. Others have no owner any more, or a file."""
    return damaged.table == "chunks" and damaged.values["owner_type"] in DERIVED


def _find_tampered(parts: Parts) -> frozenset[str]:
    """In integrity mode, the rows that were changed without the key. What a repair writes is sealed as right."""
    mode = parts.engine.integrity
    if mode is None or not mode.is_on or mode.key is None:
        return frozenset()
    return frozenset(each.row for each in mode.verify(lambda _: None))


def _move_tampered_states(parts: Parts, tampered: frozenset[str]) -> None:
    """States that are about to be written with another count; they are made anew from the messages."""
    wrong = {(namespace, session) for namespace, session, *_ in parts.engine.read("state_counts")}
    for values in [*quarantine.read_table(parts.engine, TABLES["session_state"])] if tampered else []:
        key = (values["namespace"], values["session"])
        if key in wrong and row_name("session_state", key) in tampered:
            _move_all(parts, [Damaged("session_state", values, TAMPERED)])


def _restore_records(parts: Parts, tampered: frozenset[str]) -> None:
    """Records that are gone, from the newest version in their history. One that was tampered with is not believed."""
    columns = TABLES["record_history"].columns
    histories: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in parts.engine.read("orphan_record_history"):
        values = dict(zip(columns, row, strict=True))
        histories[values["namespace"], values["type"], values["id"]].append(values)
    for key, history in histories.items():
        if any(row_name("record_history", (*key, each["version"])) in tampered for each in history):
            continue
        with suppress(Stale):  # its name is taken by now; its history goes to the quarantine
            parts.engine.apply([Step("put_records", [_last_version(history)])])


def _last_version(history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The row of a record as its history, oldest first, leaves it."""
    first, last = history[0], history[-1]
    bodies = [each["body"] for each in history if each["body"] is not None]
    body = bodies[-1] if bodies else "{}"
    return {
        **{name: last[name] for name in ("namespace", "type", "id", "version")},
        "key": folded(str(json.loads(body).get("name", ""))),
        "body": body,
        "created": first["at"],
        "updated": last["at"],
        "deleted": last["at"] if last["body"] is None else None,
        "merged_into": None,
    }


def _rebuild_sessions(parts: Parts) -> None:
    """What the store knows of its sessions and namespaces beside what was said there, and its own name."""
    lost = parts.engine.read("sessions_lost")
    parts.engine.apply([step("sessions_rebuild"), step("namespaces_rebuild")])
    for namespace, session in lost:
        _distrust(parts, namespace, session)
    for namespace, session, expected, last, there, highest in parts.engine.read("state_counts"):
        counted = {"events": there, "last_sequence": max(last, highest), "before": expected}
        with suppress(Stale):  # somebody appends
            parts.engine.apply([step("state_recount", expect=1, namespace=namespace, session=session, **counted)])
    if not parts.config.restrict_to and not parts.upkeep.store_id():
        parts.engine.apply([step("meta_set", key="store_id", value=uuid.uuid4().hex)])


def _distrust(parts: Parts, namespace: str, name: str) -> None:
    """Mark what was said in a session as imported: whether it was, is lost with what the store knew of it."""
    session = parts.conversations.get(namespace, name)
    if session and session.events:
        marked = replace(session, metadata=mark_imported({}, session.last_sequence))
        with suppress(Stale):  # somebody says what it is about
            parts.engine.apply([update_step(session, marked)])


def _rebuild_derived(parts: Parts) -> None:
    """Chunks that are missing or not those of their owners."""
    sum(expire(parts))
    Proposals(parts.engine).prune(clock.now())
    for namespace, id in parts.chunks.broken():
        memory = parts.memories.find_intact(namespace, id, clock.now())
        if memory:
            with suppress(Stale):  # whoever changed it meanwhile rebuilt its chunks
                parts.engine.apply([unchanged_step(memory), *chunks_anew(parts, memory)])
    for each in diagnose.find_unsearchable(parts):
        with suppress(Stale):  # it grew meanwhile; the next repair has it
            _keep_stale(parts, each)
            index_anew(parts, each.session)
    for namespace, id, _ in FileRows(parts.engine).broken():
        with suppress(Stale, DamagedRow):
            index_file(parts, namespace, id)
    for row in unsearchable(parts):
        with suppress(Stale):
            index_record(parts, row)


def _keep_stale(parts: Parts, broken: Unsearchable) -> None:
    """Chunks that no message says: of a message that was changed, they are all there is of what it said."""
    if not broken.stale:
        return
    key = {"namespace": broken.session.namespace, "session": broken.session.id, "hashes": [*broken.stale]}
    columns, now = TABLES["chunks"].columns, clock.now()
    rows = [dict(zip(columns, row, strict=True)) for row in parts.engine.read("chunk_some", key)]
    reason = "no message of its session says this any more"
    parts.engine.apply([quarantine.insert_step("chunks", values, reason, now) for values in rows])


def _rebuild_vectors(parts: Parts) -> None:
    """Embed again what has a bad vector. One that a caller brought goes to the quarantine."""
    space = parts.space
    for each in [*diagnose.find_bad_vectors(parts)]:
        if space is None or each.values["space"] != space.name:
            _move_all(parts, [each])
            continue
        parts.engine.apply([quarantine.remove_step(each.table, each.values)])
        pending = parts.chunks.pending(space, each.values["chunk"] - 1, 1)
        parts.engine.apply([*_embed(parts, pending, each.values["chunk"])])


def _embed(parts: Parts, pending: Sequence[chunks.Pending], chunk: int) -> Iterator[Step]:
    wanted = [each for each in pending if each.chunk == chunk]
    made = embedded(parts, [each.text for each in wanted])
    ready = [(each, vector) for each, vector in zip(wanted, made, strict=True) if vector]
    if ready and parts.space:
        yield from chunks.vector_steps(parts.space, ready)
