"""Looking for texts in files, byte by byte: how a purge proves what it says.

Where a process closes any descriptor of a file, POSIX takes from it all the locks it has on that file, those of SQLite
too: another process would then take the store for abandoned, and remove the log that this one goes on writing to. So
descriptors stay open, one for each file, and are used again.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

BLOCK = 8 << 20  # bytes read at a time


class Scan(NamedTuple):
    files: int
    size: int
    """In bytes."""
    found: dict[bytes, Path]
    """Each trace that is there, with the first file that has it."""


def scan(paths: Iterable[Path], traces: Sequence[bytes], tell: Callable[[int, int], None]) -> Scan:
    """`tell` hears how many bytes are done, and how many there are."""
    there = [path for path in paths if path.is_file()]
    total = sum(path.stat().st_size for path in there)
    found: dict[bytes, Path] = {}
    done = 0
    for path in there:
        for block, new in _blocks(path, max(map(len, traces), default=0)):
            found.update({trace: path for trace in traces if trace not in found and trace in block})
            done += new
            tell(done, max(done, total))
    return Scan(len(there), done, found)


def _blocks(path: Path, longest: int) -> Iterator[tuple[bytes, int]]:
    """Each with the end of the one before it, so that no trace is cut in two; and how many bytes are new in it."""
    tail, file, place = b"", _held(path), 0
    while block := _read(file, place):
        yield tail + block, len(block)
        tail = (tail + block)[-longest:] if longest else b""
        place += len(block)


_open: dict[tuple[int, int], int] = {}
_lock = Lock()


def _held(path: Path) -> int:
    status = path.stat()
    with _lock:
        file = _open.get((status.st_dev, status.st_ino))
        if file is None:
            file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            status = os.fstat(file)
            file = _open.setdefault((status.st_dev, status.st_ino), file)
        return file


def _read(file: int, place: int) -> bytes:
    with _lock:
        os.lseek(file, place, os.SEEK_SET)
        return os.read(file, BLOCK)
