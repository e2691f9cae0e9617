"""Who indexes a folder: of several processes one at a time, so that nothing is read and embedded twice."""

import platform
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256

from retentive.errors import RetentiveError, StorageError
from retentive.storage.tables.leases import Leases
from retentive.store import OpenStore

LEASED = 30.0  # seconds after which the work of one that died is done by another
POLL = 0.2  # seconds between two looks whether the other is done


class Stopped(Exception):
    """Somebody does not want to wait any longer."""


@contextmanager
def alone(
    store: OpenStore, roots: Sequence[str], stop: threading.Event, waiting: Callable[[str], None] | None
) -> Iterator[None]:
    """The only one who indexes these folders into this namespace, once those who do are done."""
    leases = Leases(store.engine, f"{platform.node()}-{uuid.uuid4().hex[:12]}")
    names = {root: f"files-{sha256(root.encode()).hexdigest()[:16]}" for root in sorted(roots)}
    over, taken = threading.Event(), list[str]()
    try:
        for root, name in names.items():
            _take(leases, name, store.namespace, stop, partial(waiting or _silent, root))
            taken.append(name)
        keeper = threading.Thread(
            target=_keep, args=(leases, taken, store.namespace, over), name="retentive-lease", daemon=True
        )
        keeper.start()
        yield
    finally:
        over.set()
        for name in taken:
            with suppress(StorageError):  # then it runs out
                leases.release(name, store.namespace)


def _silent(_: str) -> None: ...


def _take(leases: Leases, name: str, namespace: str, stop: threading.Event, told: Callable[[], None]) -> None:
    said = False
    while not leases.take(name, LEASED, namespace):
        if not said:
            told()
            said = True
        if stop.wait(POLL):
            raise Stopped


def _keep(leases: Leases, names: Sequence[str], namespace: str, over: threading.Event) -> None:
    """Until the work is over. Who loses one goes on all the same: the guards of the steps keep it from harm."""
    while not over.wait(LEASED / 3):
        for name in names:
            with suppress(RetentiveError):  # the store may be back before the lease has run out
                leases.take(name, LEASED, namespace)
