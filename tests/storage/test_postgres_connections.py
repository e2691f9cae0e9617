"""How PostgreSQL is reached: addresses, what they do not show, several servers, databases that are set up otherwise."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from retentive import Retentive, config
from retentive.errors import BadConfig, NotAStore, StorageError, Unwritable
from retentive.storage import step
from retentive.storage.engines.postgres import Options, PostgresEngine
from retentive.storage.engines.postgres.connections import Connection
from retentive.testing import parts_of
from tests.server import Server, doing

NEVER = [  # addresses, with what must not be seen of them
    ("postgresql://me:hun/ter2@127.0.0.1:1/x", "ter2"),
    ("postgresql://me:123/ter2@127.0.0.1:1/x", "ter2"),
    ("postgresql://me:hun@ter2@127.0.0.1:1/x", "ter2"),
    ("postgresql://me:hun%zzter2@127.0.0.1:1/x", "ter2"),
    ("postgresql://me:hun?ter2@127.0.0.1:1/x", "ter2"),
    ("postgresql://127.0.0.1:1/x?user=me&password=ter2", "ter2"),
    ("postgresql://127.0.0.1:1/x?sslpassword=ter2&sslkey=k", "ter2"),
]


@contextmanager
def database(server: Server, more: str = "") -> Iterator[str]:
    name = f"own_{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name} {more}")
    yield name
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize(("address", "secret"), NEVER)
def test_no_part_of_a_password_is_shown_however_it_was_written(address: str, secret: str) -> None:
    assert secret not in str(config.mask_secrets(config.resolve({"db": address, "replica": address})))
    with pytest.raises((StorageError, BadConfig)) as caught:
        Retentive.open(address, embedder="none")
    error: BaseException | None = caught.value
    while error:
        assert secret not in f"{error!r} {getattr(error, 'hint', '')}"
        error = error.__cause__


def test_an_address_without_a_password_is_shown_as_it_is() -> None:
    for address in ("postgresql://me@db.example.org:5432/x?sslmode=verify-full", "/home/a:b@c/memory.db"):
        assert config.mask_secrets(config.resolve({"db": address}))["db"].value == address


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_is_refused(server: Server, encoding: str) -> None:
    with database(server, f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0") as name:
        with pytest.raises(NotAStore, match=encoding) as caught:
            Retentive.open(server.url(name), embedder="none")
        assert "UTF8" in caught.value.hint


def test_texts_travel_whatever_encoding_the_surroundings_ask_for(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "latin1")
    for address in (postgres, f"{postgres}?client_encoding=sql_ascii"):
        with Retentive.open(address, embedder="none") as store:
            store.add("漢字 🦋")
            assert store.list()[0].content == "漢字 🦋"


def test_writers_see_each_other_whatever_isolation_is_the_default(server: Server) -> None:
    with database(server) as name:
        server.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
        engine = PostgresEngine(server.url(name))
        shown = engine._link.read(lambda connection: connection.execute("SHOW transaction_isolation").fetchall())
        assert shown == [("read committed",)]
        engine.close()


@pytest.mark.parametrize(
    "work",
    [
        lambda engine: engine.apply([step("session_delete", namespace="n", session="s", session_namespace="n", now=1)]),
        lambda engine: engine.read("memory_broken_chunks"),
        lambda engine: engine.rebuild(),
    ],
)
def test_what_goes_through_the_whole_store_may_take_its_time(
    postgres: str, work: Callable[[PostgresEngine], object]
) -> None:
    """Longer than an answer may take: to try again would not help."""
    engine = PostgresEngine(postgres, Options(statement_timeout=0.5))
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE retentive.memories, retentive.memory_history")
        ending = threading.Timer(1.2, other.commit)
        ending.start()
        work(engine)
        ending.join()
    engine.close()


def test_what_was_to_be_written_is_not_in_the_error(postgres: str) -> None:
    engine = PostgresEngine(postgres)
    broken = "INSERT INTO events (namespace, content) VALUES ('n', 'The safe opens with 1234')"
    with pytest.raises(StorageError, match="violates not-null") as caught:
        engine._link.write(doing(broken))
    assert "1234" not in str(caught.value)
    engine.close()


def test_of_several_servers_the_one_that_writes_is_found(server: Server) -> None:
    copy = Server(server.settings, follows=server)
    try:
        with database(server) as name:
            address = f"postgresql://postgres@127.0.0.1:{copy.port},127.0.0.1:{server.port}/{name}"
            with Retentive.open(address, embedder="none") as store:
                assert store.add("At the primary").created
    finally:
        copy.remove()


def test_restricted_connections_get_rights_on_tables_that_came_later(server: Server, postgres: str) -> None:
    options = Options(namespaces=("alice",))
    PostgresEngine(postgres, options).close()
    server.execute("CREATE TABLE retentive.later (namespace text)", postgres.rpartition("/")[2])
    engine = PostgresEngine(postgres, options)
    assert engine._link.read(lambda connection: connection.execute("SELECT * FROM later").fetchall()) == []
    engine.close()


@pytest.mark.parametrize(
    "sql", ["DELETE FROM spaces", "UPDATE spaces SET name = 'x'", "DELETE FROM meta", "SELECT * FROM tokens"]
)
def test_restricted_connections_cannot_change_what_all_share(postgres: str, sql: str) -> None:
    engine = PostgresEngine(postgres, Options(namespaces=("alice",)))
    with pytest.raises(Unwritable, match="permission denied"):
        engine._link.write(doing(sql))
    engine.close()


def test_what_was_written_here_is_found_though_the_copy_lags(server: Server, postgres: str) -> None:
    """By the primary, as long as the copy has not come so far; then by the copy again."""
    copy = Server(server.settings, follows=server)
    try:
        with Retentive.open(postgres, embedder="hashing", replica=copy.url(postgres.rpartition("/")[2])) as store:
            engine = parts_of(store).engine
            assert isinstance(engine, PostgresEngine)
            store.add("Known to both")
            copy.execute("SELECT pg_wal_replay_pause()")
            for number in range(3):
                kept = store.add(f"Heron number {number}")
                found = store.search(f"heron number {number}")
                assert found.tier == "hybrid"
                assert kept.id in {hit.id for hit in found}
            copy.execute("SELECT pg_wal_replay_resume()")
            where = "SELECT pg_is_in_recovery()"
            deadline = time.monotonic() + 20
            while not engine._replica.read(_first(where)) and time.monotonic() < deadline:
                time.sleep(0.02)
            assert engine._replica.read(_first(where))
            assert len(store.search("heron number")) == 4
    finally:
        copy.remove()


def _first(sql: str) -> Callable[[Connection], Any]:
    return lambda connection: connection.execute(sql).fetchall()[0][0]


def test_behind_a_pooler_nothing_of_a_session_is_needed(postgres: str) -> None:
    """No prepared statement, no setting, no search path: each transaction brings what it needs, in one round trip."""
    with Retentive.open(postgres, embedder="hashing", pooler="transaction") as store:
        for name in ("alice", "bob"):
            own = store.in_namespace(name)
            for number in range(8):
                own.add(f"Heron number {number} of {name}", tags=["bird"])
            own.sessions.append("s", "user", f"The herons of {name} nest")
        view = store.restricted("alice")
        for _ in range(8):
            assert {hit.item.namespace for hit in view.search("heron number", limit=50)} == {"alice"}
        assert view.context("herons").text
        assert [finding for finding in store.doctor() if not finding.ok] == []
        engine = parts_of(store).engine
        assert isinstance(engine, PostgresEngine)
        with engine._link._connection(1e12) as connection:
            left = "SELECT (SELECT count(*) FROM pg_prepared_statements), current_setting('search_path'), current_user"
            assert connection.execute(left).fetchall() == [(0, '"$user", public', "postgres")]


def test_a_connection_of_the_server_itself_is_not_taken_for_a_pooler(postgres: str) -> None:
    engine = PostgresEngine(postgres)
    assert not engine._link.has_pooler
    assert not engine._link.is_cluster
    engine.close()
