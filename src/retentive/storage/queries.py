"""Named queries, read from the `.sql` files in `queries/`.

A file is a list of blocks. `-- name: x` begins a query; `-- fragment: x` begins a piece that queries include as `{x}`.
The comment lines below it describe it. Lines of the form `-- key: value` among them are traits (`QueryTraits`), which
tell an engine how to run the query.

`{x: y}` includes the fragment x about certain rows: in it, `{rows}` stands for the condition y, another fragment.

`IN {each:x}` tests for membership in the set given as parameter x. `{filters}` is where the fragments that a caller
names are inserted. All SQL comes from these files: none is ever made from a caller's text. The folder of a dialect adds
to the common files, and may replace blocks of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from retentive.storage import Params

_FOLDER = Path(__file__).parent / "queries"
_HEAD = re.compile(r"^-- (name|fragment): (\w+)\n((?:--.*\n)*)", re.MULTILINE)
_TRAIT = re.compile(r"^-- ([a-z]+): (\w+)$", re.MULTILINE)
_EACH = re.compile(r"IN \{each:(\w+)\}")
_PIECE = re.compile(r"\{(\w+)(?:: (\w+))?\}")
_PARAMETER = re.compile(r"(?<!:):([a-z]\w*)")  # and not a cast: ::text
_END = re.compile(r";\s*(?:\n|$)")

IN_JSON_ARRAY = "IN (SELECT value FROM json_each(:{}))"
"""SQLite's test for membership in a set: its values are bound as one JSON array."""

RowGetter = Callable[[Params], tuple[Any, ...]]
"""Returns the values of a row in the order of a query's parameters."""


class QueryTraits(NamedTuple):
    """The `-- key: value` lines of a query's header; empty where there is none. PostgreSQL's engine uses them."""

    counts: str = ""
    """`chunks`: each row inserts a chunk, to be added to the statistics of its namespace."""
    folds: str = ""
    """`statistics`: it appends rows to the statistics of its namespace, which are folded into one now and then."""
    sequence: str = ""
    """The query that raises a sequence to the highest number `n` of the rows: they brought their own numbers."""
    timeout: str = ""
    """`none`: it may go through much of the store, so the statement timeout does not apply."""
    searched: str = ""
    """`no`: it changes nothing that a search can find."""
    scope: str = ""
    """`store`: it is about all namespaces. On a cluster every machine is asked; all other queries ask one."""


class SqlStatement(NamedTuple):
    """One statement with `$1`, `$2` for its parameters, and their names in this order."""

    sql: str
    names: tuple[str, ...]


class _Block(NamedTuple):
    """A query or a fragment as it is written in its file."""

    kind: str
    name: str
    header: str
    sql: str


class Queries:
    """The queries of a dialect, composed at their first use."""

    def __init__(
        self,
        dialect: str | tuple[str, ...],
        set_test: str,
        qualify: Callable[[str], str] = lambda sql: sql,
        **constants: str,
    ) -> None:
        """`set_test` is the dialect's test for membership in a set, such as `IN_JSON_ARRAY`.

        `qualify` puts the schema before the names of tables.

        Given several dialects, a later one adds to the earlier ones and may replace their blocks. `constants` are
        further fragments.
        """
        self._dialects = (dialect,) if isinstance(dialect, str) else dialect
        self._set_test = set_test
        self._qualify = qualify
        self._constants = constants
        self._composed: dict[tuple[str, tuple[str, ...]], str] = {}
        self._numbered: dict[tuple[str, tuple[str, ...]], list[SqlStatement]] = {}
        self._positional: dict[str, tuple[str, RowGetter]] = {}

    def sql(self, name: str, filters: Sequence[str] = ()) -> str:
        key = (name, tuple(filters))
        sql = self._composed.get(key)
        if sql is None:
            sql = self._composed[key] = self._compose(name, filters)
        return sql

    def positional(self, name: str) -> tuple[str, RowGetter]:
        """The query with `?` for its parameters, and a function that puts the values of a row in their order.

        For writes of many rows: finding a value by its name costs the driver more than binding it.
        """
        found = self._positional.get(name)
        if found is None:
            sql, names = use_question_marks(self.sql(name))
            found = self._positional[name] = (sql, make_row_getter(names))
        return found

    def statements(self, name: str, filters: Sequence[str] = ()) -> list[SqlStatement]:
        """The query's statements one by one, for drivers that number parameters and take one statement at a time."""
        key = (name, tuple(filters))
        found = self._numbered.get(key)
        if found is None:
            parts = _END.split(self.sql(name, filters))
            found = self._numbered[key] = [_number_parameters(self._qualify(part)) for part in parts if part.strip()]
        return found

    @property
    def names(self) -> Iterable[str]:
        """The names of all queries."""
        return self._blocks["name"].keys()

    def traits(self, name: str) -> QueryTraits:
        return self._traits[name]

    def _compose(self, name: str, filters: Sequence[str]) -> str:
        pieces = {**self._blocks["fragment"], **self._constants}
        pieces["filters"] = "".join(" " + pieces[each] for each in filters)
        sql = self._blocks["name"][name]
        while _PIECE.search(sql):  # a fragment may include others
            sql = _PIECE.sub(lambda match: _include_piece(pieces, match), sql)
        return _EACH.sub(lambda match: self._set_test.format(match[1]), sql)

    @cached_property
    def _read_blocks(self) -> list[_Block]:
        folders = (_FOLDER, *(_FOLDER / dialect for dialect in self._dialects))
        paths = (path for folder in folders for path in sorted(folder.glob("*.sql")))
        return [block for path in paths for block in _parse_blocks(path.read_text("utf-8"))]

    @cached_property
    def _blocks(self) -> dict[str, dict[str, str]]:
        """The SQL of queries (`name`) and of fragments (`fragment`), by name."""
        blocks: dict[str, dict[str, str]] = {"name": {}, "fragment": {}}
        for block in self._read_blocks:
            blocks[block.kind][block.name] = block.sql
        return blocks

    @cached_property
    def _traits(self) -> dict[str, QueryTraits]:
        return {block.name: _parse_traits(block.header) for block in self._read_blocks if block.kind == "name"}


def _include_piece(pieces: Mapping[str, str], match: re.Match[str]) -> str:
    name, rows = match.groups()
    if rows is None:
        return pieces[name]
    return pieces[name].replace("{rows}", f"{{{rows}}}").replace(": rows}", f": {rows}}}")


def _parse_blocks(text: str) -> Iterator[_Block]:
    heads = list(_HEAD.finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        end = following.start() if following else len(text)
        kind, name, header = head.groups()
        yield _Block(kind, name, header, text[head.end() : end].strip())


def _parse_traits(header: str) -> QueryTraits:
    """Raise a `TypeError` for a key that is not a trait."""
    return QueryTraits(**dict(_TRAIT.findall(header)))


@cache
def use_question_marks(sql: str) -> tuple[str, tuple[str, ...]]:
    """The query with `?` for its parameters, and their names in order."""
    return _PARAMETER.sub("?", sql), tuple(match[1] for match in _PARAMETER.finditer(sql))


def _number_parameters(sql: str) -> SqlStatement:
    names: dict[str, int] = {}
    numbered = _PARAMETER.sub(lambda match: f"${names.setdefault(match[1], len(names) + 1)}", sql)
    return SqlStatement(numbered.strip(), tuple(names))


def make_row_getter(names: Sequence[str]) -> RowGetter:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda row: tuple(row[name] for name in names)
