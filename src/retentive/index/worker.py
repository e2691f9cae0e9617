"""The background worker of the images: one thread per store, one job at a time, none twice.

Jobs that make the next question quicker are urgent: they come first, and a long job runs them between two pieces of its
own work. Building the graph of 300,000 vectors takes minutes; until the postings are loaded, a question takes 145 ms
instead of 4.
"""

import ctypes
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from typing import TypeVar

T = TypeVar("T")

Key = tuple[str, str]
"""The namespace and the kind of work."""


class JobControl:
    """What a running job can ask of the worker, between two pieces of its work and without holding a lock."""

    def __init__(self, worker: "IndexWorker") -> None:
        self._worker = worker

    def must_stop(self) -> bool:
        """Whether to return early, because the store is being closed."""
        return self._worker.is_closing()

    def run_urgent_jobs(self) -> None:
        """Run the urgent jobs that wait, in this thread."""
        self._worker.run_urgent_jobs()

    def run_urgent_jobs_for(self, seconds: float) -> bool:
        """Run only urgent jobs for some seconds; True if the job must stop."""
        until = time.monotonic() + seconds
        while not self.must_stop() and (left := until - time.monotonic()) > 0:
            self._worker.wait_for_urgent(left)
            self.run_urgent_jobs()
        return self.must_stop()

    def until_stop(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items until the job must stop."""
        return takewhile(lambda _: not self.must_stop(), items)


Job = Callable[[JobControl], None]


class IndexWorker:
    """Runs jobs in one thread, urgent ones first."""

    # After a failure a job is not started again for this long: a load that always fails would otherwise run all the
    # time under a steady stream of questions.
    pause = 5.0

    def __init__(self) -> None:
        self.errors: dict[Key, Exception] = {}
        """The last failure of each job, until it succeeds."""
        self._urgent: dict[Key, Job] = {}
        self._jobs: dict[Key, Job] = {}
        self._running: set[Key] = set()
        """The job of the thread, and the urgent one that it runs meanwhile."""
        self._not_before: dict[Key, float] = {}
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def submit(self, key: Key, job: Job, *, urgent: bool = False) -> None:
        """Run a job soon, unless one of the same key waits, runs, or failed just now."""
        with self._changed:
            if self._stop.is_set() or key in self._jobs or key in self._urgent or key in self._running:
                return
            if time.monotonic() < self._not_before.get(key, 0.0):
                return
            (self._urgent if urgent else self._jobs)[key] = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="retentive-index", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until there is nothing to do; False if that takes longer than the timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._jobs or self._urgent or self._running), timeout)

    def close(self) -> None:
        """Stop the running job at its next check, drop the others, and end the thread."""
        with self._changed:
            self._stop.set()
            self._jobs.clear()
            self._urgent.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def is_closing(self) -> bool:
        return self._stop.is_set()

    def run_urgent_jobs(self) -> None:
        """Run the urgent jobs that wait, in the thread of the calling job."""
        while (key_and_job := self._take(self._urgent)) is not None:
            self._run(*key_and_job)

    def wait_for_urgent(self, timeout: float) -> None:
        """Wait until there is an urgent job, or the worker is closing."""
        with self._changed:
            self._changed.wait_for(lambda: self._urgent or self._stop.is_set(), timeout)

    def _work(self) -> None:
        while (key_and_job := self._next()) is not None:
            self._run(*key_and_job)

    def _next(self) -> tuple[Key, Job] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._urgent or self._jobs or self._stop.is_set())
            return self._take(self._urgent or self._jobs)

    def _take(self, jobs: dict[Key, Job]) -> tuple[Key, Job] | None:
        """The job that waited longest; None if there is none, or the worker is closing."""
        with self._changed:
            if self._stop.is_set() or not jobs:
                return None
            key = next(iter(jobs))
            self._running.add(key)
            return key, jobs.pop(key)

    def _run(self, key: Key, job: Job) -> None:
        error = None
        try:
            job(JobControl(self))
        except Exception as problem:  # noqa: BLE001 - the top of a thread is an edge; it is kept, shown and retried
            error = problem
        give_memory_back()
        with self._changed:
            self._running.discard(key)
            if error is None:
                self.errors.pop(key, None)
                self._not_before.pop(key, None)
            else:
                self.errors[key] = error
                self._not_before[key] = time.monotonic() + self.pause
            self._changed.notify_all()


def give_memory_back() -> None:
    """Return freed memory to the system, where the C library can (glibc).

    The library keeps memory that a load has freed: 11 MB after 10,000 rows, a tenth of the process. This takes 1 ms.
    """
    with suppress(OSError, AttributeError, TypeError):  # TypeError: Windows has no library without a name
        ctypes.CDLL(None).malloc_trim(0)
