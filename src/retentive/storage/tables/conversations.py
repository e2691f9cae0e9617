"""The tables of sessions and events: `Conversations` reads them, functions make the steps that write them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import Event, Role, Scope, Session, Summary, from_micros, to_micros
from retentive.storage import Engine, Step, step
from retentive.storage.columns import EARLIEST, LATEST
from retentive.storage.damage import (
    TEXTS,
    WHOLE,
    decode_intact,
    decodes,
    read_intact,
    read_list,
    read_object,
    require_types,
)
from retentive.storage.scopes import chunk_filters
from retentive.storage.tables.memories import containing_pattern, json_or_none
from retentive.text.messages import extract_text
from retentive.text.token_estimate import estimate_tokens

END_SEQUENCE = 1 << 62  # higher than the sequence of any message
_ROLES = frozenset(map(str, Role))
MAX_SPEAKERS = 200  # names that a question is compared with


class EventRow(NamedTuple):
    """The row of an event as a search finds it: with the text of the matching chunk (None: the whole message).

    `first` and `last` are the sequences at which this text was said. A search compares sixty rows and shows ten. Only
    those become an `Event`, which costs more than the rest of reading.
    """

    chunk: int
    text: str | None
    first: int
    last: int
    namespace: str
    session: str
    sequence: int
    role: str
    speaker: str | None
    content: str
    payload: str | None
    time: int
    tags: str | None
    is_hidden: bool

    @property
    def excerpt(self) -> str:
        return self.content if self.text is None else self.text

    def event(self) -> Event:
        """Make the event; `DamagedRow` if its payload cannot be read."""
        return decode_event(self[4:])


class PendingSummary(NamedTuple):
    """A summary, how many messages it does not cover, and about how many tokens they are."""

    summary: Summary
    messages: int
    tokens: int


class Surroundings(NamedTuple):
    """The following message of some messages, and the metadata of their sessions."""

    following: dict[tuple[str, str], Event]
    """The next message by namespace and id; the last message of a session has none."""
    metadata: dict[tuple[str, str], dict[str, Any] | None]
    """Metadata of the sessions by namespace and name; None if damaged."""


@dataclass(frozen=True, slots=True)
class Conversations:
    engine: Engine

    def get(self, namespace: str, session: str) -> Session | None:
        rows = self.engine.read("session_get", {"namespace": namespace, "session": session})
        return _decode_session(rows[0]) if rows else None

    def list_page(self, namespace: str, limit: int, before: str | None) -> list[Session]:
        values = {"namespace": namespace, "limit": limit, "before": before}
        return read_intact(self.engine, "session_list", values, _decode_session, ["before_session"] * bool(before))

    def counts(self, namespace: str) -> tuple[int, int]:
        """How many sessions and events a namespace has."""
        sessions, events = self.engine.read("session_counts", {"namespace": namespace})[0]
        return sessions, events

    def names(self) -> list[tuple[str, str]]:
        """Namespace and name of every session."""
        rows = self.engine.read("session_names")
        return [(namespace, session) for namespace, session in rows if isinstance(session, str)]

    def list_newest(
        self, namespace: str, session: str, limit: int, after: int = 0, before: int | None = None
    ) -> list[Event]:
        """The newest events between two sequences, the oldest of them first."""
        return self._events("event_newest", namespace, session, limit, after, before)[::-1]

    def list_oldest(self, namespace: str, session: str, limit: int, after: int) -> list[Event]:
        """The next events after a sequence."""
        return self._events("event_oldest", namespace, session, limit, after, None)

    def find_surroundings(self, events: Sequence[Event]) -> Surroundings:
        """Load the next message of each message and the metadata of their sessions, in one read."""
        found = Surroundings({}, {})
        if not events:
            return found
        values = {
            "namespaces": [event.namespace for event in events],
            "sessions": [event.session for event in events],
            "sequences": [event.sequence for event in events],
        }
        for place, metadata, *next_row in self.engine.read("event_following", values):
            event = events[place]
            session = event.namespace, event.session
            found.metadata[session] = _find_metadata((*session, metadata)) if metadata else {}
            if next_row[0] is not None:
                for following in decode_intact([next_row], decode_event):
                    found.following[event.namespace, event.id] = following
        return found

    def _events(
        self, query: str, namespace: str, session: str, limit: int, after: int, before: int | None
    ) -> list[Event]:
        values = {"namespace": namespace, "session": session, "limit": limit, "after": after}
        values["before"] = END_SEQUENCE if before is None else before
        return read_intact(self.engine, query, values, decode_event)

    def load_event(self, namespace: str, session: str, sequence: int) -> Event | None:
        values = {"namespace": namespace, "session": session, "sequence": sequence}
        rows = self.engine.read("event_get", values)
        return decode_event(rows[0]) if rows else None

    def list_event_rows(self, chunks: Sequence[int], scope: Scope) -> dict[int, EventRow]:
        """The events of these chunks that the scope includes, by chunk."""
        filters, params = chunk_filters(scope)
        rows = self.engine.read("event_hits", {**params, "chunks": chunks}, filters)
        return {event.chunk: event for event in decode_intact(rows, _decode_event_row)}

    def speakers(self, namespace: str) -> tuple[tuple[str, ...], bool]:
        """The names of the speakers, and whether the namespace has any conversation."""
        rows = self.engine.read("event_speakers", {"namespace": namespace, "most": MAX_SPEAKERS})
        return tuple(name for (name,) in rows if isinstance(name, str)), (None,) in rows

    def list_containing(self, text: str, scope: Scope, limit: int) -> list[EventRow]:
        filters, params = chunk_filters(scope)
        values = {**params, "pattern": containing_pattern(text), "limit": limit}
        return read_intact(self.engine, "event_containing", values, _decode_event_row, filters)

    def find_known_hashes(self, namespace: str, session: str, hashes: Sequence[str]) -> set[str]:
        """Which of these chunks the session already has, by hash."""
        values = {"namespace": namespace, "session": session, "hashes": [*hashes]}
        return {row[0] for row in self.engine.read("chunk_known", values)} if hashes else set()

    def hashes(self, namespace: str, session: str) -> set[str]:
        """The hashes of all chunks of a session."""
        return {row[0] for row in self.engine.read("chunk_hashes", {"namespace": namespace, "session": session})}

    def load_summary(self, namespace: str, session: str) -> Summary | None:
        rows = self.engine.read("summary_get", {"namespace": namespace, "session": session})
        return _decode_summary(rows[0]) if rows else None

    def find_first_after(self, namespace: str, session: str, moment: int) -> int | None:
        """The sequence of the first message after a moment."""
        values = {"namespace": namespace, "session": session, "moment": moment}
        sequence: int | None = self.engine.read("event_first_after", values)[0][0]
        return sequence

    def count_unsummarised(self, namespace: str, session: str, upto: int, before: int | None = None) -> int:
        """How many messages after `upto` (and before `before`) no summary covers."""
        end = END_SEQUENCE if before is None else before
        values = {"namespace": namespace, "session": session, "upto": upto, "before": end}
        return int(self.engine.read("summary_count_pending", values)[0][0])

    def load_pending_summary(self, namespace: str, session: str) -> PendingSummary | None:
        """The summary, with the number and tokens of the messages that it does not cover."""
        rows = self.engine.read("summary_due", {"namespace": namespace, "session": session})
        if not rows:
            return None
        *summary, messages, tokens = rows[0]
        return PendingSummary(_decode_summary(summary), messages, int(tokens))

    def count_learned(self, namespace: str, session: str, session_namespace: str) -> int:
        """How many memories of a namespace were learned from a session of another and are not local to it."""
        values = {"namespace": namespace, "session": session, "session_namespace": session_namespace}
        return int(self.engine.read("memory_count_from_session", values)[0][0])

    def count_rows(self, namespace: str, session: str) -> tuple[int, int, int, bool]:
        """How many events, memories and chunks a session has, and whether it has a daily log."""
        values = {"namespace": namespace, "session": session}
        events, memories, chunks, logged = self.engine.read("session_sizes", values)[0]
        return events, memories, chunks, bool(logged)


def session_values(session: Session) -> dict[str, Any]:
    return {
        "namespace": session.namespace,
        "session": session.id,
        "agent": session.agent,
        "tags": json_or_none(session.tags),
        "metadata": json_or_none(session.metadata),
    }


def update_step(old: Session, new: Session) -> Step:
    """Change a session's agent, tags or metadata. Refused if they changed since they were read."""
    before = {f"old_{name}": value for name, value in session_values(old).items()}
    return step("session_update", expect=1, **session_values(new), **before)


