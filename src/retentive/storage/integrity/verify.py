"""Compare what a store says with what was sealed."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apsw

from retentive.storage.broken_text import has_broken, read_out, spell_out
from retentive.storage.integrity.keys import Head, Key
from retentive.storage.integrity.sealing import Row
from retentive.storage.integrity.tables import SEALED, SealedTable
from retentive.storage.queries import Queries

EVERY = 10_000  # rows between two words about how far it is

Progress = Callable[[int], None]


class Tampering(NamedTuple):
    """Something that was changed without the key."""

    row: str
    """`memories default/01J...`, or the part of the log."""
    problem: str
    at: int | None = None
    """When it was last written with the key, in microseconds, if that is known."""


class Entry(NamedTuple):
    """The newest of a row."""

    seq: int
    at: int
    mac: bytes
    name: str | None


def verify(
    connection: apsw.Connection, queries: Queries, key: Key, head: Head | None, progress: Progress
) -> list[Tampering]:
    """All that differs, from one state of the store."""
    connection.execute("BEGIN")
    try:
        log = Log(connection, queries, key, head)
        found = [*log.check()]
        return [*found, *_compare_rows(connection, queries, key, log.newest, progress)]
    finally:
        connection.execute("ROLLBACK")


class Log:
    """The entries, read once from the first to the last."""

    def __init__(self, connection: apsw.Connection, queries: Queries, key: Key, head: Head | None) -> None:
        self._connection, self._queries, self._key, self._head = connection, queries, key, head
        self.newest: dict[bytes, Entry] = {}
        """By row."""

    def check(self) -> Iterator[Tampering]:
        chain, last, known = self._key.first_chain, 0, self._head
        for seq, at, row, mac, linked, name in self._connection.execute(self._queries.sql("integrity_entries")):
            if seq != last + 1:
                yield Tampering(_numbers(last + 1, seq - 1), "deleted from the integrity log", at)
            elif linked != self._key.chain(chain, seq, at, row, mac):
                yield Tampering(_numbers(seq, seq), "changed in the integrity log", at)
            if known and seq == known.seq and linked != known.chain:
                yield Tampering(_numbers(seq, seq), "not the one that was last written with the key", known.at)
            self.newest[row] = Entry(seq, at, mac, name)
            chain, last = linked, seq
        if known and last < known.seq:
            problem = "missing: the store is older than it was after the last write with the key"
            yield Tampering(_numbers(last + 1, known.seq), problem, known.at)


def _compare_rows(
    connection: apsw.Connection, queries: Queries, key: Key, newest: dict[bytes, Entry], progress: Progress
) -> Iterator[Tampering]:
    for number, ((table, own), values) in enumerate(_rows(connection), start=1):
        row = key.row(table, own)
        entry = newest.pop(row, None)
        if problem := _problem(connection, queries, key, table, values, row, entry):
            yield Tampering(row_name(table, own), problem, entry.at if entry else None)
        if number % EVERY == 0:
            progress(number)
    for entry in newest.values():
        if entry.mac:
            name = json.loads(entry.name) if entry.name else None
            shown = row_name(name[0], tuple(name[1:])) if name else f"the row of {_numbers(entry.seq, entry.seq)}"
            yield Tampering(shown, "deleted", entry.at)


def _problem(
    connection: apsw.Connection,
    queries: Queries,
    key: Key,
    table: str,
    values: tuple[Any, ...] | None,
    row: bytes,
    entry: Entry | None,
) -> str:
    if entry is None:
        return "added without the key"
    if values is None:
        return "damaged: it cannot be read"
    mac = key.mac(table, values)
    if mac == entry.mac:
        return ""
    if not entry.mac:
        return "deleted earlier, and back without the key"
    earlier: list[Any] = connection.execute(queries.sql("integrity_of_row"), {"row": row}).fetchall()
    if any(mac == old for _, old in earlier):
        return "rolled back to what it said earlier"
    return "changed without the key"


def _rows(connection: apsw.Connection) -> Iterator[tuple[Row, tuple[Any, ...] | None]]:
    """All sealed rows, with what they say; None for one that is damaged."""
    for name, table in SEALED.items():
        spelled_out = spell_out(f"SELECT {', '.join(table.key)} FROM main.{name}", len(table.key))
        keys = [read_out(row) for row in connection.execute(spelled_out)]
        query = _one_row(name, table)
        for own in keys:
            if has_broken(own):
                yield (name, own), None
                continue
            try:
                yield (name, own), connection.execute(query, own).fetchone()
            except UnicodeDecodeError:
                yield (name, own), None


def _one_row(name: str, table: SealedTable) -> str:
    where = " AND ".join(f"{each} = ?" for each in table.key)
    return f"SELECT {', '.join(table.columns)} FROM main.{name} WHERE {where}"


def row_name(table: str, own: tuple[Any, ...]) -> str:
    """How a finding names a row, by its table and key."""
    return f"{table} {'/'.join(map(str, own))}"


def _numbers(first: int, last: int) -> str:
    return f"entry {first}" if first == last else f"entries {first} to {last}"
