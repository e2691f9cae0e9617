"""A circuit breaker: a server that failed is left alone for a while, then tried by one call.

    closed     calls go through; the first that gets no answer opens it
    open       calls fail at once, for 5 seconds at first and twice as long after each trial that failed
    half-open  one call goes through and decides; the others fail at once

So a dead server costs one timeout, however many calls there are.
"""

import math
import threading
import time

FIRST_PAUSE = 5.0  # seconds: a restart takes about as long
LONGEST_PAUSE = 300.0
LONGEST_ASKED = 3600.0  # seconds that a server may ask for by Retry-After


class Breaker:
    """Safe to use from many threads."""

    def __init__(self, first_pause: float = FIRST_PAUSE) -> None:
        self._first_pause = first_pause
        self._lock = threading.Lock()
        self._pause = 0.0
        self._open_until = 0.0
        self._reason = ""
        self._on_trial = False

    def try_call(self) -> str:
        """Empty if the caller may ask now; it must then report `succeed` or `fail`. Else why it may not."""
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

    def fail(self, reason: str, asked_pause: float | None = None) -> None:
        """`asked_pause`: the seconds that the server asked for, if it did."""
        with self._lock:
            # Calls that were under way when it opened fail soon after each other: they are one failure.
            if not self._reason or self._on_trial:
                self._pause = min(max(self._first_pause, 2 * self._pause), LONGEST_PAUSE)
            pause = max(self._pause, min(asked_pause or 0.0, LONGEST_ASKED))
            self._open_until = max(self._open_until, time.monotonic() + pause)
            self._reason, self._on_trial = reason, False

    def abandon(self) -> None:
        """A call that was let through ended without an answer or a failure of the server: the next may try."""
        with self._lock:
            self._on_trial = False

    def describe(self) -> str:
        """`closed`; or `open`, with the seconds left and the reason."""
        with self._lock:
            if not self._reason:
                return "closed"
            left = self._open_until - time.monotonic()
            state = f"open for {math.ceil(left)} s" if left > 0 else "half-open"
            return f"{state}: {self._reason}"
