"""A circuit breaker: after a failure, a server is not called for a while, then tried by one call.

    closed     calls go through; the first that gets no answer opens it
    open       calls fail at once, for 5 seconds at first and twice as long after each trial that failed
    half-open  one call goes through and decides; the others fail at once

So a dead server costs one timeout, however many calls there are.
"""

import math
import threading
import time

FIRST_PAUSE_SECONDS = 5.0  # seconds: a restart takes about as long
MAX_PAUSE_SECONDS = 300.0
MAX_RETRY_AFTER_SECONDS = 3600.0  # longer values of Retry-After are cut


class Breaker:
    """Safe to use from many threads."""

    def __init__(self, first_pause: float = FIRST_PAUSE_SECONDS) -> None:
        self._first_pause = first_pause
        self._lock = threading.Lock()
        self._pause = 0.0
        self._open_until = 0.0
        self._reason = ""
        self._on_trial = False

    def try_call(self) -> str:
        """Return "" if the caller may call now, else the reason against it. A caller must report the outcome."""
        with self._lock:
            if not self._reason:
                return ""
            left = self._open_until - time.monotonic()
            if left > 0:
                return f"not asked for {math.ceil(left)} s more, because {self._reason}"
            if self._on_trial:
                return f"another call is trying it, because {self._reason}"
            self._on_trial = True
            return ""

    def succeed(self) -> None:
        with self._lock:
            self._pause, self._reason, self._on_trial = 0.0, "", False

    def fail(self, reason: str, retry_after: float | None = None) -> None:
        """Open the breaker. `retry_after` is the pause in seconds that the server asked for."""
        with self._lock:
            # Calls that were running when it opened fail soon after each other: they count as one failure.
            if not self._reason or self._on_trial:
                self._pause = min(max(self._first_pause, 2 * self._pause), MAX_PAUSE_SECONDS)
            pause = max(self._pause, min(retry_after or 0.0, MAX_RETRY_AFTER_SECONDS))
            self._open_until = max(self._open_until, time.monotonic() + pause)
            self._reason, self._on_trial = reason, False

    def abandon(self) -> None:
        """End a trial that showed nothing about the server: the next call may try."""
        with self._lock:
            self._on_trial = False

    def describe(self) -> str:
        """Return `closed`, or the state with the seconds left and the reason."""
        with self._lock:
            if not self._reason:
                return "closed"
            left = self._open_until - time.monotonic()
            state = f"open for {math.ceil(left)} s" if left > 0 else "half-open"
            return f"{state}: {self._reason}"
