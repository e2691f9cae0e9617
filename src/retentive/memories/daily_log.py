"""The daily log beside the store: what is new goes in, what is removed for good comes out.

It is written after the commit: a crash in between costs a line, never a memory. Whatever keeps it from being written is
told by `stats` and `doctor`, and costs no memory either.
"""

from collections.abc import Iterable

from retentive.memories.daily_files import Entry, Named, Struck
from retentive.model import Draft, Memory, Source, from_micros
from retentive.store import Parts

PART = "daily_log"


def log(parts: Parts, made: Iterable[tuple[str, Draft]], now: int) -> None:
    """New memories with their ids; not what is an index of files, in which the log itself may be."""
    daily = parts.daily
    if daily is None or not daily.on:
        return
    created, space = from_micros(now), parts.namespace
    fresh = ((id, draft.content, draft.traits) for id, draft in made if draft.traits.source is not Source.FILE)
    try:
        daily.append(Entry(id, space, created, traits.kind, traits.source, text) for id, text, traits in fresh)
    except OSError as error:
        parts.journal.failed(PART, f"{daily.folder}: {error.strerror or error}")


def strike(parts: Parts, memories: Iterable[Memory], *, dry_run: bool = False) -> Struck:
    """Also where this process adds nothing to the log: a server may have."""
    named = [Named(memory.id, memory.namespace, memory.created) for memory in memories]
    return parts.daily.strike(named, dry_run=dry_run) if parts.daily else Struck(0)


def strike_session(parts: Parts, session: str) -> None:
    """Of the memories that go with a session."""
    if parts.daily is None:
        return
    rows = parts.memories.of_session(parts.namespace, session)
    struck = parts.daily.strike(Named(id, parts.namespace, created) for id, created in rows)
    if struck.left:
        parts.journal.failed(PART, f"{parts.daily.folder}: {', '.join(struck.left)} still has what was deleted")
