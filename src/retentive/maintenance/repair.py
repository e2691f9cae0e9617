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
from retentive.opening import open_store
from retentive.records.fuzzy_names import folded
from retentive.records.reindex import index_anew as index_record
from retentive.records.reindex import unsearchable
from retentive.storage import Step, step
from retentive.storage.columns import TABLES
from retentive.storage.damage import collect_damage
from retentive.storage.integrity import row_name
from retentive.storage.tables import chunks, quarantine
from retentive.storage.tables.conversations import update_step
from retentive.storage.tables.memories import unchanged_step
from retentive.store import OpenStore, backfill, validate
from retentive.transfer.backups import store_file
from retentive.transfer.salvage import Salvaged, is_damaged, salvage

TAMPERED = "it was changed without the key of integrity mode"
DERIVED = frozenset(("memory", "event", *RECORDS))  # owners from which chunks can be made again; files are on the disk


def repair(store: OpenStore, salvaged: Salvaged | None = None) -> Repaired:
    """`salvaged` is what became of a store that was written anew just now."""
    before, pending = _known_ids(store), 0 if salvaged else _count_pending(store)
    salvaged = salvaged or _salvage(store)
    with collect_damage():  # what cannot be read is dealt with here
        _rebuild_text(store)
        _note_missing(store)
        _move_all(store, (each for each in diagnose.find_orphans(store) if each.table == "chunks"))
        _move_damaged(store)
        tampered = _find_tampered(store)
        _restore_records(store, tampered)
        _move_all(store, (each for each in diagnose.find_orphans(store) if each.table != "chunks"))
        _move_tampered_states(store, tampered)
        _rebuild_sessions(store)
        store.engine.rebuild()
        _rebuild_derived(store)
        _rebuild_vectors(store)
    moved = tuple(row for row in store.tables.quarantine.all() if row.id not in before)
    if _count_pending(store) > pending or any(row.table == "spaces" for row in moved):
        with suppress(EmbedError):  # or there is no embedder; the check-up tells what is pending
            backfill.backfill(store, backfill.BATCH, None)
    if store.images.made:
        store.images.made.drop(None)
    if salvaged is None:
        return Repaired(moved)
    return Repaired(moved, salvaged.kept, salvaged.rows, salvaged.unreadable)


def _known_ids(store: OpenStore) -> set[str]:
    try:
        return {row.id for row in store.tables.quarantine.all()}
    except Corrupt:
        return set()


def _count_pending(store: OpenStore) -> int:
    """Chunks without a vector: more of them after a repair than before are its doing. None, if that is unknown."""
    try:
        return store.tables.chunks.pending_count(store.space)
    except Corrupt:
        return 0


def _salvage(store: OpenStore) -> Salvaged | None:
    """Write the store anew if pages of its file are damaged. Servers see to their own files."""
    file = store_file(store)
    if file is None or not is_damaged(file):
        return None
    return salvage(file, _ignore, key_file(store.config))


def salvage_store(settings: Config) -> Repaired:
    """Write a store anew that cannot be opened, and repair it."""
    if "://" in settings.db or settings.db == ":memory:":
        raise Invalid("only the store of a file can be salvaged", "A server has backups of its own.")
    salvaged = salvage(Path(settings.db).expanduser().absolute(), _ignore, key_file(settings))
    store = open_store(settings)
    try:
        return repair(store, salvaged)
    finally:
        store.journal.close()
        store.engine.close()
        store.active.close()


def key_file(settings: Config) -> Path | None:
    """That of integrity mode."""
    return Path(settings.integrity_key).expanduser().absolute() if settings.integrity_key else None


def _ignore(_: str, __: int, ___: int) -> None: ...


def list_quarantine(store: OpenStore) -> list[QuarantinedRow]:
    return store.tables.quarantine.all()


def discard_quarantine(store: OpenStore, ids: str | Sequence[str]) -> int:
    rows = {row.id: row for row in store.tables.quarantine.all()}
    named = [*rows] if ids == "*" else [validate.plain(id, "id") for id in validate.each_of(ids, "ids")]
    if unknown := [id for id in named if id not in rows]:
        raise NotFound(f"the quarantine has no {unknown[0][:60]!r}", "See `retentive doctor --quarantine`.")
    store.engine.apply([quarantine.discard_step(rows[id]) for id in named])
    return len(named)


def _rebuild_text(store: OpenStore) -> None:
    """So that rows can be deleted from the full-text index: one that is damaged refuses that."""
    if store.engine.in_process:
        try:
            store.engine.apply([step("text_check")])
        except Corrupt:
            store.engine.apply([step("text_rebuild")])


def _note_missing(store: OpenStore) -> None:
    """Write down which messages are missing. They are nowhere, so the session then counts those that are there."""
    now = clock.now()
    for each in diagnose.find_missing_messages(store):
        values = {"namespace": each.namespace, "session": each.session, "events": each.expected, "gaps": [*each.gaps]}
        store.engine.apply([quarantine.insert_step("session_state", values, f"missing: {each}", now)])


def _move_all(store: OpenStore, rows: Iterable[Damaged]) -> None:
    for each in [*rows]:
        with suppress(Stale):  # it is gone meanwhile
            store.engine.apply([*quarantine.move_steps(each.table, each.values, each.reason, clock.now())])


def _move_damaged(store: OpenStore) -> None:
    for each in [*diagnose.find_damaged(store)]:
        if _is_derived(each):
            store.engine.apply([quarantine.remove_step(each.table, each.values)])
        else:
            _move_all(store, [each])


