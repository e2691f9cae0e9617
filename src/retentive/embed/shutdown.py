"""Calls into libraries that let go of the interpreter while they work, and the end of the program.

A daemon thread that comes back from such a call when the interpreter has ended is stopped where it stands. Frames of
C++ and Rust do not survive that: the whole process is aborted. So the end waits for the calls at work, each of which
takes a fraction of a second, and no new one begins.
"""

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from retentive.errors import EmbedError

PATIENCE = 20.0  # seconds; rather an abort than a program that does not end


class Calls:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """None are at work, as in a process that was forked just now: the threads are the other's."""
        self._changed = threading.Condition()
        self._running = 0
        self._over = False

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._changed:
            if self._over:
                raise EmbedError("the program is ending")
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.wait_for(lambda: not self._running, PATIENCE)


calls = Calls()
atexit.register(calls.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=calls.reset)
