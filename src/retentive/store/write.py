"""The optimistic write: read, decide, apply, and decide again if a concurrent writer won.

Every change of a store goes this way. `decide` reads what the change depends on and returns guarded steps. These are
applied as one transaction. If a guard fails (`Stale`), nothing was written, and `decide` is called again.
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from retentive import clock
from retentive.errors import Busy, Stale
from retentive.storage import Step
from retentive.store import OpenStore

T = TypeVar("T")

MAX_ATTEMPTS = 100  # each attempt is lost to another writer; the slowest of three on a server lost 20 in a row


class Decision(NamedTuple, Generic[T]):
    """The steps to apply and the result of the write. Without steps nothing is written."""

    steps: Sequence[Step]
    result: T
    slots: Sequence[str | None] = ()
    """Slots whose facts change: the profile is synchronised with them afterwards."""
    upserts: int = 0
    """How many memories the steps insert or repeat, for the statistics."""


def write(store: OpenStore, decide: Callable[[int], Decision[T]], busy: str) -> T:
    """Apply what `decide` returns for the current moment (in microseconds), and return its result.

    Raises `Busy` with the message `busy` if other writers keep winning.
    """
    for _ in range(MAX_ATTEMPTS):
        decision = decide(clock.now())
        if not decision.steps:
            return decision.result
        try:
            store.engine.apply(decision.steps)
        except Stale:
            continue
        if decision.upserts:
            store.journal.record_upserts(store.namespace, decision.upserts)  # and the write
        else:
            store.journal.note_write()
        if decision.slots:
            store.sync_profile_slots(store, decision.slots)
        return decision.result
    raise Busy(busy, "Retry in a moment.")
