"""A pooler stands between: PgBouncer, whose connections of the server change all the time."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from retentive import Retentive
from retentive.errors import StorageError
from retentive.model.scale import Pooler
from retentive.storage.engines.postgres import graphs
from tests.server import Server
from tests.storage.pgbouncer import PgBouncer, pgbouncer_or_skip
from tests.storage.postgres_rows import run

LIFETIME = 1.0  # seconds after which a connection of the server is closed
THREADS = 8  # more than there are connections
CALLS = 15  # of each thread
GRAPHS = "SELECT relname FROM pg_class WHERE relname LIKE 'vectors_graph%'"


@pytest.fixture(scope="module")
def transaction_pooler(server: Server) -> Iterator[PgBouncer]:
    pgbouncer_or_skip()
    pooler = PgBouncer(server, "transaction", lifetime=LIFETIME)
    yield pooler
    pooler.remove()


@pytest.fixture
def address(transaction_pooler: PgBouncer, postgres: str) -> str:
    """Of a store behind a pooler in transaction mode."""
    return transaction_pooler.url(postgres.rpartition("/")[2])


@pytest.fixture
def store(address: str) -> Iterator[Retentive]:
    with Retentive.open(address, namespace="alice", embedder="hashing") as opened:
        yield opened


def read_process(address: str) -> int:
    """The process of the server that a client meets just now."""
    with psycopg.connect(address, autocommit=True) as client:
        process: int = client.execute("SELECT pg_backend_pid()").fetchall()[0][0]
        return process


def test_what_is_added_is_found_though_connections_change(store: Retentive, address: str) -> None:
    deadline = time.monotonic() + 3 * LIFETIME
    number = 0
    processes = set[int]()
    while time.monotonic() < deadline:
        text = f"The lighthouse number {number} has a keeper"
        store.add(text)
        found = store.search(f"lighthouse number {number}", limit=1)
        assert [hit.content for hit in found] == [text]
        assert found.tier == "hybrid"
        assert found.notes == ()
        processes.add(read_process(address))
        number += 1
    assert len(processes) > 1
    assert [finding for finding in store.doctor() if not finding.ok] == []


def test_many_threads_share_few_connections(store: Retentive) -> None:
    def work(name: int) -> None:
        for number in range(CALLS):
            text = f"thread {name} keeps item {number}"
            store.add(text)
            assert store.search(text, limit=1).hits
            store.sessions.append(f"s{name}", "user", f"thread {name} says {number}")
            store.context(f"item {number}", session=f"s{name}")

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(work, name) for name in range(THREADS)]:
            done.result()
    assert len(store.list(limit=1000)) == THREADS * CALLS
    assert [len(store.sessions.events(f"s{name}")) for name in range(THREADS)] == [CALLS] * THREADS
    assert [finding for finding in store.doctor() if not finding.ok] == []


def test_restricted_views_see_their_own_though_they_share_connections(store: Retentive) -> None:
    """A restriction that outlived its transaction would meet the next caller of the same connection."""
    views = {name: store.restricted(name) for name in ("alice", "bob")}

    def work(name: str, thread: int) -> None:
        for number in range(CALLS):
            views[name].add(f"{name} keeps harbour {thread} {number}")
            assert {hit.item.namespace for hit in views[name].search("harbour", limit=50)} == {name}
            assert [*views[name].namespaces()] == [name]

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(work, name, thread) for name in views for thread in range(THREADS // 2)]:
            done.result()
    assert {*store.namespaces()} == {"alice", "bob"}
    for name, view in views.items():
        assert len(view.list(limit=1000)) == len(store.in_namespace(name).list(limit=1000)) == THREADS // 2 * CALLS


def test_large_batches_and_whole_passes_go_through(store: Retentive, tmp_path: Path) -> None:
    store.add_many([f"The ship number {number} has a name" for number in range(300)])
    store.repair()
    assert store.stats()["memories"] == 300
    store.export(tmp_path / "all.jsonl")
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) > 300
    assert [finding for finding in store.doctor() if not finding.ok] == []


def test_a_graph_that_was_built_directly_is_used(address: str, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a pooler none is built: that needs a session."""
    monkeypatch.setattr(graphs, "MIN_GRAPH_ROWS", 50)
    monkeypatch.setattr(graphs, "SKIP_COST", 0)
    with Retentive.open(address, embedder="hashing") as pooled:
        pooled.add_many([f"fact {number}" for number in range(60)])
        pooled.repair()
        assert run(postgres, GRAPHS) == []
        with Retentive.open(postgres, embedder="hashing") as direct:
            direct.repair()
        assert len(run(postgres, GRAPHS)) == 1
        assert [hit.content for hit in pooled.search("fact 7", limit=1)] == ["fact 7"]
        assert [finding for finding in pooled.doctor() if not finding.ok] == []


def test_a_new_store_is_made_through_a_pooler(transaction_pooler: PgBouncer, server: Server) -> None:
    name = "made_through_a_pooler"
    server.execute(f"CREATE DATABASE {name}")
    with Retentive.open(transaction_pooler.url(name), embedder="hashing", restrict_to="default") as store:
        store.add("Made through a pooler")
        assert len(store.list()) == 1
    server.drop(name)


def test_a_pooler_is_recognised_and_explained(store: Retentive) -> None:
    report = store.scale.check()
    assert report.server
    assert (report.server.pooler, report.server.has_pooler_mode) == (Pooler.TRANSACTION, True)
    assert report.is_well


def test_a_pooler_that_is_denied_is_a_fault(address: str) -> None:
    """`pooler = none` keeps settings in the session; `scale check` says so before calls fail."""
    with Retentive.open(address, embedder="hashing", pooler="none") as store:
        try:
            findings = {each.name: each for each in store.scale.check().findings}
        except StorageError:
            return  # it failed before it could be asked
    assert not findings["pooler"].ok
    assert "pooler = auto" in findings["pooler"].next_step


def test_a_pooler_in_session_mode_is_told_apart(server: Server, postgres: str) -> None:
    pgbouncer_or_skip()
    pooler = PgBouncer(server, "session", connections=20)
    try:
        with Retentive.open(pooler.url(postgres.rpartition("/")[2]), embedder="hashing") as store:
            store.add("Through a session")
            report = store.scale.check()
            assert report.server
            assert report.server.pooler is Pooler.SESSION
            assert report.is_well
    finally:
        pooler.remove()
