"""Looking for texts in files, byte by byte: how a purge proves what it says."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
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
    tail = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield tail + block, len(block)
            tail = (tail + block)[-longest:] if longest else b""
