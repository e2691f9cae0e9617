"""Leases on folders: of several processes, one indexes a folder at a time, so that nothing is embedded twice."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256

from retentive.storage.tables.leases import Leases
from retentive.store import OpenStore
from retentive.store.background import LeaseKeeper

LEASE_SECONDS = 30.0  # after which another process takes over from one that was killed
POLL_SECONDS = 0.2  # between two attempts to take a lease


class Stopped(Exception):
    """The caller asked to stop before the work was done."""


@contextmanager
def hold_leases(
    store: OpenStore, roots: Sequence[str], stop: threading.Event, on_wait: Callable[[str], None] | None
) -> Iterator[None]:
    """Hold the leases of these folders in this namespace. `on_wait` is called with each folder that is waited for.

    Raises `Stopped` if `stop` is set while waiting.
    """
    with LeaseKeeper(Leases(store.engine), store.namespace, LEASE_SECONDS) as keeper:
        for root in sorted(roots):  # all processes take them in one order, so that none deadlocks
            name = f"files-{sha256(root.encode()).hexdigest()[:16]}"
            if not keeper.take(name):
                if on_wait:
                    on_wait(root)
                _wait_for_lease(keeper, name, stop)
        yield  # even if a lease is lost meanwhile: the guards of the steps keep the index right


def _wait_for_lease(keeper: LeaseKeeper, name: str, stop: threading.Event) -> None:
    while not stop.wait(POLL_SECONDS):
        if keeper.take(name):
            return
    raise Stopped