def _is_derived(damaged: Damaged) -> bool:
    """Whether it can be made again: a chunk of something that is there. Others have no owner any more, or a file."""
    return damaged.table == "chunks" and damaged.values["owner_type"] in DERIVED


def _find_tampered(store: OpenStore) -> frozenset[str]:
    """In integrity mode, the rows that were changed without the key. What a repair writes is sealed as right."""
    mode = store.engine.integrity
    if mode is None or not mode.is_on or mode.key is None:
        return frozenset()
    return frozenset(each.row for each in mode.verify(lambda _: None))


def _move_tampered_states(store: OpenStore, tampered: frozenset[str]) -> None:
    """States that are about to be written with another count; they are made anew from the messages."""
    wrong = {(namespace, session) for namespace, session, *_ in store.engine.read("state_counts")}
    for values in [*quarantine.read_table(store.engine, TABLES["session_state"])] if tampered else []:
        key = (values["namespace"], values["session"])
        if key in wrong and row_name("session_state", key) in tampered:
            _move_all(store, [Damaged("session_state", values, TAMPERED)])


def _restore_records(store: OpenStore, tampered: frozenset[str]) -> None:
    """Records that are gone, from the newest version in their history. One that was tampered with is not believed."""
    columns = TABLES["record_history"].columns
    histories: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in store.engine.read("orphan_record_history"):
        values = dict(zip(columns, row, strict=True))
        histories[values["namespace"], values["type"], values["id"]].append(values)
    for key, history in histories.items():
        if any(row_name("record_history", (*key, each["version"])) in tampered for each in history):
            continue
        with suppress(Stale):  # its name is taken by now; its history goes to the quarantine
            store.engine.apply([Step("put_records", [_last_version(history)])])


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


def _rebuild_sessions(store: OpenStore) -> None:
    """What the store knows of its sessions and namespaces beside what was said there, and its own name."""
    lost = store.engine.read("sessions_lost")
    store.engine.apply([step("sessions_rebuild"), step("namespaces_rebuild")])
    for namespace, session in lost:
        _distrust(store, namespace, session)
    for namespace, session, expected, last, there, highest in store.engine.read("state_counts"):
        counted = {"events": there, "last_sequence": max(last, highest), "before": expected}
        with suppress(Stale):  # somebody appends
            store.engine.apply([step("state_recount", expect=1, namespace=namespace, session=session, **counted)])
    if not store.config.restrict_to and not store.tables.metrics.store_id():
        store.engine.apply([step("meta_set", key="store_id", value=uuid.uuid4().hex)])


def _distrust(store: OpenStore, namespace: str, name: str) -> None:
    """Mark what was said in a session as imported: whether it was, is lost with what the store knew of it."""
    session = store.tables.conversations.get(namespace, name)
    if session and session.events:
        marked = replace(session, metadata=mark_imported({}, session.last_sequence))
        with suppress(Stale):  # somebody says what it is about
            store.engine.apply([update_step(session, marked)])


def _rebuild_derived(store: OpenStore) -> None:
    """Chunks that are missing or not those of their owners."""
    sum(expire(store))
    store.tables.proposals.prune(clock.now())
    for namespace, id in store.tables.chunks.broken():
        memory = store.tables.memories.find_intact(namespace, id, clock.now())
        if memory:
            with suppress(Stale):  # whoever changed it meanwhile rebuilt its chunks
                store.engine.apply([unchanged_step(memory), *chunks_anew(store, memory)])
    for each in diagnose.find_unsearchable(store):
        with suppress(Stale):  # it grew meanwhile; the next repair has it
            _keep_stale(store, each)
            index_anew(store, each.session)
    for namespace, id, _ in store.tables.files.broken():
        with suppress(Stale, DamagedRow):
            index_file(store, namespace, id)
    for row in unsearchable(store):
        with suppress(Stale):
            index_record(store, row)


def _keep_stale(store: OpenStore, broken: Unsearchable) -> None:
    """Chunks that no message says: of a message that was changed, they are all there is of what it said."""
    if not broken.stale:
        return
    key = {"namespace": broken.session.namespace, "session": broken.session.id, "hashes": [*broken.stale]}
    columns, now = TABLES["chunks"].columns, clock.now()
    rows = [dict(zip(columns, row, strict=True)) for row in store.engine.read("chunk_some", key)]
    reason = "no message of its session says this any more"
    store.engine.apply([quarantine.insert_step("chunks", values, reason, now) for values in rows])


def _rebuild_vectors(store: OpenStore) -> None:
    """Embed again what has a bad vector. One that a caller brought goes to the quarantine."""
    space = store.space
    for each in [*diagnose.find_bad_vectors(store)]:
        if space is None or each.values["space"] != space.name:
            _move_all(store, [each])
            continue
        store.engine.apply([quarantine.remove_step(each.table, each.values)])
        pending = store.tables.chunks.pending(space, each.values["chunk"] - 1, 1)
        store.engine.apply([*_embed(store, pending, each.values["chunk"])])


def _embed(store: OpenStore, pending: Sequence[chunks.Pending], chunk: int) -> Iterator[Step]:
    wanted = [each for each in pending if each.chunk == chunk]
    made = embedded(store, [each.text for each in wanted])
    ready = [(each, vector) for each, vector in zip(wanted, made, strict=True) if vector]
    if ready and store.space:
        yield from chunks.vector_steps(store.space, ready)
