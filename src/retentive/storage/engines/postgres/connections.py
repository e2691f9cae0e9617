"""A pool of connections to one server that survives lost connections.

A lost connection is the normal case: servers restart, proxies drop what is idle. So:
  a. A read is repeated on a new connection until `RECONNECT_SECONDS` is over.
  b. A write that was lost before its commit was sent is repeated too: the server has rolled it back.
  c. A write that was lost with its commit may or may not have been committed. Each write inserts a token of its own
     into `commits`. To find out, the token is claimed. If the claim is refused, the write was committed; otherwise it
     was not, and never will be. While an old connection is still at work, the claim waits for it. (The status of the
     transaction's id would not do: an id that a crash wiped out is used again.)
  d. A connection is not tested before it is used: that would cost every call a round trip.

Session settings are made when a connection opens. The restriction to namespaces is set in each transaction, so that it
cannot outlive it.
"""

import logging
import random
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg import Pipeline, RawCursor, conninfo, errors
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from retentive.errors import BadConfig, Busy, Closed, Stale, StorageError, Uncertain, Unreachable
from retentive.model import Bounds
from retentive.storage.engines.postgres.codec import register_dumpers
from retentive.storage.engines.postgres.error_map import CommitUnknown, ConnectionLost, is_lost, translate_errors

T = TypeVar("T")
Connection = psycopg.Connection[Any]
Work = Callable[[Connection, Pipeline], None]

SCHEMA = "retentive"
ROLE = "retentive_restricted"  # of restricted transactions; it owns nothing, so the row policies apply to it
RECONNECT_SECONDS = 15.0  # a server that was killed is back in two to five; nobody waits much longer for an answer
RECONNECT_PAUSE = 0.05  # seconds between attempts to reconnect
PRUNE_SHARE = 0.01  # of the writes also prune the tokens of earlier ones
MAX_ATTEMPTS = 5  # of a write that the server chose to end a deadlock

# Generic plans do not know which index of a space to use (8 -> 108 ms). Compiling a plan takes longer than running it.
# The graph is scanned until there are enough rows of the namespace (else one with 5 % of all rows finds 18 % of its
# own). A transaction whose client vanished is ended, and its locks with it. A statement that waited for another writer
# sees what that one wrote, whatever the default of the database is.
SESSION_SETTINGS = {
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    "random_page_cost": "1.1",
    "max_parallel_workers_per_gather": "0",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "100",
    "hnsw.max_scan_tuples": "40000",
    "idle_in_transaction_session_timeout": "60s",
    "default_transaction_isolation": "read committed",
}
_SEARCH_PATH = (
    f"'{SCHEMA}, ' || coalesce((SELECT quote_ident(n.nspname) FROM pg_extension e"
    " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'), 'public')"
)

_RESTRICT = (
    "SELECT set_config('role', $1, true), set_config('retentive.namespaces', $2::text[]::text, true),"
    " set_config('retentive.subtrees', $3::text[]::text, true)"
)

# A client that lost an answer claims its token within seconds.
_PRUNE = (
    "DELETE FROM commits WHERE token IN (SELECT token FROM commits WHERE at < now() - interval '1 hour'"
    " LIMIT 10000 FOR UPDATE SKIP LOCKED)"
)

# The pool logs every attempt to connect. Without a handler, Python would print these messages to stderr.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the connections."""

    size: int = 8
    statement_timeout: float = 30.0
    namespaces: tuple[str, ...] = ()
    """The namespaces that they are restricted to; empty: not restricted."""
    connect_timeout: int = 10
    attributes: str = "read-write"
    """`target_session_attrs`: which server to choose if the address names several."""


