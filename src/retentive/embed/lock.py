"""One process at a time, by a lock on a file. The system frees it when its holder ends, however it ends."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Waits for its turn. The file stays behind, empty: removing it would let two in."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _take(handle)
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt
    import time

    def _take(handle: int) -> None:
        while True:
            try:
                return msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.05)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)
