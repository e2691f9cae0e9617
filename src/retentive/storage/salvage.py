"""Fills a new store with all rows that can be read from a damaged file.

SQLite reads a table as a whole. If it stops at a damaged page, the table is read page by page instead (`btree.py`).
Leaves that belong to no tree any more are assigned to the table whose columns most of their rows fit. Indexes and the
full-text index are not copied but rebuilt from the rows. Rows that fit no table as they are, such as a second row of
one key, are returned, so that nothing is lost.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from retentive.storage.btree import PageFile, Row
from retentive.storage.columns import TABLES
from retentive.storage.migrations import load_migrations
from retentive.storage.non_utf8_text import NonUtf8Text, decode_row, select_as_bytes
from retentive.storage.store_file import apply_migration, open_for_reading, read_applied

_TEXT_ROWS, _TEXT_INDEX = "chunks_fts_content", "chunks_fts"
_RECOGNISED_TABLES = TABLES.keys() - {"leases", "measures", "meta", "spaces"}
"""Tables whose rows cannot be mistaken for those of others. The others have two or three plain values; their stray rows
are rebuilt, or lost."""
_SCHEMA_COLUMNS = 5
_SCHEMA_ROOT = 1  # the page where the list of tables begins
_TABLES = """
SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
  AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT LIKE 'chunks!_%' ESCAPE '!' AND name <> 'migrations'
