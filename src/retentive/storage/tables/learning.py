"""The progress of learning: how far each session was read, and which of the claims found there are still to be kept."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import Event
from retentive.storage import Engine, Step, step
from retentive.storage.damage import WHOLE, decodes, read_list, require_types
from retentive.text.purged_message import PURGED

MAX_DUE_SESSIONS = 1000  # due sessions listed at most


class LearningState(NamedTuple):
    """How far learning got in a session."""

    session: str
    read_upto: int
    """The last message that was read."""
    claims: str
    """The claims found in the messages read last, as JSON."""
    claims_left: int
    """How many of the claims, counted from the end, are still to be kept."""
    last_message: int
    """The last message of the session."""
    created: int
    """When the session began: it tells a session from a later one of the same name."""
    person: str | None = None
    """The namespace of the person who takes part in it."""

    @property
    def key(self) -> dict[str, Any]:
        """The values that guards compare, while claims are left."""
        return {"session": self.session, "created": self.created, "upto": self.read_upto, "left": self.claims_left}

    @property
    def is_finished(self) -> bool:
        return not self.claims_left and self.read_upto >= self.last_message

    def list_claims_left(self) -> list[dict[str, Any]]:
        return json.loads(self.claims)[-self.claims_left :] if self.claims_left else []

    def has_same_progress(self, other: "LearningState") -> bool:
        """Whether nothing was learned between two states. New messages make no difference."""
        return self._replace(last_message=other.last_message) == other


@dataclass(frozen=True, slots=True)
class Learning:
    engine: Engine

    def get(self, namespace: str, session: str) -> LearningState | None:
        rows = self.engine.read("learning_get", {"namespace": namespace, "session": session})
        return _decode_state((session, *rows[0])) if rows else None

    def list_due(self, namespace: str, before: int) -> list[str]:
        """The sessions of a namespace with messages to learn from, silent since `before`."""
        values = {"namespace": namespace, "before": before, "limit": MAX_DUE_SESSIONS}
        return [session for (session,) in self.engine.read("learning_due", values)]

    def list_due_of_all(self, before: int) -> list[tuple[str, str]]:
        """Namespace and name of the sessions that are due, in all namespaces."""
        rows = self.engine.read("learning_waiting", {"before": before, "limit": MAX_DUE_SESSIONS})
        return [(namespace, session) for namespace, session in rows]

    def count_handled_requests(self, namespace: str, session: str, after: int, upto: int) -> dict[int, int]:
        """How many requests of each message were carried out, by sequence."""
        values = {"namespace": namespace, "session": session, "after": after, "upto": upto}
        return dict(self.engine.read("event_request_counts", values))


@decodes("session_state", "session learned_upto claims claims_left last_sequence created person")
def _decode_state(row: Sequence[Any]) -> LearningState:
    state = LearningState._make(row)
    require_types((state.read_upto, state.claims_left, state.last_message, state.created), WHOLE)
    if state.claims_left:
        read_list(state.claims)
    return state


def begin_step(namespace: str, state: LearningState, read: Sequence[Event], claims: str, left: int) -> Step:
    """Store the claims found in the messages `read`. Refused if learning or a purge was there meanwhile."""
    key = {"namespace": namespace, "session": state.session, "created": state.created, "expected": state.read_upto}
    purged = sum(event.content == PURGED for event in read)
    seen = {"first": read[0].sequence, "upto": read[-1].sequence, "mark": PURGED, "purged": purged}
    return step("learning_begin", expect=1, **key, **seen, claims=claims, left=left)


def finish_claim_step(namespace: str, state: LearningState) -> Step:
    """Note that the next claim is kept."""
    return step("learning_finish_claim", expect=1, namespace=namespace, **state.key)


def replace_claims_step(namespace: str, state: LearningState, claims: str, left: int) -> Step:
    """Replace the claims that are left."""
    return step("learning_replace_claims", expect=1, namespace=namespace, **state.key, claims=claims, now_left=left)


def count_requests_step(namespace: str, session: str, sequence: int, done: int) -> Step:
    """Count one more request of a message as carried out. Refused if the count is no longer `done`."""
    return step("event_count_request", expect=1, namespace=namespace, session=session, sequence=sequence, done=done)
