"""Repair a store: rebuild derived rows, and move damaged rows that cannot be derived to the quarantine.

The order matters. Missing messages are counted while all rows are still there. Chunks without an owner are saved
before other rows without an owner are dropped. Damaged rows are moved before anything is rebuilt from their tables.
Each row is moved in a guarded transaction of its own. So concurrent writers do no harm, and a repair that was stopped
can be repeated.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from retentive import clock
from retentive.config import Config
from retentive.conversations.append import reindex_session
from retentive.conversations.imported import mark_imported
from retentive.errors import Corrupt, DamagedRow, EmbedError, Invalid, NotFound, Stale
from retentive.files.reindex import reindex_file
from retentive.maintenance import diagnose
from retentive.maintenance.diagnose import Damaged, Unsearchable
from retentive.memories.edit import rechunk_steps
from retentive.memories.write import embed_texts, expire_memories
from retentive.model import RECORDS, QuarantinedRow, RepairResult
from retentive.opening import open_store
from retentive.records.fuzzy_names import fold_name
from retentive.records.reindex import find_unsearchable as find_unsearchable_records
from retentive.records.reindex import reindex_record
from retentive.storage import Step
from retentive.storage.columns import TABLES
from retentive.storage.damage import collect_damage
from retentive.storage.integrity import row_name
from retentive.storage.tables import chunks, health, quarantine
from retentive.storage.tables.conversations import update_step
from retentive.storage.tables.health import DamageChecks
from retentive.storage.tables.memories import require_unchanged_step
from retentive.store import OpenStore, backfill, validate
from retentive.store.vectors import EMBED_BATCH_SIZE
from retentive.transfer.backups import store_file
from retentive.transfer.salvage import Salvaged, is_damaged, salvage

TAMPERED_REASON = "it was changed without the key of integrity mode"
REBUILDABLE_OWNERS = frozenset(("memory", "event", *RECORDS))  # chunks are rebuilt from these; files are on disk


def repair(store: OpenStore, salvaged: Salvaged | None = None) -> RepairResult:
    """Repair an open store. `salvaged` is given if its file was rewritten just now."""
    quarantined_before = _load_quarantine_ids(store)
    pending_before = 0 if salvaged else _count_pending(store)
    salvaged = salvaged or _salvage(store)
    with collect_damage():  # unreadable rows are handled here
        _rebuild_text(store)
        _record_missing_messages(store)
        _quarantine_rows(store, (each for each in diagnose.find_orphans(store) if each.table == "chunks"))
        _quarantine_damaged(store)
        tampered = _find_tampered(store)
        _restore_records(store, tampered)
        _quarantine_rows(store, (each for each in diagnose.find_orphans(store) if each.table != "chunks"))
        _quarantine_tampered_states(store, tampered)
        _rebuild_sessions(store)
        store.engine.rebuild()
        _rebuild_derived(store)
        _rebuild_vectors(store)
    moved = tuple(row for row in store.tables.quarantine.all() if row.id not in quarantined_before)
    if _count_pending(store) > pending_before or any(row.table == "spaces" for row in moved):
        with suppress(EmbedError):  # without an embedder, the doctor reports what is pending
            backfill.backfill(store, EMBED_BATCH_SIZE, None)
    if store.images.made:
        store.images.made.drop(None)
    if salvaged is None:
        return RepairResult(moved)
    return RepairResult(moved, kept=salvaged.kept, salvaged=salvaged.rows, unreadable=salvaged.unreadable)


def _load_quarantine_ids(store: OpenStore) -> set[str]:
    try:
        return {row.id for row in store.tables.quarantine.all()}
    except Corrupt:
        return set()


def _count_pending(store: OpenStore) -> int:
    """Return the number of chunks without a vector, 0 if it is unknown. A repair may add some."""
    try:
        return store.tables.chunks.count_pending(store.space)
    except Corrupt:
        return 0


def _salvage(store: OpenStore) -> Salvaged | None:
    """Rewrite the store file if its pages are damaged. A server takes care of its own files."""
    file = store_file(store)
    if file is None or not is_damaged(file):
        return None
    return salvage(file, _ignore, key_file(store.config))


def salvage_store(settings: Config) -> RepairResult:
    """Rewrite the file of a store that cannot be opened, and repair it."""
    if "://" in settings.db or settings.db == ":memory:":
        raise Invalid("only a store in a file can be salvaged", "Restore a backup of the database server.")
    salvaged = salvage(Path(settings.db).expanduser().absolute(), _ignore, key_file(settings))
    store = open_store(settings)
    try:
        return repair(store, salvaged)
    finally:
        store.journal.close()
        store.engine.close()
        store.active.close()


def key_file(settings: Config) -> Path | None:
    """Return the key file of integrity mode, if one is set."""
    return Path(settings.integrity_key).expanduser().absolute() if settings.integrity_key else None


def _ignore(_: str, __: int, ___: int) -> None: ...


def list_quarantine(store: OpenStore) -> list[QuarantinedRow]:
    return store.tables.quarantine.all()


def discard_quarantine(store: OpenStore, ids: str | Sequence[str]) -> int:
    rows = {row.id: row for row in store.tables.quarantine.all()}
    named = [*rows] if ids == "*" else [validate.require_text(id, "id") for id in validate.as_list(ids, "ids")]
    if unknown := [id for id in named if id not in rows]:
        raise NotFound(f"the quarantine has no {unknown[0][:60]!r}", "See `quarantine()`.")
    store.engine.apply([quarantine.discard_step(rows[id]) for id in named])
    return len(named)


def _rebuild_text(store: OpenStore) -> None:
    """Rebuild a damaged full-text index, which would refuse the deletion of rows."""
    if store.engine.uses_local_index:
        try:
            store.engine.apply([health.check_text_step()])
        except Corrupt:
            store.engine.apply([health.rebuild_text_step()])


def _record_missing_messages(store: OpenStore) -> None:
    """Record in the quarantine which messages are missing: the message count is corrected later."""
    now = clock.now()
    for each in diagnose.find_missing_messages(store):
        values = {"namespace": each.namespace, "session": each.session, "events": each.expected, "gaps": [*each.gaps]}
        store.engine.apply([quarantine.insert_step("session_state", values, f"missing: {each}", now)])


def _quarantine_rows(store: OpenStore, rows: Iterable[Damaged]) -> None:
    for each in [*rows]:
        with suppress(Stale):  # it was deleted meanwhile
            store.engine.apply([*quarantine.move_steps(each.table, each.values, each.reason, clock.now())])


def _quarantine_damaged(store: OpenStore) -> None:
    for each in [*diagnose.find_damaged(store)]:
        if _is_derived(each):
            store.engine.apply([quarantine.remove_step(each.table, each.values)])
        else:
            _quarantine_rows(store, [each])


def _is_derived(damaged: Damaged) -> bool:
    """Return whether a row can be rebuilt: a chunk whose owner is in the store. Those of files are read from disk."""
    return damaged.table == "chunks" and damaged.values["owner_type"] in REBUILDABLE_OWNERS


def _find_tampered(store: OpenStore) -> frozenset[str]:
    """Return the rows that were changed without the key of integrity mode. A repair would seal them as right."""
    mode = store.engine.integrity
    if mode is None or not mode.is_on or mode.key is None:
        return frozenset()
    return frozenset(each.row for each in mode.verify(lambda _: None))


def _quarantine_tampered_states(store: OpenStore, tampered: frozenset[str]) -> None:
    """Quarantine tampered session states whose count is about to be corrected. They are rebuilt from the messages."""
    if not tampered:
        return
    wrong = {(count.namespace, count.session) for count in DamageChecks(store.engine).wrong_counts()}
    for values in [*quarantine.read_table(store.engine, TABLES["session_state"])]:
        key = (values["namespace"], values["session"])
        if key in wrong and row_name("session_state", key) in tampered:
            _quarantine_rows(store, [Damaged("session_state", values, TAMPERED_REASON)])


def _restore_records(store: OpenStore, tampered: frozenset[str]) -> None:
    """Restore missing records from the newest version in their history, unless the history was tampered with."""
    histories: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for values in DamageChecks(store.engine).orphans("record_history"):
        histories[values["namespace"], values["type"], values["id"]].append(values)
    for key, history in histories.items():
        if any(row_name("record_history", (*key, each["version"])) in tampered for each in history):
            continue
        with suppress(Stale):  # its name is taken by now; its history goes to the quarantine
            store.engine.apply([health.insert_record_step(_last_version(history))])


def _last_version(history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the row of a record as its history, oldest first, ends."""
    first, last = history[0], history[-1]
    bodies = [each["body"] for each in history if each["body"] is not None]
    body = bodies[-1] if bodies else "{}"
    return {
        **{name: last[name] for name in ("namespace", "type", "id", "version")},
        "key": fold_name(str(json.loads(body).get("name", ""))),
        "body": body,
        "created": first["at"],
        "updated": last["at"],
        "deleted": last["at"] if last["body"] is None else None,
        "merged_into": None,
    }


