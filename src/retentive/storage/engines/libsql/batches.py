"""Steps as one Hrana batch: a transaction that the server carries through on its own.

It is BEGIN IMMEDIATE; each statement, if the one before it went well; COMMIT, likewise; ROLLBACK, if still inside.

  a. What a step expects is asked by a statement after it, which fails if `changes()` is another number.
  b. The rows of a step that inserts travel as one JSON text, and `INSERT ... VALUES (...)` becomes `INSERT ... SELECT
     ... FROM json_each(?)`: the server parses and prepares every statement of a batch, so that 2,000 memories with
     their vectors take 0.25 s instead of 1.7 s. Several statements of one name are then run for all rows each, so the
     number of a new chunk is counted back from the newest (`:behind`).
  c. A value may have 5 MB, so rows are cut into texts of 4 MB.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import apsw

from retentive.storage import Params, Step
from retentive.storage.broken_text import bind_broken, has_broken
from retentive.storage.engines.libsql.hrana import Request, sent
from retentive.storage.queries import Queries, getter, parameters

MOST_BYTES = 4_000_000  # of rows in one text. The server's limit is 5 MiB
BEHIND = "behind"  # the one parameter that no row brings
GUARD = "SELECT json(iif(changes() = ?, '1', 'stale'))"  # fails on what is no JSON; RAISE is for triggers alone

_INSERT = re.compile(
    r"(INSERT INTO \w+ \([^)]*\))\s+"
    r"(?:VALUES \((?P<values>.*?)\)|SELECT (?P<list>(?:(?!FROM).)*?)\s+WHERE (?P<where>.*))"
    r"(?P<conflict>\s+ON CONFLICT.*)?",
    re.DOTALL,
)


@cache
def statements(sql: str) -> tuple[str, ...]:
    """One by one, as the server wants them."""
    found: list[str] = []
    rest = ""
    for line in sql.splitlines(keepends=True):
        rest += line
        if apsw.complete(rest):
            found.append(rest.strip().removesuffix(";"))
            rest = ""
    return (*found, rest.strip()) if rest.strip() else tuple(found)


class Statement:
    """One of a named query, with `?` for its parameters."""

    def __init__(self, sql: str) -> None:
        self.sql, self.names = parameters(sql)
        self._for_all = _INSERT.fullmatch(self.sql)
        self._given = tuple(name for name in self.names if name != BEHIND)
        self._values = getter(self._given)

    @property
    def can_take_all(self) -> bool:
        return self._for_all is not None and "?" not in (self._for_all["conflict"] or "")

    def values(self, row: Params) -> Iterator[Any]:
        given = iter(self._values(row))
        return (0 if name == BEHIND else next(given) for name in self.names)

    def as_json(self, row: Params) -> str:
        return json.dumps(self._values(row), ensure_ascii=False, default=bytes.hex)

    def for_all(self, blobs: Container[str]) -> str:
        """The same for rows that come as JSON, blobs among them as hexadecimal digits."""
        match = self._for_all
        assert match is not None  # noqa: S101 - who calls has asked `can_take_all`
        names = iter(self.names)
        numbers = {name: number for number, name in enumerate(self._given)}

        def column(_: re.Match[str]) -> str:
            name = next(names)
            if name == BEHIND:
                return "(? - r.key)"
            return f"{'unhex' if name in blobs else ''}(r.value ->> {numbers[name]})"

        what = re.sub(r"\?", column, match["values"] or match["list"])
        where = re.sub(r"\?", column, match["where"] or "true")
        return f"{match[1]} SELECT {what} FROM json_each(?) r WHERE {where}{match['conflict'] or ''}"


class Batch:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._steps: list[Request] = [{"stmt": {"sql": "BEGIN IMMEDIATE"}}]
        self._guards: dict[int, str] = {}
        """By the place of the statement: what was decided on another state if it fails."""

    def finished(self) -> list[Request]:
        commit = {"stmt": {"sql": "COMMIT"}, "condition": self._fine()}
        inside = {"type": "not", "cond": {"type": "is_autocommit"}}
        return [*self._steps, commit, {"stmt": {"sql": "ROLLBACK"}, "condition": inside}]

    def guarded(self, place: int) -> str | None:
        return self._guards.get(place)

    def add(self, sql: str, values: Iterable[Any] = ()) -> None:
        statement = {"sql": sql, "args": [sent(value) for value in values], "want_rows": False}
        self._steps.append({"stmt": statement, "condition": self._fine()})

    def guard(self, what: str, sql: str, values: Iterable[Any] = ()) -> None:
        """Go on only if this statement does not fail."""
        self._guards[len(self._steps)] = what
        self.add(sql, values)

    def step(self, step: Step) -> None:
        rows = [*step.rows]
        parts = [_statement(sql) for sql in statements(self._queries.sql(step.query))]
        if len(rows) > 1 and step.expect is None and all(part.can_take_all for part in parts):
            self._all(parts, rows)
            return
        for row in rows:
            if has_broken(row.values()):
                sql = bind_broken(self._queries.sql(step.query), row)
                self._one([Statement(each) for each in statements(sql)], row)
            else:
                self._one(parts, row)
            if step.expect is not None:
                self.guard(step.query, GUARD, [step.expect])

    def _one(self, parts: Sequence[Statement], row: Params) -> None:
        for part in parts:
            self.add(part.sql, part.values(row))

    def _all(self, parts: Sequence[Statement], rows: Sequence[Params]) -> None:
        names = {name for part in parts for name in part.names if name != BEHIND}
        blobs = {name for name in names if any(isinstance(row[name], bytes) for row in rows)}
        said = [(part.for_all(blobs), part.names.count(BEHIND)) for part in parts]
        done = 0
        for group in _grouped(tuple(part.as_json(row) for part in parts) for row in rows):
            if len(group) == 1:  # perhaps because it is too long for one text
                self._one(parts, rows[done])
            else:
                for (sql, behind), texts in zip(said, zip(*group, strict=True), strict=True):
                    self.add(sql, [*[len(group) - 1] * behind, f"[{','.join(texts)}]"])
            done += len(group)

    def _fine(self) -> Mapping[str, Any]:
        return {"type": "ok", "step": len(self._steps) - 1}


def _grouped(rows: Iterable[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """As many rows as may travel together. Of each row there is a text for every statement; the longest counts."""
    group: list[tuple[str, ...]] = []
    size = 0
    for row in rows:
        length = max(len(text) if text.isascii() else len(text.encode()) for text in row) + 1
        if group and size + length > MOST_BYTES:
            yield group
            group, size = [], 0
        group.append(row)
        size += length
    if group:
        yield group


_statement = cache(Statement)
