"""A store into a file, checked before it gets its name; and the newest few of a folder.

Only files that bear a name of ours, are a store, and are copies of this store are ever removed.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from retentive import clock
from retentive.errors import Conflict, Corrupt, Invalid, NotFound
from retentive.fs.atomic import free, passing, place, writable
from retentive.fs.regular_files import require_regular
from retentive.model import Backup, from_micros
from retentive.storage import Engine
from retentive.storage.store_file import Content, examine, identity

Progress = Callable[[str, int, int], None]

OURS = re.compile(r"retentive-\d{8}-\d{6}\.db")
TRIES = 60  # seconds that others may have taken, each with a backup of its own


def create(
    engine: Engine, target: Path, *, store: Path | None, keep: int | None, overwrite: bool, progress: Progress
) -> Backup:
    """`target` is a file, or a folder in which it gets a name by its time. `store` is the file of the store itself."""
    if target.is_dir():
        folder = target
    elif keep is not None:
        raise Invalid(f"{target} is not a folder, and only in a folder older ones are removed", "Make the folder.")
    else:
        free(target, store, overwrite=overwrite)
        folder = target.parent
    if not folder.is_dir():
        raise Invalid(f"the folder {folder} does not exist", f"Create it: mkdir -p '{folder}'")
    with passing(folder) as path:
        made = _filled(engine, path, progress)
        with writable(folder):
            name = _given(path, target, overwrite=overwrite) if folder != target else dated(path, _in(folder))
    backup = described(name, made)
    return backup if keep is None else _rotated(backup, folder, keep)


def verify(path: Path, progress: Progress) -> Backup:
    require_regular(path)
    if not path.is_file():
        raise NotFound(f"there is no file {path}", "Give a file that `retentive backup create` made.")
    progress("checking", 0, 1)
    content = examine(path)
    progress("checking", 1, 1)
    return described(path, content)


def described(path: Path, content: Content) -> Backup:
    namespaces, memories, sessions, events = (
        content.rows.get(table, 0) for table in ("namespaces", "memories", "sessions", "events")
    )
    size = path.stat().st_size
    return Backup(path, size, content.schema, content.store_id, namespaces, memories, sessions, events)


def dated(path: Path, name: Callable[[str], Path]) -> Path:
    """Give a finished file a name by its time. A second that has one already is left to it."""
    for _ in range(TRIES):
        found = name(f"{from_micros(clock.now()):%Y%m%d-%H%M%S}")
        try:
            place(path, found)
        except FileExistsError:
            time.sleep(1)
        else:
            return found
    raise Conflict(f"no name is free in {path.parent}", "Give the name of a file.")


def _filled(engine: Engine, path: Path, progress: Progress) -> Content:
    rows = engine.backup(path, lambda done, of: progress("copying", done, of))
    progress("checking", 0, 1)
    content = examine(path)
    if content.rows != rows:
        raise Corrupt("the copy has not as many rows as the store had", "Run `retentive doctor`, and try again.")
    progress("checking", 1, 1)
    return content


def _given(path: Path, target: Path, *, overwrite: bool) -> Path:
    try:
        place(path, target, overwrite=overwrite)
    except FileExistsError:
        raise Conflict(f"{target} was made by somebody else meanwhile", "Give another name.") from None
    return target


def _in(folder: Path) -> Callable[[str], Path]:
    return lambda when: folder / f"retentive-{when}.db"


def _rotated(backup: Backup, folder: Path, keep: int) -> Backup:
    """The one just made is among those that stay, whatever the clock says."""
    others = sorted((path for path in _copies(backup.store_id, folder) if path != backup.path), reverse=True)
    gone = tuple(others[keep - 1 :])
    for path in gone:
        with writable(path):
            path.unlink(missing_ok=True)
    return replace(backup, removed=gone)


def _copies(store_id: str, folder: Path) -> Iterator[Path]:
    """What cannot be read is not ours to judge."""
    for path in folder.iterdir():
        if OURS.fullmatch(path.name) and path.is_file() and not path.is_symlink() and identity(path) == store_id:
            yield path