"""


class _UnreadableTable(Exception):
    """SQLite cannot read a table of the old file to its end."""


class Columns(NamedTuple):
    """The columns of a table in the order in which its pages have them."""

    names: tuple[str, ...]
    defaults: tuple[Any, ...]
    """The defaults of columns that were added later: older rows lack them."""
    number: str | None
    """The column that is the number of the row itself."""
    has_numbers: bool = True
    """Whether rows have numbers: the table is not WITHOUT ROWID."""

    def name_values(self, row: Row) -> dict[str, Any] | None:
        """The values of a row by column; None if it is not a row of this table."""
        if len(row.values) > len(self.names) or self.has_numbers != (row.number is not None):
            return None
        values = dict(zip(self.names, (*row.values, *self.defaults[len(row.values) :]), strict=True))
        return {**values, self.number: row.number} if self.number else values


class Salvage(NamedTuple):
    rows: Counter[str]
    """The number of rows read, by table."""
    unreadable: Counter[str]
    """The number of pages that could not be read in full, by table."""
    left: list[tuple[str, dict[str, Any]]]
    """Rows that fit in no table as they are, each with the table it was read from."""


def begin_store(fresh: Path) -> None:
    """Make a file that is not empty: SQLite would finish copying an empty one before it is filled."""
    with closing(apsw.Connection(str(fresh))) as target:
        target.execute("CREATE TABLE begun (x)")


def fill_store(fresh: Path, old: Path) -> Salvage:
    """Fill a begun file from a damaged one that has no log beside it; its schema is then that of the old one."""
    with (
        closing(apsw.Connection(str(fresh))) as target,
        open_for_reading(old) as source,
        closing(PageFile(old)) as pages,
    ):
        _make_schema(target, source)
        work = _Salvaging(target, source, pages)
        target.execute("BEGIN")  # if it fails, the file is thrown away
        for (name,) in target.execute(_TABLES).fetchall():
            work.copy_table(str(name))
        work.place_strays()
        work.copy_text()
        target.execute("COMMIT")
        return Salvage(work.rows, work.unreadable, work.left)


def _make_schema(target: apsw.Connection, source: apsw.Connection) -> None:
    """Make the schema of the old store, or the newest one if the old one cannot be read."""
    known = load_migrations("sqlite")
    with suppress(apsw.Error):
        known = [each for each in known if each.number in read_applied(source)] or known
    target.execute("DROP TABLE begun")
    for migration in known:
        apply_migration(target, migration)
    target.execute("DELETE FROM meta")


class _Salvaging:
    def __init__(self, target: apsw.Connection, source: apsw.Connection, pages: PageFile) -> None:
        self._target, self._source, self._pages = target, source, pages
        self.rows: Counter[str] = Counter()
        self.unreadable: Counter[str] = Counter()
        self.left: list[tuple[str, dict[str, Any]]] = []
        self._read: set[str] = set()
        """Tables that were read page by page."""
        self._roots = dict(_find_roots(pages))

    def copy_table(self, name: str) -> None:
        left = len(self.left)
        self._target.execute("SAVEPOINT one_table")
        try:
            count = self._insert(name, self._read_sql(name))
        except _UnreadableTable:
            self._target.execute("ROLLBACK TO one_table")
            del self.left[left:]
            self._read.add(name)
            count = self._insert(name, self._read_pages(name, self._columns(name)))
        self._target.execute("RELEASE one_table")
        self.rows[name] += count

    def place_strays(self) -> None:
        """Insert the rows of leaves that belong to no tree into the tables that they fit."""
        if not self._read:
            return
        for root in self._roots.values():
            for _ in self._pages.read_tree(root, []):
                pass
        self._pages.reach_free_pages()
        wanted = {name: self._columns(name) for name in sorted(self._read & _RECOGNISED_TABLES)}
        for leaf in self._pages.read_strays():
            for name, columns in wanted.items():
                rows = [values for row in leaf if (values := columns.name_values(row))]
                sound = sum(not TABLES[name].find_damage(values) for values in rows)
                if sound * 2 > len(leaf):  # a damaged row among them is found by the check-up
                    self.rows[name] += self._insert(name, rows)
                    break

    def copy_text(self) -> None:
        """Copy the texts of the full-text index, which is rebuilt from them. Lost texts are rebuilt later."""
        fields = [str(row[1]) for row in self._target.execute(f"PRAGMA table_info({_TEXT_INDEX})").fetchall()]
        sql = f"INSERT INTO {_TEXT_INDEX} (rowid, {', '.join(fields)}) VALUES (?{', ?' * len(fields)})"
        numbers: list[Any] = self._target.execute("SELECT n FROM chunks").fetchall()
        known = {number for (number,) in numbers}
        for number, *texts in self._read_text(len(fields)):
            if number in known and all(text is None or isinstance(text, str) for text in texts):
                self._target.execute(sql, (number, *texts))
                known.remove(number)

    def _read_text(self, fields: int) -> Iterator[Sequence[Any]]:
        names = ["id", *(f"c{number}" for number in range(fields))]
        try:
            yield from [(*row.values(),) for row in self._read_sql(_TEXT_ROWS, names)]
        except _UnreadableTable:
            columns = Columns(tuple(names), (None,) * len(names), "id")
            yield from [(*row.values(),) for row in self._read_pages(_TEXT_ROWS, columns)]

    def _read_sql(self, name: str, columns: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Errors of the old file are `_UnreadableTable`; those of the new one, such as a full disk, are not."""
        try:
            names = columns or [str(row[1]) for row in self._source.execute(f"PRAGMA table_info({name})").fetchall()]
            quoted = ", ".join(f'"{each}"' for each in names)
            sql = select_as_bytes(f'SELECT {quoted} FROM "{name}" NOT INDEXED', len(names))
            for row in self._source.execute(sql):
                yield dict(zip(names, decode_row(row), strict=True))
        except (apsw.CorruptError, apsw.SQLError, apsw.NotADBError) as error:
            raise _UnreadableTable(name) from error

    def _read_pages(self, name: str, columns: Columns) -> Iterator[dict[str, Any]]:
        unreadable: list[int] = []
        if name in self._roots:
            for row in self._pages.read_tree(self._roots[name], unreadable):
                if values := columns.name_values(row):
                    yield values
        self.unreadable[name] += len(unreadable)

    def _columns(self, name: str) -> Columns:
        found: list[Any] = self._target.execute(f"PRAGMA table_info({name})").fetchall()
        key = sorted((row for row in found if row[5]), key=lambda row: row[5])
        if _has_numbers(self._target, name):
            is_number = len(key) == 1 and str(key[0][2]).upper() == "INTEGER"
            return Columns(_names(found), _defaults(found), str(key[0][1]) if is_number else None)
        ordered = [*key, *(row for row in found if not row[5])]
        return Columns(_names(ordered), _defaults(ordered), None, has_numbers=False)

    def _insert(self, name: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Insert rows and return how many were inserted. Refused rows go to `left`, unless the table has them."""
        count = 0
        for values in rows:
            marks = ", ".join(map(_mark, values.values()))
            names = ", ".join(f'"{each}"' for each in values)
            sql = f'INSERT OR IGNORE INTO "{name}" ({names}) VALUES ({marks})'
            self._target.execute(sql, (*values.values(),))
            if self._target.changes():
                count += 1
            elif not self._is_there(name, values):
                self.left.append((name, dict(values)))
        return count

    def _is_there(self, name: str, values: Mapping[str, Any]) -> bool:
        same = " AND ".join(f'"{each}" IS {_mark(value)}' for each, value in values.items())
        return bool(self._target.execute(f'SELECT 1 FROM "{name}" WHERE {same}', (*values.values(),)).fetchall())


def _find_roots(pages: PageFile) -> Iterator[tuple[str, int]]:
    """The root page of each table and index, as far as the schema can be read."""
    for row in pages.read_tree(_SCHEMA_ROOT, []):
        if len(row.values) == _SCHEMA_COLUMNS:
            _, name, _, root, _ = row.values
            if isinstance(name, str) and isinstance(root, int) and root > 0:
                yield name, root


def _mark(value: Any) -> str:
    return "CAST(? AS TEXT)" if isinstance(value, NonUtf8Text) else "?"


def _has_numbers(connection: apsw.Connection, table: str) -> bool:
    """Whether the rows of a table have numbers: it is not WITHOUT ROWID."""
    rows: list[Any] = connection.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (table,)).fetchall()
    return not rows[0][0]


def _names(columns: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(row[1]) for row in columns)


def _defaults(columns: Sequence[Any]) -> tuple[Any, ...]:
    """The defaults of columns as the schema has them: NULL, a number, or an empty text."""
    return tuple(None if row[4] is None else int(row[4]) if str(row[4]).isdecimal() else "" for row in columns)
