"""One process at a time, by a lock on a file. The system frees it when its holder ends, however it ends."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAUSE = 0.002  # seconds between two looks, of one who does not wait for ever


@contextmanager
def exclusive(path: Path, patience: float | None = None) -> Iterator[None]:
    """Waits for its turn; with `patience`, for so many seconds: then it is a TimeoutError, which is an OSError.

    The file stays behind, empty: removing it would let two in.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if patience is None:
            _take(handle)
        else:
            _await(handle, patience)
        yield
    finally:
        os.close(handle)


def _await(handle: int, patience: float) -> None:
    until = time.monotonic() + patience
    while not _try(handle):
        if time.monotonic() >= until:
            raise TimeoutError("another process holds it")
        time.sleep(PAUSE)


if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _take(handle: int) -> None:
        while not _try(handle):
            time.sleep(0.05)
else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)