def begin_steps(session: Session, now: int) -> Iterator[Step]:
    """Insert a new session."""
    yield step("session_insert", **session_values(session), now=now, person=session.person)
    state = {"last": session.last_sequence, "count": session.events, "active": to_micros(session.active)}
    yield step("state_insert", namespace=session.namespace, session=session.id, **state)


def retag_step(session: Session) -> Step:
    """Give the chunks of a session its tags, which a step before has changed, beside those of their messages."""
    return step("chunk_set_tags", namespace=session.namespace, session=session.id)


def require_unchanged_step(session: Session) -> Step:
    """Change nothing. Refused if a concurrent writer appended to the session."""
    key = {"namespace": session.namespace, "session": session.id}
    return step("session_unchanged", expect=1, **key, expected=session.last_sequence)


def delete_step(namespace: str, session: str, now: int) -> Step:
    """Delete a session with its messages, its index, and the memories that are local to it."""
    return step("session_delete", namespace=namespace, session=session, session_namespace=namespace, now=now)


def set_summary_step(namespace: str, old: Summary, text: str, upto: int, created: int | None = None) -> Step:
    """Replace a summary. Refused if a concurrent writer did, or if the session was not created at `created`."""
    key = {"namespace": namespace, "session": old.session, "epoch": old.epoch, "created": created}
    return step("summary_replace", expect=1, **key, text=text, upto=upto)


