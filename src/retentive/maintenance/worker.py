"""The work that nobody waits for, done by a thread of its own: one worker at a time, over all processes of a store.

Every few seconds it asks one small question: is there anything to do? If so, it takes a lease (`leases.py`),
does all there is, and lets go. An idle store is therefore only read, and a disk may sleep. While there is work a second
thread keeps the lease; if it is lost all the same, the work stops between two pieces. A holder that died is succeeded
when its lease has run out.

What fails rests, longer each time, and the rest goes on. If the store cannot be reached everything rests.
"""

import os
import platform
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

from retentive import clock
from retentive.errors import Closed, Conflict, RetentiveError, StorageError, Unwritable
from retentive.maintenance.jobs import Jobs
from retentive.model import Task, WorkerStatus, from_micros
from retentive.storage.tables.leases import STORE, Leases
from retentive.store import OpenStore
from retentive.store.background import Background

if TYPE_CHECKING:
    from datetime import datetime

LEASE = "work"
POLL = 10.0  # seconds between two looks, give or take half, so that many processes do not look at once
LEASED = 30.0  # seconds after which the work of one that died goes on elsewhere
EVERY = 3600.0  # seconds between the chores that a look every few seconds would be too dear for
SETTLE = 0.2  # seconds at least between two looks: of a hundred writes in a row, not each one wakes it
FIRST_PAUSE = 1.0  # seconds, when the store cannot be reached; twice as many each time
LONGEST_PAUSE = 60.0
REFUSED = 300.0  # seconds, where we are not allowed to take the lease: somebody has to change that

Progress = Callable[[Task, int], None]

STORE_ITSELF = Task("store")  # what failed is to find out what there is to do

_starting = threading.Lock()


