"""Search files for texts, byte by byte: the proof that a purge was complete.

When a process closes any descriptor of a file, POSIX drops all locks that it holds on that file, also SQLite's. Another
process would then take the store for abandoned, and remove the log that this one still writes to. So the descriptors
stay open, one for each file, and are used again.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

BLOCK_BYTES = 8 << 20  # read at a time


class Scan(NamedTuple):
    files: int
    size: int
    """The bytes that were searched."""
    found: dict[bytes, Path]
    """Each trace that was found, with the first file that has it."""


def scan_files(paths: Iterable[Path], traces: Sequence[bytes], progress: Callable[[int, int], None]) -> Scan:
    """Search the files for the traces. `progress` is called with the bytes done and the bytes in all."""
    files = [path for path in paths if path.is_file()]
    total = sum(path.stat().st_size for path in files)
    longest = max(map(len, traces), default=0)
    found: dict[bytes, Path] = {}
    done = 0
    for path in files:
        for block, new in _read_blocks(path, longest):
            found.update({trace: path for trace in traces if trace not in found and trace in block})
            done += new
            progress(done, max(done, total))
    return Scan(len(files), done, found)


def _read_blocks(path: Path, overlap: int) -> Iterator[tuple[bytes, int]]:
    """Blocks that overlap, so that no trace is cut in two, each with the number of its new bytes."""
    tail, file, offset = b"", _open_once(path), 0
    while block := _read(file, offset):
        yield tail + block, len(block)
        tail = (tail + block)[-overlap:] if overlap else b""
        offset += len(block)


_open: dict[tuple[int, int], int] = {}
_lock = Lock()


def _open_once(path: Path) -> int:
    """The descriptor of a file: an earlier one, or a new one."""
    status = path.stat()
    with _lock:
        file = _open.get((status.st_dev, status.st_ino))
        if file is None:
            file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            status = os.fstat(file)
            file = _open.setdefault((status.st_dev, status.st_ino), file)
        return file


def _read(file: int, offset: int) -> bytes:
    with _lock:
        os.lseek(file, offset, os.SEEK_SET)
        return os.read(file, BLOCK_BYTES)
