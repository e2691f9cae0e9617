"""Copies of the whole store, a store put back from one, and the room that deleted rows leave."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from retentive import config
from retentive.errors import Busy, DiskFull, Invalid
from retentive.fs.folders import make_data_folder
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import require_regular
from retentive.model import Backup, Compacted, Restored
from retentive.store import OpenStore, validate
from retentive.transfer import backup_file as copying
from retentive.transfer import restore_backup as restoring
from retentive.transfer.leftover_files import note_copy

Progress = Callable[[str, int, int], None]

PATIENCE = 5.0  # seconds that those who read an older state are waited for


def backup(
    store: OpenStore, target: str | Path, *, keep: int | None, overwrite: bool, progress: Progress | None
) -> Backup:
    path = _path(target)
    most = None if keep is None else validate.limit_of(keep, "keep")
    if not path.is_dir():
        require_regular(path)  # before anything is noted
    with note_copy(store, path if path.is_dir() else path.parent):
        return copying.create(
            store.engine, path, store=store_file(store), keep=most, overwrite=overwrite, progress=progress or _quiet
        )


def verify(file: str | Path, progress: Progress | None) -> Backup:
    return copying.verify(_path(file), progress or _quiet)


def restore(
    file: str | Path,
    target: str | Path | None,
    settings: Mapping[str, Any],
    *,
    dry_run: bool,
    progress: Progress | None,
) -> Restored:
    given = config.load(db=None if target is None else str(target), **settings)
    where, key = given.db, given.integrity_key
    if where == ":memory:":
        raise Invalid("a store in memory cannot be restored", "Open the backup itself, or a copy of it.")
    if "://" in where:
        hint = "Move it into an empty one: `retentive migrate FILE SERVER`."
        raise Invalid("a server has its own backups; a file is not restored into it", hint)
    if where == config.default_db() and not dry_run:
        make_data_folder(config.data_folder())
    return restoring.restore(
        _path(file),
        _path(where),
        dry_run=dry_run,
        progress=progress or _quiet,
        integrity_key=_path(key) if key else None,
    )


def compact(store: OpenStore, progress: Progress | None) -> Compacted:
    if store.config.restrict_to:
        raise Invalid("compacting is about the whole store, and `restrict_to` lets only a part through", "Unset it.")
    tell, before = progress or _quiet, _size(store)
    _has_room(store, before)
    tell("compacting", 0, 1)
    done = store.engine.scrub(PATIENCE, reclaim=True)
    if not done.done:
        hint = "Nothing is lost; retry when what reads it (a long export, a debugger) has ended."
        raise Busy("another process reads an older state of the store, which must stay while it does", hint)
    tell("compacting", 1, 1)
    return Compacted(before, _size(store), done.detail)


def _has_room(store: OpenStore, size: int) -> None:
    """It is written anew, beside itself and into its log, before the old pages are let go."""
    file = store_file(store)
    if file and (free := shutil.disk_usage(file.parent).free) < 2 * size:
        hint = f"Free some space: twice the store's {size} bytes are needed while it works. Nothing was changed."
        raise DiskFull(f"{file.parent} has {free} bytes left", hint)


def _size(store: OpenStore) -> int:
    facts = store.engine.facts()
    return int(facts["bytes"]) + int(facts.get("wal_bytes", 0))


def store_file(store: OpenStore) -> Path | None:
    """The file of the store; None if it is in memory or on a server."""
    facts = store.engine.facts()
    return Path(facts["path"]) if facts["engine"] == "sqlite" and facts["path"] != ":memory:" else None


def _path(given: str | Path) -> Path:
    path = parse_path(given).absolute()
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise Invalid(
            f"{str(path)[:200]!r} is not UTF-8, and SQLite opens no such file", "Give another name."
        ) from error
    return path


def _quiet(_: str, __: int, ___: int) -> None: ...
