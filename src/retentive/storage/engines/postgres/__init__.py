"""PostgreSQL with pgvector, through psycopg: the engine beyond one machine.

The server has the indexes: postings for the words (exact BM25), halfvec for the vectors, scanned or by a graph. A
question is one statement, a write one pipeline and its commit. `link.py` has the connections, `setup.py` the schema,
`graphs.py` the HNSW indexes, `rows.py` says what becomes of values on their way.
"""

import copy
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from psycopg import Pipeline

from retentive.errors import Closed, Invalid, Stale
from retentive.model import Bounds, Match, Matches, Scope, Space, Type
from retentive.storage import NOTHING, Engine, Finding, Pages, Params, Scrubbed, Step, step
from retentive.storage.brute_force import read_cosines
from retentive.storage.engines.postgres.codec import Binder, asked, unpacked, weighted
from retentive.storage.engines.postgres.connections import Connection, Link, Options
from retentive.storage.engines.postgres.error_map import translated
from retentive.storage.engines.postgres.graphs import Graphs
from retentive.storage.engines.postgres.replica import Replica
from retentive.storage.engines.postgres.setup import DIALECT, set_up
from retentive.storage.namespace_guard import Fence
from retentive.storage.queries import Queries, Statement
from retentive.storage.scopes import chunk_filters
from retentive.storage.tokenizer import Tokenizer
from retentive.text.fields import FIELD_WEIGHTS, FIELDS

T = TypeVar("T")

FOLD_AFTER = 100  # rows of statistics that a namespace has at most, on average, before they are folded into one
BULK_FROM = 50  # rows of a batch from which its statements are planned once, not for each row (1,450 -> 3,200 rows/s)
LONGEST_TERM = 300  # characters: an entry of an index has 2,704 bytes at most, of which a namespace may take 800
VACUUMED = (
    "dead rows make room for new ones; files of the server shrink by VACUUM FULL alone, which locks everybody out"
)
_NUMBERED = {"put_chunks", "put_access_log"}
_UNFILTERED = {"visible", "active"}
# What goes through much of a store: no timeout bounds it.
_LONG = {
    "chunk_broken", "derived_rebuild", "session_delete", "orphan_chunks", "orphan_memory_history",
    "orphan_record_history", "record_changed", "state_counts", "sessions_missing", "namespaces_missing",
    "sessions_lost", "space_activate", "vector_drop",
}  # fmt: skip
_UNSEEN = ("access_", "measure_", "lease_", "token_")  # queries that change nothing that is searched for

_CHECKS = {
    "check_memories": "memories and chunks",
    "check_chunks": "chunks and texts",
    "check_postings": "full text",
    "check_statistics": "statistics",
    "check_vectors": "chunks and vectors",
}


class Bound(NamedTuple):
    """A step, ready to be sent."""

    query: str
    statements: list[Statement]
    rows: list[Params]
    values: list[list[list[Any]]]
    """For each row, for each statement."""
    expect: int | None


