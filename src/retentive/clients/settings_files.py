"""Read and write settings files of other programs: atomically, with the permissions they had, after a backup."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retentive import clock
from retentive.errors import Invalid, Stale, Unwritable
from retentive.fs.atomic import PRIVATE_MODE, atomic_write
from retentive.fs.regular_files import read_regular
from retentive.model.times import from_micros

MAX_SETTINGS_BYTES = 200_000_000  # some clients keep whole conversations among their settings
_BACKUP_INFIX = ".retentive-"


def read_settings(path: Path) -> bytes | None:
    """Return the content of the file; None if there is no such file."""
    with _translate_errors(path):
        try:
            return read_regular(path, MAX_SETTINGS_BYTES, "it")
        except FileNotFoundError:
            return None


def read_backups(path: Path) -> list[bytes]:
    """Return the backups of a file that we made, the newest first."""
    path = _resolve_links(path)
    with _translate_errors(path):
        names = sorted((each.name for each in path.parent.iterdir()), reverse=True) if path.parent.is_dir() else []
        backups = [path.parent / name for name in names if _is_backup(name, path)]
        return [read_regular(backup, MAX_SETTINGS_BYTES, backup.name) for backup in backups]


def write_settings(path: Path, old: bytes | None, new: bytes | None, *, private: bool, back_up: bool) -> Path | None:
    """Replace the content `old` by `new`. None stands for no file. Return the backup, if one was made.

    `Stale` if the content is no longer `old`. `private` makes a new file readable by its owner alone.
    """
    path, backup = _resolve_links(path), None
    with _translate_errors(path):
        if old is None:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "it is not writable")
        if read_settings(path) != old:
            raise Stale(f"{path} has changed since it was read", "Close the client, and repeat the command.")
        if old is not None and back_up:
            backup = _back_up(path, old)
        if new is None:
            path.unlink()
        elif old is None:
            atomic_write(path, new, PRIVATE_MODE if private else 0o666 & ~_read_umask())
        else:
            atomic_write(path, new)
    return backup


def _resolve_links(path: Path) -> Path:
    """Return the file behind links, so that a link stays and its target is changed."""
    return Path(os.path.realpath(path))


def _back_up(path: Path, data: bytes) -> Path:
    stem = f"{path.name}{_BACKUP_INFIX}{from_micros(clock.now()):%Y%m%d-%H%M%S}"
    names = (f"{stem}{ending}.bak" for ending in ("", *(f"-{number}" for number in range(2, 1000))))
    target = next(path.parent / name for name in names if not (path.parent / name).exists())
    atomic_write(target, data, like=path)
    return target


def _is_backup(name: str, path: Path) -> bool:
    return name.startswith(path.name + _BACKUP_INFIX) and name.endswith(".bak")


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Turn errors of the system into `Unwritable`."""
    try:
        yield
    except Invalid as error:
        raise Unwritable(f"{path}: {error}", "Nothing was changed. Move it away, then repeat the command.") from error
    except OSError as error:
        hint = "Nothing was changed. Check its permissions and those of its folder."
        raise Unwritable(f"{path}: {error.strerror or error}", hint) from error
