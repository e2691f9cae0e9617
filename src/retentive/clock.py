"""The time. One function, so that a test can set it."""

import time


def now() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000
