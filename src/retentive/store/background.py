"""What runs in a thread of its own, beside whoever started it."""

import os
import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import ClassVar, Self


class Background(ABC):
    """`start` and `stop` it, or use it as a context manager. Any thread may call its methods."""

    NAME: ClassVar[str]
    """Of the thread."""
    PATIENCE: ClassVar[float]
    """Seconds that `stop` waits."""

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

    def stop(self, patience: float | None = None) -> bool:
        """End after the piece of work at hand. False: that takes longer; it ends by itself then."""
        if os.getpid() != self._process:
            return True  # forked: the thread is the other process's
        self._stop.set()
        self._hurry()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return thread is None
        thread.join(self.PATIENCE if patience is None else patience)
        if not thread.is_alive():
            self._ended()
        return not thread.is_alive()

    def _begin(self) -> None:
        """In a thread that ends with the program."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name=self.NAME, daemon=True)
        self._thread.start()

    @abstractmethod
    def _run(self) -> None: ...

    @abstractmethod
    def _ended(self) -> None:
        """Nobody need stop it any more."""

    def _hurry(self) -> None:  # noqa: B027 - not all wait
        """Wake it, if it waits."""
