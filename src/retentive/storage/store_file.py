"""The SQLite file of a store as a whole: examine it, copy it while it is in use, and replace its content.

A copy is read page by page inside one read transaction, so it is consistent whatever others write meanwhile. `VACUUM
INTO` would do it too, but the rows of that state could not be counted for comparison, and it takes longer (35 MB: 84 ms
against 52).

The content of a store is replaced *in place*: one transaction writes all pages. Programs that have it open see a normal
commit, and an interruption leaves the old state. The naive way, another file under the same name, fails: SQLite finds
the WAL by the file's name, and two files would share one.

The file is only ever opened through SQLite: closing a file drops all locks that the process has on it.
"""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from retentive.errors import Corrupt, NotAStore, StorageError
from retentive.storage import PageProgress, RowCounts
from retentive.storage.consistency import check_pages, find_disagreements
from retentive.storage.error_map import translate_errors
from retentive.storage.migrations import Migration, find_missing, load_migrations
from retentive.storage.queries import Queries

APPLICATION_ID = 0x52544E56  # "RTNV", in the file's header: a store of Retentive
BUSY_SECONDS = 30  # a bulk load holds the lock for under a second at a time; after this something hangs
FOLD_SECONDS = 2.0  # for which the WAL of a replaced store waits for readers of the old state

_DIALECT = "sqlite"
_STEP_PAGES = 1000  # copied between two reports of progress: 4 MB, some 10 ms
_ID_OFFSET = 68  # of the application id in the header of a SQLite file
_HEADER_BYTES = 100
_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*'"
_PARTS = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'index')"
_BLOCK_BYTES = 1 << 20


class StoreContent(NamedTuple):
    """The content of a store's file."""

    schema: int
    newest: bool
    """Whether this is the newest schema; otherwise it is older."""
    store_id: str
    rows: RowCounts


class PreviousState(NamedTuple):
    """The facts of a store that must survive the replacement of its content."""

    head: int | None = None
    """The newest change; None: unknown. Indexes that follow the store have seen it, and the last chunk number."""
    chunk: int = 0
    """The last number given to a chunk."""
    revoked: tuple[tuple[str, int], ...] = ()
    """Revoked tokens, each with the time."""
    purged: tuple[tuple[str, str], ...] = ()
    """Namespace and id of what was purged."""


def single_value(connection: apsw.Connection, sql: str) -> Any:
    """The value of a query with one row and one column."""
    rows: list[Any] = connection.execute(sql).fetchall()
    return rows[0][0]


def read_applied(connection: apsw.Connection) -> dict[int, str]:
    """The numbers of the applied migrations, with their hashes."""
    if not single_value(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'"):
        return {}
    rows: list[Any] = connection.execute("SELECT number, hash FROM migrations").fetchall()
    return dict(rows)


def apply_migration(connection: apsw.Connection, migration: Migration) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations"
        " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, applied INTEGER NOT NULL)"
    )
    connection.execute(migration.sql)
    connection.execute(
        "INSERT INTO migrations VALUES (?, ?, ?, ?)",
        (migration.number, migration.name, migration.hash, time.time_ns() // 1000),
    )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {migration.number}")


def find_missing_parts(connection: apsw.Connection) -> list[str]:
    """Tables and indexes of the schema that a file does not have."""
    with closing(apsw.Connection(":memory:")) as whole:
        for migration in load_migrations(_DIALECT):
            apply_migration(whole, migration)
        wanted = {str(name) for (name,) in whole.execute(_PARTS).fetchall()}
    return sorted(wanted - {str(name) for (name,) in connection.execute(_PARTS).fetchall()})


def copy_store(
    source: apsw.Connection, target: Path, progress: PageProgress, *, counting: bool = True
) -> dict[str, int]:
    """Copy into an empty file, without a WAL beside it; return the number of rows, if `counting`."""
    with closing(apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)) as new:
        source.execute("BEGIN")
        try:
            single_value(source, "SELECT count(*) FROM sqlite_schema")
            rows = _count_rows(source) if counting else {}
            with new.backup("main", source, "main") as work:
                _copy_pages(work, progress)
        finally:
            source.execute("ROLLBACK")
        new.execute("PRAGMA journal_mode = DELETE").fetchall()
    return rows