class Worker(Background):
    """`start` and `stop` it, or use it as a context manager; or `once`. Any thread may call its methods."""

    NAME = "retentive-worker"
    PATIENCE = 2.0  # a piece of work takes less, a question to a language model may not

    def __init__(
        self,
        store: OpenStore,
        *,
        poll: float = POLL,
        lease: float = LEASED,
        every: float = EVERY,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self._store = store
        self._poll, self._lease = poll, lease
        self._progress = progress
        self._leases = Leases(store.engine, f"{platform.node()}-{self._process}-{uuid.uuid4().hex[:8]}")
        self._restricted = restricted_to(store)
        self._wake = threading.Event()
        self._lost = threading.Event()
        self._jobs = Jobs(store, every, self._stop.wait)
        self._trouble = 0.0
        self._holding = False
        self._done = Counter[str]()
        self._last: datetime | None = None
        self._failures: dict[Task, Exception] = {}
        self._refused = ""
        self._barred = 0.0
        """Until when the lease is not asked for."""

    def start(self) -> Self:
        """Begin, in a thread of its own that ends with the program."""
        with _starting:
            self._check_alone()
            self._wake.clear()
            self._begin()
            self._store.workers[:] = [self]
            self._store.journal.heard = self.nudge
        return self

    def _hurry(self) -> None:
        self._wake.set()

    def _ended(self) -> None:
        if self in self._store.workers:
            self._store.workers.remove(self)
            self._store.journal.heard = None

    def nudge(self) -> None:
        """Look now whether there is something to do."""
        if os.getpid() == self._process:
            self._wake.set()

    def once(self) -> WorkerStatus:
        """Do what is due now, in this thread, and return; `stop` ends it early. Errors are among the `failures`."""
        self._check_alone()
        self._stop.clear()
        try:
            self._round()
        except StorageError as error:
            self._failures[STORE_ITSELF] = error
        return self.status()

    @property
    def failures(self) -> Mapping[str, Exception]:
        """By job the last one, until it succeeds or is no longer to be done."""
        return {task.job: error for task, error in [*self._failures.items()]}

    def status(self) -> WorkerStatus:
        return WorkerStatus(
            running=self.running,
            holder=None if self._trouble else holder(self._store),
            working=self._holding,
            done=dict(self._done),
            last=self._last,
            failures={job: str(error) for job, error in self.failures.items()},
            note=self._refused or (f"only {', '.join(self._restricted)}: restrict_to" if self._restricted else ""),
        )

    def _check_alone(self) -> None:
        if any(each.running for each in self._store.workers):
            raise Conflict("this store has a worker that runs", "One for each open store is enough.")

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._rest(self._turn())
            with suppress(StorageError):
                self._store.journal.flush()
        except Closed:
            pass  # the store was closed: there is nothing left to work on

    def _rest(self, seconds: float) -> None:
        if self._trouble:
            self._stop.wait(seconds)
        elif self._wake.wait(seconds):
            self._stop.wait(SETTLE)
        self._wake.clear()

    def _turn(self) -> float:
        """A look, and the work it finds. How long to rest then."""
        try:
            seconds = self._round()
        except Closed:
            raise
        except Exception as error:  # noqa: BLE001 - the top of a thread is an edge; it is shown, and tried again
            self._failures[STORE_ITSELF] = error
            self._trouble = min(max(FIRST_PAUSE, 2 * self._trouble), LONGEST_PAUSE)
            return self._trouble * random.uniform(0.75, 1.25)  # noqa: S311 - nothing depends on it
        self._trouble = 0.0
        self._failures.pop(STORE_ITSELF, None)
        return seconds

    def _round(self) -> float:
        tasks = self._due()
        soon = self._poll * random.uniform(0.5, 1.5)  # noqa: S311 - nothing depends on it
        if not tasks or time.monotonic() < self._barred:
            return soon
        place = self._restricted[0] if self._restricted else STORE
        held = self._leases.held(LEASE, place)
        if held and held.holder != self._leases.holder:
            return min(soon, held.seconds + SETTLE)
        try:
            taken = self._leases.take(LEASE, self._lease, place)
        except Unwritable as error:
            self._refused = f"cannot take the lease: {error}"
            self._barred = time.monotonic() + REFUSED
            return soon
        self._refused = ""
        if taken:
            with self._kept(place):
                self._work(tasks)
        return soon

    def _due(self) -> list[Task]:
        tasks = self._jobs.due()
        self._failures = {each: error for each, error in self._failures.items() if self._jobs.rests(each)}
        return tasks

    def _work(self, tasks: Sequence[Task]) -> None:
        while tasks and not self._halted():
            for task in tasks:
                if self._halted():
                    return
                self._do(task)
            tasks = self._due()

    def _do(self, task: Task) -> None:
        done = 0
        try:
            for count in self._jobs.do(task):
                done += count
                self._note(task, count)
                if self._halted():
                    return
        except Closed:
            raise
        except Exception as error:
            self._failures[task] = error
            self._jobs.failed(task)
            if isinstance(error, StorageError) and error.retryable:
                raise  # the next one would fail, too
            return
        self._failures.pop(task, None)
        (self._jobs.succeeded if done else self._jobs.failed)(task)  # what comes to nothing is not tried again at once

    def _note(self, task: Task, count: int) -> None:
        if count:
            self._done[task.job] += count
            self._last = from_micros(clock.now())
            if self._progress:
                self._progress(task, count)

    def _halted(self) -> bool:
        return self._stop.is_set() or self._lost.is_set()

    @contextmanager
    def _kept(self, place: str) -> Iterator[None]:
        """The lease, for as long as there is work."""
        over = threading.Event()
        self._lost.clear()
        self._holding = True
        keeper = threading.Thread(target=self._keep, args=(place, over), name="retentive-lease", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            over.set()
            keeper.join()
            self._holding = False
            with suppress(StorageError):  # then it runs out
                self._leases.release(LEASE, place)

    def _keep(self, place: str, over: threading.Event) -> None:
        taken = time.monotonic()
        while not over.wait(self._lease / 3):
            try:
                kept = self._leases.take(LEASE, self._lease, place)
                taken = time.monotonic() if kept else taken
            except RetentiveError:  # it may be back before the lease has run out
                kept = time.monotonic() - taken < self._lease
            if not kept:
                self._lost.set()
                return


def restricted_to(store: OpenStore) -> list[str]:
    """The namespaces that connections are let through to; none: all. The lease is then that of the first."""
    return [name.strip() for name in store.config.restrict_to.split(",") if name.strip()]


def holder(store: OpenStore) -> str | None:
    """Who is at work on the store now, in whichever process."""
    names = restricted_to(store)
    try:
        held = Leases(store.engine).held(LEASE, names[0] if names else STORE)
    except StorageError:
        return None
    return held.holder if held else None


def status(store: OpenStore) -> WorkerStatus:
    """Of the worker of this process; without one, who is at work elsewhere."""
    running = [each.status() for each in store.workers]
    return running[0] if running else WorkerStatus(running=False, holder=holder(store))