def _rebuild_sessions(store: OpenStore) -> None:
    """Rebuild missing rows of sessions and namespaces, correct message counts, and give the store an id again."""
    rows = DamageChecks(store.engine)
    lost = rows.sessions_without_row()
    store.engine.apply(health.rebuild_sessions_steps())
    for namespace, session in lost:
        _mark_untrusted(store, namespace, session)
    for count in rows.wrong_counts():
        with suppress(Stale):  # a concurrent append
            store.engine.apply([health.recount_step(count)])
    if not store.config.restrict_to and not store.tables.metrics.store_id():
        store.engine.apply([health.new_store_id_step()])


def _mark_untrusted(store: OpenStore, namespace: str, name: str) -> None:
    """Mark the messages of a session as imported: the row that said whether they were is lost."""
    session = store.tables.conversations.get(namespace, name)
    if session and session.events:
        marked = replace(session, metadata=mark_imported({}, session.last_sequence))
        with suppress(Stale):  # the session was changed meanwhile
            store.engine.apply([update_step(session, marked)])


def _rebuild_derived(store: OpenStore) -> None:
    """Rebuild the chunks that are missing or differ from the text of their owners."""
    sum(expire_memories(store))
    store.tables.proposals.prune(clock.now())
    for namespace, id in store.tables.chunks.list_broken():
        memory = store.tables.memories.find_intact(namespace, id, clock.now())
        if memory:
            with suppress(Stale):  # a concurrent change rebuilt its chunks
                store.engine.apply([require_unchanged_step(memory), *rechunk_steps(store, memory)])
    for each in diagnose.find_unsearchable(store):
        with suppress(Stale):  # it grew meanwhile; the next repair rebuilds it
            _quarantine_stale(store, each)
            reindex_session(store, each.session)
    for namespace, id, _ in store.tables.files.list_broken():
        with suppress(Stale, DamagedRow):
            reindex_file(store, namespace, id)
    for row in find_unsearchable_records(store):
        with suppress(Stale):
            reindex_record(store, row)