def examine(path: Path) -> StoreContent:
    """Check a file and return what it contains. Changes nothing, and leaves no file beside it.

    Raises `NotAStore`, `NewerSchema`, and `Corrupt` if a page is damaged, the full text does not match its rows, or
    tables disagree.
    """
    with translate_errors(str(path)), open_for_reading(path) as connection:
        _require_own(connection, path)
        known, done = load_migrations(_DIALECT), read_applied(connection)
        left = find_missing(known, done, str(path))
        _require_sound(connection, path, is_current=not left)
        if not done:
            raise Corrupt(f"{path} has no tables", "Choose another one; this one was not changed.")
        return StoreContent(max(done), not left, _read_id(connection), _count_rows(connection))


def read_store_id(path: Path) -> str:
    """The id of the store in a file, which copies share; empty if it cannot be read."""
    try:
        with translate_errors(str(path)), open_for_reading(path) as connection:
            _require_own(connection, path)
            return _read_id(connection)
    except StorageError:
        return ""


def is_sealed(path: Path) -> bool:
    """Whether integrity mode was on when the file was copied."""
    with translate_errors(str(path)), open_for_reading(path) as connection:
        return bool(_run_query(connection, "meta_get", key="integrity"))


@contextmanager
def open_for_reading(path: Path) -> Iterator[apsw.Connection]:
    """Open a file for reading. If it has no WAL, nobody has it open, and reading does not create one."""
    path = path.resolve()  # the WAL is beside the file, not beside a link to it
    is_unused = not any(Path(f"{path}{end}").exists() for end in ("-wal", "-journal"))
    address = f"{path.as_uri()}?mode=ro{'&immutable=1' if is_unused else ''}"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with closing(apsw.Connection(address, flags=flags)) as connection:
        connection.set_busy_timeout(BUSY_SECONDS * 1000)
        # Without it SQLite reads a cell that lies outside its page as a row of whatever bytes are there.
        connection.execute("PRAGMA cell_size_check = ON")
        yield connection


class StoreReplacement:
    """A store whose content is about to be replaced. Other writers wait."""

    def __init__(self, work: apsw.Backup, path: Path, *, is_damaged: bool) -> None:
        self._work, self._path, self._is_damaged = work, path, is_damaged

    def keep(self, target: Path, progress: PageProgress) -> None:
        """Copy the present content into an empty file; of a damaged store, its bytes and those of its WAL."""
        with translate_errors(str(self._path)):
            if not self._is_damaged:
                with open_for_reading(self._path) as connection:
                    copy_store(connection, target, progress, counting=False)
                return
            for end in ("", "-wal"):
                if Path(f"{self._path}{end}").exists():
                    _copy_bytes(Path(f"{self._path}{end}"), Path(f"{target}{end}"))

    def past(self) -> PreviousState:
        """The facts that must survive; none if the store is damaged."""
        with translate_errors(str(self._path)):
            return PreviousState() if self._is_damaged else _read_past(self._path)

    def finish(self, progress: PageProgress) -> None:
        with translate_errors(str(self._path)):
            _copy_pages(self._work, progress)


@contextmanager
def open_replacement(path: Path, source: Path) -> Iterator[StoreReplacement]:
    """Lock a store to replace its content by that of `source`, which must not be empty.

    Nothing changes before `finish`. Until then `source` may still be written to.
    """
    with closing(_open(path)) as store, closing(_open(source)) as new:
        with translate_errors(str(path)):
            is_damaged = _is_damaged(store, path)
            if is_damaged:
                store.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)  # treat it as empty
            else:
                store.execute("PRAGMA journal_mode = WAL").fetchall()  # it can be read while it is locked
            store.execute("PRAGMA synchronous = FULL")
            _set_page_size(new, single_value(store, "PRAGMA page_size"))
        with store.backup("main", new, "main") as work:
            with translate_errors(str(path)):
                work.step(0)  # takes the lock
            yield StoreReplacement(work, path, is_damaged=is_damaged)
        with suppress(apsw.Error):  # all is committed; the WAL may be folded in later
            store.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
            store.set_busy_timeout(int(FOLD_SECONDS * 1000))
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _set_page_size(connection: apsw.Connection, size: int) -> None:
    """Give a file pages of this size: those of a store with a WAL cannot change."""
    if single_value(connection, "PRAGMA page_size") != size:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute(f"PRAGMA page_size = {int(size)}; VACUUM")


