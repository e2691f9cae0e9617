"""Background work: threads that can be started and stopped, and leases that are kept while work is done."""

import os
import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from types import TracebackType
from typing import ClassVar, Self

from retentive.errors import RetentiveError, StorageError
from retentive.storage.tables.leases import Leases


class Background(ABC):
    """A thread with `start` and `stop`, also as a context manager. Any thread may call its methods."""

    THREAD_NAME: ClassVar[str]
    STOP_SECONDS: ClassVar[float]
    """How long `stop` waits for the thread."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @abstractmethod
    def start(self) -> Self: ...

    def stop(self, seconds: float | None = None) -> bool:
        """Stop after the current piece of work. False if that takes longer; the thread then ends by itself."""
        if os.getpid() != self._process:
            return True  # forked: the thread belongs to the other process
        self._stop.set()
        self._interrupt_wait()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return thread is None
        thread.join(self.STOP_SECONDS if seconds is None else seconds)
        if not thread.is_alive():
            self._unregister()
        return not thread.is_alive()

    def _start_thread(self) -> None:
        """Start the thread, which ends with the program."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name=self.THREAD_NAME, daemon=True)
        self._thread.start()

    @abstractmethod
    def _run(self) -> None: ...

    @abstractmethod
    def _unregister(self) -> None:
        """Remove it from the list of running ones, once its thread has ended."""

    def _interrupt_wait(self) -> None:  # noqa: B027 - not all wait
        """Wake the thread if it waits."""


class LeaseKeeper:
    """Takes leases, and extends them in a thread until the `with` block ends. Then it releases them.

    If a lease cannot be extended in time, another process may take it. `lost` is set then, and the keeper goes on
    trying.
    """

    def __init__(self, leases: Leases, namespace: str, seconds: float) -> None:
        """`seconds` is how long a lease lasts if its holder dies."""
        self.lost = threading.Event()
        self._leases = leases
        self._namespace = namespace
        self._seconds = seconds
        self._extended: dict[str, float] = {}
        """When each lease was last taken."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retentive-lease", daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._extended:
            self._thread.join()
        for name in self._extended:
            with suppress(StorageError):  # then it expires
                self._leases.release(name, self._namespace)

    def take(self, name: str) -> bool:
        """Take a lease. False if another holder has it."""
        if not self._leases.take(name, self._seconds, self._namespace):
            return False
        is_first = not self._extended
        self._extended[name] = time.monotonic()
        if is_first:
            self._thread.start()
        return True

    def _run(self) -> None:
        while not self._stop.wait(self._seconds / 3):
            for name in [*self._extended]:
                if not self._extend(name):
                    self.lost.set()

    def _extend(self, name: str) -> bool:
        """False if another holder has the lease, or if it has expired."""
        try:
            is_taken = self._leases.take(name, self._seconds, self._namespace)
        except RetentiveError:  # the store may be back before the lease expires
            return time.monotonic() - self._extended[name] < self._seconds
        if is_taken:
            self._extended[name] = time.monotonic()
        return is_taken
