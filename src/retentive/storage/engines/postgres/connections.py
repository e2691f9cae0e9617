"""A pool of connections to one server that survives lost connections.

A lost connection is the normal case: servers restart, proxies drop what is idle. So:
  a. A read is repeated on a new connection until `RECONNECT_SECONDS` is over.
  b. A write travels with its commit, in one round trip. If it was lost, it may or may not have been committed. Each
     write inserts a token of its own into `commits`. To find out, the token is claimed. If the claim is refused, the
     write was committed; otherwise it was not, and never will be, and is repeated. While an old connection is still at
     work, the claim waits for it. (The status of the transaction's id would not do: an id that a crash wiped out is
     used again.)
  c. A connection is not tested before it is used: that would cost every call a round trip. A write only looks whether
     the server has ended the connection meanwhile, which its socket knows.

`transactions.py` has the settings of a session or a transaction. The restriction to namespaces is set in each
transaction, so that it cannot outlive it.
"""

import logging
import random
import re
import selectors
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg import Cursor, Pipeline, RawCursor, conninfo, errors
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from retentive.errors import BadConfig, Busy, Closed, Stale, StorageError, Uncertain, Unreachable
from retentive.model import Bounds
from retentive.storage.engines.postgres.codec import register_dumpers
from retentive.storage.engines.postgres.error_map import CommitUnknown, ConnectionLost, is_lost, translate_errors
from retentive.storage.engines.postgres.transactions import (
    SCHEMA,
    Call,
    make_restricting_calls,
    make_settings_call,
)

T = TypeVar("T")
Connection = psycopg.Connection[Any]
Work = Callable[[Connection, Pipeline], None]

RECONNECT_SECONDS = 15.0  # a server that was killed is back in two to five; nobody waits much longer for an answer
RECONNECT_PAUSE = 0.05  # seconds between attempts to reconnect
PRUNE_SHARE = 0.01  # of the writes also prune the tokens of earlier ones
MAX_ATTEMPTS = 5  # of a write that the server chose to end a deadlock

_CLAIM = f"INSERT INTO {SCHEMA}.commits (token, kept) VALUES ($1, false) ON CONFLICT (token) DO NOTHING"
_FIND_CLAIM = f"SELECT kept FROM {SCHEMA}.commits WHERE token = $1"

