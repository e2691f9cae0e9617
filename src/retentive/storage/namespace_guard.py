"""A database of which some namespaces may be touched and no others: the engine behind a restricted view.

Whatever a verb asks for is looked at once more here, so that a verb that forgets to ask whether it may still may not:
every namespace that a query names must be one of the view's, and of the queries that name none only those are let
through that tell nothing of anybody. Where the server can do the same by itself, it does (`PostgresEngine.within`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from retentive.errors import Forbidden
from retentive.model import Bounds, Match, Matches, Scope, Space
from retentive.storage import NOTHING, Engine, Finding, Pages, Params, Scrubbed, Step

OF_NOBODY = {"change_head", "change_floor", "chunk_newest", "space_insert", "space_list", "space_states"}
OF_MANY = {"namespace_list", "purge_due"}  # the namespace is in the first column
LATER = "the rows are gone; their bytes are left to the upkeep of the whole store"


class Fence:
    def __init__(self, engine: Engine, bounds: Bounds) -> None:
        self.engine = engine
        self.bounds = bounds
        self.in_process = engine.in_process

    def read(self, query: str, params: Params = NOTHING, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        if query in OF_MANY:
            rows = self.engine.read(query, params, filters)
            return [row for row in rows if isinstance(row[0], str) and self.bounds.cover(row[0])]
        self._check(query, params)
        return self.engine.read(query, params, filters)

    def apply(self, steps: Iterable[Step]) -> None:
        if self.bounds.read_only:
            raise Forbidden("this view of the store is for reading only")
        work = [replace(each, rows=[*each.rows]) for each in steps]
        for each in work:
            for row in each.rows:
                self._check(each.query, row, self.bounds.can_write)
        self.engine.apply(work)

    def search_text(self, words: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        self._cover(scope.namespaces)
        return self.engine.search_text(words, scope, limit)

    def search_vectors(
        self, vector: Any, space: Space, scope: Scope, limit: int | None, floor: float | None
    ) -> list[Match]:
        self._cover(scope.namespaces)
        return self.engine.search_vectors(vector, space, scope, limit, floor)

    def search_both(
        self, words: Sequence[str], vector: Any, space: Space, scope: Scope, limit: int, floor: float | None
    ) -> Matches:
        self._cover(scope.namespaces)
        return self.engine.search_both(words, vector, space, scope, limit, floor)

    def tokens(self, text: str) -> list[str]:
        return self.engine.tokens(text)

    def migrate(self) -> None:
        raise _whole("migrate")

    def check(self) -> list[Finding]:
        raise _whole("check")

    def rebuild(self) -> None:
        raise _whole("rebuild")

    def backup(self, target: Path, progress: Pages) -> Mapping[str, int]:  # noqa: ARG002 - refused
        raise _whole("backup")

    def scrub(self, patience: float, *, reclaim: bool = False) -> Scrubbed:
        """Rewriting a file is about all namespaces, and so would be what is found in it."""
        if reclaim:
            raise _whole("compact")
        return Scrubbed(done=False, detail=LATER) if self.in_process else self.engine.scrub(patience)

    def facts(self) -> Mapping[str, Any]:
        """Neither where the store is nor how large."""
        known = self.engine.facts()
        return {name: known[name] for name in ("engine", "schema")}

    @property
    def integrity(self) -> None:
        raise _whole("integrity mode")

    def within(self, bounds: Bounds) -> Engine:
        if not self.bounds.contain(bounds):
            raise _outside(bounds.names)
        return self.engine.within(self.bounds.narrow(bounds))

    def close(self) -> None:
        """Nothing here is its own."""

    def _check(self, query: str, params: Params, is_open: Callable[[str], bool] | None = None) -> None:
        """`is_open` says which namespaces the query may be about: by default those that may be read."""
        if "namespace" in params:
            self._cover([params["namespace"]], is_open)
        elif "namespaces" in params:
            self._cover(params["namespaces"], is_open)
        elif query not in OF_NOBODY:
            raise _whole(query)

    def _cover(self, namespaces: Iterable[str], is_open: Callable[[str], bool] | None = None) -> None:
        is_open = is_open or self.bounds.cover
        if outside := [name for name in namespaces if not is_open(name)]:
            raise _outside(outside)


def _outside(namespaces: Iterable[str]) -> Forbidden:
    return Forbidden(f"namespace {', '.join(map(repr, namespaces))} is not one of this view's")


def _whole(what: str) -> Forbidden:
    return Forbidden(f"{what} is about the whole store, of which this view sees a part")
