"""A graph kept in a file beside the database, so that a restart need not build it again.

Layout: what usearch wrote | JSON header | length of the header, 8 bytes little-endian | magic, 8 bytes. The header is
at the end because usearch writes, and reads, from the start of a file; it stops before ours.

The naive way, handing usearch whatever the file holds, ends the process when a power cut left zeros in it. So the
header carries a checksum (crc32: 20 ms per 100 MB) and is compared before usearch sees a byte. It says whose the file
is and with which change the graph was in step; the reader catches up from there. It is not to be trusted beyond that:
anything strange, and the file is deleted and the graph built anew. Writers never meet: each writes a file of its own
and renames it into place, the last one wins.
"""

import json
import os
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from retentive.folders import make_private
from retentive.index.hnsw import Hnsw

_FORMAT = 1
_MAGIC = b"RTVHNSW\n"
_BLOCK = 1 << 20
_LONGEST_HEADER = 1 << 16


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Where the graph of a namespace and space is kept, and whose it is."""

    folder: Path
    store: str
    namespace: str
    space: str
    dimension: int

    @property
    def path(self) -> Path:
        return saved_at(self.folder, self.store, self.namespace, self.space)

    def save(self, graph: Hnsw, sequence: int) -> None:
        """OSError: the folder cannot be written. RuntimeError: usearch could not."""
        make_private(self.folder)
        import tempfile

        # mkstemp makes it 0600.
        handle, name = tempfile.mkstemp(prefix=".graph-", dir=self.folder)
        os.close(handle)
        try:
            graph.save(name)
            with Path(name).open("r+b") as file:
                checksum = _checksum(file, Path(name).stat().st_size)
                header = json.dumps(self._header(graph) | {"sequence": sequence, "checksum": checksum}).encode()
                file.write(header + len(header).to_bytes(8, "little") + _MAGIC)
            Path(name).replace(self.path)
        finally:
            Path(name).unlink(missing_ok=True)
        graph.unsaved = 0

    def load(self, floor: int, head: int) -> tuple[Hnsw, int] | None:
        """The graph and the sequence it is in step with; None (and no file) when it is of no use."""
        try:
            with self.path.open("rb") as file:
                header = _read_header(file)
            if self._is_mine(header) and floor <= header["sequence"] <= head:
                graph = Hnsw.load(str(self.path), self.dimension, header["effort"])
                graph.built = header["built"]
                if len(graph) == header["count"]:
                    return graph, header["sequence"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RuntimeError):
            pass
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        return None

    def _header(self, graph: Hnsw) -> dict[str, Any]:
        about = {"count": len(graph), "effort": graph.effort, "built": graph.built}
        return self._identity() | about

    def _identity(self) -> dict[str, Any]:
        from importlib.metadata import version

        identity = asdict(self)
        del identity["folder"]
        return identity | {"format": _FORMAT, "usearch": version("usearch")}

    def _is_mine(self, header: dict[str, Any]) -> bool:
        return all(header[key] == value for key, value in self._identity().items())


def saved_at(folder: Path, store: str, namespace: str, space: str) -> Path:
    name = f"{store}\0{namespace}\0{space}"
    return folder / f"{blake2b(name.encode(), digest_size=16).hexdigest()}.hnsw"


def _checksum(file: BinaryIO, size: int) -> int:
    """Of the first bytes; the file is left standing behind them."""
    checksum = 0
    file.seek(0)
    while size and (block := file.read(min(size, _BLOCK))):
        checksum = zlib.crc32(block, checksum)
        size -= len(block)
    return checksum


def _read_header(file: BinaryIO) -> dict[str, Any]:
    """ValueError: not a whole file of ours."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - 16, 0))
    tail = file.read(16)
    length = int.from_bytes(tail[:8], "little")
    if tail[8:] != _MAGIC or length > min(end - 16, _LONGEST_HEADER):
        raise ValueError("no header")
    body = end - 16 - length
    file.seek(body)
    header = json.loads(file.read(length))
    if not isinstance(header, dict) or header.get("checksum") != _checksum(file, body):
        raise ValueError("damaged")
    return header
