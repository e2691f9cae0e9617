"""Sessions and events as rows: reading them, and the steps that write them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from retentive.model import Event, Role, Scope, Session, Summary, from_micros, to_micros
from retentive.storage import Engine, Step, step
from retentive.storage.columns import EARLIEST, LATEST
from retentive.storage.damage import TEXTS, WHOLE, decodes, intact, read_intact, read_list, read_object, require_types
from retentive.storage.scopes import chunk_filters
from retentive.storage.tables.memories import as_json, containing_pattern
from retentive.text.messages import readable
from retentive.text.tokens import estimate

BEYOND = 1 << 62  # a sequence that no message reaches
_ROLES = frozenset(map(str, Role))
MOST_SPEAKERS = 200  # whose names a question is compared with


class Said(NamedTuple):
    """An event as a search finds it: the slice that matched (None: all of it), the first and last time it was said.

    Its row as it is. A search compares sixty and shows ten: only of those an event is made, which costs more than all
    the rest of reading.
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
    is_hidden: bool

    @property
    def excerpt(self) -> str:
        return self.content if self.text is None else self.text

    def event(self) -> Event:
        """Itself; `DamagedRow` if its payload cannot be read."""
        return event_of(self[4:])


class Due(NamedTuple):
    """A summary, how many messages it does not cover, and about how many tokens they are."""

    summary: Summary
    messages: int
    tokens: int


class Surroundings(NamedTuple):
    """What belongs to some messages."""

    following: dict[tuple[str, str], Event]
    """By namespace and id: what was said right after; nothing after the last of a session."""
    metadata: dict[tuple[str, str], dict[str, Any] | None]
    """By namespace and name: what is said of their sessions; None if that is damaged."""


@dataclass(frozen=True, slots=True)
class Conversations:
    engine: Engine

    def get(self, namespace: str, session: str) -> Session | None:
        rows = self.engine.read("session_get", {"namespace": namespace, "session": session})
        return _session(rows[0]) if rows else None

    def page(self, namespace: str, limit: int, before: str | None) -> list[Session]:
        values = {"namespace": namespace, "limit": limit, "before": before}
        return read_intact(self.engine, "session_list", values, _session, ["before_session"] * bool(before))

    def counts(self, namespace: str) -> tuple[int, int]:
        """Sessions and events."""
        sessions, events = self.engine.read("session_counts", {"namespace": namespace})[0]
        return sessions, events

    def names(self) -> list[tuple[str, str]]:
        """Namespace and name of every session."""
        rows = self.engine.read("session_names")
        return [(namespace, session) for namespace, session in rows if isinstance(session, str)]

    def newest(
        self, namespace: str, session: str, limit: int, after: int = 0, before: int | None = None
    ) -> list[Event]:
        """The newest between the two sequences, in their order."""
        return self._events("event_newest", namespace, session, limit, after, before)[::-1]

    def oldest(self, namespace: str, session: str, limit: int, after: int) -> list[Event]:
        """The next after a sequence."""
        return self._events("event_oldest", namespace, session, limit, after, None)

    def surroundings(self, events: Sequence[Event]) -> Surroundings:
        """What was said right after each message, and what is said of their sessions: in one read."""
        found = Surroundings({}, {})
        if not events:
            return found
        values = {
            "namespaces": [event.namespace for event in events],
            "sessions": [event.session for event in events],
            "sequences": [event.sequence for event in events],
        }
        for place, metadata, *row in self.engine.read("event_next", values):
            event = events[place]
            about = event.namespace, event.session
            found.metadata[about] = _find_metadata((*about, metadata)) if metadata else {}
            if row[0] is not None:
                for following in intact([row], event_of):
                    found.following[event.namespace, event.id] = following
        return found

    def _events(
        self, query: str, namespace: str, session: str, limit: int, after: int, before: int | None
    ) -> list[Event]:
        values = {"namespace": namespace, "session": session, "limit": limit, "after": after}
        values["before"] = BEYOND if before is None else before
        return read_intact(self.engine, query, values, event_of)

    def event(self, namespace: str, session: str, sequence: int) -> Event | None:
        values = {"namespace": namespace, "session": session, "sequence": sequence}
        rows = self.engine.read("event_get", values)
        return event_of(rows[0]) if rows else None

    def said(self, chunks: Sequence[int], scope: Scope) -> dict[int, Said]:
        """By chunk, as far as the scope still sees them."""
        filters, params = chunk_filters(scope)
        rows = self.engine.read("event_hits", {**params, "chunks": chunks}, filters)
        return {said.chunk: said for said in intact(rows, _said)}

    def speakers(self, namespace: str) -> tuple[tuple[str, ...], bool]:
        """Their names, and whether there are conversations."""
        rows = self.engine.read("event_speakers", {"namespace": namespace, "most": MOST_SPEAKERS})
        return tuple(name for (name,) in rows if isinstance(name, str)), (None,) in rows

    def containing(self, text: str, scope: Scope, limit: int) -> list[Said]:
        filters, params = chunk_filters(scope)
        values = {**params, "pattern": containing_pattern(text), "limit": limit}
        return read_intact(self.engine, "event_containing", values, _said, filters)

    def known(self, namespace: str, session: str, hashes: Sequence[str]) -> set[str]:
        """Those of the slices that the session has."""
        values = {"namespace": namespace, "session": session, "hashes": [*hashes]}
        return {row[0] for row in self.engine.read("chunk_said", values)} if hashes else set()

    def hashes(self, namespace: str, session: str) -> set[str]:
        """Of all slices that the session has."""
        return {row[0] for row in self.engine.read("chunk_hashes", {"namespace": namespace, "session": session})}

    def summary(self, namespace: str, session: str) -> Summary | None:
        rows = self.engine.read("summary_get", {"namespace": namespace, "session": session})
        return _summary(rows[0]) if rows else None

    def first_after(self, namespace: str, session: str, moment: int) -> int | None:
        """The sequence of the first message that was said after a moment."""
        values = {"namespace": namespace, "session": session, "moment": moment}
        sequence: int | None = self.engine.read("event_first_after", values)[0][0]
        return sequence

    def unsummarised(self, namespace: str, session: str, upto: int, before: int | None = None) -> int:
        """How many messages."""
        end = BEYOND if before is None else before
        values = {"namespace": namespace, "session": session, "upto": upto, "before": end}
        return int(self.engine.read("summary_pending", values)[0][0])

    def due(self, namespace: str, session: str) -> Due | None:
        """The summary beside what it does not cover."""
        rows = self.engine.read("summary_due", {"namespace": namespace, "session": session})
        return Due(_summary(rows[0][:4]), rows[0][4], int(rows[0][5])) if rows else None

    def learned(self, namespace: str, session: str, talk: str) -> int:
        """How many memories of a namespace that are not of this session of the namespace `talk` came from it."""
        values = {"namespace": namespace, "session": session, "talk": talk}
        return int(self.engine.read("learned_count", values)[0][0])

    def sizes(self, namespace: str, session: str) -> tuple[int, int, int, bool]:
        """Events, memories and chunks of a session, and whether there is a log of it."""
        values = {"namespace": namespace, "session": session}
        events, memories, chunks, logged = self.engine.read("session_sizes", values)[0]
        return events, memories, chunks, bool(logged)


