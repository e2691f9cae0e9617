"""Counts round trips to PostgreSQL in the driver: each call ends with a message that the server is ready."""

from pathlib import Path
from typing import Any

import pytest
from psycopg import pq

from retentive.storage.engines.postgres.connections import Connection, Connections


class TripCounter:
    """Has libpq write down the messages of every connection that is opened from now on."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._files: list[Any] = []
        configure = Connections._configure

        def configure_and_trace(connections: Connections, connection: Connection) -> None:
            configure(connections, connection)
            self._trace(connection)

        monkeypatch.setattr(Connections, "_configure", configure_and_trace)

    @property
    def messages(self) -> str:
        return "".join(path.read_text() for path in self._folder.iterdir())

    @property
    def trips(self) -> int:
        return self.messages.count("ReadyForQuery")

    def close(self) -> None:
        for file in self._files:
            file.close()

    def _trace(self, connection: Connection) -> None:
        self._files.append((self._folder / f"{len(self._files)}").open("w"))
        connection.pgconn.trace(self._files[-1].fileno())
        connection.pgconn.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS)
