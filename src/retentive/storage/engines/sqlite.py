"""SQLite through apsw: one file, WAL, one writer per process behind a lock, one reader connection per thread.

Deviations from a plain connection:
  a. `BEGIN IMMEDIATE` for every write: a transaction that begins as a reader cannot wait for the lock, it fails.
  b. No memory map: it is dangerous if several processes write.
  c. The file is created here, readable by its owner only; SQLite gives its WAL the same permissions.
  d. Deleted rows are overwritten, so that they do not stay in free pages for years. The cost was not measurable.
  e. `:memory:` is a named memdb, so that the connections of all threads see one database.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from retentive.errors import Closed, Invalid, NotAStore, Stale, StorageError, Unwritable
from retentive.fs.paths import translate_os_error
from retentive.fs.regular_files import require_regular
from retentive.storage import NO_PARAMS, Finding, PageProgress, Params, RowCounts, ScrubResult, Step, step
from retentive.storage.consistency import REPAIR, check_agreement, check_pages
from retentive.storage.engine_search import SqliteSearch
from retentive.storage.error_map import translate_errors
from retentive.storage.integrity import IntegrityMode, KeyFile, Sealer
from retentive.storage.migrations import find_missing, load_migrations
from retentive.storage.non_utf8_text import bind_non_utf8, decode_row, encode_set, has_non_utf8, select_as_bytes
from retentive.storage.queries import IN_JSON_ARRAY, Queries
from retentive.storage.store_file import (
    APPLICATION_ID,
    BUSY_SECONDS,
    apply_migration,
    copy_store,
    find_missing_parts,
    read_applied,
    single_value,
)
from retentive.storage.tokenizer import Tokenizer
from retentive.text.search_fields import FIELD_WEIGHTS

SAFE_SQLITE = (3, 51, 3)  # before it, several processes could corrupt a WAL (the WAL-reset bug)


class SqliteEngine(SqliteSearch):
    """A store in an SQLite file, or in memory. The contract is `Engine`."""

    dialect = "sqlite"
    uses_local_index = True
    deployment = None

    def __init__(self, target: str, durability: str = "full", integrity_key: Path | None = None) -> None:
        self.target = target
        self._synchronous = durability.upper()
        self._writer_lock = threading.Lock()
        self._connections_lock = threading.Lock()
        self._thread = threading.local()
        self._tokenizer = Tokenizer()
        self._connections: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._closed = False
        weights = ", ".join(map(str, FIELD_WEIGHTS))
        self._queries = Queries(self.dialect, IN_JSON_ARRAY, weights=weights)
        self._process = os.getpid()
        self._path = _prepare_file(target)
        self._memory_address = f"file:/{os.urandom(16).hex()}?vfs=memdb"
        self._identity = _read_identity(self._path) if self._path else None
        try:
            with translate_errors(target):
                self._writer = self._connect()
                self._writer.execute("PRAGMA secure_delete = ON").fetchall()
            keys = KeyFile(integrity_key) if integrity_key else None
            self._sealer = Sealer(self._writer, self._queries, keys)
            self.migrate()
        except BaseException:
            self.close()
            raise

    def read(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        sql = self._queries.sql(query, filters)
        values = {name: encode_set(v) if isinstance(v, tuple | list) else v for name, v in params.items()}
        with translate_errors(self.target):
            if has_non_utf8(values.values()):
                return _read_as_bytes(self._reader(), bind_non_utf8(sql, values), values)
            try:
                return self._reader().execute(sql, values).fetchall()
            except UnicodeDecodeError:
                return _read_as_bytes(self._reader(), sql, values)

    def apply(self, steps: Iterable[Step]) -> None:
        with self._transaction() as connection:
            for each in steps:
                if each.expect is None:
                    sql, to_values = self._queries.positional(each.query)
                    connection.executemany(sql, map(to_values, each.rows))
                else:
                    self._run_guarded(connection, each)

    def tokens(self, text: str) -> list[str]:
        return self._tokenizer(text)

    def migrate(self) -> None:
        known = load_migrations(self.dialect)
        with translate_errors(self.target):
            todo = find_missing(known, read_applied(self._writer), self.target)
        if todo:
            with self._transaction() as connection:
                for migration in find_missing(known, read_applied(connection), self.target):
                    apply_migration(connection, migration)

    def check(self) -> list[Finding]:
        return [
            _check_version(),
            self._check_permissions(),
            check_pages(self._run_page_check()),
            self._check_schema(),
            *check_agreement(self),
        ]

    def rebuild(self) -> None:
        """Rebuild the full-text index and drop orphans."""
        self.apply([step("derived_rebuild")])

    def backup(self, target: Path, progress: PageProgress) -> RowCounts:
        self._require_same_process()
        self._require_same_file()
        with translate_errors(self.target):
            connection = self._connect()
            try:
                return copy_store(connection, target, progress)
            finally:
                connection.close()

    def scrub(self, patience: float, *, reclaim: bool = False) -> ScrubResult:  # noqa: ARG002 - a rewrite always frees the space
        """Rewrite the whole file, through the WAL.

        `secure_delete` overwrites what a page frees, but not cells that moved when pages were balanced.
        """
        if self._path is None:
            return ScrubResult(done=True, detail="in memory")
        files = tuple(Path(f"{self._path}{end}") for end in ("", "-wal", "-shm", "-journal"))
        self._require_same_process()
        with self._writer_lock, translate_errors(self.target):
            self._require_same_file()
            connection = self._connect()
            try:
                done = _rewrite(connection, self._queries.sql("text_optimize"), patience)
            finally:
                connection.close()
        return ScrubResult(done, "" if done else "held by another process", files)

    def facts(self) -> Mapping[str, Any]:
        with translate_errors(self.target):
            pages, size, free, schema_version = (
                single_value(self._reader(), f"PRAGMA {name}")
                for name in ("page_count", "page_size", "freelist_count", "user_version")
            )
        wal = Path(f"{self._path}-wal") if self._path else None
        return {
            "engine": "sqlite",
            "path": str(self._path) if self._path else ":memory:",
            "bytes": pages * size,
            "free_bytes": free * size,
            "wal_bytes": wal.stat().st_size if wal and wal.exists() else 0,
            "schema": schema_version,
            "sqlite": apsw.sqlite_lib_version(),
            "mode": f"{self._path.stat().st_mode & 0o777:04o}" if self._path and self._path.exists() else "",
        }

    def close(self) -> None:
        self._closed = True
        if os.getpid() != self._process:
            return
        with self._writer_lock, self._connections_lock:
            for connection in [*self._connections]:
                _retry_while_busy(connection.close)

    def _connect(self) -> apsw.Connection:
        if self._path:
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
        else:
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
            connection = apsw.Connection(self._memory_address, flags=flags)
        try:
            with translate_errors(self.target):  # inside: closing would hide the error "too many open files"
                connection.set_busy_timeout(BUSY_SECONDS * 1000)
                self._require_own_database(connection)
                _retry_while_busy(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchall())
                connection.execute(f"PRAGMA synchronous = {self._synchronous}; PRAGMA temp_store = MEMORY")
                connection.execute(f"PRAGMA journal_size_limit = {64 << 20}")
        except BaseException:
            connection.close()
            raise
        with self._connections_lock:
            self._connections.add(connection)
        return connection

    def _require_own_database(self, connection: apsw.Connection) -> None:
        """Refuse a database of another program, before anything is written to it."""
        tables = single_value(connection, "SELECT count(*) FROM sqlite_schema")
        if tables and single_value(connection, "PRAGMA application_id") != APPLICATION_ID:
            raise NotAStore(f"{self.target} is a database of another program")

    def _reader(self) -> apsw.Connection:
        self._require_same_process()
        connection: apsw.Connection | None = getattr(self._thread, "connection", None)
        if connection is None:
            if self._closed:
                raise Closed(f"{self.target} is closed")
            connection = self._thread.connection = self._connect()
            connection.execute("PRAGMA query_only = 1")
        return connection

    @property
    def integrity(self) -> IntegrityMode | None:
        if self._path is None:
            return None
        unsealed = partial(self._transaction, sealed=False)
        return IntegrityMode(self._sealer, self._queries, self._writer_lock, unsealed, self._connect)

    @contextmanager
    def _transaction(self, *, sealed: bool = True) -> Iterator[apsw.Connection]:
        """A write transaction. `sealed`: if integrity mode is on, the rows written are sealed."""
        self._require_same_process()
        with self._writer_lock, translate_errors(self.target):
            self._require_same_file()
            if sealed:
                self._begin()
            else:
                self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                if sealed:
                    self._sealer.flush()
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
            if sealed:
                self._sealer.save_head()

    def _begin(self) -> None:
        """Begin a transaction that is prepared for the integrity mode in force: another process may switch it."""
        while True:
            prepared = self._sealer.prepare()
            self._writer.execute("BEGIN IMMEDIATE")
            if self._sealer.read_key_fingerprint() == prepared:
                return
            self._writer.execute("ROLLBACK")

    def _require_same_process(self) -> None:
        """Refuse to use a connection in a forked process: SQLite's locks would not hold."""
        if os.getpid() != self._process:
            raise Closed(f"{self.target} was opened before a fork", "Open the store in the forked process itself.")

    def _require_same_file(self) -> None:
        """Refuse to write to a file that was removed or replaced: SQLite would go on, and the writes be lost."""
        if self._path and _read_identity(self._path) != self._identity:
            raise Unwritable(f"{self.target} was removed or replaced while it was open", "Open the store again.")

    def _run_guarded(self, connection: apsw.Connection, guarded: Step) -> None:
        sql, to_values = self._queries.positional(guarded.query)
        for row in guarded.rows:
            if has_non_utf8(row.values()):
                connection.execute(bind_non_utf8(self._queries.sql(guarded.query), row), dict(row))
            else:
                connection.execute(sql, to_values(row))
            if connection.changes() != guarded.expect:
                raise Stale(f"{self.target}: {guarded.query} found data that changed since it was read")

    def _run_page_check(self) -> list[str]:
        """The rows of SQLite's integrity check, on a new connection.

        A connection that has searched may hold an old state of the full-text index, and reports a good file as damaged.
        """
        try:
            with translate_errors(self.target):
                connection = self._connect()
                rows: list[Any] = connection.execute("PRAGMA integrity_check(5)").fetchall()
                connection.close()
        except Closed:
            raise
        except StorageError as error:
            return [str(error)]
        return [row[0] for row in rows]

    def _check_schema(self) -> Finding:
        with translate_errors(self.target):
            lost = find_missing_parts(self._reader())
        if lost:
            return Finding("tables", ok=False, detail=f"missing: {', '.join(lost)}", remedy=REPAIR)
        return Finding("tables", ok=True, detail="all are there")

    def _check_permissions(self) -> Finding:
        mode = self.facts()["mode"]
        ok = not mode or not int(mode, 8) & 0o077
        remedy = "" if ok else f"Other users can read it: chmod 600 '{self._path}'"
        return Finding("permissions", ok, mode or "in memory", remedy)