def session_values(session: Session) -> dict[str, Any]:
    return {
        "namespace": session.namespace,
        "session": session.id,
        "agent": session.agent,
        "tags": as_json(session.tags),
        "metadata": as_json(session.metadata),
    }


def update_step(old: Session, new: Session) -> Step:
    """Change who talks in a session, its tags or its metadata, if they are as they were read."""
    before = {f"old_{name}": value for name, value in session_values(old).items()}
    return step("session_update", expect=1, **session_values(new), **before)


def begin_steps(session: Session, now: int) -> Iterator[Step]:
    """A session that was not there."""
    yield step("session_insert", **session_values(session), now=now, person=session.person)
    state = {"last": session.last_sequence, "count": session.events, "active": to_micros(session.active)}
    yield step("state_insert", namespace=session.namespace, session=session.id, **state)


def person_step(namespace: str, session: str, person: str) -> Step:
    """Record whose conversation it is, if nobody has yet."""
    return step("session_person", namespace=namespace, session=session, person=person)


def share_step(namespace: str, session: str) -> Step:
    """Record that it is the conversation of several persons, or of somebody who may not write where one's facts go."""
    return step("session_share", namespace=namespace, session=session)


def unlink_step(namespace: str, talk: str, session: str, now: int) -> Step:
    """Have memories of a namespace say that the session of the namespace `talk` they came from is deleted."""
    return step("origin_unlink", namespace=namespace, talk=talk, session=session, now=now)


def advance_step(session: Session, events: Sequence[Event]) -> Step:
    """On from where it was: refused if someone else was first."""
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
        "tokens": estimate(f"{event.speaker or event.role}: {readable(event.content, event.payload)}"),
    }


@decodes("sessions", "id namespace agent tags metadata created active events last_sequence person")
def _session(row: Sequence[Any]) -> Session:
    id, namespace, agent, tags, metadata, created, active, events, last, person = row
    require_types((id, namespace, agent, person), TEXTS)
    require_types((events, last), WHOLE)
    return Session(
        id, namespace, agent, tuple(read_list(tags)) if tags else (), read_object(metadata) if metadata else {},
        from_micros(created), from_micros(active), events, last, person,
    )  # fmt: skip


def _find_metadata(row: Sequence[Any]) -> dict[str, Any] | None:
    return next(intact([row], _metadata), None)


@decodes("sessions", "namespace id metadata")
def _metadata(row: Sequence[Any]) -> dict[str, Any]:
    return read_object(row[2])


@decodes("session_state", "session summary summary_upto epoch")
def _summary(row: Sequence[Any]) -> Summary:
    session, text, upto, epoch = row
    require_types((session, text), TEXTS)
    require_types((upto, epoch), WHOLE)
    return Summary(session, text, upto, epoch)


_EVENT = "namespace session sequence role speaker content payload time is_hidden"


@decodes("events", _EVENT)
def event_of(row: Sequence[Any]) -> Event:
    namespace, session, sequence, role, speaker, content, payload, time, hidden = row
    require_types((namespace, session, speaker, content), TEXTS)
    kept = None if payload is None else json.loads(payload)
    return Event(
        namespace, session, sequence, Role(role), speaker, content, kept, from_micros(time), is_hidden=bool(hidden)
    )


@decodes("events", f"n text first last {_EVENT}")
def _said(row: Sequence[Any]) -> Said:
    said = Said._make(row)
    if not (
        type(said.content) is type(said.session) is type(said.namespace) is str
        and (said.text is None or type(said.text) is str)
        and (said.speaker is None or type(said.speaker) is str)
        and said.role in _ROLES
        and EARLIEST <= said.time <= LATEST
    ):
        raise TypeError
    return said
