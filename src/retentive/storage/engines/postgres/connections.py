"""Connections to one server, and what becomes of them.

A lost connection is the normal case: servers restart, proxies drop what is idle. So:
  a. Reading is repeated on a new connection, for as long as `PATIENCE` lasts.
  b. A write that was lost before its commit was sent is repeated too: the server has thrown it away.
  c. A write that was lost with its commit may or may not have been kept. Each writes a token of its own into `commits`;
     to learn what became of it, the token is claimed. Where that is refused the write was kept; where not, it was not,
     and never will be. While an old connection is still at work the claim waits for it. (Asking for the status of the
     transaction's number would not do: one that a crash wiped out is given again.)
  d. Nothing is asked of a connection before it is used: that would cost every call a round trip.

What a session needs is set when it begins. What restricts it to namespaces is set in each transaction, so that it
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
from retentive.storage.engines.postgres.codec import register
from retentive.storage.engines.postgres.error_map import Lost, Unsettled, is_lost, translated

T = TypeVar("T")
Connection = psycopg.Connection[Any]
Work = Callable[[Connection, Pipeline], None]

SCHEMA = "retentive"
ROLE = "retentive_restricted"  # what restricted connections become; it owns nothing, so the policies hold for it
PATIENCE = 15.0  # seconds: a server that was killed is back in two to five; nobody waits much longer for an answer
PAUSE = 0.05  # seconds between tries
PRUNING = 0.01  # share of the writes that prune the tokens of earlier ones
TRIES = 5  # of a write that the server chose to end a deadlock

# Of a session. Generic plans do not know which index of a space to take (8 -> 108 ms); compiling a plan takes longer
# than running it; the graph is looked through until there are enough rows of the namespace (else one that has 5 % of
# all rows finds 18 % of its own); a transaction whose client vanished is ended, and its locks with it; a statement that
# waited for another writer sees what that one wrote, whatever the database's own default is.
SESSION = {
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
_PATH = (
    f"'{SCHEMA}, ' || coalesce((SELECT quote_ident(n.nspname) FROM pg_extension e"
    " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'), 'public')"
)

_RESTRICT = (
    "SELECT set_config('role', $1, true), set_config('retentive.namespaces', $2::text[]::text, true),"
    " set_config('retentive.subtrees', $3::text[]::text, true)"
)

# Whoever lost an answer asks within seconds.
_PRUNE = (
    "DELETE FROM commits WHERE token IN (SELECT token FROM commits WHERE at < now() - interval '1 hour'"
    " LIMIT 10000 FOR UPDATE SKIP LOCKED)"
)

# The pool tells its logger of every try to connect. Those who want to know can listen; nobody is told unasked.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Options:
    """What connections are like."""

    size: int = 8
    statement_timeout: float = 30.0
    namespaces: tuple[str, ...] = ()
    """Those they are restricted to; none: not restricted."""
    connect_timeout: int = 10
    attributes: str = "read-write"
    """What is looked for among the servers of an address that names several."""


class Link:
    def __init__(self, url: str, options: Options) -> None:
        given = _parts(url)
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

    def connect(self) -> Connection:
        """One connection apart from the pool: for what takes long, and to learn what is wrong with the address."""
        with translated(self.where):
            connection: Connection = psycopg.connect(self._info, autocommit=True, cursor_factory=RawCursor)
            try:
                self._configure(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def read(self, work: Callable[[Connection], T], patience: float = PATIENCE, bounds: Bounds | None = None) -> T:
        """Work that changes nothing: done again if the connection is lost."""
        deadline = time.monotonic() + patience
        with translated(self.where):
            while True:
                try:
                    with self._connection(deadline) as connection:
                        return self._restricted(connection, work, bounds)
                except Lost as error:
                    self._recover(deadline, error)

    def write(self, work: Work, bounds: Bounds | None = None) -> None:
        """One transaction, kept once or not at all. `work` may be done more than once."""
        with translated(self.where):
            for attempt in range(TRIES):
                try:
                    self._write(work, bounds)
                except errors.DeadlockDetected as error:
                    if attempt == TRIES - 1:
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
        deadline = time.monotonic() + PATIENCE
        while True:
            token = uuid.uuid4().hex
            try:
                with self._connection(deadline) as connection:
                    self._fill(connection, token, work, bounds)
                    self._commit(connection)
            except Unsettled as error:
                if self._was_kept(token, error):
                    return
            except Lost as error:
                self._recover(deadline, error)
            else:
                return

    def _fill(self, connection: Connection, token: str, work: Work, bounds: Bounds | None) -> None:
        """All of the transaction but its end, in one round trip if `work` does not ask for more."""
        try:
            with connection.pipeline() as pipeline:
                connection.execute("BEGIN")
                connection.execute("INSERT INTO commits (token) VALUES ($1)", (token,))
                if random.random() < PRUNING:  # noqa: S311 - nothing depends on it
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
                raise Unsettled(str(error).strip()) from error
            raise

    def _was_kept(self, token: str, lost: Unsettled) -> bool:
        """Claims the token of a write whose commit was sent and not answered."""
        deadline = time.monotonic() + PATIENCE
        try:
            self._recover(deadline, lost)
            return self._claim(token, deadline)
        except (psycopg.Error, StorageError) as error:
            raise Uncertain(f"{self.where}: {lost}; whether the last write was kept is not known") from error

    def _claim(self, token: str, deadline: float) -> bool:
        """May be done again: whoever came first, the write or a claim, is there to be read."""
        while True:
            try:
                with self._connection(deadline) as connection:
                    claim = "INSERT INTO commits (token, kept) VALUES ($1, false) ON CONFLICT (token) DO NOTHING"
                    connection.execute(claim, (token,))
                    rows = connection.execute("SELECT kept FROM commits WHERE token = $1", (token,)).fetchall()
                    return bool(rows[0][0])
            except Lost as lost:
                self._recover(deadline, lost)

    def _restricted(self, connection: Connection, work: Callable[[Connection], T], bounds: Bounds | None) -> T:
        if self._within(bounds) is None:
            return work(connection)
        with connection.pipeline(), connection.transaction():
            self._restrict(connection, bounds)
            return work(connection)

    def _restrict(self, connection: Connection, bounds: Bounds | None) -> None:
        """For the rest of the transaction: another role, and the namespaces that the policies let it see."""
        if within := self._within(bounds):
            connection.execute(_RESTRICT, (ROLE, [*within.names], [*within.prefixes]))
            if within.read_only:
                connection.execute("SET LOCAL transaction_read_only = on")

    def _within(self, bounds: Bounds | None) -> Bounds | None:
        """What a caller may see of what this process may."""
        own = self._options.namespaces
        if bounds is None:
            return Bounds(own) if own else None
        return Bounds(tuple(filter(bounds.cover, own)), read_only=bounds.read_only) if own else bounds

    @contextmanager
    def _connection(self, deadline: float) -> Iterator[Connection]:
        pool = self._opened()
        try:
            connection = pool.getconn(max(0.5, deadline - time.monotonic()))
        except PoolClosed as error:
            raise Lost("the connections were lost", pool) from error
        except PoolTimeout as error:
            self.connect().close()  # says what is wrong, if it is the server
            raise Busy(f"{self.where}: all {pool.max_size} connections are in use") from error
        try:
            yield connection
        except Unsettled as error:
            connection.close()
            error.pool = pool
            raise
        except psycopg.Error as error:
            if is_lost(connection, error):
                connection.close()
                raise Lost(str(error).strip(), pool) from error
            raise
        finally:
            if connection.info.transaction_status is TransactionStatus.ACTIVE:
                connection.close()  # interrupted in the middle of an answer
            pool.putconn(connection)

    def _opened(self) -> ConnectionPool[Connection]:
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
                    reconnect_timeout=2 * PATIENCE,
                    name="retentive",
                    open=True,
                )
            return self._pool

    def _recover(self, deadline: float, lost: Lost) -> None:
        """Wait until the server is back, then begin with a new pool.

        Where one connection was lost, the idle ones were too; and a pool that failed to connect waits longer each time.
        """
        while True:
            time.sleep(PAUSE)
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
        register(connection)
        settings = {**SESSION, "statement_timeout": f"{int(self._options.statement_timeout * 1000)}ms"}
        calls = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in settings.items())
        connection.execute(f"SELECT set_config('search_path', {_PATH}, false), {calls}")


def _parts(url: str) -> dict[str, Any]:
    """Of an address. What it says of one that it cannot read must not show the password in it."""
    hint = (
        "It is postgresql://user@host:port/database; characters such as / @ % in a password are written as %2F %40 %25."
    )
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        said = "it has a % that is followed by no number" if "percent-encoded" in str(error) else str(error).strip()
        raise BadConfig(f"cannot read the server's address: {said}", hint) from None
    place = str(given.get("host", "")) + str(given.get("dbname", ""))
    if "@" in place or not re.fullmatch(r"[\d,]*", str(given.get("port", ""))):
        raise BadConfig("cannot read the server's address: it cannot be told where its password ends", hint)
    return given
