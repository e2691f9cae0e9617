"""What PostgreSQL does in its own way: schema, ranking, graphs, restricted connections, copies, check-ups."""

import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive import Retentive
from retentive.errors import BadConfig, NewerSchema, NotAStore, StorageError, Unreachable, Unwritable, outcome
from retentive.index.terms import Terms, parse_postings
from retentive.model import Scope
from retentive.storage import Step, step
from retentive.storage.engines.postgres import Options, PostgresEngine, connections, graphs
from retentive.storage.engines.postgres.setup import add_hash_partitions
from retentive.testing import parts_of
from retentive.text.search_fields import FIELD_WEIGHTS
from tests.engines import PAST
from tests.server import Server
from tests.storage.postgres_rows import chunk, run
from tests.support import Open

WHOLE = {"meta", "spaces", "migrations", "commits", "tokens"}  # tables about the whole store: small, or of no namespace
TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'retentive'::regnamespace AND relkind IN ('r', 'p')"


@pytest.fixture
def engine(postgres: str) -> Iterator[PostgresEngine]:
    opened = PostgresEngine(postgres)
    yield opened
    opened.close()


@pytest.fixture
def open_store(postgres: str) -> Iterator[Open]:
    opened: list[Retentive] = []

    def open_(**given: Any) -> Retentive:
        opened.append(Retentive.open(postgres, **{"embedder": "hashing", **given}))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


def asked(engine: PostgresEngine, sql: str) -> list[Any]:
    """As the engine's own connections see it."""
    return engine._link.read(lambda connection: connection.execute(sql).fetchall())


def contents(store: Retentive, question: str, **options: Any) -> list[str]:
    return [hit.content for hit in store.search(question, **options)]


def test_every_key_begins_with_the_namespace(postgres: str) -> None:
    """So that the tables can be partitioned by it."""
    keys = run(
        postgres,
        "SELECT i.indrelid::regclass::text, a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
        " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        " WHERE i.indisunique AND c.relnamespace = 'retentive'::regnamespace",
    )
    assert {table for table, first in keys if first != "namespace"} == WHOLE | {"namespaces"}
    assert {name for (name,) in run(postgres, TABLES)} == {table for table, _ in keys}
    assert ("namespaces", "name") in keys


def test_there_are_no_triggers_and_no_foreign_keys(postgres: str) -> None:
    assert run(postgres, "SELECT tgname FROM pg_trigger") == []
    assert run(postgres, "SELECT conname FROM pg_constraint WHERE contype = 'f'") == []


ALONE = {"session_list": ["before_session"], "record_list": ["after_record"]}  # queries with a filter of their own


def test_every_named_query_is_one_that_the_server_accepts(engine: PostgresEngine) -> None:
    """With all its filters; a parameter or column that is not there is found here."""
    filters = ["active", "statuses", "kinds", "sources", "tags", "min_importance", "min_confidence", "since", "until"]
    connection = engine._link.connect()
    for name, text in engine._queries._blocks["name"].items():
        of_chunks = "chunks t" in engine._queries.sql(name)
        fitting = [
            *filters,
            "visible" if of_chunks else "local",
            *(("chunk_" if of_chunks else "") + at for at in PAST),
        ]
        for sql, _ in engine._queries.statements(name, fitting if "{filters}" in text or "search" in name else ()):
            if not sql.startswith(("LOCK", "SET", "ANALYZE", "VACUUM")):
                explained = sql.replace("halfvec(0)", "halfvec(2)")
                if name in ALONE:
                    explained = engine._queries.statements(name, ALONE[name])[0].sql
                connection.execute(f"EXPLAIN (GENERIC_PLAN) {explained}")
    connection.close()


def test_many_start_at_once_on_an_empty_database(server: Server) -> None:
    name = f"empty_{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    with ThreadPoolExecutor(6) as pool:
        engines = [*pool.map(lambda _: PostgresEngine(server.url(name)), range(6))]
    numbers = run(server.url(name), "SELECT number FROM migrations ORDER BY number")
    assert [number for (number,) in numbers] == [*range(1, len(numbers) + 1)]
    for each in engines:
        each.close()


def test_other_tables_of_the_database_are_left_alone(server: Server) -> None:
    name = f"shared_{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    server.execute("CREATE TABLE memories (mine int)", name)
    with Retentive.open(server.url(name), embedder="none") as store:
        store.add("Beside others")
    assert server.execute("SELECT count(*) FROM memories", name) == [(0,)]


