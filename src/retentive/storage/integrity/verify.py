"""Compare the rows of a store with the sealed ones."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apsw

from retentive.storage.integrity.keys import Head, Key
from retentive.storage.integrity.sealing import Row
from retentive.storage.integrity.tables import SEALED, SealedTable
from retentive.storage.non_utf8_text import decode_row, has_non_utf8, select_as_bytes
from retentive.storage.queries import Queries

ROWS_PER_PROGRESS = 10_000  # rows between two reports of progress

Progress = Callable[[int], None]


class Tampering(NamedTuple):
    """Something that was changed without the key."""

    row: str
    """`memories default/01J...`, or the part of the log."""
    problem: str
    at: int | None = None
    """The last write with the key, in microseconds, if it is known."""


class Entry(NamedTuple):
    """The newest entry of a row."""

    seq: int
    at: int
    mac: bytes
    name: str | None


def verify(
    connection: apsw.Connection, queries: Queries, key: Key, head: Head | None, progress: Progress
) -> list[Tampering]:
    """Find all differences, in one state of the store."""
    connection.execute("BEGIN")
    try:
        log = Log(connection, queries, key, head)
        found = [*log.check()]
        return [*found, *_compare_rows(connection, queries, key, log.newest, progress)]
    finally:
        connection.execute("ROLLBACK")


class Log:
    """The entries of the log, read once from the first to the last."""

    def __init__(self, connection: apsw.Connection, queries: Queries, key: Key, head: Head | None) -> None:
        self._connection, self._queries, self._key, self._head = connection, queries, key, head
        self.newest: dict[bytes, Entry] = {}
        """The newest entry of each row, by the MAC that identifies the row."""

    def check(self) -> Iterator[Tampering]:
        chain, last, known = self._key.first_chain, 0, self._head
        for seq, at, row, mac, linked, name in self._connection.execute(self._queries.sql("integrity_list")):
            if seq != last + 1:
                yield Tampering(_name_entries(last + 1, seq - 1), "deleted from the integrity log", at)
            elif linked != self._key.next_chain(chain, seq, at, row, mac):
                yield Tampering(_name_entries(seq, seq), "changed in the integrity log", at)
            if known and seq == known.seq and linked != known.chain:
                yield Tampering(_name_entries(seq, seq), "not the one that was last written with the key", known.at)
            self.newest[row] = Entry(seq, at, mac, name)
            chain, last = linked, seq
        if known and last < known.seq:
            problem = "missing: the store is older than it was after the last write with the key"
            yield Tampering(_name_entries(last + 1, known.seq), problem, known.at)


def _compare_rows(
    connection: apsw.Connection, queries: Queries, key: Key, newest: dict[bytes, Entry], progress: Progress
) -> Iterator[Tampering]:
    for number, ((table, row_key), values) in enumerate(_read_rows(connection), start=1):
        row = key.identify_row(table, row_key)
        entry = newest.pop(row, None)
        if problem := _find_problem(connection, queries, key, table, values, row, entry):
            yield Tampering(row_name(table, row_key), problem, entry.at if entry else None)
        if number % ROWS_PER_PROGRESS == 0:
            progress(number)
    for entry in newest.values():
        if entry.mac:
            name = json.loads(entry.name) if entry.name else None
            shown = row_name(name[0], tuple(name[1:])) if name else f"the row of {_name_entries(entry.seq, entry.seq)}"
            yield Tampering(shown, "deleted", entry.at)


def _find_problem(
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
    mac = key.mac_values(table, values)
    if mac == entry.mac:
        return ""
    if not entry.mac:
        return "deleted earlier, and restored without the key"
    earlier: list[Any] = connection.execute(queries.sql("integrity_list_of_row"), {"row": row}).fetchall()
    if any(mac == old for _, old in earlier):
        return "rolled back to an earlier state"
    return "changed without the key"


def _read_rows(connection: apsw.Connection) -> Iterator[tuple[Row, tuple[Any, ...] | None]]:
    """All rows of the sealed tables, with their values; None for the values of a damaged row."""
    for name, table in SEALED.items():
        as_bytes = select_as_bytes(f"SELECT {', '.join(table.key)} FROM main.{name}", len(table.key))
        keys = [decode_row(row) for row in connection.execute(as_bytes)]
        query = _select_row(name, table)
        for row_key in keys:
            if has_non_utf8(row_key):
                yield (name, row_key), None
                continue
            try:
                yield (name, row_key), connection.execute(query, row_key).fetchone()
            except UnicodeDecodeError:
                yield (name, row_key), None


def _select_row(name: str, table: SealedTable) -> str:
    where = " AND ".join(f"{each} = ?" for each in table.key)
    return f"SELECT {', '.join(table.columns)} FROM main.{name} WHERE {where}"


def row_name(table: str, row_key: tuple[Any, ...]) -> str:
    """The name of a row in a finding: its table and key."""
    return f"{table} {'/'.join(map(str, row_key))}"


def _name_entries(first: int, last: int) -> str:
    return f"entry {first}" if first == last else f"entries {first} to {last}"