def _read_as_bytes(connection: apsw.Connection, sql: str, values: Params) -> list[tuple[Any, ...]]:
    """Read rows with a text that is not UTF-8. The query runs twice: the first run only counts the columns."""
    cursor = connection.execute(sql, dict(values))
    try:
        columns = len(cursor.get_description())
    except apsw.ExecutionCompleteError:  # no rows
        return []
    rows = connection.execute(select_as_bytes(sql, columns), dict(values)).fetchall()
    return [decode_row(row) for row in rows]


def _check_version() -> Finding:
    version = apsw.sqlite_lib_version()
    ok = tuple(map(int, version.split("."))) >= SAFE_SQLITE
    return Finding("sqlite", ok, version, "" if ok else "Upgrade: pip install --upgrade apsw")


def _rewrite(connection: apsw.Connection, optimize: str, patience: float) -> bool:
    """Vacuum the file and truncate the WAL; False if a reader of an older state prevented it."""
    connection.execute("PRAGMA temp_store = FILE")  # the copy may not fit into memory
    if not _truncate_wal(connection, patience):
        return False
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    connection.execute(optimize)
    connection.execute("VACUUM")
    return _truncate_wal(connection, patience)


def _truncate_wal(connection: apsw.Connection, patience: float) -> bool:
    """Write the WAL into the file and truncate it; False if readers prevented it for `patience` seconds."""
    connection.set_busy_timeout(int(patience * 1000))
    is_blocked = single_value(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    connection.set_busy_timeout(BUSY_SECONDS * 1000)
    return not is_blocked


def _prepare_file(target: str) -> Path | None:
    """The path of the store's file, which is created if it does not exist; None for a store in memory."""
    if target == ":memory:":
        return None
    try:
        path = Path(target).expanduser().absolute()
        str(path).encode()  # SQLite wants names in UTF-8
        if path.is_dir():
            raise Unwritable(f"{path} is a folder, not a file", f"Name a file in it, such as {path / 'memory.db'}.")
        require_regular(path)
        _require_folder(path.parent)
        if path.is_symlink() and not path.exists():
            hint = "Remove the link, or create its target."
            raise Unwritable(f"{path} is a link to {path.readlink()}, which does not exist", hint)
        if not path.exists():
            _create_file(path)
        elif not os.access(path, os.R_OK | os.W_OK):
            raise Unwritable(f"{path} is not readable and writable for this user")
    except Invalid as error:
        raise Unwritable(str(error)) from error
    except UnicodeEncodeError as error:
        raise Unwritable(f"cannot write {target[:200]!r}: its name is not UTF-8") from error
    except OSError as error:
        raise translate_os_error(error, f"cannot write {target[:200]!r}") from error
    except (ValueError, RuntimeError) as error:
        raise Unwritable(f"cannot write {target[:200]!r}: {str(error).rstrip('.')}") from error
    return path


def _require_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    for each in (folder, *folder.parents):
        if each.exists():
            if each.is_dir():
                break
            raise Unwritable(f"{each} is a file, not a folder", "Give a path in a folder.")
    raise Unwritable(f"the folder {folder} does not exist", f"Create it: mkdir -p '{folder}'")


def _create_file(path: Path) -> None:
    """Create an empty file for its owner alone.

    It is created under another name and linked: closing a file drops all locks that the process has on it, and another
    thread may have it open as a store already.
    """
    new = path.with_name(f".{path.name}.{os.urandom(16).hex()}")
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        os.link(new, path)
    except FileExistsError:
        pass  # another was first
    except OSError:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # a file system without hard links
    finally:
        new.unlink()


def _read_identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _retry_while_busy(action: Callable[[], object]) -> None:
    """Retry an action for which SQLite does not wait itself.

    It fails at once when WAL is switched on while another process opens the file, and when a connection is closed while
    a thread still reads.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            action()
        except (apsw.BusyError, apsw.ThreadingViolationError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
