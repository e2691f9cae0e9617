"""Work that a search must not wait for: one thread per store, one job at a time, none twice."""

import threading
import time
from collections.abc import Callable

Key = tuple[str, str]
"""Whose work it is, and what."""

Job = Callable[[threading.Event], None]
"""Looks at the event now and then, and returns early when it is set."""


class Worker:
    # After a failure a job is not started again for this long: a load that always fails would otherwise run all the
    # time under a steady stream of questions.
    pause = 5.0

    def __init__(self) -> None:
        self.errors: dict[Key, Exception] = {}
        """The last failure of each job, until it succeeds."""
        self._jobs: dict[Key, Job] = {}
        self._running: Key | None = None
        self._not_before: dict[Key, float] = {}
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def submit(self, key: Key, job: Job) -> None:
        """Run it soon, unless a job of this key waits, runs, or failed just now."""
        with self._changed:
            if self._stop.is_set() or key in self._jobs or key == self._running:
                return
            if time.monotonic() < self._not_before.get(key, 0.0):
                return
            self._jobs[key] = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="retentive-index", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Until there is nothing to do; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._jobs and self._running is None, timeout)

    def close(self) -> None:
        """Stop at the next chance; return when stopped."""
        with self._changed:
            self._stop.set()
            self._jobs.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while (key_and_job := self._next()) is not None:
            self._do(*key_and_job)

    def _next(self) -> tuple[Key, Job] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._stop.is_set())
            if self._stop.is_set():
                return None
            self._running = next(iter(self._jobs))
            return self._running, self._jobs.pop(self._running)

    def _do(self, key: Key, job: Job) -> None:
        error = None
        try:
            job(self._stop)
        except Exception as problem:  # noqa: BLE001 - the top of a thread is an edge; it is kept, shown and retried
            error = problem
        with self._changed:
            self._running = None
            if error is None:
                self.errors.pop(key, None)
                self._not_before.pop(key, None)
            else:
                self.errors[key] = error
                self._not_before[key] = time.monotonic() + self.pause
            self._changed.notify_all()
