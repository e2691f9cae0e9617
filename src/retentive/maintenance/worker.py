"""Background work: a thread that runs due tasks. Of all processes of a store, one works at a time.

Every few seconds the worker runs one small query: is a task due? If so, it takes a lease
(`storage/tables/leases.py`), runs all due tasks and releases the lease. An idle store is therefore only read, and its
disk may sleep. During the work a second thread extends the lease; if the lease is lost, the work stops between two
pieces. If a worker dies, another one takes over when the lease expires.

A task that fails pauses, longer each time, while the others go on. If the store cannot be reached, everything pauses.
"""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from retentive import clock
from retentive.errors import Closed, Conflict, StorageError, Unwritable
from retentive.maintenance.jobs import Jobs
from retentive.model import Task, WorkerStatus, from_micros
from retentive.storage.tables.leases import STORE, Leases
from retentive.store import OpenStore
from retentive.store.background import Background, LeaseKeeper

if TYPE_CHECKING:
    from datetime import datetime

WORK_LEASE = "work"
POLL_SECONDS = 10.0  # between two checks, plus or minus half, so that many processes do not check at once
LEASE_SECONDS = 30.0  # after this, another worker takes over from one that died
CHORE_SECONDS = 3600.0  # between checks for tasks that are too expensive to look for every few seconds
SETTLE_SECONDS = 0.2  # at least between two checks, so that not each of a hundred writes in a row wakes it
FIRST_PAUSE_SECONDS = 1.0  # when the store cannot be reached; doubled each time
MAX_PAUSE_SECONDS = 60.0
REFUSED_PAUSE_SECONDS = 300.0  # after a lease was refused for lack of permission: a person has to change that

Progress = Callable[[Task, int], None]

CHECK_TASK = Task("store")  # stands for the check itself in `failures`

_starting = threading.Lock()


