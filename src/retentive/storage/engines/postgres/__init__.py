"""PostgreSQL with pgvector, through psycopg: the engine beyond one machine.

The server has the indexes: postings for the words (exact BM25), halfvec for the vectors, scanned or by a graph. A
question is one statement, a write one pipeline with its commit. `connections.py` has the connections, `transactions.py`
what a transaction begins with, `setup.py` and `policies.py` the schema, `graphs.py` the HNSW indexes, `codec.py`
converts values, `shared_trips.py` has readers side by side ask together. Traits in the headers of the queries
(`QueryTraits`) tell what a query needs beside its statements: statistics, sequences, no timeout.
"""

import copy
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from psycopg import Cursor, Pipeline

from retentive.errors import Closed, Invalid, Stale
from retentive.model import Bounds, ItemType, Match, Matches, Scope, Space
from retentive.storage import NO_PARAMS, Engine, Finding, PageProgress, Params, Read, RowCounts, ScrubResult, Step, step
from retentive.storage.engine_search import read_cosines
from retentive.storage.engines.postgres.codec import Binder, encode_question, unpack_vectors
from retentive.storage.engines.postgres.connections import Connection, Connections, Options
from retentive.storage.engines.postgres.deployment import Deployment
from retentive.storage.engines.postgres.dialect import DIALECT, make_queries
from retentive.storage.engines.postgres.error_map import FAILED_GUARD, translate_errors
from retentive.storage.engines.postgres.graphs import Graphs
from retentive.storage.engines.postgres.replica import Replica
from retentive.storage.engines.postgres.setup import set_up
from retentive.storage.engines.postgres.shared_trips import Question, SharedTrips
from retentive.storage.engines.postgres.transactions import Call
from retentive.storage.namespace_guard import NamespaceGuard
from retentive.storage.queries import QueryTraits, SqlStatement
from retentive.storage.scopes import chunk_filters
from retentive.storage.tokenizer import Tokenizer

T = TypeVar("T")

