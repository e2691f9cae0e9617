"""PostgreSQL with pgvector, through psycopg: the engine beyond one machine.

The server has the indexes: postings for the words (exact BM25), halfvec for the vectors, scanned or by a graph. A
question is one statement, a write one pipeline and its commit. `connections.py` has the connections, `setup.py`
the schema, `graphs.py` the HNSW indexes, `codec.py` converts values. Traits in the headers of the queries
(`QueryTraits`) tell what a query needs beside its statements: statistics, sequences, no timeout.
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
from retentive.model import Bounds, ItemType, Match, Matches, Scope, Space
from retentive.storage import NO_PARAMS, Engine, Finding, PageProgress, Params, RowCounts, ScrubResult, Step, step
from retentive.storage.engine_search import read_cosines
from retentive.storage.engines.postgres.codec import Binder, encode_question, render_weights, unpack_vectors
from retentive.storage.engines.postgres.connections import Connection, Connections, Options
from retentive.storage.engines.postgres.deployment import Deployment
from retentive.storage.engines.postgres.error_map import translate_errors
from retentive.storage.engines.postgres.graphs import Graphs
from retentive.storage.engines.postgres.replica import Replica
from retentive.storage.engines.postgres.setup import DIALECT, set_up
from retentive.storage.namespace_guard import NamespaceGuard
from retentive.storage.queries import Queries, QueryTraits, SqlStatement
from retentive.storage.scopes import chunk_filters
from retentive.storage.tokenizer import Tokenizer
from retentive.text.search_fields import FIELD_WEIGHTS, SEARCH_FIELDS

T = TypeVar("T")

FOLD_ROWS = 100  # rows of statistics that a namespace has on average before they are folded into one
BULK_ROWS = 50  # from so many on, the statements of a batch are planned once, not per row (1,450 -> 3,200 rows/s)
MAX_TERM_CHARS = 300  # an entry of an index has 2,704 bytes at most, of which a namespace may take 800
VACUUM_DETAIL = (
    "dead rows make room for new ones; files of the server shrink by VACUUM FULL alone, which locks everybody out"
)
_UNFILTERED = {"visible", "active"}  # filters that nearly every row passes

_CHECKS = {
    "check_memories": "memories and chunks",
    "check_chunks": "chunks and texts",
    "check_postings": "full text",
    "check_statistics": "statistics",
    "check_vectors": "chunks and vectors",
}


class BoundStep(NamedTuple):
    """A step, ready to be sent."""

    query: str
    traits: QueryTraits
    statements: list[SqlStatement]
    rows: list[Params]
    values: list[list[list[Any]]]
    """By row, then by statement."""
    expect: int | None


class VectorPlan(NamedTuple):
    """How the vectors are searched."""

    variant: str
    """The end of the query's name: `some` or `all` rows of the scope, with or without the graph of the space."""
    params: dict[str, Any]