# A client that lost an answer claims its token within seconds.
_PRUNE = (
    f"DELETE FROM {SCHEMA}.commits WHERE token IN (SELECT token FROM {SCHEMA}.commits"
    " WHERE at < now() - interval '1 hour'"
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
    pooler: str = "auto"
    """`transaction`: a pooler stands between, and gives a connection for one transaction; `none`: there is none."""


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
        self._is_identified = False
        self.has_pooler = options.pooler == "transaction"
        """Whether a transaction may run on another connection of the server than the one before."""
        self.is_cluster = False
        """Whether the server is the coordinator of a cluster (Citus)."""

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

    def fetch(
        self,
        calls: Sequence[Call],
        patience: float | None = None,
        bounds: Bounds | None = None,
        *,
        has_timeout: bool = True,
    ) -> list[Cursor[Any]]:
        """Run statements that change nothing, in one round trip, and return their results. Repeated as by `read`."""
        return self._repeat(lambda connection: self._fetch(connection, calls, bounds, has_timeout), patience)

    def read(self, work: Callable[[Connection], T], patience: float | None = None, bounds: Bounds | None = None) -> T:
        """Run work that changes nothing. It is repeated if the connection is lost, until the patience is over."""
        return self._repeat(lambda connection: self._run_restricted(connection, work, bounds), patience)

    def _repeat(self, work: Callable[[Connection], T], patience: float | None) -> T:
        deadline = time.monotonic() + (RECONNECT_SECONDS if patience is None else patience)
        with translate_errors(self.where):
            while True:
                try:
                    with self._connection(deadline) as connection:
                        return work(connection)
                except ConnectionLost as error:
                    self._recover(deadline, error)
                    self._require_patience(deadline, error)

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
            except CommitUnknown as error:
                if self._was_committed(token, error):
                    return
                self._require_patience(deadline, error)
            except ConnectionLost as error:
                self._recover(deadline, error)
                self._require_patience(deadline, error)
            else:
                return

    def _require_patience(self, deadline: float, lost: ConnectionLost) -> None:
        """Raise if the time is over: the server can be reached, and lost a connection behind it again and again."""
        if time.monotonic() > deadline:
            raise Unreachable(f"{self.where}: {lost}")

    def _send(self, connection: Connection, token: str, work: Work, bounds: Bounds | None) -> None:
        """Send a whole transaction: in one round trip, if `work` waits for nothing."""
        _require_alive(connection)
        try:
            with connection.pipeline() as pipeline:
                connection.execute(self._begin)
                connection.execute(f"INSERT INTO {SCHEMA}.commits (token) VALUES ($1)", (token,))
                if random.random() < PRUNE_SHARE:  # noqa: S311 - nothing depends on it
                    connection.execute(_PRUNE)
                for call in self._make_opening_calls(bounds and bounds.writable):
                    connection.execute(*call)
                work(connection, pipeline)
                connection.execute("COMMIT")
        except BaseException as error:
            if isinstance(error, psycopg.Error) and is_lost(connection, error):
                raise CommitUnknown(str(error).strip()) from error
            with suppress(psycopg.Error):
                connection.rollback()
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
                    connection.execute(_CLAIM, (token,))
                    rows = connection.execute(_FIND_CLAIM, (token,)).fetchall()
                    return bool(rows[0][0])
            except ConnectionLost as lost:
                self._recover(deadline, lost)

    def _fetch(
        self, connection: Connection, calls: Sequence[Call], bounds: Bounds | None, has_timeout: bool
    ) -> list[Cursor[Any]]:
        opening = [*self._make_opening_calls(bounds)]
        if not has_timeout:
            opening.append(Call("SET LOCAL statement_timeout = 0"))
        if not opening and len(calls) == 1:
            return [connection.execute(*calls[0])]
        try:
            with connection.pipeline():
                if opening:
                    connection.execute(self._begin)
                    for call in opening:
                        connection.execute(*call)
                cursors = [connection.execute(*call) for call in calls]
                if opening:
                    connection.execute("COMMIT")
        except BaseException:
            with suppress(psycopg.Error):
                connection.rollback()
            raise
        return cursors

    def _run_restricted(self, connection: Connection, work: Callable[[Connection], T], bounds: Bounds | None) -> T:
        opening = [*self._make_opening_calls(bounds)]
        if not opening:
            return work(connection)
        with connection.transaction():
            for call in opening:
                connection.execute(*call)
            return work(connection)

    @property
    def _begin(self) -> str:
        return "BEGIN ISOLATION LEVEL READ COMMITTED" if self.has_pooler else "BEGIN"

    def _make_opening_calls(self, bounds: Bounds | None) -> Iterator[Call]:
        """What a transaction begins with, after BEGIN."""
        if self.has_pooler:
            yield make_settings_call(self._options.statement_timeout, is_local=True)
        if narrowed := self._narrow_bounds(bounds):
            yield from make_restricting_calls(narrowed, is_cluster=self.is_cluster)

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
        if not self._is_identified:
            self._identify(connection)
        if self.has_pooler:
            connection.prepare_threshold = None  # the next transaction would not find what this one prepared
        else:
            connection.execute(*make_settings_call(self._options.statement_timeout, is_local=False))

    def _identify(self, connection: Connection) -> None:
        """Find out what answers. A pooler gives numbers of processes that are not those of the server."""
        sql = "SELECT pg_backend_pid(), EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')"
        process, self.is_cluster = connection.execute(sql, prepare=False).fetchall()[0]
        if self._options.pooler == "auto":
            self.has_pooler = process != connection.info.backend_pid
        self._is_identified = True


def _require_alive(connection: Connection) -> None:
    """Raise if the server has ended the connection while it was idle: then there is something to be read from it."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        while selector.select(0):
            connection.pgconn.consume_input()  # raises at the end


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
