"""SQLite through apsw: one file, WAL, one writer per process behind a lock, one reader connection per thread.

Deviations from a plain connection:
  a. `BEGIN IMMEDIATE` for every write: a transaction that begins as a reader cannot wait for the lock, it fails.
  b. No memory map: it is dangerous where several processes write.
  c. The file is made by us, readable by its owner only; SQLite gives its WAL the same permissions.
  d. What is deleted is overwritten: it must not lie in free pages for years. Costs nothing that could be measured.
  e. `:memory:` is a named memdb, so that the connections of all threads see one database.
"""

import os
import threading
import time
import uuid
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
from retentive.storage import NOTHING, Finding, Pages, Params, Scrubbed, Step
from retentive.storage.broken_text import bind_broken, has_broken, read_out, spell_out, write_set
from retentive.storage.brute_force import Scanning
from retentive.storage.consistency import REPAIR, agreement, whole
from retentive.storage.error_map import translated
from retentive.storage.integrity import IntegrityMode, KeyFile, Sealer
from retentive.storage.migrations import migrations, missing
from retentive.storage.queries import Queries
from retentive.storage.store_file import (
    APPLICATION_ID,
    BUSY_SECONDS,
    applied,
    apply_migration,
    copy,
    find_missing_parts,
    only,
)
from retentive.storage.tokenizer import Tokenizer
from retentive.text.fields import FIELD_WEIGHTS

SAFE_SQLITE = (3, 51, 3)  # before it, several processes could corrupt a WAL (the WAL-reset bug)


