"""Validate paths that users give, and translate errors of the system into errors of Retentive."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retentive.errors import DiskFull, Invalid, StorageError, Unwritable

_DISK_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
CLOSE_SOME = "Close some of them, or raise the limit: `ulimit -n 4096`."


def parse_path(given: str | os.PathLike[str]) -> Path:
    """Return a path with `~` expanded. `Invalid` if no file can have this name."""
    text = os.fspath(given)
    if not text.strip() or "\0" in text:
        raise Invalid("a file needs a name, without zero bytes", "Give the path of a file.")
    try:
        path = Path(text).expanduser()
        path.lstat()
        path.resolve()  # finds links that lead to themselves
    except FileNotFoundError:
        return path
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise Invalid(f"{text[:200]}: {reason}", "Give another path.") from error
    return path


def translate_os_error(error: OSError, what: str, hint: str = "") -> StorageError:
    """Return the error to raise for an `OSError`. `what` names what could not be done."""
    reason = error.strerror or str(error)
    if error.errno in _DISK_FULL:
        return DiskFull(f"{what}: {reason}")
    if error.errno in _NO_DESCRIPTORS:
        return Unwritable(f"{what}: {reason}", CLOSE_SOME)
    return Unwritable(f"{what}: {reason}", hint)


@contextmanager
def reraise_os_errors(what: str, hint: str = "") -> Iterator[None]:
    """Turn an `OSError` into a `StorageError`."""
    try:
        yield
    except OSError as error:
        raise translate_os_error(error, what, hint) from error


def has_free_descriptor() -> bool:
    """Return whether this process can open one more file: SQLite does not say why it could not."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in _NO_DESCRIPTORS
    return True


def require_free_descriptors(count: int) -> None:
    """Raise `Unwritable` unless this process can open so many more files."""
    taken: list[int] = []
    try:
        with reraise_os_errors("this process cannot open the files that it needs"):
            for _ in range(count):
                taken.append(os.open(os.devnull, os.O_RDONLY))  # noqa: PERF401 - closed also if one fails
    finally:
        for each in taken:
            os.close(each)
