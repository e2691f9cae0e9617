"""Writes the entries of the log, as rows are written."""

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

NO_KEY_HINT = "Set `integrity_key` to the file of its key; without it the store can only be read."


class Sealer:
    """Seals the rows that the writing connection of a store writes."""

    def __init__(self, connection: apsw.Connection, queries: Queries, keys: KeyFile | None) -> None:
        self._connection, self._queries, self.keys = connection, queries, keys
        self._prepared_for: str | None = None
        """The fingerprint of the key for which there are triggers; empty if there are none; None before the first
        look."""
        self._key: Key | None = None
        self._pending: dict[Row, tuple[Any, ...] | None] = {}
        """The values of each row written in this transaction; None if the row was deleted."""
        self._head: Head | None = None

    def read_key_fingerprint(self) -> str:
        """The fingerprint of the key with which the store is sealed; empty if integrity mode is off."""
        return self._read_meta("integrity")

    def read_head(self) -> Head | None:
        """The newest entry of the log, if there is any."""
        rows: list[Any] = self._connection.execute(self._queries.sql("integrity_last")).fetchall()
        return Head(*rows[0]) if rows else None

    def prepare(self) -> str:
        """Load the key and make the triggers, outside of a transaction. Returns the fingerprint they are for."""
        fingerprint = self.read_key_fingerprint()
        if fingerprint != self._prepared_for:
            self._load_key(fingerprint)
            self._set_triggers(on=bool(fingerprint))
            self._prepared_for = fingerprint
        self._pending.clear()
        return fingerprint

    def flush(self) -> None:
        """Write an entry for each row that was written. Called before the commit."""
        self._head = None
        if self._pending and self._key:
            self._head = self.write_entries(self._key, self._pending)
            self._pending.clear()

    def save_head(self) -> None:
        """Write the head beside the key, after the commit. If that fails, the next commit writes a newer one."""
        if self._head and self.keys:
            with suppress(OSError):
                self.keys.write_head(self.store_id, self._head)

    def write_entries(self, key: Key, written: dict[Row, tuple[Any, ...] | None]) -> Head:
        last, chain, _ = self.read_head() or Head(0, key.first_chain, 0)
        at = time.time_ns() // 1000
        entries, deleted = [], []
        for seq, ((table, row_key), values) in enumerate(written.items(), start=last + 1):
            row = key.identify_row(table, row_key)
            mac = b"" if values is None else key.mac_values(table, values)
            chain = key.next_chain(chain, seq, at, row, mac)
            name = None if values is None else json.dumps([table, *row_key], ensure_ascii=False)
            entries.append((seq, at, row, mac, chain, name))
            if values is None:
                deleted.append((row,))
        self._connection.executemany(self._sql("integrity_clear_name"), deleted)
        self._connection.executemany(self._sql("integrity_insert"), entries)
        return Head(last + len(entries), chain, at)

    def seal_all(self, key: Key, progress: Callable[[int], None]) -> Head:
        """Replace the log by an entry for each row of the store. Called in a transaction."""
        self._connection.execute(self._queries.sql("integrity_clear"))
        self._connection.execute(self._sql("integrity_fingerprint_set"), (key.fingerprint,))
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
        return self._queries.positional(name)[0]

    def _load_key(self, fingerprint: str) -> None:
        self._key = None
        if not self.keys:
            return
        if not fingerprint:
            self._refuse_removed_fingerprint(self.keys)
            return
        key = self.keys.read(self.store_id)
        # A change of keys may have been stopped at its last step.
        if key.fingerprint != fingerprint and self.keys.next_file.path.exists():
            self.keys.replace(self.keys.next_file)
            key = self.keys.read(self.store_id)
        if key.fingerprint != fingerprint:
            raise BadConfig(f"{self.keys.path} is not the key that this store is sealed with", NO_KEY_HINT)
        self._key = key

    def _refuse_removed_fingerprint(self, keys: KeyFile) -> None:
        if keys.read_head(self.store_id):
            hint = "Restore a backup, or seal it as it is now: `integrity.start()`."
            raise Corrupt("integrity mode was on for this store, but the store says it never was", hint)

    def _set_triggers(self, *, on: bool) -> None:
        if on:
            self._connection.create_scalar_function("note_write", self._record_write)
            self._connection.create_scalar_function("note_delete", self._record_delete)
        for name, table in SEALED.items():
            for event in ("insert", "update", "delete"):
                self._connection.execute(f"DROP TRIGGER IF EXISTS temp.sealed_{name}_{event}")
            if on:
                for trigger in _list_triggers(name, table):
                    self._connection.execute(trigger)

    def _record_write(self, *given: Any) -> None:
        table, *values = given
        self._record((table, tuple(values[: len(SEALED[table].key)])), tuple(values))

    def _record_delete(self, *given: Any) -> None:
        table, *key = given
        self._record((table, tuple(key)), None)

    def _record(self, row: Row, values: tuple[Any, ...] | None) -> None:
        if self._key is None:
            raise BadConfig("this store is in integrity mode, but its key was not given", NO_KEY_HINT)
        self._pending.pop(row, None)  # entries are in the order of the last write of each row
        self._pending[row] = values


def _list_triggers(name: str, table: SealedTable) -> Iterator[str]:
    """Temporary triggers that call the functions of the connection. All names in the SQL are ours."""
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
    """All rows of the sealed tables, with their values."""
    for name, table in SEALED.items():
        for values in connection.execute(f"SELECT {', '.join(table.columns)} FROM main.{name}"):
            yield (name, values[: len(table.key)]), values


ROWS_PER_BATCH = 10_000  # rows whose entries are in memory at once


def _batches(rows: Iterator[tuple[Row, tuple[Any, ...]]]) -> Iterator[dict[Row, tuple[Any, ...] | None]]:
    batch: dict[Row, tuple[Any, ...] | None] = {}
    for row, values in rows:
        batch[row] = values
        if len(batch) == ROWS_PER_BATCH:
            yield batch
            batch = {}
    yield batch