class Worker(Background):
    """A thread that runs due tasks: `start` and `stop` it, or use it as a context manager. `once` needs no thread.

    Any thread may call its methods.
    """

    THREAD_NAME = "retentive-worker"
    STOP_SECONDS = 2.0  # a piece of work takes less, a question to a language model may not

    def __init__(
        self,
        store: OpenStore,
        *,
        poll: float = POLL_SECONDS,
        lease: float = LEASE_SECONDS,
        every: float = CHORE_SECONDS,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self._store = store
        self._poll_seconds, self._lease_seconds = poll, lease
        self._progress = progress
        self._leases = Leases(store.engine)
        self._wake = threading.Event()
        self._jobs = Jobs(store, every, self._stop.wait)
        self._pause_seconds = 0.0
        self._keeper: LeaseKeeper | None = None
        """Extends the lease during the work."""
        self._done = Counter[str]()
        self._last_work: datetime | None = None
        self._failures: dict[Task, Exception] = {}
        self._refusal = ""
        self._refused_until = 0.0
        """The monotonic time until which the lease is not requested."""

    def start(self) -> Self:
        """Start the thread. It ends with the program."""
        with _starting:
            self._require_only_worker()
            self._wake.clear()
            self._start_thread()
            self._store.workers[:] = [self]
            self._store.journal.on_write = self.nudge
        return self

    def _interrupt_wait(self) -> None:
        self._wake.set()

    def _unregister(self) -> None:
        if self in self._store.workers:
            self._store.workers.remove(self)
            self._store.journal.on_write = None

    def nudge(self) -> None:
        """Wake the thread, so that it looks for due tasks. A forked process has no such thread: nothing happens."""
        if os.getpid() == self._process:
            self._wake.set()

    def once(self) -> WorkerStatus:
        """Run the tasks that are due now, in this thread. `stop` ends it early. Errors are in `failures`."""
        self._require_only_worker()
        self._stop.clear()
        try:
            self._work_once()
        except StorageError as error:
            self._failures[CHECK_TASK] = error
        return self.status()

    @property
    def failures(self) -> Mapping[str, Exception]:
        """The last error of each job, until it succeeds or is no longer due. The tasks of one job share an entry."""
        return {task.job: error for task, error in [*self._failures.items()]}

    def status(self) -> WorkerStatus:
        namespaces = list_restricted_namespaces(self._store)
        return WorkerStatus(
            running=self.running,
            # During the pause after a failed check the store is not asked: it may be out of reach, and this would hang.
            holder=None if self._pause_seconds else find_holder(self._store),
            working=self._keeper is not None,
            done=dict(self._done),
            last=self._last_work,
            failures={job: str(error) for job, error in self.failures.items()},
            note=self._refusal or (f"only {', '.join(namespaces)}: restrict_to" if namespaces else ""),
        )

    def _require_only_worker(self) -> None:
        if any(each.running for each in self._store.workers):
            raise Conflict("a worker of this store is running", "Use that one: each open store has one worker.")

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._wait(self._check_and_work())
            with suppress(StorageError):
                self._store.journal.flush()
        except Closed:
            pass  # the store was closed: there is nothing left to work on

    def _wait(self, seconds: float) -> None:
        """Wait until the next check. After an error, wait the full pause: a write does not end it."""
        if self._pause_seconds:
            self._stop.wait(seconds)
        elif self._wake.wait(seconds):
            self._stop.wait(SETTLE_SECONDS)
        self._wake.clear()

    def _check_and_work(self) -> float:
        """Check for due tasks and run them. Returns how many seconds to wait afterwards."""
        try:
            seconds = self._work_once()
        except Closed:
            raise
        except Exception as error:  # noqa: BLE001 - the top of a thread is an edge; it is shown, and tried again
            self._failures[CHECK_TASK] = error
            self._pause_seconds = min(max(FIRST_PAUSE_SECONDS, 2 * self._pause_seconds), MAX_PAUSE_SECONDS)
            return self._pause_seconds * random.uniform(0.75, 1.25)  # noqa: S311 - nothing depends on it
        self._pause_seconds = 0.0
        self._failures.pop(CHECK_TASK, None)
        return seconds

    def _work_once(self) -> float:
        """Run the due tasks, unless another worker is at work. Returns how many seconds to wait afterwards."""
        tasks = self._refresh_due()
        seconds = self._poll_seconds * random.uniform(0.5, 1.5)  # noqa: S311 - nothing depends on it
        if not tasks or time.monotonic() < self._refused_until:
            return seconds
        namespace = _find_lease_namespace(self._store)
        held = self._leases.find_holder(WORK_LEASE, namespace)
        if held and held.holder != self._leases.holder:
            return min(seconds, held.seconds + SETTLE_SECONDS)
        with LeaseKeeper(self._leases, namespace, self._lease_seconds) as keeper:
            if self._take_lease(keeper):
                self._work_under_lease(keeper, tasks)
        return seconds

    def _take_lease(self, keeper: LeaseKeeper) -> bool:
        """Take the lease of the work. If it is refused for lack of permission, it is not requested for a while."""
        try:
            is_taken = keeper.take(WORK_LEASE)
        except Unwritable as error:
            self._refusal = f"cannot take the lease: {error}"
            self._refused_until = time.monotonic() + REFUSED_PAUSE_SECONDS
            return False
        self._refusal = ""
        return is_taken

    def _work_under_lease(self, keeper: LeaseKeeper, tasks: Sequence[Task]) -> None:
        self._keeper = keeper
        try:
            while tasks and not self._is_stopped():
                for task in tasks:
                    if self._is_stopped():
                        return
                    self._run_task(task)
                tasks = self._refresh_due()
        finally:
            self._keeper = None

    def _refresh_due(self) -> list[Task]:
        """The tasks that can run now. Errors of tasks that are no longer due are forgotten."""
        tasks = self._jobs.refresh_due()
        self._failures = {each: error for each, error in self._failures.items() if self._jobs.has_been_paused(each)}
        return tasks

    def _run_task(self, task: Task) -> None:
        done = 0
        try:
            for count in self._jobs.run(task):
                done += count
                self._count_done(task, count)
                if self._is_stopped():
                    return
        except Closed:
            raise
        except Exception as error:
            self._failures[task] = error
            self._jobs.pause_task(task)
            if isinstance(error, StorageError) and error.retryable:
                raise  # the next one would fail, too
            return
        self._failures.pop(task, None)
        if done:
            self._jobs.resume_task(task)
        else:
            self._jobs.pause_task(task)  # nothing was done, and the task may be due again at once

    def _count_done(self, task: Task, count: int) -> None:
        if count:
            self._failures.pop(task, None)  # before the count: a status never shows both
            self._done[task.job] += count
            self._last_work = from_micros(clock.now())
            if self._progress:
                self._progress(task, count)

    def _is_stopped(self) -> bool:
        return self._stop.is_set() or (self._keeper is not None and self._keeper.lost.is_set())


def list_restricted_namespaces(store: OpenStore) -> list[str]:
    """The namespaces of the setting `restrict_to`; none if all may be used."""
    return [name.strip() for name in store.config.restrict_to.split(",") if name.strip()]


def _find_lease_namespace(store: OpenStore) -> str:
    """The namespace that has the lease: that of the whole store, or the first one of a restricted connection."""
    return next(iter(list_restricted_namespaces(store)), STORE)


def find_holder(store: OpenStore) -> str | None:
    """The worker that holds the lease now, in any process. None also if the store cannot be asked."""
    try:
        held = Leases(store.engine).find_holder(WORK_LEASE, _find_lease_namespace(store))
    except StorageError:
        return None
    return held.holder if held else None


def describe_worker(store: OpenStore) -> WorkerStatus:
    """The status of the worker of this process; without one, only the holder of the lease."""
    running = [each.status() for each in store.workers]
    return running[0] if running else WorkerStatus(running=False, holder=find_holder(store))
