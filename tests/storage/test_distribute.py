"""Distributing a store over a Citus cluster: the statements, on the real schema of a real server.

No cluster runs here. `citus_rules.sql` has functions of the names of Citus. They record their calls and refuse what
Citus refuses. So these tests show that the statements fit the schema and the rules; not that rows are moved.
"""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.errors import Invalid, NewerSchema
from retentive.model.scale import ScaleReport, StoreKind, TableKind
from retentive.storage.engines.postgres import PostgresEngine
from retentive.storage.engines.postgres.cluster import (
    DISTRIBUTED_TABLES,
    LOCAL_TABLES,
    REFERENCE_TABLES,
    USER_SETTINGS,
)
from tests.server import Server
from tests.storage.postgres_rows import run

RULES = Path(__file__).with_name("citus_rules.sql").read_text("utf-8")
LISTED = {*DISTRIBUTED_TABLES, *REFERENCE_TABLES, *LOCAL_TABLES}
CALLS = "SELECT replace(call, 'retentive.', '') FROM calls ORDER BY n"


def skip_real_cluster(address: str) -> None:
    if run(address, "SELECT 1 FROM pg_extension WHERE extname = 'citus'"):
        pytest.skip("this server has Citus itself")


@pytest.fixture
def cluster(postgres: str) -> str:
    """A store on a server that has the names of Citus, with the role of restricted views."""
    skip_real_cluster(postgres)
    with Retentive.open(postgres, embedder="none") as opened:
        opened.restricted("alice").list()
    run(postgres, RULES)
    run(postgres, "ALTER ROLE retentive_restricted NOLOGIN")
    return postgres


@pytest.fixture
def store(cluster: str) -> Iterator[Retentive]:
    with Retentive.open(cluster, namespace="alice", embedder="hashing") as opened:
        yield opened


def calls(address: str) -> list[str]:
    return [call for (call,) in run(address, CALLS)]


def test_every_table_of_the_schema_has_its_place(postgres: str) -> None:
    """A new table fails here until it is listed in `storage/engines/postgres/cluster.py`."""
    tables = run(
        postgres,
        "SELECT relname FROM pg_class WHERE relnamespace = 'retentive'::regnamespace AND relkind IN ('r', 'p')",
    )
    assert {name for (name,) in tables} == LISTED
    assert len(LISTED) == len(DISTRIBUTED_TABLES) + len(REFERENCE_TABLES) + len(LOCAL_TABLES)


def test_every_table_with_a_namespace_is_distributed_by_it(postgres: str) -> None:
    with_namespace = run(
        postgres,
        "SELECT table_name FROM information_schema.columns"
        " WHERE table_schema = 'retentive' AND column_name = 'namespace'",
    )
    by_namespace = {table for table, column in DISTRIBUTED_TABLES.items() if column == "namespace"}
    assert {name for (name,) in with_namespace} == by_namespace | {"tokens"}


def test_every_unique_key_of_a_distributed_table_has_its_column(postgres: str) -> None:
    """Citus can check a key only on the machine that has the rows."""
    keys = run(
        postgres,
        "SELECT i.indrelid::regclass::text, (SELECT array_agg(a.attname::text) FROM pg_attribute a"
        " WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int[])) FROM pg_index i"
        " JOIN pg_class c ON c.oid = i.indrelid WHERE i.indisunique AND c.relnamespace = 'retentive'::regnamespace",
    )
    assert {*DISTRIBUTED_TABLES} <= {table for table, _ in keys}
    for table, columns in keys:
        assert table not in DISTRIBUTED_TABLES or DISTRIBUTED_TABLES[table] in columns, table


def test_all_tables_are_distributed_with_the_first(cluster: str, store: Retentive) -> None:
    store.scale.distribute(shards=8)
    done = calls(cluster)
    assert done[:4] == ["copy spaces", "copy meta", "copy tokens", "distribute memories by namespace with none"]
    assert {*done[4:]} == {
        f"distribute {table} by {column} with memories"
        for table, column in DISTRIBUTED_TABLES.items()
        if table != "memories"
    }
    server = store.scale.check().server
    assert server
    assert {each.name: each.kind for each in server.tables} == {
        **dict.fromkeys(DISTRIBUTED_TABLES, TableKind.DISTRIBUTED),
        **dict.fromkeys(REFERENCE_TABLES, TableKind.REFERENCE),
        **dict.fromkeys(LOCAL_TABLES, TableKind.LOCAL),
    }
    assert {each.shards for each in server.tables if each.kind is TableKind.DISTRIBUTED} == {8}


def test_a_second_run_does_nothing(cluster: str, store: Retentive) -> None:
    assert store.scale.distribute()
    before = calls(cluster)
    assert store.scale.distribute() == []
    assert calls(cluster) == before


def test_a_dry_run_changes_nothing(cluster: str, store: Retentive) -> None:
    plan = store.scale.distribute(dry_run=True)
    assert calls(cluster) == []
    assert store.scale.distribute() == plan


@pytest.mark.parametrize("stop_at", ["numbers of statistics", "copy meta", "distribute events", "let the role"])
def test_an_interrupted_run_is_continued(cluster: str, stop_at: str) -> None:
    with Retentive.open(cluster, namespace="alice", embedder="hashing") as store:
        whole = store.scale.distribute(dry_run=True)

        def interrupt(what: str) -> None:
            if what.startswith(stop_at):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.scale.distribute(progress=interrupt)
        rest = store.scale.distribute()
        assert whole[-len(rest) :] == rest
        assert 0 < len(rest) < len(whole)
        assert store.scale.distribute() == []
    assert len(calls(cluster)) == len({*calls(cluster)}) == len(DISTRIBUTED_TABLES) + len(REFERENCE_TABLES)


