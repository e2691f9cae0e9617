"""Copies all rows of a store into another, empty store of any engine.

Tables are copied one after another in the order of their keys, one page per commit. The same commit marks in the target
how far the copy has come. So a move that was stopped continues from there, and nothing is copied twice. At the end all
tables are read from both stores again: their row counts and the sums of their row hashes must be equal.

Derived rows (chunks, their full-text fields, their vectors) are copied unchanged, so nothing is embedded again. The
target builds its own full-text index, as with any write.
"""

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from retentive.errors import Conflict, Corrupt, Stale
from retentive.storage import Engine, Params
from retentive.storage.columns import TABLES, Table
from retentive.storage.non_utf8_text import has_non_utf8
from retentive.storage.tables import store_copies

REPAIR_FIRST = "Run `repair()` on it first."
PAGE_SIZE = 500  # rows that share a commit
MOVED_TABLES = tuple(table for table in TABLES.values() if table.is_moved)

Progress = Callable[[str, int], None]


class Moved(NamedTuple):
    """The number of rows of a table and the sum of their hashes, equal in both stores."""

    table: str
    rows: int
    checksum: str


def copy_store(source: Engine, target: Engine, store_id: str, progress: Progress | None = None) -> list[Moved]:
    """Copy all tables. `store_id` identifies the source: only a stopped move of the same store is continued."""
    _begin_move(target, store_id)
    for table in MOVED_TABLES:
        _copy_table(source, target, table, progress)
    moved = [_compare_table(source, target, table) for table in MOVED_TABLES]
    target.apply([store_copies.end_move_step()])
    return moved


def _begin_move(target: Engine, store_id: str) -> None:
    begun_by = store_copies.read_move_source(target)
    if begun_by == store_id:
        return
    if begun_by is not None or any(_has_rows(target, table) for table in MOVED_TABLES):
        raise Conflict("the target is not empty", "Give a new one; an interrupted migration continues by itself.")
    target.apply(store_copies.begin_move_steps(store_id, MOVED_TABLES))


def _has_rows(engine: Engine, table: Table) -> bool:
    return store_copies.read_table_page(engine, table, None, 1) is not None


def _copy_table(source: Engine, target: Engine, table: Table, progress: Progress | None) -> None:
    mark = store_copies.read_move_mark(target, table)
    count, after = 0, None
    if mark:
        position = json.loads(mark)
        count, after = position["rows"], position["after"]
    while page := store_copies.read_table_page(source, table, after, PAGE_SIZE):
        rows = [dict(zip(table.columns, row, strict=True)) for row in page.rows]
        _require_intact(table, rows)
        count, after = count + len(rows), page.next_key
        next_mark = json.dumps({"rows": count, "after": after})
        advance = store_copies.advance_move_step(table, mark, next_mark)
        try:
            target.apply([advance, store_copies.insert_rows_step(table, rows)])
        except Stale as error:
            hint = "Migrate to a new one, while no other program uses it."
            raise Conflict("another process is writing to the target", hint) from error
        mark = next_mark
        if progress:
            progress(table.name, count)


def _require_intact(table: Table, rows: Sequence[Params]) -> None:
    """Refuse rows that no other engine can hold: text that is not UTF-8, chunks without their full text."""
    for row in rows:
        if has_non_utf8(row.values()):
            raise Corrupt(f"the source has a damaged {table.noun}, {table.name_row(row)}", REPAIR_FIRST)
    if table.name == "chunks" and any(row["f_content"] is None for row in rows):
        raise Corrupt("the source has rows without their full text", REPAIR_FIRST)


class _Checksum(NamedTuple):
    rows: int
    hashes: int
    """The sum of the hashes of the rows, so that their order does not matter."""


def _compare_table(source: Engine, target: Engine, table: Table) -> Moved:
    expected, copied = _compute_checksum(source, table), _compute_checksum(target, table)
    if expected != copied:
        hint = "Was the source written to meanwhile? Migrate it again, to a new target, while nothing writes to it."
        raise Corrupt(
            f"{table.name}: {expected.rows} rows in the source, {copied.rows} in the target, or not the same", hint
        )
    return Moved(table.name, expected.rows, f"{expected.hashes:016x}")


def _compute_checksum(engine: Engine, table: Table) -> _Checksum:
    count = total = 0
    after = None
    while page := store_copies.read_table_page(engine, table, after, PAGE_SIZE):
        for row in page.rows:
            count += 1
            total = (total + _hash_row(row)) % (1 << 64)
        after = page.next_key
    return _Checksum(count, total)


def _hash_row(row: Sequence[Any]) -> int:
    values = [value.hex() if isinstance(value, bytes | memoryview) else value for value in row]
    return int.from_bytes(blake2b(json.dumps(values).encode(), digest_size=8).digest(), "big")