class Connections:
    """A pool of connections, and the rules by which reads and writes are repeated."""

    def __init__(self, url: str, options: Options) -> None:
        given = _parse_url(url)
        self.where = conninfo.make_conninfo("", **{k: v for k, v in given.items() if k in ("host", "port", "dbname")})
        defaults: dict[str, Any] = {"application_name": "retentive", "keepalives_idle": "30"}
        defaults["connect_timeout"] = str(options.connect_timeout)
        if "," in given.get("host", ""):
            defaults["target_session_attrs"] = options.attributes
        missing = {name: value for name, value in defaults.items() if name not in given}
        self._info = conninfo.make_conninfo(url, **missing, client_encoding="UTF8")
        self._options = options
        self._opening = threading.Lock()
        self._pool: ConnectionPool[Connection] | None = None
        self._closed = False
        self.has_pooler = False

    def connect(self) -> Connection:
        """Open a connection outside the pool: for long work, and to find out what is wrong with the address."""
        with translate_errors(self.where):
            connection: Connection = psycopg.connect(self._info, autocommit=True, cursor_factory=RawCursor)
            try:
                self._configure(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def read(self, work: Callable[[Connection], T], patience: float | None = None, bounds: Bounds | None = None) -> T:
        """Run work that changes nothing. It is repeated if the connection is lost, until the patience is over."""
        deadline = time.monotonic() + (RECONNECT_SECONDS if patience is None else patience)
        with translate_errors(self.where):
            while True:
                try:
                    with self._connection(deadline) as connection:
                        return self._run_restricted(connection, work, bounds)
                except ConnectionLost as error:
                    self._recover(deadline, error)

    def write(self, work: Work, bounds: Bounds | None = None) -> None:
        """Commit one transaction exactly once, or not at all. `work` may be called more than once."""
        with translate_errors(self.where):
            for attempt in range(MAX_ATTEMPTS):
                try:
                    self._write(work, bounds)
                except errors.DeadlockDetected as error:
                    if attempt == MAX_ATTEMPTS - 1:
                        raise Stale(f"{self.where}: {error}") from error
                else:
                    return

    def close(self) -> None:
        with self._opening:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool:
            pool.close()

    def _write(self, work: Work, bounds: Bounds | None) -> None:
        deadline = time.monotonic() + RECONNECT_SECONDS
        while True:
            token = uuid.uuid4().hex
            try:
                with self._connection(deadline) as connection:
                    self._send(connection, token, work, bounds)
                    self._commit(connection)
            except CommitUnknown as error:
                if self._was_committed(token, error):
                    return
            except ConnectionLost as error:
                self._recover(deadline, error)
            else:
                return

    def _send(self, connection: Connection, token: str, work: Work, bounds: Bounds | None) -> None:
        """Send all of the transaction but its commit, in one round trip if `work` does not wait for an answer."""
        try:
            with connection.pipeline() as pipeline:
                connection.execute("BEGIN")
                connection.execute("INSERT INTO commits (token) VALUES ($1)", (token,))
                if random.random() < PRUNE_SHARE:  # noqa: S311 - nothing depends on it
                    connection.execute(_PRUNE)
                self._restrict(connection, bounds and bounds.writable)
                work(connection, pipeline)
        except BaseException:
            with suppress(psycopg.Error):
                connection.rollback()
            raise

    @staticmethod
    def _commit(connection: Connection) -> None:
        try:
            connection.execute("COMMIT")
        except psycopg.Error as error:
            if is_lost(connection, error):
                raise CommitUnknown(str(error).strip()) from error
            raise

    def _was_committed(self, token: str, lost: CommitUnknown) -> bool:
        """Find out whether a write whose commit was not answered was committed, by claiming its token."""
        deadline = time.monotonic() + RECONNECT_SECONDS
        try:
            self._recover(deadline, lost)
            return self._claim(token, deadline)
        except (psycopg.Error, StorageError) as error:
            raise Uncertain(f"{self.where}: {lost}; whether the last write was kept is not known") from error

    def _claim(self, token: str, deadline: float) -> bool:
        """Insert the token unless the write did; whether the write did. Safe to repeat."""
        while True:
            try:
                with self._connection(deadline) as connection:
                    claim = "INSERT INTO commits (token, kept) VALUES ($1, false) ON CONFLICT (token) DO NOTHING"
                    connection.execute(claim, (token,))
                    rows = connection.execute("SELECT kept FROM commits WHERE token = $1", (token,)).fetchall()
                    return bool(rows[0][0])
            except ConnectionLost as lost:
                self._recover(deadline, lost)

    def _run_restricted(self, connection: Connection, work: Callable[[Connection], T], bounds: Bounds | None) -> T:
        if self._narrow_bounds(bounds) is None:
            return work(connection)
        with connection.pipeline(), connection.transaction():
            self._restrict(connection, bounds)
            return work(connection)

    def _restrict(self, connection: Connection, bounds: Bounds | None) -> None:
        """Set the role and the visible namespaces for the rest of the transaction."""
        if narrowed := self._narrow_bounds(bounds):
            connection.execute(_RESTRICT, (ROLE, [*narrowed.names], [*narrowed.prefixes]))
            if narrowed.read_only:
                connection.execute("SET LOCAL transaction_read_only = on")

    def _narrow_bounds(self, bounds: Bounds | None) -> Bounds | None:
        """The bounds of a caller, within those of this process; None: no restriction."""
        own = self._options.namespaces
        if not own:
            return bounds
        if bounds is None:
            return Bounds(own)
        return Bounds(tuple(filter(bounds.cover, own)), read_only=bounds.read_only)

    @contextmanager
    def _connection(self, deadline: float) -> Iterator[Connection]:
        pool = self._open_pool()
        try:
            connection = pool.getconn(max(0.5, deadline - time.monotonic()))
        except PoolClosed as error:
            raise ConnectionLost("the connections were lost", pool) from error
        except PoolTimeout as error:
            self.connect().close()  # raises the reason if the server is unreachable
            raise Busy(f"{self.where}: all {pool.max_size} connections are in use") from error
        try:
            yield connection
        except CommitUnknown as error:
            connection.close()
            error.pool = pool
            raise
        except psycopg.Error as error:
            if is_lost(connection, error):
                connection.close()
                raise ConnectionLost(str(error).strip(), pool) from error
            raise
        finally:
            if connection.info.transaction_status is TransactionStatus.ACTIVE:
                connection.close()  # interrupted in the middle of an answer
            pool.putconn(connection)

    def _open_pool(self) -> ConnectionPool[Connection]:
        with self._opening:
            if self._closed:
                raise Closed(f"{self.where} is closed")
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._info,
                    kwargs={"autocommit": True, "cursor_factory": RawCursor},
                    min_size=1,
                    max_size=self._options.size,
                    num_workers=1,
                    configure=self._configure,
                    reconnect_timeout=2 * RECONNECT_SECONDS,
                    name="retentive",
                    open=True,
                )
            return self._pool

    def _recover(self, deadline: float, lost: ConnectionLost) -> None:
        """Wait until the server is back, then start a new pool.

        If one connection was lost, the idle ones were too; and a pool that failed to connect waits longer each time.
        """
        while True:
            time.sleep(RECONNECT_PAUSE)
            try:
                self.connect().close()
            except Unreachable:
                if time.monotonic() > deadline:
                    raise
            else:
                break
        with self._opening:
            pool = self._pool
            if pool is None or pool is not lost.pool:
                return
            self._pool = None
        pool.close(timeout=0.1)

    def _configure(self, connection: Connection) -> None:
        register_dumpers(connection)
        settings = {**SESSION_SETTINGS, "statement_timeout": f"{int(self._options.statement_timeout * 1000)}ms"}
        calls = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in settings.items())
        connection.execute(f"SELECT set_config('search_path', {_SEARCH_PATH}, false), {calls}")


def _parse_url(url: str) -> dict[str, Any]:
    """The parts of an address. The error about one that cannot be read must not show the password."""
    hint = (
        "It is postgresql://user@host:port/database; characters such as / @ % in a password are written as %2F %40 %25."
    )
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        reason = "it has a % that is followed by no number" if "percent-encoded" in str(error) else str(error).strip()
        raise BadConfig(f"cannot read the server's address: {reason}", hint) from None
    place = str(given.get("host", "")) + str(given.get("dbname", ""))
    if "@" in place or not re.fullmatch(r"[\d,]*", str(given.get("port", ""))):
        raise BadConfig("cannot read the server's address: its password has no clear end", hint)
    return given