def _quarantine_stale(store: OpenStore, broken: Unsearchable) -> None:
    """Save chunks whose text is in no message. They are all that is left of a message that was changed."""
    if not broken.stale:
        return
    session, now = broken.session, clock.now()
    rows = DamageChecks(store.engine).chunks_of(session.namespace, session.id, broken.stale)
    reason = "no message of its session has this text now"
    store.engine.apply([quarantine.insert_step("chunks", values, reason, now) for values in rows])


def _rebuild_vectors(store: OpenStore) -> None:
    """Embed the chunks with a bad vector again. A vector that a caller brought goes to the quarantine."""
    space = store.space
    for each in [*diagnose.find_bad_vectors(store)]:
        if space is None or each.values["space"] != space.name:
            _quarantine_rows(store, [each])
            continue
        store.engine.apply([quarantine.remove_step(each.table, each.values)])
        pending = store.tables.chunks.list_pending(space, each.values["chunk"] - 1, 1)
        store.engine.apply([*_embed(store, pending, each.values["chunk"])])


def _embed(store: OpenStore, pending: Sequence[chunks.PendingChunk], chunk: int) -> Iterator[Step]:
    wanted = [each for each in pending if each.chunk == chunk]
    made = embed_texts(store, [each.text for each in wanted])
    ready = [(each, vector) for each, vector in zip(wanted, made, strict=True) if vector]
    if ready and store.space:
        yield from chunks.vector_steps(store.space, ready)
