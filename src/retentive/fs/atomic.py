"""Files that are there whole or not at all.

One is filled under a passing name in the folder it is for, and then gets its own. Whoever fills it holds a lock on it;
a passing name that nobody holds was left by a process that was killed, and the next one who comes by removes it. The
same goes for folders that are filled.
"""

import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from retentive.errors import Conflict
from retentive.fs.paths import translate_os_error
from retentive.fs.regular_files import require_regular

_PREFIX, _SUFFIX = ".retentive-", ".part"
SQLITE_LOGS = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database file

_mine: set[Path] = set()
"""Those that this process fills. Where locks are those of processes, as on NFS, they would not tell."""


class Unfinished(NamedTuple):
    """What is in a folder under passing names."""

    left: list[Path]
    """By processes that were killed."""
    busy: list[Path]
    """Those that somebody is filling."""


@contextmanager
def passing(folder: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """An empty file, or folder, for the owner alone. What is left under this name at the end is removed."""
    with writable(folder):
        sweep(folder)
        path, handle = _made(folder, is_folder=is_folder)
    try:
        yield path
    finally:
        os.close(handle)
        remove(path)
        _mine.discard(path.resolve())


def find_unfinished(folder: Path) -> Unfinished:
    """Whether somebody fills each of them is told by its lock; in doubt somebody does."""
    found = Unfinished([], [])
    for path in sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}")):
        (found.busy if path.resolve() in _mine or _is_locked(path) else found.left).append(path)
    return found


def sweep(folder: Path) -> Unfinished:
    """Remove what was left in a folder; what there was."""
    found = find_unfinished(folder)
    for path in found.left:
        with suppress(OSError), _locked(path):
            remove(path)
    return found


@contextmanager
def writable(where: Path) -> Iterator[None]:
    """What the system says, as ours, but for a name that is taken, and a reader that has gone."""
    try:
        yield
    except (FileExistsError, BrokenPipeError):
        raise
    except OSError as error:
        hint = "See to the permissions, or give another place."
        raise translate_os_error(error, f"{where} cannot be written", hint) from error


def place(path: Path, name: Path, *, overwrite: bool = False) -> None:
    """Give a finished file its name, durably. `FileExistsError` if it is taken and must not be overwritten."""
    _synced(path)
    if overwrite:
        path.replace(name)
    else:
        _named(path, name)
    _synced(name.parent)


def free(name: Path, store: Path | None, *, overwrite: bool) -> None:
    """Refuse a name that is taken, or that of a pipe or a device, which would be replaced by a file."""
    require_regular(name)
    if store is not None and name.exists() and name.samefile(store):
        raise Conflict(f"{name} is the store itself", "Give another name.")
    if used := [end for end in SQLITE_LOGS if Path(f"{name}{end}").exists()]:
        raise Conflict(f"{name}{used[0]} is there, so {name} is a store in use", "Give another name.")
    if not overwrite and (name.exists() or name.is_symlink()):
        raise Conflict(f"{name} is there already", "Give another name, or --force (overwrite=True) to replace it.")


def remove(path: Path) -> None:
    """The logs first: if it is killed in between, the next one still finds them by the file."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    for end in (*SQLITE_LOGS, ""):
        with suppress(OSError):
            Path(f"{path}{end}").unlink(missing_ok=True)


def _named(path: Path, name: Path) -> None:
    try:
        os.link(path, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        path.replace(name)


def _synced(path: Path) -> None:
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _made(folder: Path, *, is_folder: bool) -> tuple[Path, int]:
    while True:
        path = folder / f"{_PREFIX}{uuid.uuid4().hex}{_SUFFIX}"
        handle = _made_folder(path) if is_folder else os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if _take(handle) and path.exists():
            _mine.add(path.resolve())
            return path, handle
        os.close(handle)  # it was taken for one that was left


def _made_folder(path: Path) -> int:
    path.mkdir(mode=0o700)
    try:
        return _open(path)
    except (FileNotFoundError, PermissionError):  # it was taken for one that was left; or Windows cannot open a folder
        return os.open(os.devnull, os.O_RDONLY)


def _is_locked(path: Path) -> bool:
    try:
        with _locked(path):
            return False
    except OSError:
        return True


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """BlockingIOError: somebody else has it."""
    handle = _open(path)
    try:
        if not _take(handle):
            raise BlockingIOError(f"{path} is being written")
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":

    def _open(path: Path) -> int:
        """Folders cannot be opened there, so nobody holds one, and those that were left stay."""
        return os.open(path, os.O_RDWR)

    def _take(handle: int) -> bool:  # noqa: ARG001 - an open file cannot be removed there anyway
        return True
else:
    import fcntl

    def _open(path: Path) -> int:
        return os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