class PostgresEngine:
    dialect = DIALECT
    in_process = False
    integrity = None  # for files: here the server keeps the rows

    def __init__(self, url: str, options: Options | None = None, *, replica: str = "", partitions: int = 0) -> None:
        self._options = options or Options()
        self._partitions = partitions
        self._process = os.getpid()
        self._tokenizer = Tokenizer()
        self._bind = Binder(self.tokens)
        fields = weighted(dict(zip(FIELDS, FIELD_WEIGHTS, strict=True)))
        self._queries = Queries(self.dialect, "= ANY (:{})", weighted=fields)
        self._spaces: dict[str, tuple[int, int]] = {}
        self._link = Link(url, self._options)
        self._replica = Replica(replica, self._options, self._link)
        self._graphs = Graphs(self._link)
        self._bounds: Bounds | None = None
        self._role_is_there = threading.Event()
        self.migrate()

    def read(self, query: str, params: Params = NOTHING, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        self._check_process()
        if query in _LONG:
            return self._slowly(query)
        statement = self._queries.statements(query, filters)[0]
        values = self._bind(statement.names, params)
        return self._read(lambda connection: _rows(connection, statement.sql, values))

    def apply(self, steps: Iterable[Step]) -> None:
        self._check_process()
        batch = [self._bound(step) for step in steps]
        batch += map(self._bound, [*_counting(batch), *_numbering(batch), *_folding(batch)])
        try:
            self._link.write(lambda connection, pipeline: self._run(connection, pipeline, batch), self._bounds)
        finally:  # also where it is not known whether it was kept
            if not all(bound.query.startswith(_UNSEEN) for bound in batch):
                self._replica.wrote()

    def search_text(self, words: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        terms = self.tokens(" ".join(words))
        if not terms:
            return []
        filters, params = chunk_filters(scope)
        return _ordered(self._ask("text_search", filters, {**params, "terms": terms, "limit": limit}), limit)

    def search_vectors(
        self, vector: Any, space: Space, scope: Scope, limit: int | None, floor: float | None
    ) -> list[Match]:
        filters, params = chunk_filters(scope)
        near = self._near(vector, space, scope, filters, limit, floor)
        if near is None:
            return []
        rows = self._ask(f"vectors_{near[0]}", filters, {**params, **near[1]}, space.dimension)
        return _ordered(rows, limit)

    def search_both(
        self, words: Sequence[str], vector: Any, space: Space, scope: Scope, limit: int, floor: float | None
    ) -> Matches:
        terms, (filters, params) = self.tokens(" ".join(words)), chunk_filters(scope)
        near = self._near(vector, space, scope, filters, limit, floor)
        if not terms or near is None:
            found = self.search_text(words, scope, limit)
            cosines = read_cosines(self, vector, space, scope.namespaces, [match.chunk for match in found])
            return Matches(found, self.search_vectors(vector, space, scope, limit, floor), cosines)
        values = {**params, **near[1], "terms": terms, "limit": limit}
        rows = self._ask(f"both_{near[0]}", filters, values, space.dimension)
        by_words, by_vector, both = ([row[1:] for row in rows if row[0] == part] for part in (0, 1, 2))
        return Matches(_ordered(by_words, limit), _ordered(by_vector, limit), {row[0]: row[1] for row in both})

    def tokens(self, text: str) -> list[str]:
        return [token[:LONGEST_TERM] for token in self._tokenizer(text)]

    def migrate(self) -> None:
        set_up(self._link, self._partitions, restricted=bool(self._options.namespaces))

    def within(self, bounds: Bounds) -> Engine:
        """By the server itself: every transaction is restricted, as by `restrict_to`, over the same connections."""
        if not self._role_is_there.is_set():
            set_up(self._link, self._partitions, restricted=True)
            self._role_is_there.set()
        view = copy.copy(self)
        view._bounds = bounds  # noqa: SLF001 - a copy of our own
        return Fence(view, bounds)

    def check(self) -> list[Finding]:
        repair = "Run `retentive doctor --repair`."
        facts = self.facts()
        versions = f"PostgreSQL {facts['postgresql']}, pgvector {facts['pgvector']}"
        broken = ", ".join(name for (name,) in self.read("check_indexes"))
        found = [
            Finding("server", ok=True, detail=versions),
            Finding("indexes", not broken, f"not whole: {broken}" if broken else "whole", repair if broken else ""),
        ]
        for query, name in _CHECKS.items():
            count = self._slowly(query)[0][0]
            found.append(Finding(name, not count, f"{count} disagree" if count else "agree", repair if count else ""))
        return found

    def rebuild(self) -> None:
        self.apply([Step("derived_rebuild", [{}])])
        self._graphs.mend()

    def backup(self, target: Path, progress: Pages) -> Mapping[str, int]:  # noqa: ARG002 - the server's
        hint = "Use pg_dump or the server's own backups, or copy it into a file: `retentive migrate SERVER FILE`."
        raise Invalid("the store is in PostgreSQL, and so are its backups", hint)

    def scrub(self, patience: float, *, reclaim: bool = False) -> Scrubbed:  # noqa: ARG002 - nobody is waited for
        """Postings go with their rows, and dead rows are the server's to clear away, if it is not told to now."""
        if reclaim:
            return self._vacuum()
        return Scrubbed(
            done=True,
            detail="no row or posting is left; dead rows may keep the bytes until the server vacuums them, and so may"
            " its write-ahead log, its replicas and its backups",
        )

    def _vacuum(self) -> Scrubbed:
        """On a connection apart: it takes long, and cannot be done inside a transaction."""
        with closing(self._link.connect()) as connection, translated(self._link.where):
            connection.execute("SELECT set_config('statement_timeout', '0', false)")
            for statement in self._queries.statements("vacuum"):
                connection.execute(statement.sql)
        return Scrubbed(done=True, detail=VACUUMED)

    def facts(self) -> Mapping[str, Any]:
        size, schema, server, vector = self.read("facts")[0]
        return {
            "engine": "postgresql",
            "where": self._link.where,
            "bytes": size,
            "schema": schema,
            "postgresql": server,
            "pgvector": vector,
        }

    def close(self) -> None:
        if os.getpid() != self._process:
            return
        self._graphs.close()
        self._replica.close()
        self._link.close()

    def _ask(self, query: str, filters: Sequence[str], params: Params, dimension: int = 0) -> list[tuple[Any, ...]]:
        self._check_process()
        statement = self._queries.statements(query, filters)[0]
        sql = statement.sql.replace("halfvec(0)", f"halfvec({int(dimension)})")
        values = self._bind(statement.names, params)
        return self._replica.read(lambda connection: _rows(connection, sql, values), self._bounds)

    def _near(
        self, vector: Any, space: Space, scope: Scope, filters: Sequence[str], limit: int | None, floor: float | None
    ) -> tuple[str, dict[str, Any]] | None:
        """Which way the vectors are searched, and what the query has to know; None: there are none of this space."""
        id, dimension = self._space(space.name)
        if dimension != space.dimension:
            return None
        depth = None if limit is None else limit + limit // 4 + 10  # the last places are decided by the full question
        params = {**asked(vector), "space": id, "floor": floor, "depth": depth}
        bound = None if depth is None else self._graphs.bound(id, depth)
        self._graphs.asked(id, dimension, scope.namespaces)
        filtered = not _UNFILTERED.issuperset(filters) or scope.types != tuple(Type) or scope.within is not None
        way = ("some" if filtered else "all") + ("" if bound is None else "_or_graph")
        return way, {**params, "most": bound}

    def _space(self, name: str) -> tuple[int, int]:
        """Its number and dimension, which never change; zeros if it is not there."""
        if name not in self._spaces:
            rows = self.read("space_find", {"space": name})
            if not rows:
                return 0, 0
            self._spaces[name] = rows[0]
        return self._spaces[name]

    def _slowly(self, query: str) -> list[tuple[Any, ...]]:
        """For what reads all there is."""
        sql = self._queries.statements(query)[0].sql

        def work(connection: Connection) -> list[tuple[Any, ...]]:
            with connection.transaction():
                connection.execute("SET LOCAL statement_timeout = 0")
                return _rows(connection, sql, [])

        return self._read(work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self._link.read(work, bounds=self._bounds)

    def _bound(self, step: Step) -> Bound:
        """Everything is worked out before the transaction begins."""
        statements, rows = self._queries.statements(step.query), [*step.rows]
        values = [[self._bind(statement.names, row) for statement in statements] for row in rows]
        return Bound(step.query, statements, rows, values, step.expect)

    def _run(self, connection: Connection, pipeline: Pipeline, batch: Sequence[Bound]) -> None:
        guards = []
        _suit(connection, batch)
        for bound in batch:
            if bound.expect is None and len(bound.statements) == 1:
                if bound.rows:
                    connection.cursor().executemany(bound.statements[0].sql, [row[0] for row in bound.values])
                continue
            for row in bound.values:
                for statement, values in zip(bound.statements, row, strict=True):
                    cursor = connection.execute(statement.sql, values)
                if bound.expect is not None:
                    guards.append((cursor, bound))
        pipeline.sync()
        for cursor, bound in guards:
            if cursor.rowcount != bound.expect:
                where = self._link.where
                raise Stale(f"{where}: {bound.query} found another state than the one it was decided on")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            where = self._link.where
            raise Closed(f"{where} was opened before a fork", "Open the store in the forked process itself.")


def _suit(connection: Connection, batch: Sequence[Bound]) -> None:
    """The settings of a transaction to what it is to do."""
    if sum(len(bound.rows) for bound in batch) >= BULK_FROM:
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    if not _LONG.isdisjoint(bound.query for bound in batch):
        connection.execute("SET LOCAL statement_timeout = 0")


def _counting(batch: Sequence[Bound]) -> Iterator[Step]:
    """The chunks that are new, for the statistics of each namespace."""
    rows, tokens = Counter[str](), Counter[str]()
    for bound in batch:
        if "chunk_insert" in bound.query or bound.query == "put_chunks":
            fields = [at for at, name in enumerate(bound.statements[0].names) if name.startswith("f_")]
            for row, (values,) in zip(bound.rows, bound.values, strict=True):
                if row.get("status", "active") == "active":  # what is moved here may have ended
                    rows[row["namespace"]] += 1
                    tokens[row["namespace"]] += sum(values[at].count(" ") + 1 for at in fields if values[at])
    if rows:
        added = [{"namespace": name, "rows": count, "tokens": tokens[name]} for name, count in sorted(rows.items())]
        yield Step("statistics_add", added)


def _numbering(batch: Sequence[Bound]) -> Iterator[Step]:
    """Rows that were moved here brought their numbers; those that come are to be higher."""
    for bound in batch:
        if bound.query in _NUMBERED and bound.rows:
            yield step(f"{bound.query}_numbers", upto=max(row["n"] for row in bound.rows))


def _folding(batch: Sequence[Bound]) -> Iterator[Step]:
    """Now and then: the more was appended, the likelier."""
    namespaces = sorted({row["namespace"] for bound in batch if "chunk" in bound.query for row in bound.rows})
    if random.random() < len(namespaces) / FOLD_AFTER:  # noqa: S311 - nothing depends on it
        yield Step("statistics_fold", [{"namespace": namespace} for namespace in namespaces])


def _rows(connection: Connection, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    cursor = connection.execute(sql, values)
    return unpacked(cursor.fetchall(), cursor.description or ())


def _ordered(rows: Iterable[Sequence[Any]], limit: int | None) -> list[Match]:
    matches = [Match(*row) for row in rows]
    matches.sort(key=lambda match: (-match.score, -match.time, -match.chunk))
    return matches[:limit]


__all__ = ["Options", "PostgresEngine"]
