"""Settings of others, read and written: whole or not at all, as private as they were, with a copy of what was."""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from retentive import clock
from retentive.errors import Invalid, Stale, Unwritable
from retentive.fs.regular_files import read_regular
from retentive.model.times import from_micros

MAX_SETTINGS_BYTES = 200_000_000  # some clients keep whole conversations among their settings
_BACKUP = ".retentive-"


def real(path: Path) -> Path:
    """Behind links: the link stays, what it leads to changes."""
    return Path(os.path.realpath(path))


def read(path: Path) -> bytes | None:
    """None if there is no such file."""
    with _told(path):
        try:
            return read_regular(path, MAX_SETTINGS_BYTES, "it")
        except FileNotFoundError:
            return None


def backups(path: Path) -> list[bytes]:
    """The copies of it that were made, the newest first."""
    path = real(path)
    with _told(path):
        names = sorted((each.name for each in path.parent.iterdir()), reverse=True) if path.parent.is_dir() else []
        copies = [path.parent / each for each in names if _is_backup(each, path)]
        return [read_regular(each, MAX_SETTINGS_BYTES, each.name) for each in copies]


def write(path: Path, old: bytes | None, new: bytes | None, *, private: bool, copy: bool) -> Path | None:
    """Exchange it, unless it is no longer as it was read. None stands for no file. Gives back the copy made, if any."""
    path, backup = real(path), None
    with _told(path):
        if old is None:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "it may not be written")
        _unchanged(path, old)
        if old is not None and copy:
            backup = _back_up(path, old)
        if new is None:
            path.unlink()
        elif old is None:
            _replace(path, new, None, 0o600 if private else 0o666 & ~_umask())
        else:
            _replace(path, new, path.stat())
    return backup


def _back_up(path: Path, data: bytes) -> Path:
    stem = f"{path.name}{_BACKUP}{from_micros(clock.now()):%Y%m%d-%H%M%S}"
    names = (f"{stem}{ending}.bak" for ending in ("", *(f"-{number}" for number in range(2, 1000))))
    target = next(path.parent / name for name in names if not (path.parent / name).exists())
    _replace(target, data, path.stat())
    return target


def _is_backup(name: str, path: Path) -> bool:
    return name.startswith(path.name + _BACKUP) and name.endswith(".bak")


def _unchanged(path: Path, old: bytes | None) -> None:
    if read(path) != old:
        raise Stale(f"{path} was changed meanwhile", "Close the client, and repeat it.")


def _replace(path: Path, data: bytes, like: os.stat_result | None, mode: int = 0o600) -> None:
    """Through a new file in the same folder, durable before it takes the place of the old one."""
    handle, name = tempfile.mkstemp(".tmp", f".{path.name}.", path.parent)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - an open descriptor
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _keep(name, like, mode)
        os.replace(name, path)  # noqa: PTH105 - a name, not a path
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - as above
        raise


def _keep(name: str, like: os.stat_result | None, mode: int) -> None:
    """Owner, if we may set it, and permissions."""
    if like is not None and hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(name, like.st_uid, like.st_gid)
    os.chmod(name, stat.S_IMODE(like.st_mode) if like is not None else mode)  # noqa: PTH101 - as above


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except Invalid as error:
        raise Unwritable(f"{path}: {error}", "Move it away, and repeat; nothing was changed.") from error
    except OSError as error:
        hint = "See to its permissions and those of its folder; nothing was changed."
        raise Unwritable(f"{path}: {error.strerror or error}", hint) from error
