"""Append messages to a session: the only way an event is written.

As with memories (`memories/write.py`): read, decide, embed, and apply one guarded batch. The guard is the session's
last sequence. If two writers append at once, one fails with `Stale` and reads again, so no number is given twice. The
searchable chunks of a message (`chunks.py`) are written in the same transaction.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from retentive.conversations.chunks import ChunkRows, chunk_message, chunk_rows, following_row
from retentive.errors import Conflict
from retentive.memories.write import embed_texts
from retentive.model import Event, Message, Session, from_micros
from retentive.storage import Step
from retentive.storage.tables import Tables, chunks, conversations
from retentive.storage.tables.conversations import PendingSummary
from retentive.storage.tables.memories import namespace_step
from retentive.store import OpenStore
from retentive.store.active_model import with_active_model
from retentive.store.person import open_person_store, record_person_namespace_steps
from retentive.store.read_ahead import read_ahead
from retentive.store.write import Decision, write

VectorsByHash = dict[str, bytes | None]
"""Vectors of chunks by their hash; None where one is pending."""


class Appended(NamedTuple):
    """Messages that were appended."""

    events: list[Event]
    pending: int
    """How many of their vectors are still to be made."""
    waiting: PendingSummary | None
    """What the summary of the session does not cover; None if that was not read."""


def append(store: OpenStore, session_id: str, messages: Sequence[Message]) -> Appended:
    """Append all messages or none."""
    chunks_by_message = [chunk_message(message) for message in messages]
    hashes = [each.hash for message_chunks in chunks_by_message for each in message_chunks]
    vectors: VectorsByHash = {}  # kept between attempts

    key = store.namespace, session_id
    store = read_ahead(store, lambda tables: _announce_reads(store, tables, session_id, hashes))
    store = with_active_model(store, is_writing=True)

    def decide(now: int) -> Decision[tuple[list[Event], ChunkRows, PendingSummary | None]]:
        table = store.tables.conversations
        session = table.get(*key)
        previous = next(iter(table.list_newest(*key, limit=1)), None) if session else None
        known = table.find_known_hashes(*key, hashes) if session else set[str]()
        events = _number_events(store.namespace, session_id, messages, session.last_sequence if session else 0, now)
        waiting = table.load_pending_summary(*key) if session and store.config.summarise else None
        rows = chunk_rows(events, chunks_by_message, previous, known)
        _add_missing_vectors(store, rows, vectors)
        steps = [
            namespace_step(store.namespace, now),
            *_session_steps(store, session, events, now),
            conversations.event_step(events),
            *_index_steps(store, rows, vectors),
            chunks.set_following_step([following_row(previous, events[0])] if previous else []),
        ]
        return Decision(steps, (events, rows, waiting and conversations.add_waiting(waiting, events)))

    events, rows, waiting = write(store, decide, f"others kept appending to session {session_id!r}")
    store.speakers.note_speakers(store.namespace, {event.speaker for event in events})
    return Appended(events, sum(vectors[hash] is None for hash in rows.new_rows), waiting)


def _announce_reads(store: OpenStore, tables: Tables, session_id: str, hashes: Sequence[str]) -> None:
    """Name what `append` will read in any case."""
    table, key = tables.conversations, (store.namespace, session_id)
    store.active.announce(tables.spaces)
    table.get(*key)
    table.list_newest(*key, limit=1)
    table.find_known_hashes(*key, hashes)
    if store.config.summarise:
        table.load_pending_summary(*key)


def reindex_session(store: OpenStore, session: Session) -> None:
    """Rebuild the index of a session from its events. Raises `Stale` if the session grew meanwhile."""
    events = store.tables.conversations.list_oldest(session.namespace, session.id, limit=session.events, after=0)
    store.engine.apply([*reindex_steps(store, session, events, {})])


def reindex_steps(
    store: OpenStore, session: Session, events: Sequence[Event], vectors: VectorsByHash
) -> Iterator[Step]:
    """Yield the steps that replace the index of a session. `vectors` has those that exist already."""
    rows = chunk_rows(events, [chunk_message(event) for event in events], previous=None, known=())
    _add_missing_vectors(store, rows, vectors)
    yield conversations.require_unchanged_step(session)
    yield chunks.delete_event_chunks_step(session.namespace, session.id)
    yield from _index_steps(store, rows, vectors)


def _index_steps(store: OpenStore, rows: ChunkRows, vectors: VectorsByHash) -> Iterator[Step]:
    space = store.space.name if store.space else None
    new_rows = [{**row, "space": space, "vector": vectors[hash]} for hash, row in rows.new_rows.items()]
    yield from chunks.insert_event_steps(new_rows, [*rows.extended_rows.values()], store.space)


def _add_missing_vectors(store: OpenStore, rows: ChunkRows, vectors: VectorsByHash) -> None:
    """Embed the chunks that `vectors` does not have, and add theirs to it."""
    missing = {hash: text for hash, text in rows.texts.items() if hash not in vectors}
    vectors.update(zip(missing, embed_texts(store, [*missing.values()]), strict=True))


def _number_events(namespace: str, session_id: str, messages: Sequence[Message], last: int, now: int) -> list[Event]:
    """Make events of messages, with the sequence each asked for, or the next one after the `last`."""
    events = []
    for message in messages:
        sequence = last + 1 if message.sequence is None else message.sequence
        if sequence <= last:
            hint = "Give a larger number, or leave it out: then it gets the next."
            raise Conflict(f"sequence {sequence} of session {session_id!r} is not above the last, {last}", hint)
        last = sequence
        event = Event(
            namespace=namespace, session=session_id, sequence=sequence, role=message.role, speaker=message.speaker,
            content=message.content, payload=message.payload, time=message.time or from_micros(now), tags=message.tags,
        )  # fmt: skip
        events.append(event)
    return events


def _session_steps(store: OpenStore, session: Session | None, events: Sequence[Event], now: int) -> Iterator[Step]:
    if session:
        yield conversations.advance_step(session, events)
        yield from record_person_namespace_steps(store, session)
        return
    begun = replace(
        make_empty_session(store, events[0].session, now),
        active=max(event.time for event in events),
        events=len(events),
        last_sequence=events[-1].sequence,
    )
    yield from conversations.begin_steps(begun, now)


def make_empty_session(store: OpenStore, session_id: str, now: int) -> Session:
    person_store = open_person_store(store)
    return Session(
        id=session_id, namespace=store.namespace, agent=None, tags=(), metadata={}, created=from_micros(now),
        active=from_micros(now), events=0, last_sequence=0, person=person_store.namespace if person_store else None,
    )  # fmt: skip