class SqliteEngine(Scanning):
    dialect = "sqlite"
    in_process = True

    def __init__(self, target: str, durability: str = "full", integrity_key: Path | None = None) -> None:
        self.target = target
        self._synchronous = durability.upper()
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._local = threading.local()
        self._tokenizer = Tokenizer()
        self._open: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._closed = False
        weights = ", ".join(map(str, FIELD_WEIGHTS))
        self._queries = Queries(self.dialect, "IN (SELECT value FROM json_each(:{}))", weights=weights)
        self._process = os.getpid()
        self._path = _prepare(target)
        self._identity = _identity(self._path) if self._path else None
        try:
            with translated(target):
                self._writer = self._connect()
                self._writer.execute("PRAGMA secure_delete = ON").fetchall()
            keys = KeyFile(integrity_key) if integrity_key else None
            self._sealer = Sealer(self._writer, self._queries, keys)
            self.migrate()
        except BaseException:
            self.close()
            raise

    def read(self, query: str, params: Params = NOTHING, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        sql = self._queries.sql(query, filters)
        values = {name: write_set(v) if isinstance(v, tuple | list) else v for name, v in params.items()}
        with translated(self.target):
            if has_broken(values.values()):
                return _read_broken(self._reader(), bind_broken(sql, values), values)
            try:
                return self._reader().execute(sql, values).fetchall()
            except UnicodeDecodeError:
                return _read_broken(self._reader(), sql, values)

    def apply(self, steps: Iterable[Step]) -> None:
        with self._transaction() as connection:
            for step in steps:
                if step.expect is None:
                    sql, values = self._queries.by_position(step.query)
                    connection.executemany(sql, map(values, step.rows))
                else:
                    self._guarded(connection, step)

    def tokens(self, text: str) -> list[str]:
        return self._tokenizer(text)

    def migrate(self) -> None:
        known = migrations(self.dialect)
        with translated(self.target):
            todo = missing(known, applied(self._writer), self.target)
        if todo:
            with self._transaction() as connection:
                for migration in missing(known, applied(connection), self.target):
                    apply_migration(connection, migration)

    def check(self) -> list[Finding]:
        return [_version(), self._permissions(), whole(self._integrity()), self._store(), *agreement(self)]

    def rebuild(self) -> None:
        self.apply([Step("derived_rebuild", [{}])])

    def backup(self, target: Path, progress: Pages) -> Mapping[str, int]:
        self._check_process()
        self._check_file()
        with translated(self.target):
            connection = self._connect()
            try:
                return copy(connection, target, progress)
            finally:
                connection.close()

    def scrub(self, patience: float, *, reclaim: bool = False) -> Scrubbed:  # noqa: ARG002 - it does so anyway
        """Rewritten whole, into the WAL and from there into the file.

        `secure_delete` overwrites what a page frees; it does not reach cells that moved when pages were balanced.
        """
        if self._path is None:
            return Scrubbed(done=True, detail="in memory")
        files = tuple(Path(f"{self._path}{end}") for end in ("", "-wal", "-shm", "-journal"))
        self._check_process()
        with self._lock, translated(self.target):
            self._check_file()
            connection = self._connect()
            try:
                done = _rewritten(connection, self._queries.sql("text_optimize"), patience)
            finally:
                connection.close()
        return Scrubbed(done, "" if done else "held by another process", files)

    def facts(self) -> Mapping[str, Any]:
        with translated(self.target):
            pages, size, free, number = (
                only(self._reader(), f"PRAGMA {name}")
                for name in ("page_count", "page_size", "freelist_count", "user_version")
            )
        wal = Path(f"{self._path}-wal") if self._path else None
        return {
            "engine": "sqlite",
            "path": str(self._path) if self._path else ":memory:",
            "bytes": pages * size,
            "free_bytes": free * size,
            "wal_bytes": wal.stat().st_size if wal and wal.exists() else 0,
            "schema": number,
            "sqlite": apsw.sqlite_lib_version(),
            "mode": f"{self._path.stat().st_mode & 0o777:04o}" if self._path and self._path.exists() else "",
        }

    def close(self) -> None:
        self._closed = True
        if os.getpid() != self._process:
            return
        with self._lock, self._opening:
            for connection in [*self._open]:
                _patiently(connection.close)

    def _connect(self) -> apsw.Connection:
        if self._path:
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
        else:
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
            self._memory = getattr(self, "_memory", f"file:/{uuid.uuid4()}?vfs=memdb")
            connection = apsw.Connection(self._memory, flags=flags)
        try:
            with translated(self.target):  # before it is closed: then there would be a file less
                connection.set_busy_timeout(BUSY_SECONDS * 1000)
                self._claim(connection)
                connection.execute(f"PRAGMA synchronous = {self._synchronous}; PRAGMA temp_store = MEMORY")
                connection.execute(f"PRAGMA journal_size_limit = {64 << 20}")
        except BaseException:
            connection.close()
            raise
        with self._opening:
            self._open.add(connection)
        return connection

    def _claim(self, connection: apsw.Connection) -> None:
        """Refuse a database that is somebody else's before anything is written to it; then switch on WAL."""
        tables = only(connection, "SELECT count(*) FROM sqlite_schema")
        if tables and only(connection, "PRAGMA application_id") != APPLICATION_ID:
            raise NotAStore(f"{self.target} is a database of another program")
        _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchall())

    def _reader(self) -> apsw.Connection:
        self._check_process()
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            if self._closed:
                raise Closed(f"{self.target} is closed")
            connection = self._local.connection = self._connect()
            connection.execute("PRAGMA query_only = 1")
        return connection

    @property
    def integrity(self) -> IntegrityMode | None:
        if self._path is None:
            return None
        unsealed = partial(self._transaction, sealed=False)
        return IntegrityMode(self._sealer, self._queries, self._lock, unsealed, self._connect)

    @contextmanager
    def _transaction(self, *, sealed: bool = True) -> Iterator[apsw.Connection]:
        """`sealed`: what is written gets its entries, if integrity mode is on."""
        self._check_process()
        with self._lock, translated(self.target):
            self._check_file()
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
                self._sealer.publish()

    def _begin(self) -> None:
        """With the integrity mode that holds once the lock is had: another process may switch it."""
        while True:
            prepared = self._sealer.prepare()
            self._writer.execute("BEGIN IMMEDIATE")
            if self._sealer.read_mark() == prepared:
                return
            self._writer.execute("ROLLBACK")

    def _check_process(self) -> None:
        """A connection must not be taken along into a forked process: SQLite's locks would not hold."""
        if os.getpid() != self._process:
            raise Closed(f"{self.target} was opened before a fork", "Open the store in the forked process itself.")

    def _check_file(self) -> None:
        """What is written to a file that is no longer there is lost, though SQLite would go on."""
        if self._path and _identity(self._path) != self._identity:
            raise Unwritable(f"{self.target} was removed or replaced while it was open", "Open the store again.")

    def _guarded(self, connection: apsw.Connection, step: Step) -> None:
        sql, values = self._queries.by_position(step.query)
        for row in step.rows:
            if has_broken(row.values()):
                connection.execute(bind_broken(self._queries.sql(step.query), row), dict(row))
            else:
                connection.execute(sql, values(row))
            if connection.changes() != step.expect:
                raise Stale(f"{self.target}: {step.query} found another state than the one it was decided on")

    def _integrity(self) -> list[str]:
        """On a connection of its own.

        One that has searched before may hold an old state of the full-text index, and then calls a good file damaged.
        """
        try:
            with translated(self.target):
                connection = self._connect()
                rows: list[Any] = connection.execute("PRAGMA integrity_check(5)").fetchall()
                connection.close()
        except Closed:
            raise
        except StorageError as error:
            return [str(error)]
        return [row[0] for row in rows]

    def _store(self) -> Finding:
        with translated(self.target):
            lost = find_missing_parts(self._reader())
        return Finding(
            "tables", not lost, f"missing: {', '.join(lost)}" if lost else "all are there", REPAIR * bool(lost)
        )

    def _permissions(self) -> Finding:
        mode = self.facts()["mode"]
        ok = not mode or not int(mode, 8) & 0o077
        remedy = "" if ok else f"Others can read it: chmod 600 '{self._path}'"
        return Finding("permissions", ok, mode or "in memory", remedy)


