"""Requests and answers that are lost, servers that go and come back."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from retentive import Retentive
from retentive.errors import Busy, RetentiveError, StorageError, Uncertain
from retentive.storage import step
from retentive.storage.engines import libsql
from retentive.storage.engines.libsql import LibsqlEngine
from tests.engines import Sqld
from tests.storage.libsql.proxy import Proxy
from tests.storage.libsql.support import COUNTED, total


@pytest.mark.parametrize("lost", ["request", "answer", "late", "garbled", "404", "408", "429", "502", "503"])
def test_a_write_is_kept_exactly_once_whatever_is_lost(
    engine: LibsqlEngine, through: LibsqlEngine, proxy: Proxy, lost: str
) -> None:
    proxy.lose = lost
    through.apply([COUNTED])
    assert total(engine) == 1
    if lost == "late":
        proxy.released.set()
        assert proxy.arrived.wait(10)
        assert b"UNIQUE constraint failed: batches.id" in proxy.late
        assert total(engine) == 1


@pytest.mark.parametrize(
    ("status", "says", "hints"),
    [
        ("308", "not the server's address", "https://elsewhere.example:8443"),
        ("401", "asks for a token", "auth_token"),
        ("403", "asks for a token", "auth_token"),
        ("413", "too much at once", "client_max_body_size"),
    ],
)
def test_a_refusal_of_a_proxy_is_said_and_not_repeated(
    engine: LibsqlEngine, through: LibsqlEngine, proxy: Proxy, status: str, says: str, hints: str
) -> None:
    proxy.lose = status
    with pytest.raises(StorageError, match=says) as refusal:
        through.apply([COUNTED])
    assert hints in refusal.value.hint
    assert total(engine) == 0


def test_a_guard_that_fails_unheard_is_still_stale(through: LibsqlEngine, proxy: Proxy) -> None:
    proxy.lose = "answer"
    with pytest.raises(RetentiveError, match="changed since it was read"):
        through.apply([COUNTED, step("memory_restate", expect=1, namespace="n", id="none", now=1)])
    assert total(through) == 0


def test_what_cannot_be_known_is_said_and_not_repeated(
    engine: LibsqlEngine, through: LibsqlEngine, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libsql, "OUTCOME_SECONDS", 0.2)
    proxy.lose = "everything"
    with pytest.raises(Uncertain, match="did not confirm the write") as error:
        through.apply([COUNTED])
    assert not error.value.retryable
    assert "before you write it again" in error.value.hint
    assert total(engine) == 1


def test_the_names_of_batches_are_forgotten_after_a_day(engine: LibsqlEngine) -> None:
    engine.apply([COUNTED])
    engine._server.rows({"sql": "UPDATE batches SET at = at - 100000"})
    engine.apply([COUNTED])
    assert engine._server.rows({"sql": "SELECT count(*) FROM batches"}) == [(1,)]


def test_a_server_that_is_down_is_named(own_sqld: Sqld, monkeypatch: pytest.MonkeyPatch) -> None:
    url = own_sqld.database()
    store = Retentive.open(url, embedder="hashing")
    own_sqld.stop()
    monkeypatch.setattr(libsql, "RECONNECT_SECONDS", 0.2)
    with pytest.raises(Busy, match="does not answer") as error:
        Retentive.open(url, embedder="hashing")
    assert error.value.retryable
    assert "is running" in error.value.hint
    with pytest.raises(Busy, match=r"127\.0\.0\.1"):
        store.add("Nobody hears it")
    store.close()


def test_nothing_acknowledged_is_lost_and_clients_recover_when_the_server_is_killed(own_sqld: Sqld) -> None:
    store = Retentive.open(own_sqld.database(), embedder="hashing")
    other = Retentive.open(f"libsql://127.0.0.1:{own_sqld.port}", embedder="hashing")
    acknowledged: list[str] = []
    enough = threading.Event()

    def write() -> None:
        for number in count():
            acknowledged.append(store.add(f"memory number {number}").id)
            if enough.is_set():
                return

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        for _ in range(2):
            seen = len(acknowledged)
            while len(acknowledged) < seen + 5 and not writing.done():
                time.sleep(0.01)
            own_sqld.stop()
            time.sleep(0.2)
            own_sqld.start()
        enough.set()
        writing.result(timeout=60)
    assert {memory.id for memory in store.list(limit=10_000)} == set(acknowledged)
    assert all(finding.ok for finding in store.doctor())
    assert other.add("The other client is back, too").created
    store.close()
    other.close()
