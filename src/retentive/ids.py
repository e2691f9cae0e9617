"""Identifiers that sort by time (UUID version 7), made here and not by a database."""

import os
import re
import threading

SHORT_ID_CHARS = 8  # the end of an id, which is random; the beginning is the time, the same for a minute
MIN_PART_CHARS = 4  # of an id that is given in part
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PART = re.compile(rf"[0-9a-f-]{{{MIN_PART_CHARS},35}}")
_lock = threading.Lock()
_last = 0
_AHEAD = 10_000 << 12  # ten seconds: if the clock was set back by more, the ids follow it
_VARIANT = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}


def new_ids(at: int, count: int) -> list[str]:
    """UUIDs (version 7) of the instant `at` (microseconds). Those of this process sort in the order they were made.

    After the 48 bits of milliseconds the next 12 hold the fraction of the millisecond, pushed on by one where two
    fall together.
    """
    milliseconds, micros = divmod(at, 1000)
    first = _reserve(milliseconds << 12 | micros * 4096 // 1000, count)
    chance = os.urandom(8 * count).hex()
    return [_written(first + i, chance[16 * i : 16 * i + 16]) for i in range(count)]


def shorten_id(id: str) -> str:
    """Return the end of an id, which people read and type. A name that somebody chose stays whole."""
    return id[-SHORT_ID_CHARS:] if _UUID.fullmatch(id) else id


def is_part(text: str) -> bool:
    """Whether a text may be the beginning or the end of an id."""
    return _PART.fullmatch(text) is not None


def _written(stamp: int, chance: str) -> str:
    time = f"{stamp >> 12:012x}"
    return f"{time[:8]}-{time[8:]}-7{stamp & 0xFFF:03x}-{_VARIANT[chance[0]]}{chance[1:4]}-{chance[4:]}"


def _reserve(stamp: int, count: int) -> int:
    global _last  # noqa: PLW0603 - one clock per process
    with _lock:
        first = _last + 1 if stamp <= _last < stamp + _AHEAD else stamp
        _last = first + count - 1
        return first
