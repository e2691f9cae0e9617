"""The one way an event is written.

As with memories (`keep.py`): read, decide, embed, and apply one guarded batch. The guard is the session's last
sequence, so of two who append at once one is told to read again, and no number is given twice. What can be searched of
a message (`slices.py`) is written with it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from retentive import clock
from retentive.conversations.chunks import Sliced, heard, sliced, slices
from retentive.errors import Busy, Conflict, Stale
from retentive.memories.write import embedded
from retentive.model import Event, Message, Session, from_micros
from retentive.storage import Step, step
from retentive.storage.tables import chunks, conversations
from retentive.storage.tables.memories import namespace_step
from retentive.store import OpenStore
from retentive.store.person import find_person, person_steps
from retentive.store.write import MAX_ATTEMPTS

Vectors = dict[str, bytes | None]
"""Of slices, by their hash; None where one is pending."""


def append(store: OpenStore, name: str, messages: Sequence[Message]) -> tuple[list[Event], int]:
    """The events as they were kept, all or none, and how many vectors are still to come."""
    cut = [slices(message) for message in messages]
    hashes = [each.hash for own in cut for each in own]
    vectors: Vectors = {}
    for _ in range(MAX_ATTEMPTS):
        now = clock.now()
        session = store.tables.conversations.get(store.namespace, name)
        previous = store.tables.conversations.newest(store.namespace, name, 1) if session else []
        events = _numbered(store.namespace, name, messages, session, now)
        known = store.tables.conversations.known(store.namespace, name, hashes) if session else set[str]()
        found = sliced(events, cut, previous[0] if previous else None, known)
        _embed(store, found, vectors)
        steps = [
            namespace_step(store.namespace, now),
            *_advance(store, session, events, now),
            conversations.event_step(events),
        ]
        steps += _index(store, found, vectors)
        steps += [step("chunk_after", **heard(each, events[0])) for each in previous]
        try:
            store.engine.apply(steps)
        except Stale:
            continue
        store.journal.wrote = True
        store.people.heard(store.namespace, {event.speaker for event in events})
        return events, sum(vectors[hash] is None for hash in found.fresh)
    raise Busy(f"others kept appending to session {name!r}", "Retry in a moment.")


def index_anew(store: OpenStore, session: Session) -> None:
    """Make what can be searched of a session again from its events. Raises `Stale` if it grew meanwhile."""
    events = store.tables.conversations.oldest(session.namespace, session.id, session.events, 0)
    store.engine.apply([*anew_steps(store, session, events, {})])


def anew_steps(store: OpenStore, session: Session, events: Sequence[Event], vectors: Vectors) -> Iterator[Step]:
    """The index of a session's events in place of the one it had; `vectors` are those that are there already."""
    found = sliced(events, [slices(event) for event in events], None, ())
    _embed(store, found, vectors)
    key: dict[str, Any] = {"namespace": session.namespace, "session": session.id}
    yield step("state_same", expect=1, **key, expected=session.last_sequence)
    yield step("session_unindex", **key)
    yield from _index(store, found, vectors)


def _index(store: OpenStore, found: Sliced, vectors: Vectors) -> Iterator[Step]:
    space = store.space.name if store.space else None
    rows = [{**row, "space": space, "vector": vectors[hash]} for hash, row in found.fresh.items()]
    yield from chunks.insert_steps(rows, store.space, "event_chunk_insert")
    yield Step("chunk_extend", [*found.again.values()])


def _embed(store: OpenStore, found: Sliced, vectors: Vectors) -> None:
    """The slices that have no vector from an earlier try."""
    wanting = {hash: text for hash, text in found.texts.items() if hash not in vectors}
    vectors.update(zip(wanting, embedded(store, [*wanting.values()]), strict=True))


def _numbered(namespace: str, name: str, messages: Sequence[Message], session: Session | None, now: int) -> list[Event]:
    """With the numbers they asked for, or the next."""
    last = session.last_sequence if session else 0
    events = []
    for role, content, speaker, time, sequence, payload in messages:
        if sequence is not None and sequence <= last:
            hint = "Give a larger number, or none: then it gets the next."
            raise Conflict(f"sequence {sequence} of session {name!r} is not above the last, {last}", hint)
        last = last + 1 if sequence is None else sequence
        events.append(Event(namespace, name, last, role, speaker, content, payload, time or from_micros(now)))
    return events


def _advance(store: OpenStore, session: Session | None, events: Sequence[Event], now: int) -> Iterator[Step]:
    person = find_person(store)
    if session:
        yield conversations.advance_step(session, events)
        yield from person_steps(store, session)
        return
    first, last, newest = events[0], events[-1], max(event.time for event in events)
    begun = Session(
        first.session, first.namespace, None, (), {}, from_micros(now), newest, len(events), last.sequence,
        person.namespace if person else None,
    )  # fmt: skip
    yield from conversations.begin_steps(begun, now)
