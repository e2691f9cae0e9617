"""Searches on a read replica.

A replica may lag behind: recent writes of others may not be found there yet. The writes of this process are always
found: after a write, the primary answers until the replica has replayed it. If the replica fails, the primary answers,
and the replica is not used for a while.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from psycopg import Cursor

from retentive.errors import Stale, StorageError
from retentive.model import Bounds
from retentive.storage.engines.postgres.connections import Connection, Connections, Options
from retentive.storage.engines.postgres.transactions import Call

T = TypeVar("T")

SKIP_SECONDS = 30.0  # for which a replica that failed is not used
_REPLICA_PATIENCE = 1.0  # seconds: the primary can answer instead


class Replica:
    def __init__(self, url: str, options: Options, primary: Connections) -> None:
        self._primary = primary
        self._replica = Connections(url, replace(options, connect_timeout=2, attributes="any")) if url else None
        self._skip_until = 0.0
        self._lock = threading.Lock()
        self._writes = self._checked_writes = 0
        self._required_position: str | None = None
        """The position in the write-ahead log that the replica must have replayed to have this process's writes."""

    def fetch(self, calls: Sequence[Call], bounds: Bounds | None = None) -> list[Cursor[Any]]:
        """Run statements in one round trip."""
        return self._ask(lambda server, patience: server.fetch(calls, patience, bounds))

    def read(self, work: Callable[[Connection], T], bounds: Bounds | None = None) -> T:
        return self._ask(lambda server, patience: server.read(work, patience, bounds))

    def _ask(self, ask: Callable[[Connections, float | None], T]) -> T:
        """Ask the replica, or the primary if that one is behind or away."""
        if self._replica and time.monotonic() >= self._skip_until:
            try:
                if self._has_own_writes(self._replica):
                    return ask(self._replica, _REPLICA_PATIENCE)
            except (StorageError, Stale):  # Stale: the primary vacuumed rows that the query needed
                self._skip_until = time.monotonic() + SKIP_SECONDS
        return ask(self._primary, None)

    @property
    def connections(self) -> Connections | None:
        """The connections to the replica; None if none is configured."""
        return self._replica

    def note_write(self) -> None:
        """Note that something was committed that searches can find."""
        self._writes += 1

    def close(self) -> None:
        if self._replica:
            self._replica.close()

    def _has_own_writes(self, replica: Connections) -> bool:
        """Whether the replica has what this process wrote. One without a replay position is assumed to have it."""
        if self._writes == self._checked_writes and self._required_position is None:
            return True
        with self._lock:
            writes = self._writes
            if writes != self._checked_writes:
                self._required_position = self._primary.read(_select_value("SELECT pg_current_wal_insert_lsn()::text"))
                self._checked_writes = writes
            if self._required_position is not None:
                has_replayed = _select_value(
                    "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, true)", self._required_position
                )
                if not replica.read(has_replayed, _REPLICA_PATIENCE):
                    return False
                self._required_position = None
            return True


def _select_value(sql: str, *values: Any) -> Callable[[Connection], Any]:
    return lambda connection: connection.execute(sql, values).fetchall()[0][0]
