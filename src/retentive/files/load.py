"""The bytes of a file, of one moment."""

import hashlib
import os
from typing import BinaryIO, NamedTuple

from retentive.files.walk import settled, stamp_of
from retentive.fs.regular_files import use_regular

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
    data, told, whole = use_regular(path, limit, _settled, "it")
    stamp = stamp_of(told) if whole and settled(told) else ""
    return Loaded(data, fingerprint(data), told.st_mtime_ns // 1000, stamp)


def _settled(file: BinaryIO) -> tuple[bytes, os.stat_result, bool]:
    """What is in it, what the disk says of it, and whether the two belong together."""
    before = os.fstat(file.fileno())
    for _ in range(TRIES):
        file.seek(0)
        data, after = file.read(), os.fstat(file.fileno())
        if stamp_of(after) == stamp_of(before) and after.st_size == before.st_size:
            return data, after, True
        before = after
    return data, before, False


def fingerprint(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
