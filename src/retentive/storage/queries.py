"""Named queries, read from the `.sql` files beside this module.

A file is a list of blocks. `-- name: x` begins a query, `-- fragment: x` a piece that queries take up as `{x}`;
comments under it describe it. `IN {each:x}` asks for one of the set given as parameter x, `{filters}` is the place
where the fragments that a caller names are put, all from these files: no SQL is ever made from a caller's text. A
dialect's folder adds to the common files and may replace what they say.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from retentive.storage import Params

_FOLDER = Path(__file__).parent / "queries"
_HEAD = re.compile(r"^-- (name|fragment): (\w+)\n((?:--.*\n)*)", re.MULTILINE)
_EACH = re.compile(r"IN \{each:(\w+)\}")
_PIECE = re.compile(r"\{(\w+)\}")
_PARAMETER = re.compile(r"(?<!:):([a-z]\w*)")  # and not a cast: ::text
_END = re.compile(r";\s*(?:\n|$)")


class Statement(NamedTuple):
    """One statement with `$1`, `$2` for its parameters, and their names in this order."""

    sql: str
    names: tuple[str, ...]


class Queries:
    def __init__(self, dialect: str | tuple[str, ...], each: str, **constants: str) -> None:
        """`each` says how this dialect asks for one of a set, e.g. `IN (SELECT value FROM json_each(:{}))`.

        Of several dialects, a later one adds to the earlier and may replace what they say.
        """
        self._dialects = (dialect,) if isinstance(dialect, str) else dialect
        self._each = each
        self._constants = constants
        self._ready: dict[tuple[str, tuple[str, ...]], str] = {}
        self._numbered: dict[tuple[str, tuple[str, ...]], list[Statement]] = {}
        self._positional: dict[str, tuple[str, Callable[[Params], tuple[Any, ...]]]] = {}

    def sql(self, name: str, filters: Sequence[str] = ()) -> str:
        key = (name, tuple(filters))
        found = self._ready.get(key)
        if found is None:
            found = self._ready[key] = self._compose(name, filters)
        return found

    def by_position(self, name: str) -> tuple[str, Callable[[Params], tuple[Any, ...]]]:
        """The query with `?` for its parameters, and what puts the values of a row in their order.

        For writes of many rows: finding a value by its name costs the driver more than binding it.
        """
        found = self._positional.get(name)
        if found is None:
            sql, names = parameters(self.sql(name))
            found = self._positional[name] = (sql, getter(names))
        return found

    def statements(self, name: str, filters: Sequence[str] = ()) -> list[Statement]:
        """The query's statements one by one, for drivers that number parameters and take one at a time."""
        key = (name, tuple(filters))
        found = self._numbered.get(key)
        if found is None:
            parts = _END.split(self.sql(name, filters))
            found = self._numbered[key] = [_numbered(part) for part in parts if part.strip()]
        return found

    def _compose(self, name: str, filters: Sequence[str]) -> str:
        pieces = {**self._blocks["fragment"], **self._constants}
        pieces["filters"] = "".join(" " + pieces[each] for each in filters)
        whole = self._blocks["name"][name]
        while _PIECE.search(whole):  # a fragment may take up others
            whole = _PIECE.sub(lambda match: pieces[match[1]], whole)
        return _EACH.sub(lambda match: self._each.format(match[1]), whole)

    @cached_property
    def _blocks(self) -> dict[str, dict[str, str]]:
        blocks: dict[str, dict[str, str]] = {"name": {}, "fragment": {}}
        folders = (_FOLDER, *(_FOLDER / dialect for dialect in self._dialects))
        for path in (path for folder in folders for path in sorted(folder.glob("*.sql"))):
            text = path.read_text("utf-8")
            heads = list(_HEAD.finditer(text))
            for head, following in zip(heads, [*heads[1:], None], strict=True):
                body = text[head.end() : following.start() if following else len(text)]
                blocks[head[1]][head[2]] = body.strip()
        return blocks


@cache
def parameters(sql: str) -> tuple[str, tuple[str, ...]]:
    """With `?` for its parameters, and their names in order."""
    return _PARAMETER.sub("?", sql), tuple(match[1] for match in _PARAMETER.finditer(sql))


def _numbered(sql: str) -> Statement:
    names: dict[str, int] = {}
    numbered = _PARAMETER.sub(lambda match: f"${names.setdefault(match[1], len(names) + 1)}", sql)
    return Statement(numbered.strip(), tuple(names))


def getter(names: Sequence[str]) -> Callable[[Params], tuple[Any, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda row: tuple(row[name] for name in names)
