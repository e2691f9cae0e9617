"""The optimistic write: read, decide, apply, and decide again if a concurrent writer won.

Every change of a store goes this way. `decide` reads what is there and returns guarded steps. They are applied as one
transaction. If a guard fails (`Stale`), nothing was written, and `decide` is called again with a later moment.
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from retentive import clock
from retentive.errors import Busy, Stale
from retentive.storage import Step
from retentive.store import OpenStore

T = TypeVar("T")

MAX_ATTEMPTS = 100  # each lost attempt means that another writer won; a slow one of three on a server lost 20 in a row


class Decision(NamedTuple, Generic[T]):
    """The steps to apply and the result of the write. Without steps nothing is written."""

    steps: Sequence[Step]
    result: T
    slots: Sequence[str | None] = ()
    """Slots whose facts change: the profile is synchronised with them afterwards."""


def write(store: OpenStore, decide: Callable[[int], Decision[T]], busy: str) -> T:
    """Apply what `decide` returns for the current moment (in microseconds), and return its result.

    Raises `Busy` with the message `busy` if other writers keep winning.
    """
    for _ in range(MAX_ATTEMPTS):
        decision = decide(clock.now())
        if decision.steps:
            try:
                store.engine.apply(decision.steps)
            except Stale:
                continue
            store.journal.wrote = True
            if decision.slots:
                store.sync_profile(store, decision.slots)
        return decision.result
    raise Busy(busy, "Retry in a moment.")
