"""Counts round trips to PostgreSQL where the driver writes down its messages: each ends with the server being ready."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from psycopg import pq

from retentive.storage.engines.postgres.connections import Connection, Connections


class TripCounter:
    """Of all connections that are opened while it stands in the way of `Connections`."""

    def __init__(self, configure: Callable[[Connections, Connection], None]) -> None:
        self._configure = configure
        self._folder = Path(tempfile.mkdtemp())
        self._files: list[Any] = []

    def configure(self, connections: Connections, connection: Connection) -> None:
        self._configure(connections, connection)
        self._files.append((self._folder / f"{len(self._files)}").open("w"))
        connection.pgconn.trace(self._files[-1].fileno())
        connection.pgconn.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS)

    @property
    def trips(self) -> int:
        return sum(path.read_text().count("ReadyForQuery") for path in self._folder.iterdir())

    @property
    def messages(self) -> str:
        return "\n".join(path.read_text() for path in self._folder.iterdir())