def test_half_a_distribution_is_reported(store: Retentive) -> None:
    def interrupt(what: str) -> None:
        if what.startswith("distribute vectors"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.scale.distribute(progress=interrupt)
    report = store.scale.check()
    assert not report.is_well
    assert "vectors" in next(each.detail for each in report.findings if each.name == "tables")
    assert [finding.name for finding in store.doctor() if not finding.ok] == ["setup"]


def test_undistributing_brings_every_table_back(cluster: str, store: Retentive) -> None:
    store.scale.distribute()
    store.scale.undistribute()
    brought = {each[len("undistribute ") :] for each in calls(cluster) if each.startswith("undistribute")}
    assert brought == LISTED - {*LOCAL_TABLES}
    assert store.scale.undistribute() == []


def test_the_settings_of_the_cluster_are_those_of_the_user_in_this_database(cluster: str, store: Retentive) -> None:
    store.scale.distribute()
    for name, value in USER_SETTINGS.items():
        assert run(cluster, f"SELECT current_setting('{name}', true)") == [(value,)]
    store.scale.undistribute()
    for name in USER_SETTINGS:
        assert run(cluster, f"SELECT current_setting('{name}', true)") in ([(None,)], [("",)])


def test_the_store_is_used_as_before(store: Retentive, time: object) -> None:  # noqa: ARG001 - instants must differ
    """With policies without a subquery, and numbers from sequences."""
    store.add("The lighthouse keeper is called Ingrid")
    store.in_namespace("bob").add("The shipwright is called Olaf")
    store.scale.distribute()
    store.add("The baker is called Rosa")
    store.sessions.append("s", "user", "The ferry leaves at nine")
    assert [hit.content for hit in store.search("who is the baker", limit=1)] == ["The baker is called Rosa"]
    assert [*store.accesses()]
    alice = store.restricted("alice")
    assert {memory.content for memory in alice.list()} == {
        "The lighthouse keeper is called Ingrid",
        "The baker is called Rosa",
    }
    alice.add("The postman is called Emil")
    assert [*alice.namespaces()] == ["alice"]
    assert [finding for finding in store.doctor() if not finding.ok] == []


def test_partitions_go_with_their_tables(server: Server) -> None:
    name = f"parts_{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    address = server.url(name)
    PostgresEngine(address, partitions=2).close()
    run(address, RULES)
    with Retentive.open(address, embedder="hashing") as store:
        store.scale.distribute()
        assert sum(call.startswith("distribute") for call in calls(address)) == len(DISTRIBUTED_TABLES)
        store.scale.undistribute()
        assert store.scale.undistribute() == []
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_without_citus_it_is_refused_with_what_to_do(postgres: str, capsys: pytest.CaptureFixture[str]) -> None:
    skip_real_cluster(postgres)
    with (
        Retentive.open(postgres, embedder="hashing") as store,
        pytest.raises(Invalid, match="does not have Citus") as caught,
    ):
        store.scale.distribute()
    assert "CREATE EXTENSION citus" in caught.value.hint
    assert main(["--db", postgres, "--embedder", "hashing", "scale", "distribute"]) == 2
    assert "`retentive scale check`" in capsys.readouterr().err


def test_a_table_of_a_newer_version_is_not_forgotten(cluster: str, store: Retentive) -> None:
    run(cluster, "CREATE TABLE retentive.dreams (namespace text PRIMARY KEY)")
    with pytest.raises(NewerSchema, match="dreams"):
        store.scale.distribute(dry_run=True)


@pytest.mark.parametrize("shards", [0, 64_001])
def test_impossible_numbers_of_shards_are_refused(store: Retentive, shards: int) -> None:
    with pytest.raises(Invalid, match="between"):
        store.scale.distribute(shards)


def test_another_number_of_shards_is_refused_afterwards(store: Retentive) -> None:
    store.scale.distribute(shards=8)
    assert store.scale.distribute(shards=8) == []
    with pytest.raises(Invalid, match="8 shards already"):
        store.scale.distribute(shards=16)


def check(address: str) -> ScaleReport:
    with Retentive.open(address, embedder="hashing") as store:
        return store.scale.check()


def test_the_machines_of_a_cluster_are_listed(cluster: str) -> None:
    report = check(cluster)
    assert (report.kind, report.is_well) == (StoreKind.CLUSTER, True)
    found = {each.name: each.detail for each in report.findings}
    assert found["cluster"] == "Citus 13.0 on 3 machines: coordinator:5432 (coordinator), one:5432, two:5432"
    assert found["tables"] == "none is distributed: the coordinator holds every namespace"


def test_a_machine_that_is_away_is_a_fault(cluster: str) -> None:
    run(cluster, "UPDATE pg_dist_node SET isactive = false WHERE nodename = 'two'")
    report = check(cluster)
    assert not report.is_well
    assert "two:5432 (not active, does not answer)" in next(
        each.detail for each in report.findings if each.name == "cluster"
    )


def test_the_command_line_prints_statements_that_can_be_run(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--db", cluster, "--embedder", "hashing", "scale", "distribute", "--dry-run", "--shards", "4"]) == 0
    statements = capsys.readouterr().out
    assert statements.splitlines()[-2] == (
        "SELECT create_distributed_table('retentive.quarantine', 'namespace', colocate_with => 'retentive.memories');"
    )
    run(cluster, statements)
    assert main(["--db", cluster, "--embedder", "hashing", "scale", "distribute"]) == 0
    assert capsys.readouterr().out == "every table is distributed already\n"
    assert main(["--db", cluster, "--embedder", "hashing", "scale", "undistribute"]) == 0
    assert "bring memories back" in capsys.readouterr().out