def require_replaceable(path: Path) -> None:
    """Refuse a file that is not a store, or one of a newer program. A damaged store may be replaced."""
    with translate_errors(str(path)), open_for_reading(path) as connection:
        _is_damaged(connection, path)


def _open(path: Path) -> apsw.Connection:
    """Closing the connection does not fold the WAL in: of a damaged store, it may be all that is left."""
    with translate_errors(str(path)):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_SECONDS * 1000)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return connection


def _is_damaged(connection: apsw.Connection, path: Path) -> bool:
    """Whether SQLite cannot read a store. Refuses a file that was never a store, and one of a newer program."""
    try:
        if single_value(connection, "SELECT count(*) FROM sqlite_schema"):
            _require_own(connection, path)
            find_missing(load_migrations(_DIALECT), read_applied(connection), str(path))
            _read_past(path)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, Corrupt):
        if _application_id(path) != APPLICATION_ID:
            hint = "If it was a store, move it and the files beside it away, then restore again."
            raise NotAStore(f"{path} is not a store, or its beginning is lost", hint) from None
        return True
    return False


def _require_own(connection: apsw.Connection, path: Path) -> None:
    if single_value(connection, "PRAGMA application_id") != APPLICATION_ID:
        raise NotAStore(f"{path} is not a Retentive store", "Give a file made by `backup()`.")


def _read_id(connection: apsw.Connection) -> str:
    return str(_run_query(connection, "meta_get", key="store_id")[0][0])


def _require_sound(connection: apsw.Connection, path: Path, *, is_current: bool) -> None:
    """Refuse a damaged file. `is_current`: it has the newest schema, so that this program's queries fit."""
    rows: list[Any] = connection.execute("PRAGMA integrity_check(5)").fetchall()
    found = [check_pages([row[0] for row in rows])]
    if is_current:
        found += find_disagreements(lambda query: _run_query(connection, query))
    for each in found:
        if not each.ok:
            raise Corrupt(f"{path}: {each.name}: {each.detail}", "Choose another one; this one was not changed.")


def _read_past(path: Path) -> PreviousState:
    """Read on a separate connection: the one that holds the lock must not be used."""
    with open_for_reading(path) as connection:
        tables = {name for (name,) in connection.execute(_TABLES).fetchall()}
        if "changes" not in tables:
            return PreviousState()
        revoked = _run_query(connection, "token_list_revoked") if "tokens" in tables else []
        purged = _run_query(connection, "purge_list") if "purges" in tables else []
        head, chunk = (_run_query(connection, query)[0][0] for query in ("change_head", "chunk_last"))
        return PreviousState(head, chunk, tuple(revoked), tuple(purged))


def _run_query(connection: apsw.Connection, query: str, **values: Any) -> list[Any]:
    return connection.execute(_queries().sql(query), values).fetchall()


@cache
def _queries() -> Queries:
    return Queries(_DIALECT, "")


def _count_rows(connection: apsw.Connection) -> dict[str, int]:
    names = [str(name) for (name,) in connection.execute(_TABLES).fetchall()]
    quoted = {name: name.replace('"', '""') for name in names}
    return {name: single_value(connection, f'SELECT count(*) FROM "{each}"') for name, each in quoted.items()}


def _copy_pages(work: apsw.Backup, progress: PageProgress) -> None:
    while not work.done:
        work.step(_STEP_PAGES)
        progress(work.page_count - work.remaining, work.page_count)


def _application_id(path: Path) -> int:
    """Read the application id from the bytes of a file that SQLite cannot read."""
    head = _read(path, _HEADER_BYTES, 0)
    return int.from_bytes(head[_ID_OFFSET : _ID_OFFSET + 4], "big")


def _copy_bytes(source: Path, target: Path) -> None:
    with target.open("wb") as file:
        target.chmod(0o600)
        at = 0
        while block := _read(source, _BLOCK_BYTES, at):
            file.write(block)
            at += len(block)


def _read(path: Path, size: int, at: int) -> bytes:
    """Read bytes through SQLite, which leaves the locks on the file alone."""
    flags = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0]
    file = apsw.VFSFile("", str(path), flags)
    try:
        length = file.xFileSize()
        return b"" if at >= length else file.xRead(min(size, length - at), at)
    finally:
        file.xClose()