def test_a_newer_schema_is_refused(postgres: str) -> None:
    run(postgres, "INSERT INTO migrations VALUES (999, 'later', 'x', 0)")
    with pytest.raises(NewerSchema):
        PostgresEngine(postgres)


@pytest.mark.parametrize(
    ("address", "error", "says"),
    [
        ("postgresql://postgres@127.0.0.1:1/none", Unreachable, "refused"),
        ("postgresql://postgres@127.0.0.1:{port}/nonesuch", NotAStore, "does not exist"),
        ("postgresql://nobody@127.0.0.1:{port}/postgres", Unwritable, "nobody"),
        ("postgresql://postgres@127.0.0.1:{port}/postgres?nonsense=1", BadConfig, "nonsense"),
        ("postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=require", Unwritable, "does not support SSL"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(server: Server, address: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        Retentive.open(address.format(port=server.port), embedder="none")


def test_the_password_is_never_shown(postgres: str) -> None:
    with Retentive.open(postgres.replace("postgres@", "postgres:hunter2@"), embedder="none") as store:
        assert "hunter2" not in str(store.stats())
        assert store.stats()["store"]["engine"] == "postgresql"
    with pytest.raises(StorageError) as caught:
        Retentive.open("postgresql://postgres:hunter2@127.0.0.1:1/none", embedder="none")
    assert "hunter2" not in str(caught.value)


def test_without_the_extra_it_is_named() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from retentive.cli import main; sys.exit(main(['--db', 'postgresql://h/d', 'list']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 7
    assert "retentive[postgres]" in done.stderr


def test_an_answer_that_takes_too_long_is_given_up(postgres: str) -> None:
    engine = PostgresEngine(postgres, Options(statement_timeout=0.2))
    with pytest.raises(StorageError, match="statement timeout") as caught:
        engine._link.read(lambda connection: connection.execute("SELECT pg_sleep(5)").fetchall())
    assert caught.value.retryable
    assert outcome(caught.value).exit_code == 5
    engine.close()


texts = st.lists(st.sampled_from(["ape", "bee", "cat", "dog", "eel", "fox", "gnu", "running"]), max_size=12).map(
    " ".join
)
rows = st.fixed_dictionaries(
    {
        "content": texts,
        "context": texts,
        "tags": texts,
        "before": texts,
        "fate": st.sampled_from("kept forgotten gone refreshed said".split()),
    }
)


@given(st.lists(rows, min_size=1, max_size=12), st.lists(texts.filter(bool), min_size=1, max_size=3))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_scores_are_those_of_the_image(
    engine: PostgresEngine, table: list[dict[str, str]], questions: list[str]
) -> None:
    """BM25 with the same weights and figures, whatever became of the rows."""
    namespace = uuid.uuid4().hex
    image = Terms(parse_postings([], FIELD_WEIGHTS), np.empty(0, np.int64), FIELD_WEIGHTS)
    live = 0
    for number, row in enumerate(table):
        owner = f"m{number}"
        key: dict[str, Any] = {"namespace": namespace, "owner": owner, "owner_type": "memory"}
        fields = {f"f_{name}": row[name] or None for name in ("context", "tags", "before")}
        engine.apply([Step("chunk_insert", [chunk(owner, row["content"], namespace, **fields)])])
        kept = [row["content"], row["context"], row["tags"], row["before"], "", "", ""]
        if row["fate"] == "forgotten":
            engine.apply([step("chunk_set_status", **key, status="forgotten")])
        elif row["fate"] == "gone":
            engine.apply([step("chunk_delete", **key)])
        elif row["fate"] == "refreshed":
            kept[1:3] = "eel eel", "fox"
            anew = chunk(owner, "", namespace, f_context="eel eel", f_tags="fox")
            engine.apply([Step("chunk_refresh", [anew])])
        if row["fate"] not in ("forgotten", "gone"):
            image.add(number, [engine.tokens(text) for text in kept])
            live += 1
    if not live:
        return
    for question in questions:
        terms = engine.tokens(question)
        slots, scores = image.search(terms, None, live, 100)
        expected = {
            f"m{slot}": pytest.approx(float(score), rel=1e-4) for slot, score in zip(slots, scores, strict=True)
        }
        found = engine.search_text(question.split(), Scope((namespace,), None, 100), 100)
        assert {match.owner: match.score for match in found} == expected
    assert [finding for finding in engine.check() if not finding.ok and finding.name != "memories and chunks"] == []


DAMAGE = [
    "DELETE FROM texts WHERE chunk = 1",
    "DELETE FROM chunks WHERE n = 1",
    "UPDATE chunks SET status = 'forgotten' WHERE n = 1",
    "DELETE FROM postings WHERE chunk = 1",
    "UPDATE postings SET frequency = 9",
    "UPDATE statistics SET rows = rows + 5",
    "INSERT INTO vectors SELECT namespace, space, 999, vector FROM vectors LIMIT 1",
    "INSERT INTO postings VALUES ('default', 'ghost', 999, 1, 1, true)",
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_whatever_is_derived_can_be_made_again(open_store: Open, postgres: str, damage: str) -> None:
    store = open_store()
    store.add("The lighthouse keeper")
    store.forget(store.add("The shipwright").id)
    run(postgres, damage)
    assert not all(finding.ok for finding in store.doctor())
    store.repair()
    assert [finding for finding in store.doctor() if not finding.ok] == []
    assert store.search("lighthouse keeper").tier == "hybrid"
    assert contents(store, "shipwright", mode="text") == []
    assert contents(store, "shipwright", mode="text", status="forgotten") == ["The shipwright"]


@pytest.mark.parametrize("lost", ["postings", "vectors"])
def test_a_search_never_fails_because_a_part_is_missing(open_store: Open, postgres: str, lost: str) -> None:
    store = open_store()
    store.add("The lighthouse keeper")
    run(postgres, f"DROP TABLE {lost}")
    found = store.search("lighthouse keeper")
    assert [hit.content for hit in found] == ["The lighthouse keeper"]
    assert found.notes
    assert not all(finding.ok for finding in store.doctor())


def test_figures_stay_right_while_many_write_and_fold(engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retentive.storage.engines.postgres.FOLD_ROWS", 2)

    def work(number: int) -> None:
        engine.apply([Step("chunk_insert", [chunk(f"m{number}", "one two three", "n")])])
        if number % 3 == 0:
            engine.apply(
                [step("chunk_set_status", namespace="n", owner=f"m{number}", owner_type="memory", status="gone")]
            )

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(90)))
    figures = asked(engine, "SELECT sum(rows), sum(tokens), count(*) FROM statistics")
    assert figures[0][:2] == (60, 180)
    assert figures[0][2] < 60


def test_restricted_connections_see_and_write_their_own_alone(
    open_store: Open, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though a query forgets its filter, and though it asks for another's by name."""
    monkeypatch.setattr("retentive.storage.engines.postgres.FOLD_ROWS", 1)
    monkeypatch.setattr(connections, "PRUNE_SHARE", 1)
    for name in ("alice", "bob"):
        open_store(namespace=name).add(f"The secret word of {name}", session=None)
        open_store(namespace=name).sessions.append("s", "user", f"The secret talk of {name}")
    alice = open_store(namespace="alice", restrict_to="alice, alice/coder")
    bob = open_store(namespace="bob", restrict_to="bob")
    engine = parts_of(alice).engine
    assert isinstance(engine, PostgresEngine)
    held = run(
        postgres,
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'retentive'"
        " AND column_name = 'namespace' AND table_name <> 'tokens'",
    )
    for (table,) in held:
        assert asked(engine, f"SELECT DISTINCT namespace FROM {table}") in ([], [("alice",)]), table
    assert [*alice.namespaces()] == ["alice"]
    assert contents(alice, "secret word", namespaces=["bob"], include="memories") == ["The secret word of alice"]
    assert contents(bob, "secret word", namespaces=["alice"], include="memories") == ["The secret word of bob"]
    assert contents(alice, "secret", mode="vector", namespaces=["bob"], include="memories") == [
        "The secret word of alice"
    ]
    with pytest.raises(StorageError, match="row-level security"):
        open_store(namespace="bob", restrict_to="alice").add("Put into bob's")
    alice.add("More of mine")
    assert [*alice.accesses()]
    alice.upkeep()
    alice.repair()
    assert [finding for finding in alice.doctor() if not finding.ok] == []
    assert len(open_store(namespace="bob").list()) == 1


def test_a_restriction_ends_with_its_transaction(postgres: str) -> None:
    restricted = PostgresEngine(postgres, Options(size=1, namespaces=("alice",)))
    assert restricted.read("namespace_list") == []
    plain = restricted._link
    with plain._connection(1e12) as connection:
        rows = connection.execute("SELECT current_user, current_setting('retentive.namespaces', true)").fetchall()
    assert rows == [("postgres", "")]
    restricted.close()


def test_who_may_not_make_roles_is_told_what_to_ask_for(server: Server) -> None:
    suffix = uuid.uuid4().hex
    server.execute(f"CREATE ROLE plain_{suffix} LOGIN")
    server.execute(f"CREATE DATABASE owned_{suffix} OWNER plain_{suffix}")
    server.execute("CREATE EXTENSION vector", f"owned_{suffix}")
    url = server.url(f"owned_{suffix}", f"plain_{suffix}")
    with Retentive.open(url, embedder="none", namespace="alice") as store:
        store.add("Without any special right")
        assert [memory.content for memory in store.list()] == ["Without any special right"]
    present = server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'retentive_restricted'")
    with pytest.raises(Unwritable) as caught:
        Retentive.open(url, embedder="none", restrict_to="alice")
    assert "GRANT retentive_restricted" in caught.value.hint
    if not present:
        server.execute("CREATE ROLE retentive_restricted NOLOGIN")
    server.execute(f"GRANT retentive_restricted TO plain_{suffix}")
    with Retentive.open(url, embedder="none", namespace="bob", restrict_to="bob") as store:
        assert [*store.namespaces()] == []
        store.add("As asked for")
        assert [*store.namespaces()] == ["bob"]


def test_a_partitioned_store_is_like_any_other(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"parts_{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    monkeypatch.setattr(graphs, "MIN_GRAPH_ROWS", 50)
    monkeypatch.setattr(graphs, "SKIP_COST", 0)
    stores = [Retentive.open(server.url(name), namespace=f"n{n}", embedder="hashing", partitions=4) for n in range(6)]
    for number, store in enumerate(stores):
        store.add_many([f"fact {n} of {number}" for n in range(60)])
        store.sessions.append("s", "user", f"hello {number}")
    stores[0].repair()
    for number, store in enumerate(stores):
        assert contents(store, f"fact 7 of {number}", limit=1) == [f"fact 7 of {number}"]
        assert len(store.search("fact", limit=100, mode="text")) == 60
    with_graph = parts_of(stores[0]).engine
    assert isinstance(with_graph, PostgresEngine)
    assert with_graph._graphs.max_scanned_rows(1, 10) is not None
    assert [finding for finding in stores[0].doctor() if not finding.ok] == []
    halves = run(server.url(name), "SELECT DISTINCT tableoid::regclass::text FROM memories")
    assert len(halves) > 1
    for store in stores:
        store.close()


def test_only_marked_tables_are_partitioned() -> None:
    schema = "CREATE TABLE a (\n  n int\n);\nCREATE TABLE b (\n  n int\n) /* by namespace */;\n"
    cut = add_hash_partitions(schema, 2)
    assert cut.count("PARTITION OF b") == 2
    assert "CREATE TABLE a (\n  n int\n);" in cut
    assert add_hash_partitions(schema, 0) == schema


def recovering(connection: Any) -> list[Any]:
    return [*connection.execute("SELECT pg_is_in_recovery()").fetchall()]


def test_searches_go_to_the_copy_and_come_back_when_it_is_gone(server: Server, postgres: str) -> None:
    copy = Server(server.settings, follows=server)
    try:
        address = copy.url(postgres.rpartition("/")[2])
        with Retentive.open(postgres, embedder="hashing", replica=address) as store:
            store.add("Known to both")
            engine = parts_of(store).engine
            assert isinstance(engine, PostgresEngine)
            deadline = time.monotonic() + 20
            while engine._replica.read(recovering) != [(True,)] and time.monotonic() < deadline:
                time.sleep(0.02)  # until it has what was just written
            assert engine._replica.read(recovering) == [(True,)]
            copy.stop()
            assert contents(store, "known to both") == ["Known to both"]
    finally:
        copy.remove()


def test_a_session_is_set_up_as_it_should_be(engine: PostgresEngine) -> None:
    def shown(connection: Any) -> list[Any]:
        names = ("application_name", "plan_cache_mode", "hnsw.iterative_scan", "statement_timeout")
        return [connection.execute(f"SHOW {name}").fetchall()[0][0] for name in names]

    assert engine._link.read(shown) == ["retentive", "force_custom_plan", "relaxed_order", "30s"]
