"""Entries of the log, made as rows are written."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import apsw

from retentive.errors import BadConfig, Corrupt
from retentive.storage.integrity.keys import Head, Key, KeyFile
from retentive.storage.integrity.tables import SEALED, SealedTable
from retentive.storage.queries import Queries

Row = tuple[str, tuple[Any, ...]]
"""A table, and the key of one of its rows."""

UNKEYED = "Set `integrity_key` to the file of its key; without it the store can only be read."


class Sealer:
    """Of the one connection that writes."""

    def __init__(self, connection: apsw.Connection, queries: Queries, keys: KeyFile | None) -> None:
        self._connection, self._queries, self.keys = connection, queries, keys
        self._mark: str | None = None
        """The fingerprint that the triggers are there for; empty: there are none. None: not looked yet."""
        self._key: Key | None = None
        self._pending: dict[Row, tuple[Any, ...] | None] = {}
        """What each row of this transaction says now; None: it was deleted."""
        self._head: Head | None = None

    def read_mark(self) -> str:
        return self._read_meta("integrity")

    def read_last(self) -> list[Any]:
        """Number, chain and time of the newest entry, if there is any."""
        return self._connection.execute(self._queries.sql("integrity_last")).fetchall()

    def prepare(self) -> str:
        """Before a transaction, outside of which triggers must be made: the mark that it is prepared for."""
        mark = self.read_mark()
        if mark != self._mark:
            self._load_key(mark)
            self._set_triggers(on=bool(mark))
            self._mark = mark
        self._pending.clear()
        return mark

    def flush(self) -> None:
        """Before the commit: write an entry for each row that was written."""
        self._head = None
        if self._pending and self._key:
            self._head = self.write_entries(self._key, self._pending)
            self._pending.clear()

    def publish(self) -> None:
        """After the commit. A head that cannot be written now is written after the next one."""
        if self._head and self.keys:
            with suppress(OSError):
                self.keys.write_head(self.store_id, self._head)

    def write_entries(self, key: Key, written: dict[Row, tuple[Any, ...] | None]) -> Head:
        rows = self.read_last()
        last, chain, _ = rows[0] if rows else (0, key.first_chain, 0)
        at = time.time_ns() // 1000
        entries, gone = [], []
        for seq, ((table, own), values) in enumerate(written.items(), start=last + 1):
            row = key.row(table, own)
            mac = b"" if values is None else key.mac(table, values)
            chain = key.chain(chain, seq, at, row, mac)
            name = None if values is None else json.dumps([table, *own], ensure_ascii=False)
            entries.append((seq, at, row, mac, chain, name))
            if values is None:
                gone.append((row,))
        self._connection.executemany(self._sql("integrity_unname"), gone)
        self._connection.executemany(self._sql("integrity_insert"), entries)
        return Head(last + len(entries), chain, at)

    def seal_all(self, key: Key, progress: Callable[[int], None]) -> Head:
        """Begin the log anew, with an entry for each row that there is. In a transaction."""
        self._connection.execute(self._queries.sql("integrity_clear"))
        self._connection.execute(self._sql("integrity_mark_set"), (key.fingerprint,))
        done = 0
        for batch in _batches(_read_rows(self._connection)):
            head = self.write_entries(key, batch)
            done += len(batch)
            progress(done)
        return head

    @property
    def store_id(self) -> str:
        return self._read_meta("store_id")

    def _read_meta(self, key: str) -> str:
        try:
            rows: list[Any] = self._connection.execute(self._queries.sql("meta_get"), {"key": key}).fetchall()
        except apsw.SQLError:  # no tables yet
            return ""
        return str(rows[0][0]) if rows else ""

    def _sql(self, name: str) -> str:
        return self._queries.by_position(name)[0]

    def _load_key(self, mark: str) -> None:
        self._key = None
        if not self.keys:
            return
        if not mark:
            self._refuse_removed_mark(self.keys)
            return
        key = self.keys.read(self.store_id)
        if key.fingerprint != mark and self.keys.next.path.exists():  # a change of keys was stopped at its last step
            self.keys.replace(self.keys.next)
            key = self.keys.read(self.store_id)
        if key.fingerprint != mark:
            raise BadConfig(f"{self.keys.path} is not the key that this store is sealed with", UNKEYED)
        self._key = key

    def _refuse_removed_mark(self, keys: KeyFile) -> None:
        if keys.head(self.store_id):
            hint = "Restore a backup, or seal it as it is now: `retentive integrity start`."
            raise Corrupt("integrity mode was on for this store, and the store says it never was", hint)

    def _set_triggers(self, *, on: bool) -> None:
        if on:
            self._connection.create_scalar_function("note_write", self._note_write)
            self._connection.create_scalar_function("note_delete", self._note_delete)
        for name, table in SEALED.items():
            for event in ("insert", "update", "delete"):
                self._connection.execute(f"DROP TRIGGER IF EXISTS temp.sealed_{name}_{event}")
            if on:
                for trigger in _triggers(name, table):
                    self._connection.execute(trigger)

    def _note_write(self, *given: Any) -> None:
        table, *values = given
        self._note((table, tuple(values[: len(SEALED[table].key)])), tuple(values))

    def _note_delete(self, *given: Any) -> None:
        table, *key = given
        self._note((table, tuple(key)), None)

    def _note(self, row: Row, values: tuple[Any, ...] | None) -> None:
        if self._key is None:
            raise BadConfig("this store is in integrity mode, and its key was not given", UNKEYED)
        self._pending.pop(row, None)  # the order is that of the last write
        self._pending[row] = values


def _triggers(name: str, table: SealedTable) -> Iterator[str]:
    """Of the connection alone: they are not in the file. All names are ours."""
    new = ", ".join(f"new.{each}" for each in table.columns)
    old = ", ".join(f"old.{each}" for each in table.key)
    moved = " OR ".join(f"old.{each} IS NOT new.{each}" for each in table.key)
    begin = f"CREATE TEMP TRIGGER sealed_{name}_"
    yield f"{begin}insert AFTER INSERT ON main.{name} BEGIN SELECT note_write('{name}', {new}); END"
    yield (
        f"{begin}update AFTER UPDATE OF {', '.join(table.columns)} ON main.{name} BEGIN"
        f" SELECT note_delete('{name}', {old}) WHERE {moved}; SELECT note_write('{name}', {new}); END"
    )
    yield f"{begin}delete AFTER DELETE ON main.{name} BEGIN SELECT note_delete('{name}', {old}); END"


def _read_rows(connection: apsw.Connection) -> Iterator[tuple[Row, tuple[Any, ...]]]:
    """All rows that are sealed, with what they say."""
    for name, table in SEALED.items():
        for values in connection.execute(f"SELECT {', '.join(table.columns)} FROM main.{name}"):
            yield (name, values[: len(table.key)]), values


BATCH = 10_000  # rows whose entries are in memory at once


def _batches(rows: Iterator[tuple[Row, tuple[Any, ...]]]) -> Iterator[dict[Row, tuple[Any, ...] | None]]:
    batch: dict[Row, tuple[Any, ...] | None] = {}
    for row, values in rows:
        batch[row] = values
        if len(batch) == BATCH:
            yield batch
            batch = {}
    yield batch
