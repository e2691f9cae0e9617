"""The bytes of a file, of one moment."""

import hashlib
import os
import stat
from typing import BinaryIO, NamedTuple

from retentive.errors import Invalid
from retentive.files.walk import settled, stamp_of

TRIES = 3  # a file that is being written is read again, so many times


class Loaded(NamedTuple):
    data: bytes
    hash: str
    modified: int
    """Microseconds."""
    stamp: str
    """Empty: it was changed so shortly before that a further change might not show."""


def load(path: str, limit: int) -> Loaded:
    """OSError if it cannot be read; Invalid if it is no longer a file of at most `limit` bytes."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        data, told, whole = _settled(file, os.fstat(handle), limit)
    if len(data) > limit:
        raise Invalid(f"over the limit of {limit / 1000:.0f} KB")
    stamp = stamp_of(told) if whole and settled(told) else ""
    return Loaded(data, fingerprint(data), told.st_mtime_ns // 1000, stamp)


def _settled(file: BinaryIO, before: os.stat_result, limit: int) -> tuple[bytes, os.stat_result, bool]:
    """What is in it, what the disk says of it, and whether the two belong together."""
    if not stat.S_ISREG(before.st_mode):
        raise Invalid("not a regular file")
    for _ in range(TRIES):
        file.seek(0)
        data, after = file.read(limit + 1), os.fstat(file.fileno())
        if stamp_of(after) == stamp_of(before) and after.st_size == before.st_size:
            return data, after, True
        before = after
    return data, before, False


def fingerprint(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