class PostgresEngine:
    dialect = DIALECT
    uses_local_index = False
    integrity = None  # for files: here the server keeps the rows

    def __init__(self, url: str, options: Options | None = None, *, replica: str = "", partitions: int = 0) -> None:
        self._options = options or Options()
        self._partitions = partitions
        self._process = os.getpid()
        self._tokenizer = Tokenizer()
        self._bind = Binder(self.tokens)
        fields = render_weights(dict(zip(SEARCH_FIELDS, FIELD_WEIGHTS, strict=True)))
        self._queries = Queries(self.dialect, "= ANY (:{})", weighted=fields)
        self._spaces: dict[str, tuple[int, int]] = {}
        self._link = Connections(url, self._options)
        self._replica = Replica(replica, self._options, self._link)
        self._graphs = Graphs(self._link)
        self._bounds: Bounds | None = None
        self._role_is_ready = threading.Event()
        self.migrate()

    def read(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        self._require_same_process()
        statement = self._queries.statements(query, filters)[0]
        values = self._bind(statement.names, params)
        has_timeout = self._queries.traits(query).timeout != "none"

        def fetch(connection: Connection) -> list[tuple[Any, ...]]:
            if has_timeout:
                return _fetch_rows(connection, statement.sql, values)
            with connection.transaction():
                connection.execute("SET LOCAL statement_timeout = 0")
                return _fetch_rows(connection, statement.sql, values)

        return self._read(fetch)

    def apply(self, steps: Iterable[Step]) -> None:
        self._require_same_process()
        batch = [self._bind_step(step) for step in steps]
        derived = [*_count_chunks(batch), *_raise_sequences(batch), *_fold_statistics(batch)]
        batch += [self._bind_step(step) for step in derived]
        try:
            self._link.write(lambda connection, pipeline: self._run(connection, pipeline, batch), self._bounds)
        finally:  # also where it is not known whether it was kept
            if any(bound.traits.searched != "no" for bound in batch):
                self._replica.note_write()

    def search_text(self, words: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        terms = self.tokens(" ".join(words))
        if not terms:
            return []
        filters, params = chunk_filters(scope)
        return _rank_matches(self._search("text_search", filters, {**params, "terms": terms, "limit": limit}), limit)

    def search_vectors(
        self, vector: Any, space: Space, scope: Scope, limit: int | None, min_score: float | None
    ) -> list[Match]:
        filters, params = chunk_filters(scope)
        plan = self._plan_vectors(vector, space, scope, filters, limit, min_score)
        if plan is None:
            return []
        rows = self._search(f"vectors_{plan.variant}", filters, {**params, **plan.params}, space.dimension)
        return _rank_matches(rows, limit)

    def search_both(
        self, words: Sequence[str], vector: Any, space: Space, scope: Scope, limit: int, min_score: float | None
    ) -> Matches:
        terms, (filters, params) = self.tokens(" ".join(words)), chunk_filters(scope)
        plan = self._plan_vectors(vector, space, scope, filters, limit, min_score)
        if not terms or plan is None:
            found = self.search_text(words, scope, limit)
            cosines = read_cosines(self, vector, space, scope.namespaces, [match.chunk for match in found])
            return Matches(found, self.search_vectors(vector, space, scope, limit, min_score), cosines)
        values = {**params, **plan.params, "terms": terms, "limit": limit}
        rows = self._search(f"both_{plan.variant}", filters, values, space.dimension)
        by_text, by_vector, cosine_rows = ([row[1:] for row in rows if row[0] == part] for part in (0, 1, 2))
        cosines = {row[0]: row[1] for row in cosine_rows}
        return Matches(_rank_matches(by_text, limit), _rank_matches(by_vector, limit), cosines)

    def tokens(self, text: str) -> list[str]:
        return [token[:MAX_TERM_CHARS] for token in self._tokenizer(text)]

    def migrate(self) -> None:
        set_up(self._link, self._partitions, restricted=bool(self._options.namespaces))

    def within(self, bounds: Bounds) -> Engine:
        """Have the server restrict every transaction, as with `restrict_to`, over the same connections."""
        if not self._role_is_ready.is_set():
            set_up(self._link, self._partitions, restricted=True)
            self._role_is_ready.set()
        view = copy.copy(self)
        view._bounds = bounds  # noqa: SLF001 - a copy of our own
        return NamespaceGuard(view, bounds)

    def check(self) -> list[Finding]:
        repair = "Run `repair()`."
        facts = self.facts()
        versions = f"PostgreSQL {facts['postgresql']}, pgvector {facts['pgvector']}"
        broken = ", ".join(name for (name,) in self.read("check_indexes"))
        found = [
            Finding("server", ok=True, detail=versions),
            Finding("indexes", not broken, f"not whole: {broken}" if broken else "whole", repair if broken else ""),
        ]
        for query, name in _CHECKS.items():
            count = self.read(query)[0][0]
            found.append(Finding(name, not count, f"{count} disagree" if count else "agree", repair if count else ""))
        return found

    def rebuild(self) -> None:
        self.apply([Step("derived_rebuild", [{}])])
        self._graphs.build_missing()

    def backup(self, target: Path, progress: PageProgress) -> RowCounts:  # noqa: ARG002 - the server's
        hint = "Use pg_dump or the server's own backups, or copy it into a file: `Retentive.migrate(SERVER, FILE)`."
        raise Invalid("the store is in PostgreSQL, and so are its backups", hint)

    def scrub(self, patience: float, *, reclaim: bool = False) -> ScrubResult:  # noqa: ARG002 - nobody is waited for
        """Postings are deleted with their rows. Dead rows are cleared by the server, now only with `reclaim`."""
        if reclaim:
            return self._vacuum()
        return ScrubResult(
            done=True,
            detail="no row or posting is left; dead rows may keep the bytes until the server vacuums them, and so may"
            " its write-ahead log, its replicas and its backups",
        )

    def _vacuum(self) -> ScrubResult:
        """Vacuum on a separate connection: it takes long, and cannot run inside a transaction."""
        with closing(self._link.connect()) as connection, translate_errors(self._link.where):
            connection.execute("SELECT set_config('statement_timeout', '0', false)")
            for statement in self._queries.statements("vacuum"):
                connection.execute(statement.sql)
        return ScrubResult(done=True, detail=VACUUM_DETAIL)

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

    @property
    def deployment(self) -> Deployment:
        return Deployment(self._link, self._replica.connections)

    def close(self) -> None:
        if os.getpid() != self._process:
            return
        self._graphs.close()
        self._replica.close()
        self._link.close()

    def _search(self, query: str, filters: Sequence[str], params: Params, dimension: int = 0) -> list[tuple[Any, ...]]:
        self._require_same_process()
        statement = self._queries.statements(query, filters)[0]
        sql = statement.sql.replace("halfvec(0)", f"halfvec({int(dimension)})")
        values = self._bind(statement.names, params)
        return self._replica.read(lambda connection: _fetch_rows(connection, sql, values), self._bounds)

    def _plan_vectors(
        self, vector: Any, space: Space, scope: Scope, filters: list[str], limit: int | None, min_score: float | None
    ) -> VectorPlan | None:
        """Choose between reading every vector and using the graph; None if the store has no such space."""
        id, dimension = self._find_space(space.name)
        if dimension != space.dimension:
            return None
        depth = None if limit is None else limit + limit // 4 + 10  # halfvec picks, full precision ranks
        params = {**encode_question(vector), "space": id, "min_score": min_score, "depth": depth}
        max_scanned = None if depth is None else self._graphs.max_scanned_rows(id, depth)
        self._graphs.note_question(id, dimension, scope.namespaces)
        has_all_types = scope.types == tuple(ItemType) and scope.events_of_session is None
        is_filtered = not _UNFILTERED.issuperset(filters) or not has_all_types
        variant = ("some" if is_filtered else "all") + ("" if max_scanned is None else "_or_graph")
        return VectorPlan(variant, {**params, "most": max_scanned})

    def _find_space(self, name: str) -> tuple[int, int]:
        """The number and dimension of a space, which never change; zeros if it does not exist."""
        if name not in self._spaces:
            rows = self.read("space_find", {"space": name})
            if not rows:
                return 0, 0
            self._spaces[name] = rows[0]
        return self._spaces[name]

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self._link.read(work, bounds=self._bounds)

    def _bind_step(self, step: Step) -> BoundStep:
        """Convert all values of a step before the transaction begins."""
        statements, rows = self._queries.statements(step.query), [*step.rows]
        values = [[self._bind(statement.names, row) for statement in statements] for row in rows]
        return BoundStep(step.query, self._queries.traits(step.query), statements, rows, values, step.expect)

    def _run(self, connection: Connection, pipeline: Pipeline, batch: Sequence[BoundStep]) -> None:
        """Send all statements, then compare how many rows each guarded one changed with the number expected."""
        guards = []
        _configure_transaction(connection, batch)
        for bound in batch:
            if bound.expect is None:
                _send_rows(connection, bound)
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

    def _require_same_process(self) -> None:
        if os.getpid() != self._process:
            where = self._link.where
            raise Closed(f"{where} was opened before a fork", "Open the store in the forked process itself.")


def _send_rows(connection: Connection, bound: BoundStep) -> None:
    """Each statement with all rows, which costs the driver less than each row with all statements."""
    if bound.rows:
        for statement, values in zip(bound.statements, zip(*bound.values, strict=True), strict=True):
            connection.cursor().executemany(statement.sql, values)


def _configure_transaction(connection: Connection, batch: Sequence[BoundStep]) -> None:
    if sum(len(bound.rows) for bound in batch) >= BULK_ROWS:
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    if any(bound.traits.timeout == "none" for bound in batch):
        connection.execute("SET LOCAL statement_timeout = 0")


def _count_chunks(batch: Sequence[BoundStep]) -> Iterator[Step]:
    """Add the new chunks and their tokens to the statistics of each namespace."""
    rows, tokens = Counter[str](), Counter[str]()
    for bound in batch:
        if bound.traits.counts == "chunks":
            place, fields = _find_text_fields(bound.statements)
            for row, values in zip(bound.rows, bound.values, strict=True):
                if row.get("status", "active") == "active":  # a migrated chunk may be inactive
                    rows[row["namespace"]] += 1
                    texts = (values[place][field] for field in fields)
                    tokens[row["namespace"]] += sum(text.count(" ") + 1 for text in texts if text)
    if rows:
        added = [{"namespace": name, "rows": count, "tokens": tokens[name]} for name, count in sorted(rows.items())]
        yield Step("statistics_add", added)


def _find_text_fields(statements: Sequence[SqlStatement]) -> tuple[int, list[int]]:
    """The statement that inserts the texts of a chunk, and where its tokens are among the values."""
    place = next(at for at, statement in enumerate(statements) if "f_content" in statement.names)
    return place, [at for at, name in enumerate(statements[place].names) if name.startswith("f_")]


def _raise_sequences(batch: Sequence[BoundStep]) -> Iterator[Step]:
    """Raise sequences above the numbers that migrated rows brought along, so that new rows get higher ones."""
    for bound in batch:
        if bound.traits.sequence and bound.rows:
            yield step(bound.traits.sequence, upto=max(row["n"] for row in bound.rows))


def _fold_statistics(batch: Sequence[BoundStep]) -> Iterator[Step]:
    """Fold the statistics of the namespaces now and then: the more was appended, the likelier."""
    folded = (bound for bound in batch if bound.traits.folds == "statistics")
    namespaces = sorted({row["namespace"] for bound in folded for row in bound.rows})
    if random.random() < len(namespaces) / FOLD_ROWS:  # noqa: S311 - nothing depends on it
        yield Step("statistics_fold", [{"namespace": namespace} for namespace in namespaces])


def _fetch_rows(connection: Connection, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    cursor = connection.execute(sql, values)
    return unpack_vectors(cursor.fetchall(), cursor.description or ())


def _rank_matches(rows: Iterable[Sequence[Any]], limit: int | None) -> list[Match]:
    matches = [Match(*row) for row in rows]
    matches.sort(key=lambda match: (-match.score, -match.time, -match.chunk))
    return matches[:limit]


__all__ = ["Options", "PostgresEngine"]
