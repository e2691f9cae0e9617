"""Paths that somebody gave, and what the system says of them, as errors of ours."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retentive.errors import DiskFull, Invalid, StorageError, Unwritable

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_USED_UP = (errno.EMFILE, errno.ENFILE)
CLOSE_SOME = "Close some of them, or raise the limit: `ulimit -n 4096`."


def parse_path(given: str | os.PathLike[str]) -> Path:
    """A path with `~` filled in. `Invalid` if there can be no file of this name."""
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
    """What the system refused, as an error of ours; `what` could not be done."""
    said = error.strerror or str(error)
    if error.errno in _FULL:
        return DiskFull(f"{what}: {said}")
    if error.errno in _USED_UP:
        return Unwritable(f"{what}: {said}", CLOSE_SOME)
    return Unwritable(f"{what}: {said}", hint)


@contextmanager
def translated_os_errors(what: str, hint: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise translate_os_error(error, what, hint) from error


def has_free_descriptor() -> bool:
    """Whether this process may still open a file: SQLite does not say why it could not."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in _USED_UP
    return True


def require_free_descriptors(count: int) -> None:
    """Refuse to begin with fewer than so many files that can still be opened."""
    taken: list[int] = []
    try:
        with translated_os_errors("this process cannot open the files that it needs"):
            for _ in range(count):
                taken.append(os.open(os.devnull, os.O_RDONLY))  # noqa: PERF401 - closed also if one fails
    finally:
        for each in taken:
            os.close(each)
