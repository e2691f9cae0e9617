"""Rebuilds a store with damaged pages from the rows that can still be read, also while others have it open.

1. From here on nobody else can write: writers wait, readers go on. The damaged file is kept.
2. A new store beside it is filled with every readable row (`storage/salvage.py`).
3. The new store continues the numbers of the old one, as a restored backup does (`restore_backup.py`).
4. The store becomes the new one, in one transaction. Until its commit nothing has changed.
"""

import shutil
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from retentive import clock
from retentive.errors import Corrupt
from retentive.fs.atomic import reraise_write_errors, temporary_file
from retentive.storage.columns import TABLES
from retentive.storage.consistency import find_page_damage
from retentive.storage.engines.sqlite import SqliteEngine
from retentive.storage.error_map import translate_errors
from retentive.storage.salvage import Salvage, begin_store, fill_store
from retentive.storage.store_file import find_missing_parts, open_for_reading, open_replacement
from retentive.storage.tables import quarantine
from retentive.transfer.backup_file import Progress
from retentive.transfer.restore_backup import continue_store, keep_old_store

KEPT_LABEL = "before-repair"
_TABLES_SQL = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')"
NO_PLACE = "another row has its id, or it is not complete"


class Salvaged(NamedTuple):
    """The result of a rebuild."""

    kept: Path
    """The file with the damaged store."""
    rows: Mapping[str, int]
    """How many rows of each table were read."""
    unreadable: Mapping[str, int]
    """How many pages of each table could not be read in full."""


def is_damaged(store: Path) -> bool:
    """Whether a page of the file is damaged, an index does not match its table, or a table or index is missing."""
    try:
        with translate_errors(str(store)), open_for_reading(store) as connection:
            return bool(_find_damage(connection) or find_missing_parts(connection))
    except Corrupt:
        return True


def _find_damage(connection: apsw.Connection) -> list[str]:
    """The damage that SQLite reports. Its check of the whole file fails if only the full-text index is damaged."""
    try:
        return _check_integrity(connection, "100")
    except apsw.CorruptError:
        tables = [str(name) for (name,) in connection.execute(_TABLES_SQL).fetchall()]
        return [each for name in tables for each in _check_integrity(connection, name)]


def _check_integrity(connection: apsw.Connection, what: str) -> list[str]:
    rows: list[Any] = connection.execute(f"PRAGMA integrity_check({what})").fetchall()
    return find_page_damage([text for (text,) in rows])


def salvage(store: Path, progress: Progress, key: Path | None = None) -> Salvaged:
    """Rebuild the store. `key` is the key of integrity mode, if that is on: log entries move with their rows."""
    store = store.resolve()
    with translate_errors(str(store)), reraise_write_errors(store.parent), temporary_file(store.parent) as fresh:
        begin_store(fresh)
        with open_replacement(store, fresh) as work:
            kept = keep_old_store(work, store, KEPT_LABEL, progress)
            progress("salvaging", 0, 1)
            with temporary_file(store.parent) as copy:
                found = fill_store(fresh, _merge_log(kept, copy))
            progress("salvaging", 1, 1)
            _quarantine_left(fresh, found, key)
            continue_store(fresh, work.past(), key)
            work.finish(lambda done, of: progress("writing", done, of))
    return Salvaged(kept, dict(found.rows), {name: count for name, count in found.unreadable.items() if count})


def _merge_log(kept: Path, copy: Path) -> Path:
    """The old store as one file. A log beside it is merged into a copy, so that the kept file stays."""
    log = Path(f"{kept}-wal")
    if not log.exists():
        return kept
    shutil.copyfile(kept, copy)
    shutil.copyfile(log, f"{copy}-wal")
    with suppress(apsw.Error), closing(apsw.Connection(str(copy))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return copy


def _quarantine_left(fresh: Path, found: Salvage, key: Path | None) -> None:
    """Move the rows that fit in no table to the quarantine."""
    with closing(SqliteEngine(str(fresh), integrity_key=key)) as engine:
        now = clock.now()
        rows = [(name, values) for name, values in found.left if name in TABLES]
        engine.apply([quarantine.insert_step(name, values, NO_PLACE, now) for name, values in rows])
