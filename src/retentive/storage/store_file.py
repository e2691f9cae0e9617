"""A store's file as a whole: what it says of itself, how it is copied while it is in use, and how it becomes another.

A copy is read page by page from one state (a transaction that reads, held to the end), so it is consistent whatever
others write meanwhile. `VACUUM INTO` would do it too, but the rows of that state could not be counted for comparison,
and it takes longer (35 MB: 84 ms against 52).

A store becomes another *in its place*: all pages are written by one transaction. Those who have it open see that as any
commit, and whatever stops it leaves the old state. The naive way, another file under the name, pulls it away from under
them: SQLite finds the log by the file's name, and two files would share one.

The file is never opened here but by SQLite. Closing a file drops all locks that the process has on it.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from retentive.errors import Corrupt, NotAStore, StorageError
from retentive.storage import Pages
from retentive.storage.consistency import disagreements, whole
from retentive.storage.error_map import translated
from retentive.storage.migrations import Migration, migrations, missing
from retentive.storage.queries import Queries

APPLICATION_ID = 0x52544E56  # "RTNV": says in the file's header whose it is
BUSY_SECONDS = 30  # a bulk load holds the lock for under a second at a time; past this something hangs
FOLD_SECONDS = 2.0  # how long the log of a store that was replaced waits for those who still read the old state

_DIALECT = "sqlite"
_STEP = 1000  # pages copied between two words about it: 4 MB, some 10 ms
_ID_AT = 68  # where a file of SQLite's has the application's number
_HEADER = 100
_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*'"
_PARTS = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'index')"
_BLOCK = 1 << 20


class Content(NamedTuple):
    """What is in a store's file."""

    schema: int
    newest: bool
    """Whether that is the schema of this program; otherwise it is older."""
    store_id: str
    rows: Mapping[str, int]
    """By table."""


class Past(NamedTuple):
    """What must be known of a store after it became another."""

    head: int | None = None
    """The newest change, and the last number given to a chunk: those who follow it have seen them. None: unknown."""
    chunk: int = 0
    revoked: tuple[tuple[str, int], ...] = ()
    """Tokens, and when they were."""
    purged: tuple[tuple[str, str], ...] = ()
    """Namespaces and ids."""


def only(connection: apsw.Connection, sql: str) -> Any:
    """The one value of a one-row answer."""
    rows: list[Any] = connection.execute(sql).fetchall()
    return rows[0][0]


def applied(connection: apsw.Connection) -> dict[int, str]:
    """Migrations and their hashes."""
    if not only(connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'"):
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
    """Tables and indexes that the schema has and a file does not."""
    with closing(apsw.Connection(":memory:")) as whole:
        for migration in migrations(_DIALECT):
            apply_migration(whole, migration)
        wanted = {str(name) for (name,) in whole.execute(_PARTS).fetchall()}
    return sorted(wanted - {str(name) for (name,) in connection.execute(_PARTS).fetchall()})


def copy(source: apsw.Connection, target: Path, progress: Pages, *, counting: bool = True) -> dict[str, int]:
    """Into an empty file, which is one file then, without a log; how many rows each table has."""
    with closing(apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)) as new:
        source.execute("BEGIN")
        try:
            only(source, "SELECT count(*) FROM sqlite_schema")
            rows = _counted(source) if counting else {}
            with new.backup("main", source, "main") as work:
                _finish(work, progress)
        finally:
            source.execute("ROLLBACK")
        new.execute("PRAGMA journal_mode = DELETE").fetchall()
    return rows


def examine(path: Path) -> Content:
    """What a file holds, if all is well with it. Changes nothing, and leaves nothing beside it.

    Raises `NotAStore`, `NewerSchema`, and `Corrupt` if a page is damaged, the full text is not that of its rows, or
    tables do not agree.
    """
    with translated(str(path)), reading(path) as connection:
        _is_ours(connection, path)
        known, there = migrations(_DIALECT), applied(connection)
        left = missing(known, there, str(path))
        _sound(connection, path, current=not left)
        if not there:
            raise Corrupt(f"{path} has no tables", "Take another one; this one was left as it is.")
        return Content(max(there), not left, _store_id(connection), _counted(connection))


def identity(path: Path) -> str:
    """Which store a file is, or a copy of which; empty if that cannot be told."""
    try:
        with translated(str(path)), reading(path) as connection:
            _is_ours(connection, path)
            return _store_id(connection)
    except StorageError:
        return ""


def is_sealed(path: Path) -> bool:
    """Whether integrity mode was on when the file was copied."""
    with translated(str(path)), reading(path) as connection:
        return bool(_asked(connection, "meta_get", key="integrity"))


@contextmanager
def reading(path: Path) -> Iterator[apsw.Connection]:
    """A file that has no log beside it is not open elsewhere, and is not given one for being read."""
    path = path.resolve()  # the log is beside the file, not beside a link to it
    quiet = not any(Path(f"{path}{end}").exists() for end in ("-wal", "-journal"))
    address = f"{path.as_uri()}?mode=ro{'&immutable=1' if quiet else ''}"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with closing(apsw.Connection(address, flags=flags)) as connection:
        connection.set_busy_timeout(BUSY_SECONDS * 1000)
        yield connection


