"""Steps that write the lines of an export into a store: rows as they were, with their ids, versions and times.

The values are those of a line that was decoded (`transfer/export_format.py`), by the names of the columns.
"""

from collections.abc import Iterable, Iterator, Sequence

from retentive.storage import Params, Step, step
from retentive.storage.tables.chunks import insert_event_steps as insert_chunks
from retentive.storage.tables.chunks import set_following_step
from retentive.storage.tables.transfer import ExportedSession


def insert_namespace_step(namespace: str, created: int) -> Step:
    """Add a namespace that may be there already."""
    return step("namespace_insert", namespace=namespace, now=created)


def delete_memory_steps(namespace: str, id: str, version: int) -> Iterator[Step]:
    """Make room for another version of a memory. `Stale` if this one was changed since it was read."""
    yield step("memory_delete", expect=1, namespace=namespace, id=id, version=version)
    yield step("history_delete", namespace=namespace, id=id)
    yield step("chunk_delete", namespace=namespace, owner=id, owner_type="memory")


def insert_memories_step(rows: Iterable[Params]) -> Step:
    return Step("put_memories", rows)


def insert_memory_history_step(rows: Iterable[Params]) -> Step:
    return Step("put_memory_history", rows)


def insert_memory_chunks_step(rows: Iterable[Params]) -> Step:
    return Step("chunk_insert", rows)


def insert_vectors_step(rows: Iterable[Params]) -> Step:
    """Each row names its chunk by namespace, owner and ordinal, and its space by name."""
    return Step("vector_restore", rows)


def insert_session_steps(session: Params, state: Params) -> Iterator[Step]:
    yield Step("put_sessions", [session])
    yield Step("put_session_state", [state])


def update_session_state_step(old: ExportedSession, state: Params) -> Step:
    """Set the state of a session. `Stale` if it is no longer as it was read."""
    return step(
        "state_restore",
        expect=1,
        **state,
        old_last_sequence=old.last_sequence,
        old_epoch=old.epoch,
        old_learned_upto=old.learned_upto,
        old_claims_left=old.claims_left,
    )


def insert_event_steps(
    events: Sequence[Params], chunks: Sequence[Params], extended: Sequence[Params], previous: Sequence[Params]
) -> Iterator[Step]:
    """Add messages and their chunks.

    `extended` are chunks here that a new message repeats. `previous` are chunks of the message before the new ones.
    """
    yield Step("put_events", events)
    yield from insert_chunks([{**row, "space": None, "vector": None} for row in chunks], extended, None)
    yield set_following_step(previous)


def delete_record_steps(namespace: str, type: str, id: str, version: int) -> Iterator[Step]:
    """Make room for another version of a record. `Stale` if this one was changed since it was read."""
    key: Params = {"namespace": namespace, "type": type, "id": id}
    yield step("record_delete", expect=1, **key, version=version)
    yield step("revision_delete", **key)
    yield step("link_delete", **key)


def insert_record_steps(record: Params, history: Sequence[Params], links: Sequence[Params]) -> Iterator[Step]:
    yield Step("put_records", [record])
    yield Step("put_record_history", history)
    yield Step("put_record_links", links)


def insert_skill_runs_step(rows: Iterable[Params]) -> Step:
    return Step("run_insert", rows)


def replace_file_steps(file: Params, old_version: int | None) -> Iterator[Step]:
    """Write a file in place of the version here, if there is one. `Stale` if that was changed since it was read."""
    key = {"namespace": file["namespace"], "id": file["id"]}
    if old_version is not None:
        yield step("file_delete", expect=1, **key, version=old_version)
    yield step("file_chunk_delete", namespace=file["namespace"], owner=file["id"], first=0)
    yield Step("put_files", [file])


def insert_expectations_step(rows: Iterable[Params]) -> Step:
    return Step("put_expectations", rows)


def insert_proposal_step(row: Params) -> Step:
    """Add a proposal. `Stale` if one of its memories is not here."""
    return step("proposal_restore", expect=1, **row)


def reject_proposal_step(row: Params) -> Step:
    """Reject the open proposal about the same pair of memories."""
    return step("proposal_insert_rejected", **row)


def hide_message_step(namespace: str, session: str, sequence: int, memory: str, hidden: int) -> Step:
    return step("message_hide", namespace=namespace, session=session, sequence=sequence, memory=memory, now=hidden)


def insert_accesses_step(rows: Iterable[Params]) -> Step:
    """Add entries of the access log. They name their memory by `id`."""
    return Step("access_insert", rows)


def insert_purges_step(rows: Iterable[Params]) -> Step:
    """Add records of purges, but those that are here."""
    return Step("purge_restore", rows)
