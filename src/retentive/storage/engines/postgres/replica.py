"""A copy that only reads, for searches.

It may lag: what others just wrote may not be found there yet. What this process wrote is: after a write the copy is
asked how far it has come, and until it has come so far the primary answers. Whatever goes wrong with it, the primary
answers too, and for a while is asked at once.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from retentive.errors import Stale, StorageError
from retentive.model import Bounds
from retentive.storage.engines.postgres.connections import Connection, Link, Options

T = TypeVar("T")

AWAY_SECONDS = 30.0  # for which a copy that failed is not asked again
_IMPATIENT = 1.0  # seconds: there is another to ask


class Replica:
    def __init__(self, url: str, options: Options, primary: Link) -> None:
        self._primary = primary
        self._copy = Link(url, replace(options, connect_timeout=2, attributes="any")) if url else None
        self._away_until = 0.0
        self._looking = threading.Lock()
        self._writes = self._asked_about = 0
        self._awaited: str | None = None
        """How far the copy must have come to have what was written here."""

    def read(self, work: Callable[[Connection], T], bounds: Bounds | None = None) -> T:
        if self._copy and time.monotonic() >= self._away_until:
            try:
                if self._has_all(self._copy):
                    return self._copy.read(work, _IMPATIENT, bounds)
            except (StorageError, Stale):  # stale: what the answer needed was cleaned up by the primary meanwhile
                self._away_until = time.monotonic() + AWAY_SECONDS
        return self._primary.read(work, bounds=bounds)

    def wrote(self) -> None:
        """Something that searches find was committed."""
        self._writes += 1

    def close(self) -> None:
        if self._copy:
            self._copy.close()

    def _has_all(self, copy: Link) -> bool:
        """Has it what this process wrote? One that does not follow a log cannot tell, and is believed."""
        if self._writes == self._asked_about and self._awaited is None:
            return True
        with self._looking:
            writes = self._writes
            if writes != self._asked_about:
                self._awaited = self._primary.read(_asking("SELECT pg_current_wal_insert_lsn()::text"))
                self._asked_about = writes
            if self._awaited is not None:
                come = _asking("SELECT coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, true)", self._awaited)
                if not copy.read(come, _IMPATIENT):
                    return False
                self._awaited = None
            return True


def _asking(sql: str, *values: Any) -> Callable[[Connection], Any]:
    return lambda connection: connection.execute(sql, values).fetchall()[0][0]