def person_step(namespace: str, session: str, person: str) -> Step:
    """Record whose conversation a session is, unless that is recorded already."""
    return step("session_set_person", namespace=namespace, session=session, person=person)


def share_step(namespace: str, session: str) -> Step:
    """Record that no single person's namespace may learn from a session.

    Several persons take part in it, or its writer may not write to that namespace.
    """
    return step("session_set_shared", namespace=namespace, session=session)


def unlink_step(namespace: str, session_namespace: str, session: str, now: int) -> Step:
    """Mark in the memories of a namespace that the session they came from is deleted."""
    return step("origin_unlink", namespace=namespace, session_namespace=session_namespace, session=session, now=now)


def advance_step(session: Session, events: Sequence[Event]) -> Step:
    """Advance the state of a session past new events. Refused if a concurrent writer appended first."""
    return step(
        "state_advance",
        expect=1,
        namespace=session.namespace,
        session=session.id,
        expected=session.last_sequence,
        last=events[-1].sequence,
        count=len(events),
        active=max(to_micros(event.time) for event in events),
    )


def event_step(events: Sequence[Event]) -> Step:
    return Step("event_insert", map(event_values, events))


def add_waiting(waiting: PendingSummary, events: Sequence[Event]) -> PendingSummary:
    """What waits to be summarised once these messages are appended."""
    tokens = sum(event_values(event)["tokens"] for event in events)
    return waiting._replace(messages=waiting.messages + len(events), tokens=waiting.tokens + tokens)


def event_values(event: Event) -> dict[str, Any]:
    payload = None if event.payload is None else json.dumps(event.payload, ensure_ascii=False)
    return {
        "namespace": event.namespace,
        "session": event.session,
        "sequence": event.sequence,
        "role": event.role,
        "speaker": event.speaker,
        "content": event.content,
        "payload": payload,
        "time": to_micros(event.time),
        "tags": json_or_none(event.tags),
        "tokens": estimate_tokens(f"{event.speaker or event.role}: {extract_text(event.content, event.payload)}"),
    }


@decodes("sessions", "id namespace agent tags metadata created active events last_sequence person")
def _decode_session(row: Sequence[Any]) -> Session:
    id, namespace, agent, tags, metadata, created, active, events, last, person = row
    require_types((id, namespace, agent, person), TEXTS)
    require_types((events, last), WHOLE)
    return Session(
        id=id, namespace=namespace, agent=agent, tags=tuple(read_list(tags)) if tags else (),
        metadata=read_object(metadata) if metadata else {}, created=from_micros(created), active=from_micros(active),
        events=events, last_sequence=last, person=person,
    )  # fmt: skip


def _find_metadata(row: Sequence[Any]) -> dict[str, Any] | None:
    return next(decode_intact([row], _decode_metadata), None)


@decodes("sessions", "namespace id metadata")
def _decode_metadata(row: Sequence[Any]) -> dict[str, Any]:
    _, _, metadata = row
    return read_object(metadata)


@decodes("session_state", "session summary summary_upto epoch")
def _decode_summary(row: Sequence[Any]) -> Summary:
    session, text, upto, epoch = row
    require_types((session, text), TEXTS)
    require_types((upto, epoch), WHOLE)
    return Summary(session, text, upto, epoch)


_EVENT_COLUMNS = "namespace session sequence role speaker content payload time tags is_hidden"


@decodes("events", _EVENT_COLUMNS)
def decode_event(row: Sequence[Any]) -> Event:
    namespace, session, sequence, role, speaker, content, payload, time, tags, hidden = row
    require_types((namespace, session, speaker, content), TEXTS)
    data = None if payload is None else json.loads(payload)
    return Event(
        namespace, session, sequence, Role(role), speaker, content, data, from_micros(time),
        is_hidden=bool(hidden), tags=tuple(read_list(tags)) if tags else (),
    )  # fmt: skip


@decodes("events", f"n text first last {_EVENT_COLUMNS}")
def _decode_event_row(row: Sequence[Any]) -> EventRow:
    event = EventRow._make(row)
    if not (
        type(event.content) is type(event.session) is type(event.namespace) is str
        and (event.text is None or type(event.text) is str)
        and (event.speaker is None or type(event.speaker) is str)
        and event.role in _ROLES
        and EARLIEST <= event.time <= LATEST
    ):
        raise TypeError
    return event
