"""PgBouncer in front of a PostgreSQL server of the tests."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.engines import LEASH, NEEDED, free_port
from tests.server import AS_NOBODY, GivenServer, Server

FOLDER = Path(sys.prefix) / "pgbouncer"
PROGRAM = FOLDER / "usr" / "sbin" / "pgbouncer"
PATIENCE = 20.0  # seconds to start in, on a busy machine
SETTINGS = """\
[databases]
* = host={host} port={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = {connections}
server_lifetime = {lifetime}
"""


class PgBouncer:
    """A pooler that closes each connection of the server after `lifetime` seconds, so that a client gets others."""

    def __init__(self, server: Server, mode: str, connections: int = 4, lifetime: float = 1) -> None:
        if isinstance(server, GivenServer):
            server.skip_control()
        self.port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="retentive-pgbouncer-"))
        who: dict[str, Any] = AS_NOBODY if os.geteuid() == 0 else {}  # it refuses to run as root
        values = {"host": "127.0.0.1", "server": server.port, "port": self.port, "folder": self._folder, "mode": mode}
        settings = SETTINGS.format(**values, connections=connections, lifetime=lifetime)
        (self._folder / "settings").write_text(settings)
        (self._folder / "users").write_text('"postgres" ""\n')
        if who:
            for path in (self._folder, *self._folder.iterdir()):
                shutil.chown(path, "nobody", "nogroup")
        libraries = ":".join(str(path) for path in (FOLDER / "usr" / "lib").glob("*-linux-*"))
        command = ["sh", "-c", LEASH, "pgbouncer", str(PROGRAM), "--quiet", str(self._folder / "settings")]
        with (self._folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**os.environ, "LD_LIBRARY_PATH": libraries},
                **who,
            )
        self._wait()

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def remove(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._folder)

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    pytest.fail(f"PgBouncer did not start: {(self._folder / 'log').read_text()[-2000:]}")
                time.sleep(0.05)
            else:
                return


def pgbouncer_or_skip() -> None:
    if not PROGRAM.exists():
        said = "NO PGBOUNCER: run `python scripts/pgbouncer.py .venv`, on a system with apt"
        (pytest.fail if NEEDED else pytest.skip)(said)
