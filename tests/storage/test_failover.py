"""A primary that is lost: its standby takes over, and it comes back as the standby of that one."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from retentive import Retentive
from retentive.model.scale import Replica
from tests.engines import missing
from tests.server import Server

PATIENCE = 20.0  # seconds for something to happen on a busy machine


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    """A primary and a standby that has every write before it is acknowledged."""
    try:
        primary = Server()
    except (ImportError, OSError) as error:
        missing("PostgreSQL", error)
    standby = Server(follows=primary)
    primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.execute("ALTER SYSTEM SET wal_keep_size = '256MB'")  # or the way back may be deleted
    primary.execute("SELECT pg_reload_conf()")
    wait_for_standby(primary, "sync")
    yield primary, standby
    standby.remove()
    primary.remove()


def wait_for_standby(primary: Server, state: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while primary.execute("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'") != [(state,)]:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def read_replicas(store: Retentive) -> tuple[Replica, ...]:
    server = store.scale.check().server
    assert server
    return server.replicas


def test_no_acknowledged_write_is_lost_with_the_primary(pair: tuple[Server, Server]) -> None:
    """Nor kept twice; no call fails; and the old primary follows the new one afterwards."""
    primary, standby = pair
    hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
    store = Retentive.open(f"postgresql://postgres@{hosts}/postgres", replica=standby.url(), embedder="hashing")
    done = threading.Event()
    acknowledged: list[str] = []

    def write(name: int) -> None:
        number = 0
        while not done.is_set():
            text = f"writer {name} keeps item {number}"
            store.add(text)
            acknowledged.append(text)
            store.search(text, limit=1)
            number += 1

    def wait_for_writes(count: int) -> None:
        aim, deadline = len(acknowledged) + count, time.monotonic() + PATIENCE
        while len(acknowledged) < aim:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, name) for name in range(4)]
        try:
            wait_for_writes(60)
            primary.stop("immediate")
            standby.promote()
            wait_for_writes(60)
        finally:
            done.set()
        for each in writers:
            each.result()
    assert sorted(memory.content for memory in store.list(limit=100_000)) == sorted(acknowledged)
    assert read_replicas(store) == ()

    primary.rejoin(standby)
    wait_for_standby(standby, "async")
    store.add("The old primary follows the new one")
    assert [(each.state, each.is_synchronous) for each in read_replicas(store)] == [("streaming", False)]
    standby.wait_until_followed(by=primary)
    assert primary.execute("SELECT count(*) FROM retentive.memories") == [(len(acknowledged) + 1,)]
    assert [finding for finding in store.doctor() if not finding.ok] == []
    store.close()
