"""A copy that only reads, for searches.

It may lag: what was just written may not be found there yet. Whatever goes wrong with it, the primary answers, and for
a while is asked at once.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from retentive.errors import Stale, StorageError
from retentive.storage.postgres.link import Connection, Link, Options

T = TypeVar("T")

AWAY_SECONDS = 30.0  # for which a copy that failed is not asked again
_IMPATIENT = 1.0  # seconds: there is another to ask


class Replica:
    def __init__(self, url: str, options: Options, primary: Link) -> None:
        self._primary = primary
        self._copy = Link(url, replace(options, connect_timeout=2, attributes="any")) if url else None
        self._away_until = 0.0

    def read(self, work: Callable[[Connection], T]) -> T:
        if self._copy and time.monotonic() >= self._away_until:
            try:
                return self._copy.read(work, _IMPATIENT)
            except (StorageError, Stale):  # stale: what the answer needed was cleaned up by the primary meanwhile
                self._away_until = time.monotonic() + AWAY_SECONDS
        return self._primary.read(work)

    def close(self) -> None:
        if self._copy:
            self._copy.close()
