"""Turns steps into one Hrana batch: a transaction that the server runs on its own.

It is BEGIN IMMEDIATE, then each statement if the one before it succeeded, then COMMIT. ROLLBACK follows if the
transaction is still open.

  a. `Step.expect` becomes a statement after the step, which fails if `changes()` is a different number.
  b. The rows of an insert travel as one JSON text: `INSERT ... VALUES (...)` becomes `INSERT ... SELECT ... FROM
     json_each(?)`. The server parses and prepares every statement of a batch, so 2,000 memories with their vectors
     take 0.25 s instead of 1.7 s. Each statement of a query then runs for all rows before the next one, so the number
     of a new chunk is counted back from the newest (`:behind`).
  c. A value may have 5 MB, so rows are grouped into texts of 4 MB.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import apsw

from retentive.storage import Params, Step
from retentive.storage.engines.libsql.hrana import Request, encode_value
from retentive.storage.non_utf8_text import bind_non_utf8, has_non_utf8
from retentive.storage.queries import Queries, make_row_getter, use_question_marks

MAX_GROUP_BYTES = 4_000_000  # of the rows in one text. The server's limit is 5 MiB
BEHIND = "behind"  # the one parameter that is not in a row: how many chunks were inserted after this one
GUARD = "SELECT json(iif(changes() = ?, '1', 'stale'))"  # 'stale' is not JSON, so it fails; RAISE is only for triggers

_INSERT = re.compile(
    r"(INSERT INTO \w+ \([^)]*\))\s+"
    r"(?:VALUES \((?P<values>.*?)\)|SELECT (?P<list>(?:(?!FROM).)*?)\s+WHERE (?P<where>.*))"
    r"(?P<conflict>\s+ON CONFLICT.*)?",
    re.DOTALL,
)


@cache
def split_statements(sql: str) -> tuple[str, ...]:
    """Split SQL into statements: the server takes them one by one."""
    found: list[str] = []
    rest = ""
    for line in sql.splitlines(keepends=True):
        rest += line
        if apsw.complete(rest):
            found.append(rest.strip().removesuffix(";"))
            rest = ""
    return (*found, rest.strip()) if rest.strip() else tuple(found)


class BatchStatement:
    """One statement of a named query, with `?` for its parameters."""

    def __init__(self, sql: str) -> None:
        self.sql, self.names = use_question_marks(sql)
        self._insert_match = _INSERT.fullmatch(self.sql)
        self._row_names = tuple(name for name in self.names if name != BEHIND)
        self._values = make_row_getter(self._row_names)

    @property
    def can_insert_many(self) -> bool:
        return self._insert_match is not None and "?" not in (self._insert_match["conflict"] or "")

    def values(self, row: Params) -> Iterator[Any]:
        values = iter(self._values(row))
        return (0 if name == BEHIND else next(values) for name in self.names)

    def as_json(self, row: Params) -> str:
        return json.dumps(self._values(row), ensure_ascii=False, default=bytes.hex)

    def insert_many_sql(self, blobs: Container[str]) -> str:
        """The statement for many rows, given as JSON. `blobs` are the parameters given as hexadecimal digits."""
        match = self._insert_match
        assert match is not None  # noqa: S101 - callers check `can_insert_many`
        names = iter(self.names)
        numbers = {name: number for number, name in enumerate(self._row_names)}

        def column(_: re.Match[str]) -> str:
            name = next(names)
            if name == BEHIND:
                return "(? - r.key)"
            return f"{'unhex' if name in blobs else ''}(r.value ->> {numbers[name]})"

        columns = re.sub(r"\?", column, match["values"] or match["list"])
        where = re.sub(r"\?", column, match["where"] or "true")
        return f"{match[1]} SELECT {columns} FROM json_each(?) r WHERE {where}{match['conflict'] or ''}"


class Batch:
    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._steps: list[Request] = [{"stmt": {"sql": "BEGIN IMMEDIATE"}}]
        self._guards: dict[int, str] = {}
        """The query whose expectation a statement checks, by the statement's place in the batch."""

    def build(self) -> list[Request]:
        commit = {"stmt": {"sql": "COMMIT"}, "condition": self._if_previous_ok()}
        inside = {"type": "not", "cond": {"type": "is_autocommit"}}
        return [*self._steps, commit, {"stmt": {"sql": "ROLLBACK"}, "condition": inside}]

    def find_guard(self, place: int) -> str | None:
        """The query whose guard is at this place, if there is one."""
        return self._guards.get(place)

    def add(self, sql: str, values: Iterable[Any] = ()) -> None:
        statement = {"sql": sql, "args": [encode_value(value) for value in values], "want_rows": False}
        self._steps.append({"stmt": statement, "condition": self._if_previous_ok()})

    def guard(self, query: str, sql: str, values: Iterable[Any] = ()) -> None:
        """Add a statement that fails if the query found an unexpected state."""
        self._guards[len(self._steps)] = query
        self.add(sql, values)

    def step(self, step: Step) -> None:
        rows = [*step.rows]
        parts = [_parse_statement(sql) for sql in split_statements(self._queries.sql(step.query))]
        if len(rows) > 1 and step.expect is None and all(part.can_insert_many for part in parts):
            self._add_rows(parts, rows)
            return
        for row in rows:
            if has_non_utf8(row.values()):
                sql = bind_non_utf8(self._queries.sql(step.query), row)
                self._add_row([BatchStatement(each) for each in split_statements(sql)], row)
            else:
                self._add_row(parts, row)
            if step.expect is not None:
                self.guard(step.query, GUARD, [step.expect])

    def _add_row(self, parts: Sequence[BatchStatement], row: Params) -> None:
        for part in parts:
            self.add(part.sql, part.values(row))

    def _add_rows(self, parts: Sequence[BatchStatement], rows: Sequence[Params]) -> None:
        names = {name for part in parts for name in part.names if name != BEHIND}
        blobs = {name for name in names if any(isinstance(row[name], bytes) for row in rows)}
        inserts = [(part.insert_many_sql(blobs), part.names.count(BEHIND)) for part in parts]
        done = 0
        for group in _group_rows(tuple(part.as_json(row) for part in parts) for row in rows):
            if len(group) == 1:  # it may be too long for a JSON text
                self._add_row(parts, rows[done])
            else:
                for (sql, behind), texts in zip(inserts, zip(*group, strict=True), strict=True):
                    self.add(sql, [*[len(group) - 1] * behind, f"[{','.join(texts)}]"])
            done += len(group)

    def _if_previous_ok(self) -> Mapping[str, Any]:
        return {"type": "ok", "step": len(self._steps) - 1}


def _group_rows(rows: Iterable[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """Group rows so that each group fits into a text. A row has a text per statement; the longest counts."""
    group: list[tuple[str, ...]] = []
    size = 0
    for row in rows:
        length = max(len(text) if text.isascii() else len(text.encode()) for text in row) + 1
        if group and size + length > MAX_GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(row)
        size += length
    if group:
        yield group


_parse_statement = cache(BatchStatement)
