"""Steps as one Hrana batch: a transaction that the server carries through on its own.

It is BEGIN IMMEDIATE; each statement, if the one before it went well; COMMIT, likewise; ROLLBACK, if still inside.

  a. What a step expects is asked by a statement after it, which fails if `changes()` is another number.
  b. The rows of a step that inserts travel as one JSON text, and `INSERT ... VALUES (...)` becomes `INSERT ... SELECT
     ... FROM json_each(?)`: the server parses and prepares every statement of a batch, so that 2,000 memories with
     their vectors take 0.35 s instead of 1.7 s. Several statements of one name are then run for all rows each.
  c. A value may have 5 MB, so rows are cut into texts of 4 MB.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import apsw

from retentive.storage import Params, Step
from retentive.storage.hrana import Request, sent
from retentive.storage.queries import Queries, getter, parameters

MOST_BYTES = 4_000_000  # of rows in one text. The server's limit is 5 MiB
GUARD = "SELECT json(iif(changes() = ?, '1', 'stale'))"  # fails on what is no JSON; RAISE is for triggers alone

_INSERT = re.compile(
    r"(INSERT INTO \w+ \([^)]*\))\s+"
    r"(?:VALUES \((?P<values>.*?)\)|SELECT (?P<list>(?:(?!FROM).)*?)\s+WHERE (?P<where>.*))"
    r"(?P<conflict>\s+ON CONFLICT.*)?",
    re.DOTALL,
)


def statements(sql: str) -> list[str]:
    """One by one, as the server wants them."""
    found, rest = [], ""
    for line in sql.splitlines(keepends=True):
        rest += line
        if apsw.complete(rest):
            found.append(rest.strip().removesuffix(";"))
            rest = ""
    return [*found, rest.strip()] if rest.strip() else found


class Statement(NamedTuple):
    """One of a named query, with `?` for its parameters."""

    sql: str
    names: tuple[str, ...]
    values: Callable[[Params], tuple[Any, ...]]

    def for_all(self, blobs: frozenset[str]) -> str | None:
        """The same for rows that come as JSON, blobs among them as hexadecimal digits. None: it cannot be said."""
        match = _INSERT.fullmatch(self.sql)
        if match is None:
            return None
        places = iter(self.names)
        numbers = {name: number for number, name in enumerate(self.names)}

        def column(_: re.Match[str]) -> str:
            name = next(places)
            value = f"(r.value ->> {numbers[name]})"
            return f"unhex{value}" if name in blobs else value

        what = re.sub(r"\?", column, match["values"] or match["list"])
        where = re.sub(r"\?", column, match["where"] or "true")
        return f"{match[1]} SELECT {what} FROM json_each(?) r WHERE {where}{match['conflict'] or ''}"


class Query:
    """A named query as a batch has it."""

    def __init__(self, queries: Queries, name: str) -> None:
        self._sql = queries.sql(name)
        self._for_all: dict[frozenset[str], list[str] | None] = {}

    @cached_property
    def statements(self) -> list[Statement]:
        return [Statement(*_positional(sql)) for sql in statements(self._sql)]

    def for_all(self, rows: Sequence[Params]) -> list[str] | None:
        """The statements for all rows at once, or None."""
        names = {name for each in self.statements for name in each.names}
        blobs = frozenset(name for name in names if any(isinstance(row[name], bytes) for row in rows))
        if blobs not in self._for_all:
            said = [sql for each in self.statements if (sql := each.for_all(blobs))]
            self._for_all[blobs] = said if len(said) == len(self.statements) else None
        return self._for_all[blobs]


class Batch:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._known: dict[str, Query] = {}
        self._steps: list[Request] = [{"stmt": {"sql": "BEGIN IMMEDIATE"}}]
        self._guards: dict[int, str] = {}
        """By the place of the statement: what was decided on another state if it fails."""

    def __len__(self) -> int:
        return len(self._steps)

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
        query = self._known.setdefault(step.query, Query(self._queries, step.query))
        at_once = query.for_all(rows) if len(rows) > 1 and step.expect is None else None
        if at_once:
            self._all(query, at_once, rows)
            return
        for row in rows:
            for statement in query.statements:
                self.add(statement.sql, statement.values(row))
            if step.expect is not None:
                self.guard(step.query, GUARD, [step.expect])

    def _all(self, query: Query, at_once: Sequence[str], rows: Sequence[Params]) -> None:
        for statement, sql in zip(query.statements, at_once, strict=True):
            for text in _texts(map(statement.values, rows)):
                self.add(sql, [text])

    def _fine(self) -> Mapping[str, Any]:
        return {"type": "ok", "step": len(self._steps) - 1}


def _texts(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Rows as JSON arrays, as many to a text as it may hold."""
    some: list[str] = []
    size = 0
    for row in rows:
        text = json.dumps(row, ensure_ascii=False, default=bytes.hex)
        length = len(text) if text.isascii() else len(text.encode())
        if some and size + length > MOST_BYTES:
            yield f"[{','.join(some)}]"
            some, size = [], 0
        some.append(text)
        size += length + 1
    if some:
        yield f"[{','.join(some)}]"


def _positional(sql: str) -> tuple[str, tuple[str, ...], Callable[[Params], tuple[Any, ...]]]:
    positional, names = parameters(sql)
    return positional, names, getter(names)
