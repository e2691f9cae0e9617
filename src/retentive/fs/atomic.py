"""Files that exist completely or not at all.

A file is filled under a temporary name in its target folder, synced to the disk, and then renamed. The process that
fills it holds a lock on it. So a temporary file without a lock is a leftover of a killed process: whoever next writes
in that folder removes it. Folders are filled in the same way.

`atomic_write` and `open_atomic` write one file. `temporary_file` and `publish_file` are for callers that have another
program fill the file, such as SQLite, or that need to see it before it gets its name.
"""

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from retentive.errors import Conflict
from retentive.fs.paths import translate_os_error
from retentive.fs.regular_files import require_regular

_PREFIX, _SUFFIX = ".retentive-", ".part"
SQLITE_LOGS = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database file
PRIVATE_MODE = 0o600

_own_paths: set[Path] = set()
"""Temporary paths of this process. Locks on NFS belong to processes, so they do not show its own."""


class Unfinished(NamedTuple):
    """The temporary files and folders in a folder."""

    leftovers: list[Path]
    """Leftovers of processes that were killed."""
    busy: list[Path]
    """Temporary files and folders that are being written."""


def atomic_write(path: Path, data: bytes, mode: int | None = None, *, like: Path | None = None) -> None:
    """Write a file durably, in place of the one that is there. Raises `OSError`; then the old file is unchanged.

    The new file gets the permissions `mode`, or else permissions and owner of the file `like`. By default that is the
    old file, so they stay as they were; a new file is for the owner alone. A link is replaced: resolve it before.
    """
    with open_atomic(path) as file:
        file.write(data)
        if mode is not None:
            Path(file.name).chmod(mode)
        else:
            _copy_permissions(like or path, Path(file.name))


@contextmanager
def open_atomic(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write into, for the owner alone. It replaces `path` when the block ends without an error."""
    remove_leftovers(path.parent)
    part, handle = _make_locked(path.parent, is_folder=False)
    try:
        with part.open("wb") as file:
            yield file
        publish_file(part, path, overwrite=True)
    finally:
        _release(part, handle)


@contextmanager
def temporary_file(folder: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """Yield an empty temporary file or folder, for the owner alone. It is removed at the end unless it was renamed."""
    with reraise_write_errors(folder):
        remove_leftovers(folder)
        path, handle = _make_locked(folder, is_folder=is_folder)
    try:
        yield path
    finally:
        _release(path, handle)


def find_unfinished(folder: Path) -> Unfinished:
    """Sort the temporary files of a folder by their locks. One whose lock cannot be tried counts as busy."""
    found = Unfinished([], [])
    for path in sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}")):
        is_busy = path.resolve() in _own_paths or _is_locked(path)
        (found.busy if is_busy else found.leftovers).append(path)
    return found


def remove_leftovers(folder: Path) -> Unfinished:
    """Remove the leftovers of killed processes from a folder. Returns what was there before."""
    found = find_unfinished(folder)
    for path in found.leftovers:
        with suppress(OSError), _lock(path):
            remove(path)
    return found


@contextmanager
def reraise_write_errors(where: Path) -> Iterator[None]:
    """Turn an `OSError` into a `StorageError`, except for a name that is taken and a reader that has gone."""
    try:
        yield
    except (FileExistsError, BrokenPipeError):
        raise
    except OSError as error:
        hint = "Check the permissions, or give another path."
        raise translate_os_error(error, f"{where} cannot be written", hint) from error


def publish_file(path: Path, name: Path, *, overwrite: bool = False) -> None:
    """Give a finished file its name, durably. `FileExistsError` if it is taken and must not be overwritten."""
    _sync(path)
    if overwrite:
        path.replace(name)
    else:
        _rename_to_free_name(path, name)
    _sync(name.parent)


def require_free_name(name: Path, store: Path | None, *, overwrite: bool) -> None:
    """Refuse a name that is taken, or that of a pipe or a device, which a file would replace."""
    require_regular(name)
    if store is not None and name.exists() and name.samefile(store):
        raise Conflict(f"{name} is the store itself", "Give another name.")
    if used := [end for end in SQLITE_LOGS if Path(f"{name}{end}").exists()]:
        raise Conflict(f"{name}{used[0]} exists, so {name} is a store in use", "Give another name.")
    if not overwrite and (name.exists() or name.is_symlink()):
        raise Conflict(f"{name} exists already", "Give another name, or replace it with `overwrite=True`.")


def remove(path: Path) -> None:
    """Remove a file or folder. The logs of a database go first: after a kill the file still leads to them."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    for end in (*SQLITE_LOGS, ""):
        with suppress(OSError):
            Path(f"{path}{end}").unlink(missing_ok=True)


def _copy_permissions(source: Path, target: Path) -> None:
    """Copy the permissions, and the owner if we may. Without a source the target stays for the owner alone."""
    try:
        status = source.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(target, status.st_uid, status.st_gid)
    target.chmod(stat.S_IMODE(status.st_mode))


def _rename_to_free_name(path: Path, name: Path) -> None:
    try:
        os.link(path, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_MODE))
        path.replace(name)


def _sync(path: Path) -> None:
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make_locked(folder: Path, *, is_folder: bool) -> tuple[Path, int]:
    """Create a temporary file or folder. Return its path and the handle that holds its lock."""
    while True:
        path = folder / f"{_PREFIX}{os.urandom(16).hex()}{_SUFFIX}"
        handle = _make_folder(path) if is_folder else os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_MODE)
        if _try_lock(handle) and path.exists():
            _own_paths.add(path.resolve())
            return path, handle
        os.close(handle)  # another process took it for a leftover before it was locked


def _make_folder(path: Path) -> int:
    path.mkdir(mode=0o700)
    try:
        return _open(path)
    except (FileNotFoundError, PermissionError):  # taken for a leftover, or Windows, which cannot open a folder
        return os.open(os.devnull, os.O_RDONLY)


def _release(path: Path, handle: int) -> None:
    os.close(handle)
    remove(path)
    _own_paths.discard(path.resolve())


def _is_locked(path: Path) -> bool:
    try:
        with _lock(path):
            return False
    except OSError:
        return True


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock of a temporary file. `BlockingIOError` if another process holds it."""
    handle = _open(path)
    try:
        if not _try_lock(handle):
            raise BlockingIOError(f"{path} is being written")
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":

    def _open(path: Path) -> int:
        """Open a file. Windows opens no folders, so nobody holds one, and leftover folders stay."""
        return os.open(path, os.O_RDWR)

    def _try_lock(handle: int) -> bool:  # noqa: ARG001 - Windows removes no open file anyway
        return True
else:
    import fcntl

    def _open(path: Path) -> int:
        return os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
