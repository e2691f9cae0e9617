"""HNSW indexes of the vectors: one graph for each space, once it pays.

Scanning every vector of a namespace is exact and quick while there are few (10,000: 4 ms). A graph makes every write
slower (by 1 to 3 ms a row, a bulk load six times). So a space gets its graph only when a namespace that is searched is
large enough to use it, with `MIN_GRAPH_ROWS` at least. The graph is built in the background without blocking anybody
(CONCURRENTLY), by one process of all (an advisory lock). A process that only searches once, such as the command line,
builds none; `rebuild` does.

A graph spans all namespaces, so finding the rows of one means skipping the others: about `depth` times all rows by its
own. If that costs more than scanning the rows of the namespace, they are scanned.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from math import sqrt
from typing import Any, NamedTuple

import psycopg
from psycopg import errors

from retentive.errors import StorageError
from retentive.storage.engines.postgres.connections import Connection, Connections
from retentive.storage.engines.postgres.error_map import translate_errors
from retentive.storage.engines.postgres.setup import LOCK
from retentive.storage.engines.postgres.transactions import SCHEMA

MIN_GRAPH_ROWS = 10_000  # of a namespace
M, EF_CONSTRUCTION = 16, 100  # recall@10 at 100,000 rows of 384 dimensions: 0.99 to 1.00; built in under a minute
MAX_DIMENSION = 4000  # that pgvector can index
SKIP_COST = 40  # of skipping a row of the graph, in rows scanned (30 us against 0.4 to 1)
CACHE_SECONDS = 60.0  # between two looks at which graphs exist
LOOK_EVERY = 64  # searches between two checks whether a graph is needed
USUAL_DEPTH = 35  # rows that a search for the best ten asks for
RETRY_SECONDS = 600.0  # after a build that failed
_INDEX_PREFIX = "vectors_graph_"


class Graph(NamedTuple):
    """A complete graph."""

    rows: float
    """The rows of its largest partition, as far as the server has counted them."""


class Graphs:
    """Which graphs exist, and the thread that builds missing ones."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._lock = threading.Lock()
        self._known: dict[int, Graph] = {}
        self._read_at = float("-inf")
        self._questions = 0
        self._retry_at = float("-inf")
        self._thread: threading.Thread | None = None
        self._build_connection: Connection | None = None
        self._closed = False

    def max_scanned_rows(self, space: int, depth: int) -> int | None:
        """Up to how many rows a scan is cheaper than the graph; None if there is no graph."""
        if time.monotonic() - self._read_at > CACHE_SECONDS:
            self._known = self._connections.read(_read_graphs)
            self._read_at = time.monotonic()
        graph = self._known.get(space)
        return None if graph is None else _max_scanned_rows(graph.rows, depth)

    def note_question(self, space: int, dimension: int, namespaces: Sequence[str]) -> None:
        """Check now and then, in the background, whether the space needs a graph."""
        self._questions += 1
        if self._questions % LOOK_EVERY or space in self._known or dimension > MAX_DIMENSION:
            return
        if self._connections.has_pooler:  # locks and settings of a session cannot be had through it
            return
        if time.monotonic() < self._retry_at:
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                arguments = (space, dimension, [*namespaces])
                self._thread = threading.Thread(
                    target=self._build_if_needed, args=arguments, name="retentive-graph", daemon=True
                )
                self._thread.start()

    def build_missing(self) -> None:
        """Build missing graphs, and rebuild unfinished ones. Waits for it. Through a pooler it does nothing."""
        if self._connections.has_pooler:
            return
        sql = (
            f"SELECT id, dimension FROM {SCHEMA}.spaces WHERE dimension <= $2"
            f" AND (id IN (SELECT space FROM {SCHEMA}.vectors"
            " GROUP BY space, namespace HAVING count(*) >= $1) OR id IN (SELECT split_part(relname, '_', 3)::int"
            f" FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace AND relname ^@ '{_INDEX_PREFIX}'))"
        )
        connection = self._connections.connect()
        try:
            with translate_errors(self._connections.where):
                min_rows = _max_scanned_rows(_count_largest_table(connection), USUAL_DEPTH)
                for space, dimension in connection.execute(sql, (min_rows, MAX_DIMENSION)).fetchall():
                    self._build(connection, space, dimension)
        finally:
            connection.close()
        self._read_at = float("-inf")

    def close(self) -> None:
        self._closed = True
        connection, builder = self._build_connection, self._thread
        if connection and builder and builder.is_alive():
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=5)
            builder.join(10)

    def _build_if_needed(self, space: int, dimension: int, namespaces: list[str]) -> None:
        """Build the graph if the namespaces are large enough. A failure is retried much later: it may take minutes."""
        try:
            connection = self._build_connection = self._connections.connect()
            try:
                sql = f"SELECT coalesce(sum(rows), 0) FROM {SCHEMA}.statistics WHERE namespace = ANY ($1)"
                rows = connection.execute(sql, (namespaces,)).fetchall()[0][0]
                if not self._closed and rows >= _max_scanned_rows(_count_largest_table(connection), USUAL_DEPTH):
                    self._build(connection, space, dimension)
                    self._read_at = float("-inf")
            finally:
                self._build_connection = None
                connection.close()
        except (psycopg.Error, StorageError):
            self._retry_at = time.monotonic() + RETRY_SECONDS

    @staticmethod
    def _build(connection: Connection, space: int, dimension: int) -> None:
        if connection.execute("SELECT pg_try_advisory_lock($1)", ((LOCK << 31) + space,)).fetchall() == [(False,)]:
            return  # another process builds it
        connection.execute("SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)")
        rows = connection.execute(f"SELECT count(*) FROM {SCHEMA}.vectors WHERE space = $1", (space,)).fetchall()[0][0]
        needed = rows * (2 * dimension + 500) // 1024 + 65_536  # kilobytes; a graph that does not fit is slow to build
        connection.execute(f"SELECT set_config('maintenance_work_mem', '{min(needed, 2_000_000)}kB', false)")
        for table, name in _list_vector_tables(connection, space):
            sql = (
                f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {SCHEMA}.{table}"
                f" USING hnsw ((vector::halfvec({int(dimension)})) halfvec_ip_ops)"
                f" WITH (m = {M}, ef_construction = {EF_CONSTRUCTION}) WHERE space = {int(space)}"
            )
            try:
                _create_index(connection, name, sql)
            except errors.DiskFull:  # workers share memory, and containers have 64 MB of that by default
                connection.execute("SELECT set_config('max_parallel_maintenance_workers', '0', false)")
                _create_index(connection, name, sql)


