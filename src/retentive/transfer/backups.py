"""Backups as callers ask for them: create, verify and restore one; and compact a store."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from retentive import config
from retentive.errors import Busy, DiskFull, Invalid
from retentive.fs.folders import make_data_folder
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import require_regular
from retentive.model import Backup, CompactResult, RestoreResult
from retentive.store import OpenStore, validate
from retentive.transfer.backup_file import create_backup, verify_backup
from retentive.transfer.leftover_files import noted_while_writing
from retentive.transfer.restore_backup import restore_backup

Progress = Callable[[str, int, int], None]

COMPACT_WAIT_SECONDS = 5.0  # for processes that read an older state


def backup(
    store: OpenStore, target: str | Path, *, keep: int | None, overwrite: bool, progress: Progress | None
) -> Backup:
    path = _parse_store_path(target)
    max_backups = None if keep is None else validate.positive_int(keep, "keep")
    if not path.is_dir():
        require_regular(path)  # before the store notes the copy
    with noted_while_writing(store, path if path.is_dir() else path.parent):
        return create_backup(
            store.engine,
            path,
            store=store_file(store),
            keep=max_backups,
            overwrite=overwrite,
            progress=progress or _ignore_progress,
        )


def verify(file: str | Path, progress: Progress | None) -> Backup:
    return verify_backup(_parse_store_path(file), progress or _ignore_progress)


def restore(
    file: str | Path,
    target: str | Path | None,
    settings: Mapping[str, Any],
    *,
    dry_run: bool,
    progress: Progress | None,
) -> RestoreResult:
    given = config.load(db=None if target is None else str(target), **settings)
    where, key = given.db, given.integrity_key
    if where == ":memory:":
        raise Invalid("a store in memory cannot be restored", "Open the backup itself, or a copy of it.")
    if "://" in where:
        hint = "Move it into an empty one: `Retentive.migrate(FILE, SERVER)`."
        raise Invalid("a server makes its own backups; a file cannot be restored into it", hint)
    if where == config.default_db() and not dry_run:
        make_data_folder(config.data_folder())
    return restore_backup(
        _parse_store_path(file),
        _parse_store_path(where),
        dry_run=dry_run,
        progress=progress or _ignore_progress,
        integrity_key=_parse_store_path(key) if key else None,
    )


def compact(store: OpenStore, progress: Progress | None) -> CompactResult:
    if store.config.restrict_to:
        raise Invalid("compacting works on the whole store, but `restrict_to` allows only a part", "Unset it.")
    report = progress or _ignore_progress
    before = _measure_store(store)
    _require_room(store, before)
    report("compacting", 0, 1)
    scrubbed = store.engine.scrub(COMPACT_WAIT_SECONDS, reclaim=True)
    if not scrubbed.done:
        hint = "Nothing is lost; retry when that process (a long export, a debugger) has finished."
        raise Busy("another process is reading an older state of the store", hint)
    report("compacting", 1, 1)
    return CompactResult(before, _measure_store(store), scrubbed.detail)


def _require_room(store: OpenStore, size: int) -> None:
    """Refuse to compact without room for two copies: one beside the store, one in its log."""
    file = store_file(store)
    if file and (free := shutil.disk_usage(file.parent).free) < 2 * size:
        hint = f"Free some space: twice the store's {size} bytes are needed while it works. Nothing was changed."
        raise DiskFull(f"{file.parent} has {free} bytes left", hint)


def _measure_store(store: OpenStore) -> int:
    """The size of the store in bytes, with its log."""
    facts = store.engine.facts()
    return int(facts["bytes"]) + int(facts.get("wal_bytes", 0))


def store_file(store: OpenStore) -> Path | None:
    """The file of the store; None if it is in memory or on a server."""
    facts = store.engine.facts()
    return Path(facts["path"]) if facts["engine"] == "sqlite" and facts["path"] != ":memory:" else None


def _parse_store_path(given: str | Path) -> Path:
    path = parse_path(given).absolute()
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise Invalid(
            f"{str(path)[:200]!r} is not UTF-8, and SQLite cannot open such a file", "Give another name."
        ) from error
    return path


def _ignore_progress(_: str, __: int, ___: int) -> None: ...
