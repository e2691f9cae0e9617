"""Where an export goes: a file that is there whole or not at all, or a stream.

A file is written beside its place, for the owner alone, and put there when all of it is on the disk. One that is no
export of ours is not replaced unless that is wanted. A name that ends in .gz is compressed, without the moment that
gzip would write into it.
"""

import contextlib
import gzip
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from retentive.errors import Conflict, Invalid, Unwritable
from retentive.transfer.inlet import HEAD, is_export


@contextmanager
def outlet(target: Any, *, force: bool = False) -> Iterator[IO[bytes]]:
    """`target` is a path, or a stream of bytes, which stays open."""
    if hasattr(target, "write"):
        if isinstance(target, io.TextIOBase):
            raise Invalid("the file is open for text", "Open it for bytes: open(path, 'wb').")
        yield target
        return
    path = Path(target).expanduser()
    with _told(path):
        opened = _through(path) if _is_special(path) else _beside(path.resolve(), force=force)
        with opened as file, _packed(path, file) as stream:
            yield stream


def _is_special(path: Path) -> bool:
    """A pipe, a terminal: nothing to replace."""
    return path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir()


@contextmanager
def _through(path: Path) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        yield file


@contextmanager
def _beside(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    if path.is_dir():
        raise Invalid(f"{path} is a folder", "Give the name of a file, or --format markdown.")
    if path.exists() and not force and not _is_replaceable(path):
        raise Conflict(f"{path} is there already, and no export", "Choose another name, or say --force.")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    _keep_name(path.parent)


def _keep_name(folder: Path) -> None:
    """The name itself is on the disk, too; not every system lets one see to it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _packed(path: Path, file: IO[bytes]) -> Iterator[IO[bytes]]:
    if path.suffix.lower() != ".gz":
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream:
        yield cast("IO[bytes]", stream)


def _is_replaceable(path: Path) -> bool:
    """An export of ours, or nothing."""
    with path.open("rb") as file:
        begun = file.read(HEAD)
    return not begun or is_export(begun)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        hint = "See to the folder, its permissions and the room on the disk."
        raise Unwritable(f"{path} cannot be written: {error.strerror or error}", hint) from error