FOLD_ROWS = 100  # rows of statistics that a namespace has on average before they are folded into one
BULK_ROWS = 50  # from so many on, the statements of a batch are planned once, not per row (1,450 -> 3,200 rows/s)
SPACE_INSERT = "space_insert"
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
        self._queries = make_queries()
        self._spaces: dict[str, tuple[int, int]] = {}
        self._known_spaces: set[str] = set()
        self._link = Connections(url, self._options)
        self._replica = Replica(replica, self._options, self._link)
        self._graphs = Graphs(self._link)
        self._bounds: Bounds | None = None
        self._trips: SharedTrips | None = None
        self._role_is_ready = threading.Event()
        self.migrate()

    def read(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        return self.read_many([Read(query, params, filters)])[0]

    def read_many(self, reads: Sequence[Read]) -> list[list[tuple[Any, ...]]]:
        self._require_same_process()
        calls = []
        for each in reads:
            statement = self._queries.statements(each.query, each.filters)[0]
            calls.append(Call(statement.sql, self._bind(statement.names, each.params)))
        has_timeout = all(self._queries.traits(each.query).timeout != "none" for each in reads)
        return [*map(_fetch_rows, self._fetch(Question(calls, is_search=False, has_timeout=has_timeout)))]

    def together(self, works: Sequence[Callable[[Engine], T]]) -> list[T]:
        view = copy.copy(self)
        view._trips = trips = SharedTrips(self._ask, len(works))  # noqa: SLF001 - a copy of our own
        return trips.run([partial(work, view) for work in works])

    def apply(self, steps: Iterable[Step]) -> None:
        self._require_same_process()
        batch = [self._bind_step(step) for step in steps if not self._inserts_known_space(step)]
        derived = [*_count_chunks(batch), *_raise_sequences(batch), *_fold_statistics(batch)]
        batch += [self._bind_step(step) for step in derived]
        try:
            self._link.write(lambda connection, pipeline: self._run(connection, pipeline, batch), self._bounds)
        finally:  # also where it is not known whether it was kept
            if any(bound.traits.searched != "no" for bound in batch):
                self._replica.note_write()
        if any(bound.query == "remove_spaces" for bound in batch):
            self._known_spaces.clear()
        self._known_spaces.update(row["space"] for bound in batch if bound.query == SPACE_INSERT for row in bound.rows)

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

    def read_nearest(self, vector: Any, space: Space, scope: Scope, limit: int) -> list[tuple[Any, ...]]:
        filters, params = chunk_filters(scope)
        plan = self._plan_vectors(vector, space, scope, filters, limit, None)
        if plan is None:
            return []
        values = {**params, **plan.params, "limit": limit}
        return self._search(f"memories_near_{plan.variant}", filters, values, space.dimension)

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
            if not self._link.has_pooler:  # which would keep the setting for somebody else
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
        (cursor,) = self._fetch(Question([Call(sql, values)], is_search=True, has_timeout=True))
        return _fetch_rows(cursor)

    def _fetch(self, question: Question) -> list[Cursor[Any]]:
        return self._trips.fetch(question) if self._trips else self._ask(question)

    def _ask(self, question: Question) -> list[Cursor[Any]]:
        """Ask the replica, if there is one and only searches are asked for; else the primary."""
        if question.is_search:
            return self._replica.fetch(question.calls, self._bounds)
        return self._link.fetch(question.calls, bounds=self._bounds, has_timeout=question.has_timeout)

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

    def _inserts_known_space(self, step: Step) -> bool:
        """Whether a step inserts a space that is there. On a cluster it would lock the table on every machine."""
        return step.query == SPACE_INSERT and all(row["space"] in self._known_spaces for row in step.rows)

    def _bind_step(self, step: Step) -> BoundStep:
        """Convert all values of a step before the transaction begins."""
        statements, rows = self._queries.statements(step.query), [*step.rows]
        values = [[self._bind(statement.names, row) for statement in statements] for row in rows]
        return BoundStep(step.query, self._queries.traits(step.query), statements, rows, values, step.expect)

    def _run(self, connection: Connection, pipeline: Pipeline, batch: Sequence[BoundStep]) -> None:
        """Send all statements. A guarded one fails if it changes another number of rows than expected.

        On a cluster such a statement would no longer be that of one machine. There the rows are counted here.
        """
        guards = []
        self._configure_transaction(connection, batch)
        for bound in batch:
            if bound.expect is None:
                _send_rows(connection, bound)
                continue
            for row in bound.values:
                for statement, values in zip(bound.statements[:-1], row[:-1], strict=True):
                    connection.execute(statement.sql, values)
                last = bound.statements[-1].sql
                sql = last if self._link.is_cluster else guard_statement(last, bound.expect)
                guards.append((connection.execute(sql, row[-1]), bound))
        if self._link.is_cluster and guards:
            pipeline.sync()
            if any(cursor.rowcount != bound.expect for cursor, bound in guards):
                raise Stale(f"{self._link.where}: {FAILED_GUARD}")

    def _configure_transaction(self, connection: Connection, batch: Sequence[BoundStep]) -> None:
        """A cluster plans each statement for the machine that has its namespace: there a generic plan cannot be."""
        if sum(len(bound.rows) for bound in batch) >= BULK_ROWS and not self._link.is_cluster:
            connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        if any(bound.traits.timeout == "none" for bound in batch):
            connection.execute("SET LOCAL statement_timeout = 0")

    def _require_same_process(self) -> None:
        if os.getpid() != self._process:
            where = self._link.where
            raise Closed(f"{where} was opened before a fork", "Open the store in the forked process itself.")


def _send_rows(connection: Connection, bound: BoundStep) -> None:
    """Each statement with all rows, which costs the driver less than each row with all statements."""
    if bound.rows:
        for statement, values in zip(bound.statements, zip(*bound.values, strict=True), strict=True):
            connection.cursor().executemany(statement.sql, values)


def guard_statement(sql: str, expect: int) -> str:
    """The statement, failing with a division by zero if it changes another number of rows."""
    return f"WITH guarded AS ({sql} RETURNING 1) SELECT 1 / (count(*) = {int(expect)})::int FROM guarded"


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


def _fetch_rows(cursor: Cursor[Any]) -> list[tuple[Any, ...]]:
    return unpack_vectors(cursor.fetchall(), cursor.description or ())


def _rank_matches(rows: Iterable[Sequence[Any]], limit: int | None) -> list[Match]:
    matches = [Match(*row) for row in rows]
    matches.sort(key=lambda match: (-match.score, -match.time, -match.chunk))
    return matches[:limit]


__all__ = ["Options", "PostgresEngine"]