def _read_broken(connection: apsw.Connection, sql: str, values: Params) -> list[tuple[Any, ...]]:
    """The rows of a query in which a text is not UTF-8."""
    cursor = connection.execute(sql, dict(values))
    try:
        columns = len(cursor.get_description())
    except apsw.ExecutionCompleteError:  # no rows
        return []
    rows = connection.execute(spell_out(sql, columns), dict(values)).fetchall()
    return [read_out(row) for row in rows]


def _version() -> Finding:
    version = apsw.sqlite_lib_version()
    ok = tuple(map(int, version.split("."))) >= SAFE_SQLITE
    return Finding("sqlite", ok, version, "" if ok else "Upgrade: pip install --upgrade apsw")


def _rewritten(connection: apsw.Connection, optimize: str, patience: float) -> bool:
    """False: somebody reads an older state, which keeps the WAL as it is."""
    connection.execute("PRAGMA temp_store = FILE")  # the copy that is being made may not fit into memory
    if not _emptied(connection, patience):
        return False
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    connection.set_busy_timeout(BUSY_SECONDS * 1000)
    connection.execute(optimize)
    connection.execute("VACUUM")
    return _emptied(connection, patience)


def _emptied(connection: apsw.Connection, patience: float) -> bool:
    """The WAL into the file, and cut to nothing."""
    connection.set_busy_timeout(int(patience * 1000))
    rows: list[Any] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return bool(rows[0][0] == 0)


def _prepare(target: str) -> Path | None:
    """The store's file, made if it is not there; None for a store in memory."""
    if target == ":memory:":
        return None
    try:
        path = Path(target).expanduser().absolute()
        str(path).encode()  # SQLite wants names in UTF-8
        if path.is_dir():
            raise Unwritable(f"{path} is a folder, not a file")
        require_regular(path)
        _require_folder(path.parent)
        if path.is_symlink() and not path.exists():
            hint = "Remove the link, or make what it leads to."
            raise Unwritable(f"{path} is a link to {path.readlink()}, which is not there", hint)
        if not path.exists():
            _create(path)
        elif not os.access(path, os.R_OK | os.W_OK):
            raise Unwritable(f"{path} may not be read and written by this user")
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


def _create(path: Path) -> None:
    """Empty, for the owner alone.

    Under its name it is not opened here: closing a file drops all locks that the process has on it, and another thread
    may have it open as a store already.
    """
    new = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        os.link(new, path)
    except FileExistsError:
        pass  # another was first
    except OSError:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # a file system without hard links
    finally:
        new.unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _patiently(action: Callable[[], object]) -> None:
    """Again and again, where SQLite fails at once instead of waiting.

    So it does when WAL is switched on while another process opens the file, and when a connection is closed while a
    thread still reads.
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