class Replacing:
    """The store of a file, about to become another. Nobody else can write to it; they wait."""

    def __init__(self, work: apsw.Backup, path: Path, *, damaged: bool) -> None:
        self._work, self._path, self._damaged = work, path, damaged

    def keep(self, target: Path, progress: Pages) -> None:
        """What is there now, as an empty file's content; of a damaged one, its bytes and those of its log."""
        with translated(str(self._path)):
            if not self._damaged:
                with reading(self._path) as connection:
                    copy(connection, target, progress, counting=False)
                return
            for end in ("", "-wal"):
                if Path(f"{self._path}{end}").exists():
                    _bytes(Path(f"{self._path}{end}"), Path(f"{target}{end}"))

    def past(self) -> Past:
        """As far as it can be read."""
        with translated(str(self._path)):
            return Past() if self._damaged else _past(self._path)

    def finish(self, progress: Pages) -> None:
        with translated(str(self._path)):
            _finish(self._work, progress)


@contextmanager
def replacing(path: Path, source: Path) -> Iterator[Replacing]:
    """Until it is finished, everything is as it was. `source` may still be written to until then; it is not empty."""
    with closing(_opened(path)) as store, closing(_opened(source)) as new:
        with translated(str(path)):
            damaged = _is_damaged(store, path)
            if damaged:
                store.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)  # it is taken for empty
            else:
                store.execute("PRAGMA journal_mode = WAL").fetchall()  # it is read while it is locked
            store.execute("PRAGMA synchronous = FULL")
            _as_large(new, only(store, "PRAGMA page_size"))
        with store.backup("main", new, "main") as work:
            with translated(str(path)):
                work.step(0)  # the lock
            yield Replacing(work, path, damaged=damaged)
        with suppress(apsw.Error):  # it is done; a log that cannot be folded in now is as good
            store.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
            store.set_busy_timeout(int(FOLD_SECONDS * 1000))
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _as_large(connection: apsw.Connection, size: int) -> None:
    """With pages of this size: those of a store that has a log cannot change."""
    if only(connection, "PRAGMA page_size") != size:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute(f"PRAGMA page_size = {int(size)}; VACUUM")


def replaceable(path: Path) -> None:
    """Refuses what is there if it is no store, or one of a newer program; whether it is damaged does not matter."""
    with translated(str(path)), reading(path) as connection:
        _is_damaged(connection, path)


def _opened(path: Path) -> apsw.Connection:
    """A log is not folded in when it is closed: of a damaged store, that may be all there is."""
    with translated(str(path)):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_SECONDS * 1000)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return connection


def _is_damaged(connection: apsw.Connection, path: Path) -> bool:
    """Whether SQLite cannot read it; refuses what was never a store of ours, and one of a newer program."""
    try:
        if only(connection, "SELECT count(*) FROM sqlite_schema"):
            _is_ours(connection, path)
            missing(migrations(_DIALECT), applied(connection), str(path))
            _past(path)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, Corrupt):
        if _application_id(path) != APPLICATION_ID:
            hint = "If it was a store, move it away, with what is beside it, and restore again."
            raise NotAStore(f"{path} is not a store, or nothing of its beginning is left", hint) from None
        return True
    return False


def _is_ours(connection: apsw.Connection, path: Path) -> None:
    if only(connection, "PRAGMA application_id") != APPLICATION_ID:
        raise NotAStore(f"{path} is not a store of Retentive's", "Give a file that `retentive backup create` made.")


def _store_id(connection: apsw.Connection) -> str:
    return str(_asked(connection, "meta_get", key="store_id")[0][0])


def _sound(connection: apsw.Connection, path: Path, *, current: bool) -> None:
    """`current`: the queries of this program fit its tables."""
    rows: list[Any] = connection.execute("PRAGMA integrity_check(5)").fetchall()
    found = [whole([row[0] for row in rows])]
    if current:
        found += disagreements(lambda query: _asked(connection, query))
    for each in found:
        if not each.ok:
            raise Corrupt(f"{path}: {each.name}: {each.detail}", "Take another one; this one was left as it is.")


def _past(path: Path) -> Past:
    """On a connection of its own: the one that holds the lock must not be used."""
    with reading(path) as connection:
        tables = {name for (name,) in connection.execute(_TABLES).fetchall()}
        if "changes" not in tables:
            return Past()
        revoked = _asked(connection, "token_revoked") if "tokens" in tables else []
        purged = _asked(connection, "purge_list") if "purges" in tables else []
        head, chunk = (_asked(connection, query)[0][0] for query in ("change_head", "chunk_last"))
        return Past(head, chunk, tuple(revoked), tuple(purged))


def _asked(connection: apsw.Connection, query: str, **values: Any) -> list[Any]:
    return connection.execute(_queries().sql(query), values).fetchall()


@cache
def _queries() -> Queries:
    return Queries(_DIALECT, "")


def _counted(connection: apsw.Connection) -> dict[str, int]:
    names = [str(name) for (name,) in connection.execute(_TABLES).fetchall()]
    quoted = {name: name.replace('"', '""') for name in names}
    return {name: only(connection, f'SELECT count(*) FROM "{each}"') for name, each in quoted.items()}


def _finish(work: apsw.Backup, progress: Pages) -> None:
    while not work.done:
        work.step(_STEP)
        progress(work.page_count - work.remaining, work.page_count)


def _application_id(path: Path) -> int:
    """By the bytes, where SQLite makes nothing of them."""
    head = _read(path, _HEADER, 0)
    return int.from_bytes(head[_ID_AT : _ID_AT + 4], "big")


def _bytes(source: Path, target: Path) -> None:
    with target.open("wb") as file:
        target.chmod(0o600)
        at = 0
        while block := _read(source, _BLOCK, at):
            file.write(block)
            at += len(block)


def _read(path: Path, size: int, at: int) -> bytes:
    """By SQLite's means, which leave the locks on the file alone."""
    flags = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0]
    file = apsw.VFSFile("", str(path), flags)
    try:
        length = file.xFileSize()
        return b"" if at >= length else file.xRead(min(size, length - at), at)
    finally:
        file.xClose()
