"""The HNSW indexes of the vectors: one for each space, once it pays.

Reading every vector of a namespace is exact and quick while there are few (10,000: 4 ms); keeping a graph makes every
write slower (by 1 to 3 ms a row, a bulk load six times). So a space gets its graph when a namespace that is being asked
has grown so far that it would be used, beyond `GRAPH_FROM` rows at least; it is made in the background, without holding
up anybody (CONCURRENTLY), by one process of all (an advisory lock). A process that only asks once, such as the command
line, makes none; `rebuild` does.

A graph is over all namespaces, so looking for the rows of one means passing over the others: about `depth` times all
rows by its own. Where that is more than reading its own rows, they are read.
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
from retentive.storage.engines.postgres.connections import Connection, Link
from retentive.storage.engines.postgres.error_map import translated
from retentive.storage.engines.postgres.setup import LOCK

GRAPH_FROM = 10_000  # rows of a namespace
M, EF_CONSTRUCTION = 16, 100  # recall@10 at 100,000 rows of 384 dimensions: 0.99 to 1.00; built in under a minute
LARGEST_DIMENSION = 4000  # of what pgvector can index
PASSING = 40  # what passing over a row of the graph costs, in rows read one by one (30 us against 0.4 to 1)
KNOWN_SECONDS = 60.0  # for which it is believed what graphs there are
LOOK_EVERY = 64  # questions
DEPTH = 35  # rows that the usual question, for the best ten, is asked for
REST_SECONDS = 600.0  # after one that could not be made
_NAME = "vectors_graph_"


class Graph(NamedTuple):
    rows: float
    """Of its largest partition, as far as the server has counted them."""


class Graphs:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._known: dict[int, Graph] = {}
        self._looked = float("-inf")
        self._asked = 0
        self._resting_until = float("-inf")
        self._builder: threading.Thread | None = None
        self._building: Connection | None = None
        self._closed = False

    def bound(self, space: int, depth: int) -> int | None:
        """Up to how many rows reading them all is the better way; None: there is no other."""
        if time.monotonic() - self._looked > KNOWN_SECONDS:
            self._known = self._link.read(_found)
            self._looked = time.monotonic()
        graph = self._known.get(space)
        return None if graph is None else _bound(graph.rows, depth)

    def asked(self, space: int, dimension: int, namespaces: Sequence[str]) -> None:
        """Now and then, look whether it is time for a graph."""
        self._asked += 1
        if self._asked % LOOK_EVERY or space in self._known or dimension > LARGEST_DIMENSION:
            return
        if time.monotonic() < self._resting_until:
            return
        with self._lock:
            if self._builder is None or not self._builder.is_alive():
                arguments = (space, dimension, [*namespaces])
                self._builder = threading.Thread(target=self._see, args=arguments, name="retentive-graph", daemon=True)
                self._builder.start()

    def mend(self) -> None:
        """Make what is missing, and anew what was begun and not finished. Waits for it."""
        sql = (
            "SELECT id, dimension FROM spaces WHERE dimension <= $2 AND (id IN (SELECT space FROM vectors"
            " GROUP BY space, namespace HAVING count(*) >= $1) OR id IN (SELECT split_part(relname, '_', 3)::int"
            f" FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname ^@ '{_NAME}'))"
        )
        connection = self._link.connect()
        try:
            with translated(self._link.where):
                least = _bound(_largest(connection), DEPTH)
                for space, dimension in connection.execute(sql, (least, LARGEST_DIMENSION)).fetchall():
                    self._build(connection, space, dimension)
        finally:
            connection.close()
        self._looked = float("-inf")

    def close(self) -> None:
        self._closed = True
        connection, builder = self._building, self._builder
        if connection and builder and builder.is_alive():
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=5)
            builder.join(10)

    def _see(self, space: int, dimension: int, namespaces: list[str]) -> None:
        """In the background: a failure is tried again with a question much later, as it may take minutes to fail."""
        try:
            connection = self._building = self._link.connect()
            try:
                sql = "SELECT coalesce(sum(rows), 0) FROM statistics WHERE namespace = ANY ($1)"
                rows = connection.execute(sql, (namespaces,)).fetchall()[0][0]
                if not self._closed and rows >= _bound(_largest(connection), DEPTH):
                    self._build(connection, space, dimension)
                    self._looked = float("-inf")
            finally:
                self._building = None
                connection.close()
        except (psycopg.Error, StorageError):
            self._resting_until = time.monotonic() + REST_SECONDS

    @staticmethod
    def _build(connection: Connection, space: int, dimension: int) -> None:
        if connection.execute("SELECT pg_try_advisory_lock($1)", ((LOCK << 31) + space,)).fetchall() == [(False,)]:
            return  # somebody else is at it
        connection.execute("SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)")
        rows = connection.execute("SELECT count(*) FROM vectors WHERE space = $1", (space,)).fetchall()[0][0]
        needed = rows * (2 * dimension + 500) // 1024 + 65_536  # kilobytes; a graph that does not fit is slow to build
        connection.execute(f"SELECT set_config('maintenance_work_mem', '{min(needed, 2_000_000)}kB', false)")
        for table, name in _leaves(connection, space):
            sql = (
                f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table}"
                f" USING hnsw ((vector::halfvec({int(dimension)})) halfvec_ip_ops)"
                f" WITH (m = {M}, ef_construction = {EF_CONSTRUCTION}) WHERE space = {int(space)}"
            )
            try:
                _make(connection, name, sql)
            except errors.DiskFull:  # workers share memory, and containers have 64 MB of that unless told otherwise
                connection.execute("SELECT set_config('max_parallel_maintenance_workers', '0', false)")
                _make(connection, name, sql)


def _make(connection: Connection, name: str, sql: str) -> None:
    """In place of one that was begun and not finished, if there is one."""
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"
    if connection.execute(valid, (name,)).fetchall() == [(False,)]:
        connection.execute(f"DROP INDEX CONCURRENTLY {name}")
    connection.execute(sql)


def _bound(rows: float, depth: int) -> int:
    """Up to how many rows of a namespace reading them is better than a graph over so many of all namespaces."""
    return max(GRAPH_FROM, int(sqrt(PASSING * depth * rows)))


def _largest(connection: Connection) -> float:
    """Rows of the largest table that holds vectors, as far as the server has counted them."""
    sql = (
        "SELECT max(c.reltuples) FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
        " WHERE c.relkind = 'r' AND 'vectors'::regclass IN (c.oid, i.inhparent)"
    )
    return max(0.0, float(connection.execute(sql).fetchall()[0][0]))


def _leaves(connection: Connection, space: int) -> list[tuple[str, str]]:
    """The tables that hold the vectors, and the name of each one's graph. A partition that is added has none."""
    rows: list[Any] = connection.execute(
        "SELECT c.relname FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
        " WHERE c.relkind = 'r' AND 'vectors'::regclass IN (c.oid, i.inhparent)"
    ).fetchall()
    return [(table, f"{_NAME}{space}" + table.removeprefix("vectors")) for (table,) in rows]


def _found(connection: Connection) -> dict[int, Graph]:
    """The spaces whose graphs are whole."""
    rows: list[Any] = connection.execute(
        "SELECT split_part(c.relname, '_', 3)::int, bool_and(i.indisvalid), max(c.reltuples) FROM pg_class c"
        " JOIN pg_index i ON i.indexrelid = c.oid"
        f" WHERE c.relnamespace = current_schema()::regnamespace AND c.relname ^@ '{_NAME}' GROUP BY 1"
    ).fetchall()
    return {space: Graph(max(rows, 0.0)) for space, valid, rows in rows if valid}
