"""PostgreSQL goes away and comes back: nothing acknowledged is lost, nothing is kept twice, nobody has to be told."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from select import select

import pytest

from retentive import Retentive
from retentive.errors import Uncertain, Unreachable
from retentive.storage import step
from retentive.storage.engines.postgres import PostgresEngine, connections
from retentive.transfer import copy_rows
from tests.engines import missing
from tests.server import Server, doing


@pytest.fixture(scope="module")
def fragile() -> Iterator[Server]:
    """A server with the durability that users have."""
    try:
        server = Server()
    except (ImportError, OSError) as error:
        missing("PostgreSQL", error)
    else:
        yield server
        server.remove()


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_no_acknowledged_write_is_lost_with_the_server(fragile: Server, end: str) -> None:
    """Under load, by SIGKILL and by an immediate stop; the clients go on by themselves."""
    store = Retentive.open(fragile.url(), namespace=end, embedder="hashing")
    done = threading.Event()

    def work(name: int) -> list[str]:
        kept: list[str] = []
        while not done.is_set():
            kept.append(store.add(f"worker {name} keeps item {len(kept)}").id)
            assert store.search(f"worker {name} keeps item {len(kept) - 1}", limit=1).hits
        return kept

    with ThreadPoolExecutor(4) as pool:
        working = [pool.submit(work, name) for name in range(4)]
        for _ in range(2):
            time.sleep(0.5)
            getattr(fragile, end)()
            time.sleep(0.2)
            fragile.start()
        time.sleep(1)
        done.set()
        kept = [id for each in working for id in each.result()]
    present = {memory.id for memory in store.list(limit=100_000)}
    assert {*kept} <= present
    assert len(present - {*kept}) == 0
    assert len(kept) == len({*kept}) > 20
    assert [finding for finding in store.doctor() if not finding.ok] == []
    store.close()


def test_a_server_that_stays_away_is_an_error_to_try_again(fragile: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = PostgresEngine(fragile.url())
    monkeypatch.setattr(connections, "RECONNECT_SECONDS", 0.5)
    fragile.stop()
    try:
        with pytest.raises(Unreachable) as caught:
            engine.apply([step("meta_set", key="a", value="1")])
        assert caught.value.retryable
        with pytest.raises(Unreachable):
            engine._link.read(lambda connection: connection.execute("SELECT 1").fetchall(), 0.5)
    finally:
        fragile.start()
    engine.apply([step("meta_set", key="a", value="1")])
    engine.close()


class Proxy:
    """Stands before the server. `fates` say of the next commits: is it passed on, is it answered?"""

    def __init__(self, address: str) -> None:
        host, _, database = address.rpartition("/")
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._server = int(host.rpartition(":")[2])
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        self.url = f"{host.rpartition(':')[0]}:{self._listening.getsockname()[1]}/{database}"
        self.fates: list[tuple[bool, bool]] = []
        self.away = False

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._cut()
        for thread in self._threads:
            thread.join(10)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.away:
                    client.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self._server))
                thread = threading.Thread(target=self._serve, args=(client, server))
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        self._sockets += [client, server]
        with client, server, suppress(OSError):
            while ready := select([client, server], [], [])[0]:
                for source in ready:
                    data = source.recv(65536)
                    fate = self.fates.pop(0) if self.fates and source is client and b"COMMIT" in data else (True, True)
                    if data and fate[0]:
                        (server if source is client else client).sendall(data)
                    if self.away and not fate[1]:
                        self._cut()
                    if not data or not fate[1]:
                        return

    def _cut(self) -> None:
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(postgres: str) -> Iterator[Proxy]:
    made = Proxy(postgres)
    yield made
    made.close()


@pytest.mark.parametrize("arrived", [True, False])
def test_a_write_whose_answer_was_lost_is_kept_once(proxy: Proxy, arrived: bool) -> None:
    """Whether the commit had arrived or not."""
    engine = PostgresEngine(proxy.url)
    proxy.fates.append((arrived, False))
    engine.apply([step("measure_add", namespace="n", measure="m", tier="", bucket=0, count=1)])
    assert engine.read("measure_list", {"namespace": "n"}) == [("m", "", 0, 1)]
    assert proxy.fates == []
    engine.close()


def test_a_write_of_which_nothing_is_heard_any_more_says_so(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = PostgresEngine(proxy.url)
    monkeypatch.setattr(connections, "RECONNECT_SECONDS", 0.5)
    engine.read("meta_get", {"key": "a"})
    proxy.fates.append((True, False))
    proxy.away = True
    with pytest.raises(Uncertain) as caught:
        engine.apply([step("meta_set", key="a", value="1")])
    assert not caught.value.retryable
    engine.close()


def test_adding_again_after_an_uncertain_write_doubles_nothing(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the documentation tells programs to do."""
    text = "The deploy key is in the vault"
    with Retentive.open(proxy.url, namespace="uncertain", embedder="hashing") as store:
        store.add("The ferry leaves at nine")
        monkeypatch.setattr(connections, "RECONNECT_SECONDS", 0.5)
        proxy.fates.append((True, False))
        proxy.away = True
        with pytest.raises(Uncertain):
            store.add(text)
        proxy.away = False
        again = store.add(text)
        assert not again.created
        assert [memory.content for memory in store.list()].count(text) == 1


def test_a_move_goes_on_when_the_server_comes_back(
    fragile: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed once in every large table, on the way in and on the way out."""
    fragile.execute("CREATE DATABASE moving")
    with Retentive.open(tmp_path / "a.db", embedder="hashing") as store:
        store.add_many([f"fact {n}" for n in range(30)])
    monkeypatch.setattr(copy_rows, "PAGE_SIZE", 10)

    def restart(table: str, done: int) -> None:
        if done == 10 and table in ("memories", "chunks", "vectors"):
            fragile.kill()
            fragile.start()

    there = Retentive.migrate(tmp_path / "a.db", fragile.url("moving"), restart)
    assert Retentive.migrate(fragile.url("moving"), tmp_path / "b.db", restart) == there


LOST_BEHIND = "DO $$ BEGIN IF clock_timestamp() < '{}' THEN RAISE 'gone' USING ERRCODE = '08006'; END IF; END $$"


def test_a_connection_that_the_server_lost_behind_it_is_waited_for(postgres: str) -> None:
    """As the coordinator of a cluster does when one of its machines is restarted."""
    engine = PostgresEngine(postgres)
    back = LOST_BEHIND.format(datetime.now(UTC) + timedelta(seconds=0.5))
    engine._link.read(lambda connection: connection.execute(back))
    back = LOST_BEHIND.format(datetime.now(UTC) + timedelta(seconds=0.5))
    engine._link.write(doing(back))
    engine.close()


def test_a_machine_that_stays_away_is_an_error_to_try_again(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = PostgresEngine(postgres)
    monkeypatch.setattr(connections, "RECONNECT_SECONDS", 0.3)
    never = LOST_BEHIND.format("infinity")
    with pytest.raises(Unreachable, match="gone"):
        engine._link.read(lambda connection: connection.execute(never))
    with pytest.raises(Unreachable, match="gone"):
        engine._link.write(doing(never))
    engine.close()
