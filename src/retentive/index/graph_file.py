"""The file of a graph beside the database, so that a restart need not rebuild it.

Layout: what usearch wrote | JSON header | length of the header, 8 bytes little-endian | magic, 8 bytes. The header is
at the end because usearch writes, and reads, from the start of a file; it stops before ours.

If a power cut left zeros in the file, usearch would end the process on reading it. So the header carries a checksum
(crc32: 20 ms per 100 MB), which is compared before usearch reads a byte. The header also names the store, and the
change with which the graph was in step; the reader catches up from there. If anything in it is strange, the file is
deleted and the graph rebuilt. Writers never meet: each writes a file of its own and renames it into place, the last one
wins. A process that was killed meanwhile leaves its file behind; the next save removes it.

A graph that is still being built (`graph_build.py`) has a file of the same layout beside it.
"""

import json
import os
import time
import zlib
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from retentive.frozen_dataclass import dataclass
from retentive.fs.folders import make_private
from retentive.index.hnsw import Hnsw

_FORMAT = 1
_MAGIC = b"RTVHNSW\n"
_BLOCK_BYTES = 1 << 20
_MAX_HEADER_BYTES = 1 << 16
_TEMPORARY = ".tmp"

# Saving takes 0.1 s per 100,000 rows: the file of a running save is never as old.
_ABANDONED_SECONDS = 3600.0


class SavedGraph(NamedTuple):
    graph: Hnsw
    sequence: int
    """The change with which the graph is in step."""


@dataclass(frozen=True, slots=True)
class GraphFile:
    """The place of the file of a namespace and space, and the identity in its header."""

    folder: Path
    store: str
    namespace: str
    space: str
    dimension: int
    is_unfinished: bool = False

    @property
    def path(self) -> Path:
        finished = self.folder / f"{_file_stem(self.store, self.namespace, self.space)}.hnsw"
        return finished.with_suffix(".unfinished.hnsw") if self.is_unfinished else finished

    def unfinished_file(self) -> Self:
        """The file of the same graph while it is being built."""
        return replace(self, is_unfinished=True)

    def remove(self) -> None:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def save(self, graph: Hnsw, sequence: int) -> None:
        """Write the file. Raises OSError if the folder cannot be written, RuntimeError if usearch fails."""
        make_private(self.folder)
        _remove_abandoned(self.folder)
        import tempfile

        # mkstemp makes it 0600.
        stem = _file_stem(self.store, self.namespace, self.space)
        handle, name = tempfile.mkstemp(prefix=f"{stem}.", suffix=_TEMPORARY, dir=self.folder)
        os.close(handle)
        try:
            graph.save(name)
            with Path(name).open("r+b") as file:
                checksum = _compute_checksum(file, Path(name).stat().st_size)
                header = json.dumps(self._make_header(graph) | {"sequence": sequence, "checksum": checksum}).encode()
                file.write(header + len(header).to_bytes(8, "little") + _MAGIC)
            Path(name).replace(self.path)
        finally:
            Path(name).unlink(missing_ok=True)
        graph.unsaved = 0

    def load(self, floor: int, head: int) -> SavedGraph | None:
        """Load the graph if it is in step with a change from `floor` to `head`; else delete the file."""
        try:
            with self.path.open("rb") as file:
                header = _read_header(file)
            if self._is_mine(header) and floor <= header["sequence"] <= head:
                graph = Hnsw.load(str(self.path), self.dimension, header["effort"])
                graph.built = header["built"]
                if len(graph) == header["count"]:
                    return SavedGraph(graph, header["sequence"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RuntimeError):
            pass
        self.remove()
        return None

    def _make_header(self, graph: Hnsw) -> dict[str, Any]:
        about = {"count": len(graph), "effort": graph.effort, "built": graph.built}
        return self._identity() | about

    def _identity(self) -> dict[str, Any]:
        from importlib.metadata import version

        identity = asdict(self)
        del identity["folder"], identity["is_unfinished"]
        return identity | {"format": _FORMAT, "usearch": version("usearch")}

    def _is_mine(self, header: dict[str, Any]) -> bool:
        return all(header[key] == value for key, value in self._identity().items())


def erase_files(folder: Path, store: str, namespace: str, space: str) -> None:
    """Remove every file of a graph: the finished one, an unfinished one, and what a killed process left."""
    for path in folder.glob(f"{_file_stem(store, namespace, space)}.*"):
        with suppress(OSError):  # where no file can be, there is none
            path.unlink(missing_ok=True)


def _file_stem(store: str, namespace: str, space: str) -> str:
    name = f"{store}\0{namespace}\0{space}"
    return blake2b(name.encode(), digest_size=16).hexdigest()


def _remove_abandoned(folder: Path) -> None:
    for path in folder.glob(f"*{_TEMPORARY}"):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                path.unlink()


def _compute_checksum(file: BinaryIO, size: int) -> int:
    """The checksum of the first `size` bytes; the file position is left behind them."""
    checksum = 0
    file.seek(0)
    while size and (block := file.read(min(size, _BLOCK_BYTES))):
        checksum = zlib.crc32(block, checksum)
        size -= len(block)
    return checksum


def _read_header(file: BinaryIO) -> dict[str, Any]:
    """Read and verify the header. Raises ValueError if it is not a whole file of ours."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - 16, 0))
    tail = file.read(16)
    length = int.from_bytes(tail[:8], "little")
    if tail[8:] != _MAGIC or length > min(end - 16, _MAX_HEADER_BYTES):
        raise ValueError("no header")
    body = end - 16 - length
    file.seek(body)
    header = json.loads(file.read(length))
    if not isinstance(header, dict) or header.get("checksum") != _compute_checksum(file, body):
        raise ValueError("damaged")
    return header
