"""Damaged rows: how reading one becomes `DamagedRow`, and how the rest is still served.

Each table has one function that decodes a row, marked with `decodes`. If it fails, it raises `DamagedRow` with the id
of the row. A read of that one row raises the error. Lists leave the row out and report it: to the collector of the
answer (`collect_damage`), which names it in its notes, or else as a Python warning.

Reports are collected in a context variable, because the readers of rows are shared by all threads.
"""

import functools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Concatenate, ParamSpec, TypeVar

from retentive.errors import DamagedRow, DamageWarning
from retentive.storage import Engine
from retentive.storage.columns import TABLES, UNREADABLE

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
Row = Sequence[Any]

MAX_NOTES = 5  # rows named one by one in the notes of an answer; of more, their number
ADVICE = "run `doctor()`"


class Damage:
    """The damaged rows that were left out of one answer, each once."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], DamagedRow] = {}

    def __bool__(self) -> bool:
        return bool(self.rows)

    def add(self, error: DamagedRow) -> None:
        self.rows.setdefault((error.table, error.id), error)

    def notes(self) -> list[str]:
        """One line for each row, for people."""
        found = [f"left out: {error}; {ADVICE}" for error in self.rows.values()]
        more = len(found) - MAX_NOTES
        return [*found[:MAX_NOTES], f"left out: {more} more damaged rows; {ADVICE}"] if more > 0 else found


_collected: ContextVar[Damage | None] = ContextVar("damage", default=None)


@contextmanager
def collect_damage() -> Iterator[Damage]:
    """Collect the damage that is reported inside the block. Nested collectors: the innermost one gets it."""
    damage = Damage()
    token = _collected.set(damage)
    try:
        yield damage
    finally:
        _collected.reset(token)


def report_damage(error: DamagedRow) -> None:
    """Report that a row was left out."""
    damage = _collected.get()
    if damage is None:
        warnings.warn(f"left out: {error}; {ADVICE}", DamageWarning, stacklevel=3)
    else:
        damage.add(error)


def decodes(table: str, columns: str) -> Callable[[Callable[Concatenate[Row, P], T]], Callable[Concatenate[Row, P], T]]:
    """Mark a function that decodes rows of this table; `columns` are those of the row, in order."""
    names = tuple(columns.split())

    def mark(read: Callable[Concatenate[Row, P], T]) -> Callable[Concatenate[Row, P], T]:
        @functools.wraps(read)
        def decode(row: Row, /, *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return read(row, *args, **kwargs)
            except UNREADABLE as error:
                raise damaged_row_error(table, dict(zip(names, row, strict=False)), error) from error

        return decode

    return mark


def damaged_row_error(table: str, values: Mapping[str, Any], error: Exception | None = None) -> DamagedRow:
    """The error about a row, with a description of its damage."""
    known = TABLES[table]
    reason = known.find_damage(values) or str(error or "") or "it cannot be read"
    id = known.name_row(values) or "without an id"
    return DamagedRow(f"{known.noun} {id} is damaged: {reason}", table=table, id=id)


def decode_intact(rows: Iterable[S], decode: Callable[[S], T]) -> Iterator[T]:
    """The values of those rows that can be read. The others are reported."""
    for row in rows:
        try:
            yield decode(row)
        except DamagedRow as error:
            report_damage(error)


def read_intact(
    engine: Engine, query: str, values: Mapping[str, Any], decode: Callable[[Row], T], filters: Sequence[str] = ()
) -> list[T]:
    """Read the values of a query. Damaged rows do not count towards a limit, so that paging goes on behind them."""
    rows = engine.read(query, values, filters)
    found = [*decode_intact(rows, decode)]
    limit: int = values.get("limit", 0)
    while len(found) < limit <= len(rows):
        asked = limit + len(rows) - len(found)
        rows = engine.read(query, {**values, "limit": asked}, filters)
        found = [*decode_intact(rows, decode)]
        if len(rows) < asked:
            break
    return found[:limit] if limit else found


def require_types(values: Iterable[Any], kinds: frozenset[type]) -> None:
    """Refuse a row with a value of another type, where nothing else would notice it."""
    if not kinds.issuperset(map(type, values)):
        raise TypeError


TEXTS: frozenset[type] = frozenset({str, type(None)})
WHOLE: frozenset[type] = frozenset({int, type(None)})
NUMBERS: frozenset[type] = frozenset({int, float})


def read_list(text: str) -> list[Any]:
    """A JSON list, and nothing else."""
    found = json.loads(text)
    if type(found) is not list:
        raise TypeError
    return found


def read_object(text: str) -> dict[str, Any]:
    """A JSON object, and nothing else."""
    found = json.loads(text)
    if type(found) is not dict:
        raise TypeError
    return found
