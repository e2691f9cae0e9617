"""Who may do a piece of background work: one holder at a time, over all processes and machines of a store.

A lease runs out by itself, so that the work of a holder that died goes on elsewhere. Whoever holds one takes it again
before it has run out; whoever does not, asks again after a while. There is nothing to listen to: polling every few
seconds costs one small statement, works on every engine and through every proxy, and a notice that is lost does no
harm.

The time is the database's, read while it has the lock. A lease records its span: one that ends later than now plus its
span was taken while a clock was wrong. It is not believed, so that it locks nobody out until the clock gets there.
"""

import uuid
from dataclasses import dataclass, field
from typing import NamedTuple

from retentive.errors import Stale
from retentive.storage import Engine, step

STORE = ""  # the namespace of work that is about the whole store


class Held(NamedTuple):
    holder: str
    seconds: float
    """For how much longer, if it is not taken again."""


@dataclass(frozen=True, slots=True)
class Leases:
    engine: Engine
    holder: str = field(default_factory=lambda: uuid.uuid4().hex)

    def take(self, name: str, seconds: float, namespace: str = STORE) -> bool:
        """Get it, or keep it for so much longer. False: somebody else has it."""
        values = {"namespace": namespace, "name": name, "holder": self.holder, "span": int(seconds * 1_000_000)}
        try:
            self.engine.apply([step("lease_take", expect=1, **values)])
        except Stale:
            return False
        return True

    def held(self, name: str, namespace: str = STORE) -> Held | None:
        """Who has it. To read it is cheaper than to try to take it, and writes nothing."""
        rows = self.engine.read("lease_held", {"namespace": namespace, "name": name})
        return Held(rows[0][0], rows[0][1] / 1_000_000) if rows else None

    def release(self, name: str, namespace: str = STORE) -> None:
        """Let others have it at once. Does nothing if it was lost meanwhile."""
        self.engine.apply([step("lease_release", namespace=namespace, name=name, holder=self.holder)])
