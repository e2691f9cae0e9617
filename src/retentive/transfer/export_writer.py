"""Opens the target of an export: a file that exists completely or not at all, or a stream.

A file is written under a temporary name and renamed when all of it is on the disk. A file that is no export is only
replaced if that is wanted. A name that ends in .gz is compressed, without the time that gzip would write into it.
"""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from retentive.errors import Conflict, Invalid
from retentive.fs.atomic import open_atomic, reraise_write_errors
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import open_regular, require_regular
from retentive.transfer.export_reader import MAX_EXPORT_BYTES, MAX_HEADER_BYTES, is_export


@contextmanager
def open_target(target: Any, *, force: bool = False) -> Iterator[IO[bytes]]:
    """A stream to write an export into. `target` is a path, or a stream of bytes, which stays open."""
    if hasattr(target, "write"):
        if isinstance(target, io.TextIOBase):
            raise Invalid("the file is open for text", "Open it for bytes: open(path, 'wb').")
        yield target
        return
    path = parse_path(target)
    with reraise_write_errors(path), _open_file(path.resolve(), force=force) as file, _compress(path, file) as stream:
        yield stream


@contextmanager
def _open_file(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    if path.is_dir():
        raise Invalid(f"{path} is a folder", "Give the name of a file, or `format='markdown'`.")
    require_regular_target(path)
    if path.exists() and not force and not _is_replaceable(path):
        raise Conflict(
            f"{path} exists already, and is not an export", "Choose another name, or replace it: `force=True`."
        )
    with open_atomic(path) as file:
        yield file


@contextmanager
def _compress(path: Path, file: IO[bytes]) -> Iterator[IO[bytes]]:
    if path.suffix.lower() != ".gz":
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream:
        yield cast("IO[bytes]", stream)


def require_regular_target(path: Path) -> None:
    """Refuse a pipe or a device: a file cannot replace it, and reading it may never end."""
    try:
        require_regular(path)
    except Invalid as error:
        hint = "Write to standard output, or into a stream that you opened."
        raise Invalid(str(error), hint) from error


def _is_replaceable(path: Path) -> bool:
    """Whether a file is empty or an export."""
    with open_regular(path, MAX_EXPORT_BYTES) as file:
        beginning = file.read(MAX_HEADER_BYTES)
    return not beginning or is_export(beginning)
