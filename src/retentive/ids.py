"""Identifiers that sort by time (UUID version 7), made here and not by a database."""

import os
import threading

_lock = threading.Lock()
_last = 0


def new_id(at: int, *, ordered: bool = True) -> str:
    """A UUIDv7 of the instant `at` (microseconds). `ordered` ones of this process sort in the order they were made.

    After the 48 bits of milliseconds the next 12 hold the fraction of the millisecond, pushed on by one where two
    fall together.
    """
    milliseconds, micros = divmod(at, 1000)
    stamp = milliseconds << 12 | micros * 4096 // 1000
    if ordered:
        stamp = _after_last(stamp)
    tail = int.from_bytes(os.urandom(8)) & (1 << 62) - 1
    text = f"{stamp >> 12:012x}7{stamp & 0xFFF:03x}{2 << 62 | tail:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _after_last(stamp: int) -> int:
    global _last  # noqa: PLW0603 - one clock per process
    with _lock:
        _last = max(stamp, _last + 1)
        return _last
