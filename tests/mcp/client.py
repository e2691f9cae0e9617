"""Servers of our own and the official client that talks to them, over standard input or HTTP, in both eras.

def test_...(db: Path) -> None:
    async def talk(client: Client) -> None:
        await client.call_tool("memory_list", {})

    over_stdio(talk, db, era)
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.forkserver import write_command

ERAS = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
"""The versions of the protocol that a client may open with, and how it is told to: by a handshake, or without."""
SECONDS = 60.0  # for an answer, on a busy machine

T = TypeVar("T")
Talk = Callable[[Client], Awaitable[T]]
eras = pytest.mark.parametrize("era", ERAS)


def command(verb: str, db: Path | str, *options: str) -> list[str]:
    return [sys.executable, "-m", "retentive", *options_of(verb, db, *options)]


def options_of(verb: str, db: Path | str, *options: str) -> list[str]:
    return ["--db", str(db), "--embedder", "hashing", verb, *options]


def surroundings(db: Path | str) -> dict[str, str]:
    """Nothing of the machine's own settings, also for a server that outlives a test."""
    if isinstance(db, str):
        return {**os.environ}  # a database of a server, in a test whose surroundings are made
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")}
    folders = {name: str(db.parent / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    return {**kept, **folders, "RETENTIVE_CONFIG": str(db.parent / "config.toml")}


@asynccontextmanager
async def stdio(db: Path, era: str, *options: str) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=str(write_command()), args=options_of("mcp", db, *options), env=surroundings(db)
    )
    with tempfile.TemporaryFile("w+") as log:
        transport = stdio_client(server, errlog=log)
        async with Client(transport, mode=ERAS[era], cache=None, read_timeout_seconds=SECONDS) as client:
            yield client


@asynccontextmanager
async def http(url: str, era: str) -> AsyncIterator[Client]:
    async with Client(url, mode=ERAS[era], cache=None, read_timeout_seconds=SECONDS) as client:
        yield client


def over_stdio(talk: Talk[T], db: Path, era: str, *options: str) -> T:
    async def run() -> T:
        async with stdio(db, era, *options) as client:
            return await talk(client)

    return anyio.run(run)


def over_http(talk: Talk[T], url: str, era: str) -> T:
    async def run() -> T:
        async with http(url, era) as client:
            return await talk(client)

    return anyio.run(run)


class Serving:
    """`retentive serve` on a port that was free."""

    def __init__(self, db: Path | str, *options: str) -> None:
        started = command("serve", db, "--port", "0", *options)
        self.process = subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings(db))
        self.said: list[str] = []
        self._told = threading.Event()
        self._address = ""
        self._readers = [threading.Thread(target=self._read, args=(pipe,)) for pipe in self._pipes()]
        for each in self._readers:
            each.start()

    @property
    def url(self) -> str:
        if not self._told.wait(SECONDS) or not self._address:
            pytest.fail(f"the server did not tell its address: {self.said}")
        return self._address

    def end(self, number: int = signal.SIGTERM) -> int:
        """The code it ends with."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        for each in self._readers:
            each.join()
        for pipe in self._pipes():
            pipe.close()
        return code

    def _pipes(self) -> list[Any]:
        return [self.process.stdout, self.process.stderr]

    def _read(self, pipe: Any) -> None:
        for line in pipe:
            self.said.append(line.decode(errors="replace"))
            if found := re.search(r"http://[^\s/]+:\d+", self.said[-1]):
                self._address = self._address or f"{found[0]}/mcp"
                self._told.set()
        self._told.set()


@contextmanager
def serving(db: Path | str, *options: str) -> Iterator[str]:
    """The address of a server; it ends in good order."""
    server = Serving(db, *options)
    try:
        yield server.url
    finally:
        code = server.end()
    assert code == 0, server.said
