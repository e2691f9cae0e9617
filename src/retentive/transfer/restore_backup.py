"""Restores a backup into the place of a store, also while others have the store open.

1. The backup is verified and copied beside the store. The copy is migrated to the current schema and checked.
2. From here on nobody else can write to the store. Its old content is kept as a file.
3. The copy continues the numbers of the store: indexes that followed the store load again, and chunks get numbers that
   were never used. Revoked tokens stay revoked.
4. The store becomes the copy, in one transaction. Until its commit nothing has changed.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from retentive.errors import Conflict, Corrupt, Invalid, NotFound
from retentive.fs.atomic import publish_file, reraise_write_errors, temporary_file
from retentive.fs.regular_files import require_regular
from retentive.model import RestoreResult
from retentive.storage import Engine, Step
from retentive.storage.engines.sqlite import SqliteEngine
from retentive.storage.error_map import translate_errors
from retentive.storage.store_file import (
    PreviousState,
    StoreReplacement,
    copy_store,
    is_sealed,
    open_for_reading,
    open_replacement,
    read_store_id,
    require_replaceable,
)
from retentive.storage.tables import store_copies
from retentive.storage.tables.store_copies import LastNumbers
from retentive.transfer.backup_file import Progress, publish_dated, verify_backup

CHANGE_GAP = 1 << 30  # far more changes than a store whose change log is unreadable can have had


def restore_backup(
    file: Path, store: Path, *, dry_run: bool, progress: Progress, integrity_key: Path | None = None
) -> RestoreResult:
    store = store.resolve()
    require_regular(store)
    if store.exists() and file.exists() and file.samefile(store):
        raise Invalid(f"{file} is the store itself", "Give a backup of it.")
    if not store.parent.is_dir():
        raise NotFound(f"the folder {store.parent} does not exist", f"Create it: mkdir -p '{store.parent}'")
    backup = verify_backup(file, progress)
    store_exists = store.exists()
    if store_exists:
        require_replaceable(store)
    else:
        _refuse_stray_logs(store)
    is_same_store = read_store_id(store) in (backup.store_id, "")
    if dry_run:
        return RestoreResult(store, backup, None, is_same_store, (), done=False)
    key = integrity_key if is_sealed(file) else None
    kept: Path | None = None
    returned: tuple[str, ...] = ()
    with temporary_file(store.parent) as fresh:
        _prepare_copy(file, fresh, progress, key)
        if store_exists or not _publish_new_store(fresh, store):
            kept, returned = _replace_store(store, fresh, progress, key)
    if key:
        _accept_as_newest(store, key)
    return RestoreResult(store, backup, kept, is_same_store, returned, done=True)


def _accept_as_newest(store: Path, key: Path) -> None:
    """Have integrity mode accept the restored store, though it is older than the last write that it knows."""
    with closing(SqliteEngine(str(store), integrity_key=key)) as engine:
        if engine.integrity:
            engine.integrity.accept(lambda _: None)


def _refuse_stray_logs(store: Path) -> None:
    """Refuse a log file without its store: SQLite would take it for the log of the new one."""
    for log in (Path(f"{store}-wal"), Path(f"{store}-journal")):
        if log.exists():
            raise Conflict(f"{log} exists without its store", "Move it away: it may hold the lost data.")


def _prepare_copy(file: Path, fresh: Path, progress: Progress, key: Path | None) -> None:
    """Copy the backup, migrate the copy to the current schema, and check it."""
    with translate_errors(str(file)), open_for_reading(file) as connection:
        copy_store(connection, fresh, lambda done, of: progress("copying", done, of))
    with closing(SqliteEngine(str(fresh), integrity_key=key)) as engine:
        progress("checking", 0, 1)
        for finding in engine.check():
            if not finding.ok:
                raise Corrupt(f"{file}: {finding.name}: {finding.detail}", "Choose another one; nothing was changed.")
        engine.apply([store_copies.clear_leases_step()])
        progress("checking", 1, 1)


def _publish_new_store(fresh: Path, store: Path) -> bool:
    """Give the copy the name of the store. False if another process has made a store there."""
    try:
        with reraise_write_errors(store.parent):
            publish_file(fresh, store)
    except FileExistsError:
        return False
    return True


def _replace_store(store: Path, fresh: Path, progress: Progress, key: Path | None) -> tuple[Path, tuple[str, ...]]:
    """Replace the content of the store. Returns the file with the old content, and the purged ids that are back."""
    with open_replacement(store, fresh) as work:
        kept = keep_old_store(work, store, "before-restore", progress)
        returned = continue_store(fresh, work.past(), key)
        work.finish(lambda done, of: progress("restoring", done, of))
    return kept, returned


def keep_old_store(work: StoreReplacement, store: Path, label: str, progress: Progress) -> Path:
    """Keep the content of a store as a file beside it, named by the reason and the time."""
    with temporary_file(store.parent) as path:
        work.keep(path, lambda done, of: progress("saving the present store", done, of))
        with reraise_write_errors(store.parent):
            name = publish_dated(path, lambda when: store.with_name(f"{store.name}.{label}-{when}"))
            log = Path(f"{path}-wal")
            if log.exists():
                log.replace(f"{name}-wal")
    return name


def continue_store(fresh: Path, past: PreviousState, key: Path | None) -> tuple[str, ...]:
    """Fit a new store to those who followed the old one. Returns the ids that were purged there and are back here."""
    with closing(SqliteEngine(str(fresh), integrity_key=key)) as engine:
        purged_here = store_copies.list_purged(engine)
        engine.apply(_continue_steps(engine, past))
        purged_later = [each for each in past.purged if each not in purged_here]
        return tuple(id for namespace, id in purged_later if store_copies.is_stored(engine, namespace, id))


def _continue_steps(engine: Engine, past: PreviousState) -> Iterator[Step]:
    change, chunk = store_copies.read_last_numbers(engine)
    change = change + CHANGE_GAP if past.head is None else max(change, past.head) + 1
    yield from store_copies.continue_numbers_steps(LastNumbers(change, max(chunk, past.chunk)))
    yield store_copies.revoke_tokens_step(past.revoked)