def _create_index(connection: Connection, name: str, sql: str) -> None:
    """Create an index, and drop an unfinished one of its name first."""
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"
    if connection.execute(valid, (f"{SCHEMA}.{name}",)).fetchall() == [(False,)]:
        connection.execute(f"DROP INDEX CONCURRENTLY {SCHEMA}.{name}")
    connection.execute(sql)


def _max_scanned_rows(rows: float, depth: int) -> int:
    """Up to how many rows of a namespace a scan is cheaper than a graph over `rows` of all namespaces."""
    return max(MIN_GRAPH_ROWS, int(sqrt(SKIP_COST * depth * rows)))


def _count_largest_table(connection: Connection) -> float:
    """Rows of the largest table that holds vectors, as far as the server has counted them."""
    sql = (
        "SELECT max(c.reltuples) FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
        f" WHERE c.relkind = 'r' AND '{SCHEMA}.vectors'::regclass IN (c.oid, i.inhparent)"
    )
    return max(0.0, float(connection.execute(sql).fetchall()[0][0]))


def _list_vector_tables(connection: Connection, space: int) -> list[tuple[str, str]]:
    """The tables that hold vectors, each with the name of its graph. A partition that was added later has none."""
    rows: list[Any] = connection.execute(
        "SELECT c.relname FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
        f" WHERE c.relkind = 'r' AND '{SCHEMA}.vectors'::regclass IN (c.oid, i.inhparent)"
    ).fetchall()
    return [(table, f"{_INDEX_PREFIX}{space}" + table.removeprefix("vectors")) for (table,) in rows]


def _read_graphs(connection: Connection) -> dict[int, Graph]:
    """The complete graphs, by space."""
    rows: list[Any] = connection.execute(
        "SELECT split_part(c.relname, '_', 3)::int, bool_and(i.indisvalid), max(c.reltuples) FROM pg_class c"
        " JOIN pg_index i ON i.indexrelid = c.oid"
        f" WHERE c.relnamespace = '{SCHEMA}'::regnamespace AND c.relname ^@ '{_INDEX_PREFIX}' GROUP BY 1"
    ).fetchall()
    return {space: Graph(max(rows, 0.0)) for space, valid, rows in rows if valid}
