"""Where an export goes: a file that is there whole or not at all, or a stream.

A file is written beside its place, for the owner alone, and put there when all of it is on the disk. One that is no
export of ours is not replaced unless that is wanted. A name that ends in .gz is compressed, without the moment that
gzip would write into it.
"""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from retentive.errors import Conflict, Invalid
from retentive.fs.atomic import passing, place, writable
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import open_regular, require_regular
from retentive.transfer.export_reader import HEAD, MAX_EXPORT_BYTES, is_export


@contextmanager
def outlet(target: Any, *, force: bool = False) -> Iterator[IO[bytes]]:
    """`target` is a path, or a stream of bytes, which stays open."""
    if hasattr(target, "write"):
        if isinstance(target, io.TextIOBase):
            raise Invalid("the file is open for text", "Open it for bytes: open(path, 'wb').")
        yield target
        return
    path = parse_path(target)
    with writable(path), _beside(path.resolve(), force=force) as file, _packed(path, file) as stream:
        yield stream


@contextmanager
def _beside(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    if path.is_dir():
        raise Invalid(f"{path} is a folder", "Give the name of a file, or --format markdown.")
    refuse_special(path)
    if path.exists() and not force and not _is_replaceable(path):
        raise Conflict(f"{path} is there already, and no export", "Choose another name, or say --force.")
    with passing(path.parent) as part:
        with part.open("wb") as file:
            yield file
        place(part, path, overwrite=True)


@contextmanager
def _packed(path: Path, file: IO[bytes]) -> Iterator[IO[bytes]]:
    if path.suffix.lower() != ".gz":
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream:
        yield cast("IO[bytes]", stream)


def refuse_special(path: Path) -> None:
    """A pipe or a device cannot be replaced by a file, and may never be read: it is written to as a stream."""
    try:
        require_regular(path)
    except Invalid as error:
        hint = "Write to standard output (`retentive export > PIPE`), or in Python into an open stream."
        raise Invalid(str(error), hint) from error


def _is_replaceable(path: Path) -> bool:
    """An export of ours, or nothing."""
    with open_regular(path, MAX_EXPORT_BYTES) as file:
        begun = file.read(HEAD)
    return not begun or is_export(begun)
