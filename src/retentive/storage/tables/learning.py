"""How far sessions were read for what is worth keeping, and what was found there that is still to be kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from retentive.model import Event
from retentive.storage import Engine, Step, step
from retentive.storage.damage import WHOLE, decodes, read_list, require_types
from retentive.text.purged_message import PURGED

AT_ONCE = 1000  # sessions looked up for what is due


class State(NamedTuple):
    session: str
    upto: int
    """The last message that was read."""
    claims: str
    """What was found in the messages read last, as JSON."""
    left: int
    """How many of them, the last ones, are still to be kept."""
    last: int
    """The last message there is."""
    created: int
    """When the session was begun: another of the same name is another."""
    person: str | None = None
    """The namespace of the person who talks in it."""

    @property
    def key(self) -> dict[str, Any]:
        """How it is known to the guards, while claims are left."""
        return {"session": self.session, "created": self.created, "upto": self.upto, "left": self.left}


@dataclass(frozen=True, slots=True)
class Learning:
    engine: Engine

    def get(self, namespace: str, session: str) -> State | None:
        rows = self.engine.read("learning_get", {"namespace": namespace, "session": session})
        return _state((session, *rows[0])) if rows else None

    def due(self, namespace: str, before: int) -> list[str]:
        values = {"namespace": namespace, "before": before, "limit": AT_ONCE}
        return [session for (session,) in self.engine.read("learning_due", values)]

    def waiting(self, before: int) -> list[tuple[str, str]]:
        """Namespace and name of those that are due, in all namespaces."""
        rows = self.engine.read("learning_waiting", {"before": before, "limit": AT_ONCE})
        return [(namespace, session) for namespace, session in rows]

    def heeded(self, namespace: str, session: str, after: int, upto: int) -> dict[int, int]:
        """By message: how many of its requests were done."""
        values = {"namespace": namespace, "session": session, "after": after, "upto": upto}
        return dict(self.engine.read("event_heeded", values))


@decodes("session_state", "session learned_upto claims claims_left last_sequence created person")
def _state(row: Sequence[Any]) -> State:
    state = State._make(row)
    require_types((state.upto, state.left, state.last, state.created), WHOLE)
    if state.left:
        read_list(state.claims)
    return state


def begin_step(namespace: str, state: State, read: Sequence[Event], claims: str, left: int) -> Step:
    """`read` are the messages in which the claims were found, the last of them the last that was read."""
    key = {"namespace": namespace, "session": state.session, "created": state.created, "expected": state.upto}
    purged = sum(event.content == PURGED for event in read)
    seen = {"first": read[0].sequence, "upto": read[-1].sequence, "mark": PURGED, "purged": purged}
    return step("learning_begin", expect=1, **key, **seen, claims=claims, left=left)


def done_step(namespace: str, state: State) -> Step:
    return step("learning_done", expect=1, namespace=namespace, **state.key)


def put_step(namespace: str, state: State, claims: str, left: int) -> Step:
    """Other claims in place of those that are left."""
    return step("learning_put", expect=1, namespace=namespace, **state.key, claims=claims, now_left=left)


def heed_step(namespace: str, session: str, sequence: int, done: int) -> Step:
    return step("event_heed", expect=1, namespace=namespace, session=session, sequence=sequence, done=done)
