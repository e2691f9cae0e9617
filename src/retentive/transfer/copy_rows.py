"""A whole store into another, empty one, of whatever engine.

Table by table in the order of keys, a page to a commit. How far it came is marked in the target in the same commit, so
that a move that was stopped goes on from there and nothing is copied twice. At the end every table is read from both
sides once more: the numbers of rows and the sums of their hashes must be equal. What is derived and numbered (chunks,
the fields of their full text, their vectors) moves as it is, bit by bit; nothing is embedded again. The index of the
words is made by the target, as with any write.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from retentive.errors import Conflict, Corrupt, Stale
from retentive.storage import Engine, Params, Step, step
from retentive.storage.broken_text import has_broken
from retentive.storage.columns import TABLES, Table

REPAIR_FIRST = "Run `retentive doctor --repair` on it first."
PAGE = 500  # rows that share a commit
SOURCE = "move_source"
Progress = Callable[[str, int], None]


MOVED = tuple(table for table in TABLES.values() if table.is_moved)


class Moved(NamedTuple):
    """Rows of a table, and the sum of their hashes, the same on both sides."""

    table: str
    rows: int
    checksum: str


def migrate(source: Engine, target: Engine, store_id: str, progress: Progress | None = None) -> list[Moved]:
    """`store_id` names the source, so that only its own move is gone on with."""
    _begin(target, store_id)
    for table in MOVED:
        _copy(source, target, table, progress or (lambda _, __: None))
    moved = [_compared(source, target, table) for table in MOVED]
    target.apply([step("end_move")])
    return moved


def _begin(target: Engine, store_id: str) -> None:
    before = _meta(target, SOURCE)
    if before == store_id:
        return
    if before is not None or any(target.read(f"copy_{each.name}", {**each.after(None), "limit": 1}) for each in MOVED):
        raise Conflict("the target is not empty", "Give a new one; a move that was stopped goes on by itself.")
    marks = [step("meta_set", key=_mark(table), value="") for table in MOVED]
    target.apply([step("meta_set", key=SOURCE, value=store_id), *marks])


def _copy(source: Engine, target: Engine, table: Table, progress: Progress) -> None:
    mark = _meta(target, _mark(table)) or ""
    done, after = (json.loads(mark)["rows"], json.loads(mark)["after"]) if mark else (0, table.after(None))
    while page := source.read(f"copy_{table.name}", {**after, "limit": PAGE}):
        rows = [dict(zip(table.columns, row, strict=True)) for row in page]
        _refuse_broken(table, rows)
        done, after = done + len(page), table.after(page[-1])
        now = json.dumps({"rows": done, "after": after})
        try:
            moving = step("mark_move", expect=1, key=_mark(table), value=now, before=mark)
            target.apply([moving, *_put(table, rows)])
        except Stale as error:
            hint = "Move into a new one, while nobody else uses it."
            raise Conflict("another process is writing to the target", hint) from error
        mark = now
        progress(table.name, done)


def _refuse_broken(table: Table, rows: Sequence[Params]) -> None:
    """Texts that are not UTF-8 fit no other engine."""
    if broken := next((row for row in rows if has_broken(row.values())), None):
        raise Corrupt(f"the source has a damaged {table.noun}, {table.name_row(broken)}", REPAIR_FIRST)


def _put(table: Table, rows: Sequence[Params]) -> Iterator[Step]:
    if table.name == "chunks" and any(row["f_content"] is None for row in rows):
        raise Corrupt("the source has rows without their full text", REPAIR_FIRST)
    yield Step(f"put_{table.name}", rows)


def _compared(source: Engine, target: Engine, table: Table) -> Moved:
    here, there = _sum(source, table), _sum(target, table)
    if here != there:
        hint = "Was the source written to meanwhile? Move it again, into a new target, while nothing writes to it."
        raise Corrupt(f"{table.name}: {here[0]} rows in the source, {there[0]} in the target, or not the same", hint)
    return Moved(table.name, here[0], f"{here[1]:016x}")


def _sum(engine: Engine, table: Table) -> tuple[int, int]:
    """The number of rows, and the sum of their hashes, which no order matters to."""
    count = total = 0
    for row in _rows(engine, table):
        count, total = count + 1, (total + _hash(row)) % (1 << 64)
    return count, total


def _rows(engine: Engine, table: Table) -> Iterator[Sequence[Any]]:
    after = table.after(None)
    while page := engine.read(f"copy_{table.name}", {**after, "limit": PAGE}):
        yield from page
        after = table.after(page[-1])


def _hash(row: Sequence[Any]) -> int:
    values = [value.hex() if isinstance(value, bytes | memoryview) else value for value in row]
    return int.from_bytes(blake2b(json.dumps(values).encode(), digest_size=8).digest(), "big")


def _mark(table: Table) -> str:
    return f"move_{table.name}"


def _meta(engine: Engine, key: str) -> str | None:
    found = engine.read("meta_get", {"key": key})
    return found[0][0] if found else None
