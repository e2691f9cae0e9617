"""A lock on a file, for one process at a time. The system releases it when its holder ends, even if it is killed."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLL_SECONDS = 0.002  # between two attempts of a caller with limited patience


@contextmanager
def hold_lock(path: Path, patience: float | None = None) -> Iterator[None]:
    """Wait for the lock and hold it. After `patience` seconds, raise `TimeoutError`, which is an `OSError`.

    The empty file is not removed: two processes could then hold locks on two files of one name.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if patience is None:
            _lock(handle)
        else:
            _lock_within(handle, patience)
        yield
    finally:
        os.close(handle)


def _lock_within(handle: int, patience: float) -> None:
    until = time.monotonic() + patience
    while not _try_lock(handle):
        if time.monotonic() >= until:
            raise TimeoutError("another process holds it")
        time.sleep(POLL_SECONDS)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _lock(handle: int) -> None:
        while not _try_lock(handle):
            time.sleep(0.05)
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)
