"""Leases: the right to do a piece of background work, for one holder at a time over all processes of a store.

A lease expires by itself, so that the work of a holder that died goes on elsewhere. A holder takes its lease again
before it expires; others ask again after a while. There is nothing to listen to. Polling every few seconds costs one
small statement and works on every engine and through every proxy.

The time is the database's, read while it has the lock. A lease records its span: one that ends later than now plus its
span was taken while a clock was wrong. It is not believed, so that it locks nobody out until the clock gets there.
"""

import os
import platform
import uuid
from dataclasses import field
from typing import NamedTuple

from retentive.errors import Stale
from retentive.frozen_dataclass import dataclass
from retentive.storage import Engine, step

STORE = ""  # the namespace of work on the whole store


class LeaseHolder(NamedTuple):
    holder: str
    seconds: float
    """How much longer it is valid, if it is not taken again."""


def make_holder_name() -> str:
    """A new name, with the machine and the process: people read it in `doctor`."""
    return f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True, slots=True)
class Leases:
    engine: Engine
    holder: str = field(default_factory=make_holder_name)

    def take(self, name: str, seconds: float, namespace: str = STORE) -> bool:
        """Take a lease, or extend one that this holder has. False if somebody else has it."""
        values = {"namespace": namespace, "name": name, "holder": self.holder, "span": int(seconds * 1_000_000)}
        try:
            self.engine.apply([step("lease_take", expect=1, **values)])
        except Stale:
            return False
        return True

    def find_holder(self, name: str, namespace: str = STORE) -> LeaseHolder | None:
        """The holder of a lease. Reading is cheaper than trying to take it, and writes nothing."""
        rows = self.engine.read("lease_held", {"namespace": namespace, "name": name})
        if not rows:
            return None
        holder, remaining = rows[0]
        return LeaseHolder(holder, remaining / 1_000_000)

    def release(self, name: str, namespace: str = STORE) -> None:
        """Let others have a lease at once. Does nothing if it was lost meanwhile."""
        self.engine.apply([step("lease_release", namespace=namespace, name=name, holder=self.holder)])
