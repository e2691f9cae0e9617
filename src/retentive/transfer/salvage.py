"""A store with damaged pages, written anew from what can be read, whoever has it open.

1. Nobody else writes from here on; they wait. Who reads goes on. What is there is kept as a file.
2. A new store beside it is filled with every row that can be read (`storage/salvage.py`).
3. It is made fit for those who followed the old one, as a backup is (`restore.py`).
4. The store becomes the new one, in one transaction. Until its commit, all is as it was.
"""

import shutil
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from retentive import clock
from retentive.errors import Corrupt
from retentive.fs.atomic import passing, writable
from retentive.storage.columns import TABLES
from retentive.storage.consistency import find_page_damage
from retentive.storage.engines.sqlite import SqliteEngine
from retentive.storage.error_map import translated
from retentive.storage.salvage import Salvage, begin_store, fill_store
from retentive.storage.store_file import find_missing_parts, reading, replacing
from retentive.storage.tables import quarantine
from retentive.transfer.backup_file import Progress
from retentive.transfer.restore_backup import continue_store, keep_old

LABEL = "before-repair"
_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')"
REFUSED = "another row has its place, or it is not complete"


class Salvaged(NamedTuple):
    kept: Path
    """The file as it was."""
    rows: Mapping[str, int]
    """By table, how many were read."""
    unreadable: Mapping[str, int]
    """By table, how many pages were not, or not in full."""


def is_damaged(store: Path) -> bool:
    """Whether a page of the file is damaged, an index does not match its table, or a table or index is missing."""
    try:
        with translated(str(store)), reading(store) as connection:
            return bool(_find_damage(connection) or find_missing_parts(connection))
    except Corrupt:
        return True


def _find_damage(connection: apsw.Connection) -> list[str]:
    """What SQLite says of the pages. It fails for all of the file if only the full text does not match its index."""
    try:
        return _check_integrity(connection, "100")
    except apsw.CorruptError:
        tables = [str(name) for (name,) in connection.execute(_TABLES).fetchall()]
        return [each for name in tables for each in _check_integrity(connection, name)]


def _check_integrity(connection: apsw.Connection, what: str) -> list[str]:
    rows: list[Any] = connection.execute(f"PRAGMA integrity_check({what})").fetchall()
    return find_page_damage([row[0] for row in rows])


def salvage(store: Path, progress: Progress, key: Path | None = None) -> Salvaged:
    """`key` is that of integrity mode, if it is on: entries of the log move with their rows."""
    store = store.resolve()
    with translated(str(store)), writable(store.parent), passing(store.parent) as fresh:
        begin_store(fresh)
        with replacing(store, fresh) as work:
            kept = keep_old(work, store, LABEL, progress)
            progress("salvaging", 0, 1)
            with passing(store.parent) as copy:
                found = fill_store(fresh, _merge_log(kept, copy))
            progress("salvaging", 1, 1)
            _keep_left(fresh, found, key)
            continue_store(fresh, work.past(), key)
            work.finish(lambda done, of: progress("writing", done, of))
    return Salvaged(kept, dict(found.rows), {name: count for name, count in found.unreadable.items() if count})


def _merge_log(kept: Path, copy: Path) -> Path:
    """The old store as one file. A log that was kept beside it is merged in a copy, so that what was kept stays."""
    log = Path(f"{kept}-wal")
    if not log.exists():
        return kept
    shutil.copyfile(kept, copy)
    shutil.copyfile(log, f"{copy}-wal")
    with suppress(apsw.Error), closing(apsw.Connection(str(copy))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return copy


def _keep_left(fresh: Path, found: Salvage, key: Path | None) -> None:
    """Rows that fit in no table go to the quarantine."""
    with closing(SqliteEngine(str(fresh), integrity_key=key)) as engine:
        now = clock.now()
        rows = [(name, values) for name, values in found.left if name in TABLES]
        engine.apply([quarantine.insert_step(name, values, REFUSED, now) for name, values in rows])
