"""Keep the daily log in step with the store: append new memories, remove purged ones.

The log is written after the commit, so a crash in between loses a line, never a memory. If it cannot be written,
`stats` and `doctor` report why. `daily_files.py` writes the files.
"""

from collections.abc import Iterable

from retentive.memories.daily_files import LogEntry, LoggedMemory, RemovedLines
from retentive.model import Draft, Memory, Source, from_micros
from retentive.store import OpenStore

DAILY_LOG_PART = "daily_log"


def append_to_log(store: OpenStore, made: Iterable[tuple[str, Draft]], now: int) -> None:
    """Append new memories with their ids. Chunks of indexed files are left out: the log may be one of those files."""
    daily = store.daily
    if daily is None or not daily.on:
        return
    created = from_micros(now)
    entries = (
        LogEntry(id, store.namespace, created, draft.traits.kind, draft.traits.source, draft.content)
        for id, draft in made
        if draft.traits.source is not Source.FILE
    )
    try:
        daily.append(entries)
    except OSError as error:
        store.journal.record_failure(DAILY_LOG_PART, f"{daily.folder}: {error.strerror or error}")


def remove_memories(store: OpenStore, memories: Iterable[Memory], *, dry_run: bool = False) -> RemovedLines:
    """Remove the lines of memories, also if this process does not write the log: a server may have."""
    logged = [LoggedMemory(memory.id, memory.namespace, memory.created) for memory in memories]
    return store.daily.remove(logged, dry_run=dry_run) if store.daily else RemovedLines(0)


def remove_session(store: OpenStore, session: str) -> None:
    """Remove the lines of the memories that are deleted with a session."""
    if store.daily is None:
        return
    rows = store.tables.memories.list_of_session(store.namespace, session)
    removed = store.daily.remove(LoggedMemory(id, store.namespace, created) for id, created in rows)
    if removed.failed_files:
        files = ", ".join(removed.failed_files)
        store.journal.record_failure(DAILY_LOG_PART, f"{store.daily.folder}: {files} still contains deleted memories")
