"""How far sessions were read for what is worth keeping, and what was found there that is still to be kept."""

from dataclasses import dataclass
from typing import NamedTuple

from retentive.storage import Engine, Step, step

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


@dataclass(frozen=True, slots=True)
class Learning:
    engine: Engine

    def get(self, namespace: str, session: str) -> State | None:
        rows = self.engine.read("learning_get", {"namespace": namespace, "session": session})
        return State(session, *rows[0]) if rows else None

    def due(self, namespace: str, before: int) -> list[str]:
        values = {"namespace": namespace, "before": before, "limit": AT_ONCE}
        return [session for (session,) in self.engine.read("learning_due", values)]

    def heeded(self, namespace: str, session: str, after: int, upto: int) -> dict[int, int]:
        """By message: how many of its requests were done."""
        values = {"namespace": namespace, "session": session, "after": after, "upto": upto}
        return dict(self.engine.read("event_heeded", values))


def begin_step(namespace: str, state: State, upto: int, claims: str, left: int) -> Step:
    values = {"namespace": namespace, "session": state.session, "expected": state.upto}
    return step("learning_begin", expect=1, **values, upto=upto, claims=claims, left=left)


def done_step(namespace: str, state: State) -> Step:
    return step("learning_done", expect=1, namespace=namespace, session=state.session, upto=state.upto, left=state.left)


def put_step(namespace: str, state: State, claims: str, left: int) -> Step:
    """Other claims in place of those that are left."""
    key = {"namespace": namespace, "session": state.session, "upto": state.upto, "left": state.left}
    return step("learning_put", expect=1, **key, claims=claims, now_left=left)


def heed_step(namespace: str, session: str, sequence: int, done: int) -> Step:
    return step("event_heed", expect=1, namespace=namespace, session=session, sequence=sequence, done=done)
