"""The engine of a restricted view: it gives access to some namespaces of a database and no others.

Verbs check access themselves. The guard checks every query again, so that a verb that forgets to check is refused here:
each namespace in the parameters must be one of the view's. A query without a namespace is allowed only if it reveals
nothing about any namespace. PostgreSQL enforces the same on the server (`PostgresEngine.within`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from retentive.errors import Forbidden
from retentive.model import Bounds, Match, Matches, Scope, Space
from retentive.storage import NO_PARAMS, Engine, Finding, PageProgress, Params, Read, RowCounts, ScrubResult, Step

T = TypeVar("T")

# Queries without a namespace that reveal nothing about any.
NEUTRAL_QUERIES = {"change_head", "change_floor", "chunk_newest", "space_insert", "space_list", "space_list_states"}
# Queries about all namespaces, with the namespace in the first column: rows of others are left out.
NAMESPACE_FIRST_QUERIES = {"namespace_list", "purge_due"}
SCRUB_LATER = "the rows are deleted; their bytes remain until maintenance of the whole store"


class NamespaceGuard:
    def __init__(self, engine: Engine, bounds: Bounds) -> None:
        self.engine = engine
        self.bounds = bounds
        self.uses_local_index = engine.uses_local_index

    def read(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        if query in NAMESPACE_FIRST_QUERIES:
            rows = self.engine.read(query, params, filters)
            return [row for row in rows if isinstance(row[0], str) and self.bounds.cover(row[0])]
        self._check(query, params)
        return self.engine.read(query, params, filters)

    def read_many(self, reads: Sequence[Read]) -> list[list[tuple[Any, ...]]]:
        for each in reads:
            self._check(each.query, each.params)
        return self.engine.read_many(reads)

    def together(self, works: Sequence[Callable[[Engine], T]]) -> list[T]:
        return self.engine.together([partial(_run_guarded, work, self.bounds) for work in works])

    def apply(self, steps: Iterable[Step]) -> None:
        if self.bounds.read_only:
            raise Forbidden("this view of the store is read-only")
        work = [replace(each, rows=[*each.rows]) for each in steps]
        for each in work:
            for row in each.rows:
                self._check(each.query, row, self.bounds.can_write)
        self.engine.apply(work)

    def search_text(self, words: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        self._require_open(scope.namespaces)
        return self.engine.search_text(words, scope, limit)

    def search_vectors(
        self, vector: Any, space: Space, scope: Scope, limit: int | None, min_score: float | None
    ) -> list[Match]:
        self._require_open(scope.namespaces)
        return self.engine.search_vectors(vector, space, scope, limit, min_score)

    def read_nearest(self, vector: Any, space: Space, scope: Scope, limit: int) -> list[tuple[Any, ...]]:
        self._require_open(scope.namespaces)
        return self.engine.read_nearest(vector, space, scope, limit)

    def search_both(
        self, words: Sequence[str], vector: Any, space: Space, scope: Scope, limit: int, min_score: float | None
    ) -> Matches:
        self._require_open(scope.namespaces)
        return self.engine.search_both(words, vector, space, scope, limit, min_score)

    def tokens(self, text: str) -> list[str]:
        return self.engine.tokens(text)

    def migrate(self) -> None:
        raise _forbid_whole_store("migrate")

    def check(self) -> list[Finding]:
        raise _forbid_whole_store("check")

    def rebuild(self) -> None:
        raise _forbid_whole_store("rebuild")

    def backup(self, target: Path, progress: PageProgress) -> RowCounts:  # noqa: ARG002 - refused
        raise _forbid_whole_store("backup")

    def scrub(self, patience: float, *, reclaim: bool = False) -> ScrubResult:
        """Rewriting a file concerns all namespaces, so it is left to the maintenance of the whole store."""
        if reclaim:
            raise _forbid_whole_store("compact")
        return ScrubResult(done=False, detail=SCRUB_LATER) if self.uses_local_index else self.engine.scrub(patience)

    def facts(self) -> Mapping[str, Any]:
        """Only the engine and the schema: neither the location nor the size of the store."""
        known = self.engine.facts()
        return {name: known[name] for name in ("engine", "schema")}

    @property
    def integrity(self) -> None:
        raise _forbid_whole_store("integrity mode")

    @property
    def deployment(self) -> None:
        raise _forbid_whole_store("scale")

    def within(self, bounds: Bounds) -> Engine:
        if not self.bounds.can_read_all_of(bounds):
            raise _forbid_namespaces(bounds.names)
        return self.engine.within(self.bounds.limit_writes(bounds))

    def close(self) -> None:
        """Do nothing: the connections belong to the engine of the whole store."""

    def _check(self, query: str, params: Params, is_open: Callable[[str], bool] | None = None) -> None:
        """Refuse a query about a namespace that is not `is_open`; by default one that may not be read."""
        if "namespace" in params:
            self._require_open([params["namespace"]], is_open)
        elif "namespaces" in params:
            self._require_open(params["namespaces"], is_open)
        elif query not in NEUTRAL_QUERIES:
            raise _forbid_whole_store(query)

    def _require_open(self, namespaces: Iterable[str], is_open: Callable[[str], bool] | None = None) -> None:
        is_open = is_open or self.bounds.cover
        if outside := [name for name in namespaces if not is_open(name)]:
            raise _forbid_namespaces(outside)


def _run_guarded(work: Callable[[Engine], T], bounds: Bounds, engine: Engine) -> T:
    return work(NamespaceGuard(engine, bounds))


def _forbid_namespaces(namespaces: Iterable[str]) -> Forbidden:
    return Forbidden(f"namespace {', '.join(map(repr, namespaces))} is not open to this view")


def _forbid_whole_store(action: str) -> Forbidden:
    return Forbidden(f"{action} is about the whole store, of which this view sees a part")
