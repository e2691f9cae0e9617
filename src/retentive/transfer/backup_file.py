"""Backs a store up into a file, verifies such files, and removes the oldest ones of a folder.

A backup is checked before it gets its name. Only files with a name of ours that are copies of this very store are ever
removed.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from retentive import clock
from retentive.errors import Conflict, Corrupt, Invalid, NotFound
from retentive.fs.atomic import publish_file, require_free_name, reraise_write_errors, temporary_file
from retentive.fs.regular_files import require_regular
from retentive.model import Backup, from_micros
from retentive.storage import Engine
from retentive.storage.store_file import StoreContent, examine, read_store_id

Progress = Callable[[str, int, int], None]

BACKUP_NAME = re.compile(r"retentive-\d{8}-\d{6}\.db")
MAX_NAME_ATTEMPTS = 60  # a name has the second, so each attempt waits for the next


def create_backup(
    engine: Engine, target: Path, *, store: Path | None, keep: int | None, overwrite: bool, progress: Progress
) -> Backup:
    """`target` is a file, or a folder in which the file is named by the time. `store` is the file of the store."""
    if target.is_dir():
        folder = target
    elif keep is not None:
        raise Invalid(f"{target} is not a folder; older backups are removed only in a folder", "Create the folder.")
    else:
        require_free_name(target, store, overwrite=overwrite)
        folder = target.parent
    if not folder.is_dir():
        raise Invalid(f"the folder {folder} does not exist", f"Create it: mkdir -p '{folder}'")
    with temporary_file(folder) as path:
        content = _copy_store(engine, path, progress)
        with reraise_write_errors(folder):
            if folder == target:
                name = publish_dated(path, lambda when: folder / f"retentive-{when}.db")
            else:
                name = _publish_named(path, target, overwrite=overwrite)
    backup = _describe_backup(name, content)
    return backup if keep is None else _remove_oldest(backup, folder, keep)


def verify_backup(path: Path, progress: Progress) -> Backup:
    """Read all of a backup. `Corrupt` if it is damaged."""
    require_regular(path)
    if not path.is_file():
        raise NotFound(f"there is no file {path}", "Give a file that `backup()` made.")
    progress("checking", 0, 1)
    content = examine(path)
    progress("checking", 1, 1)
    return _describe_backup(path, content)


def _describe_backup(path: Path, content: StoreContent) -> Backup:
    namespaces, memories, sessions, events = (
        content.rows.get(table, 0) for table in ("namespaces", "memories", "sessions", "events")
    )
    size = path.stat().st_size
    return Backup(path, size, content.schema, content.store_id, namespaces, memories, sessions, events)


def publish_dated(path: Path, make_name: Callable[[str], Path]) -> Path:
    """Give a finished file a name by the time. If the name of this second is taken, wait for the next one."""
    for _ in range(MAX_NAME_ATTEMPTS):
        name = make_name(f"{from_micros(clock.now()):%Y%m%d-%H%M%S}")
        try:
            publish_file(path, name)
        except FileExistsError:
            time.sleep(1)
        else:
            return name
    raise Conflict(f"no file name is free in {path.parent}", "Give the name of a file.")


def _publish_named(path: Path, target: Path, *, overwrite: bool) -> Path:
    try:
        publish_file(path, target, overwrite=overwrite)
    except FileExistsError:
        raise Conflict(f"{target} was created by another process meanwhile", "Give another name.") from None
    return target


def _copy_store(engine: Engine, path: Path, progress: Progress) -> StoreContent:
    """Copy the store into a file, and check the copy."""
    rows = engine.backup(path, lambda done, of: progress("copying", done, of))
    progress("checking", 0, 1)
    content = examine(path)
    if content.rows != rows:
        raise Corrupt("the copy has fewer or more rows than the store", "Run `doctor()`, and try again.")
    progress("checking", 1, 1)
    return content


def _remove_oldest(backup: Backup, folder: Path, keep: int) -> Backup:
    """Keep the newest backups of the store. The one just made always stays, whatever the clock says."""
    others = [path for path in _find_backups(backup.store_id, folder) if path != backup.path]
    others.sort(reverse=True)
    removed = tuple(others[keep - 1 :])
    for path in removed:
        with reraise_write_errors(path):
            path.unlink(missing_ok=True)
    return replace(backup, removed=removed)


def _find_backups(store_id: str, folder: Path) -> Iterator[Path]:
    """The backups of this store in a folder. A file that cannot be read is none."""
    for path in folder.iterdir():
        is_named_so = BACKUP_NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink()
        if is_named_so and read_store_id(path) == store_id:
            yield path
