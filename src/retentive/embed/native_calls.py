"""Calls into native libraries (ONNX Runtime, tokenizers), which must end before the program does.

Such a call lets go of the interpreter while it works. A daemon thread that returns from one when the interpreter has
ended is stopped at once. Frames of C++ and Rust do not survive that: the whole process is aborted. So the end of the
program waits for the running calls, each of which takes a fraction of a second, and no new one begins.
"""

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from retentive.errors import EmbedError

MAX_WAIT_AT_EXIT = 20.0  # seconds; rather an abort than a program that does not end


class NativeCalls:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the running calls: after a fork they belong to threads of the other process."""
        self._changed = threading.Condition()
        self._running = 0
        self._is_ending = False

    @contextmanager
    def track(self) -> Iterator[None]:
        """Count the body as a running call."""
        with self._changed:
            if self._is_ending:
                raise EmbedError("the program is ending")
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def wait_at_exit(self) -> None:
        with self._changed:
            self._is_ending = True
            self._changed.wait_for(lambda: not self._running, MAX_WAIT_AT_EXIT)


native_calls = NativeCalls()
atexit.register(native_calls.wait_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=native_calls.reset)
