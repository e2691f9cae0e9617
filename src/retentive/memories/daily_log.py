"""The daily log beside the store: what is new goes in, what is removed for good comes out.

It is written after the commit: a crash in between costs a line, never a memory. Whatever keeps it from being written is
told by `stats` and `doctor`, and costs no memory either.
"""

from collections.abc import Iterable

from retentive.memories.daily_files import Entry, Named, Struck
from retentive.model import Draft, Memory, Source, from_micros
from retentive.store import OpenStore

PART = "daily_log"


def log(store: OpenStore, made: Iterable[tuple[str, Draft]], now: int) -> None:
    """New memories with their ids; not what is an index of files, in which the log itself may be."""
    daily = store.daily
    if daily is None or not daily.on:
        return
    created, space = from_micros(now), store.namespace
    fresh = ((id, draft.content, draft.traits) for id, draft in made if draft.traits.source is not Source.FILE)
    try:
        daily.append(Entry(id, space, created, traits.kind, traits.source, text) for id, text, traits in fresh)
    except OSError as error:
        store.journal.failed(PART, f"{daily.folder}: {error.strerror or error}")


def strike(store: OpenStore, memories: Iterable[Memory], *, dry_run: bool = False) -> Struck:
    """Also where this process adds nothing to the log: a server may have."""
    named = [Named(memory.id, memory.namespace, memory.created) for memory in memories]
    return store.daily.strike(named, dry_run=dry_run) if store.daily else Struck(0)


def strike_session(store: OpenStore, session: str) -> None:
    """Of the memories that go with a session."""
    if store.daily is None:
        return
    rows = store.tables.memories.of_session(store.namespace, session)
    struck = store.daily.strike(Named(id, store.namespace, created) for id, created in rows)
    if struck.left:
        store.journal.failed(PART, f"{store.daily.folder}: {', '.join(struck.left)} still has what was deleted")
