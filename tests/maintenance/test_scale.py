"""`scale check`: on what a store is, and what follows."""

import json
import uuid
from dataclasses import replace

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.errors import Forbidden, Invalid
from retentive.maintenance.explain_setup import explain_server, summarise_server
from retentive.model.scale import (
    ClusterTable,
    Node,
    Pooler,
    Replica,
    ScaleFinding,
    SearchReplica,
    ServerSetup,
    StoreKind,
    TableKind,
)
from tests.server import Server
from tests.support import Open, Run

WHERE = "host=one,two dbname=memory"
PLAIN = ServerSetup("18.6", "0.8.6", is_standby=False, pooler=Pooler.NONE, has_pooler_mode=False, restricted_problem="")
STANDBY = Replica("two", "streaming", is_synchronous=True, lag_bytes=0, lag_seconds=0.002)
COORDINATOR = Node("zero", 5432, is_active=True, has_shards=False, is_reachable=True, is_coordinator=True)
WORKER = Node("one", 5432, is_active=True, has_shards=True, is_reachable=True)
CLUSTER = replace(
    PLAIN,
    citus="13.0",
    nodes=(COORDINATOR, WORKER),
    tables=(ClusterTable("memories", TableKind.DISTRIBUTED, 32), ClusterTable("meta", TableKind.REFERENCE)),
)


def explain(setup: ServerSetup, name: str, where: str = WHERE) -> ScaleFinding:
    return next(each for each in explain_server(setup, where) if each.name == name)


SETUPS = [
    # the setup; the finding; is it well; what the detail says; what the next step says
    (PLAIN, "server", True, "PostgreSQL 18.6, pgvector 0.8.6", ""),
    (replace(PLAIN, is_standby=True), "server", False, "a standby, which only reads", "postgresql://user@one,two/"),
    (replace(PLAIN, is_standby=True), "replicas", True, "known to the primary alone", ""),
    (PLAIN, "pooler", True, "none", ""),
    (replace(PLAIN, has_pooler_mode=True), "pooler", True, "none", "pooler = auto"),
    (replace(PLAIN, pooler=Pooler.SESSION), "pooler", True, "session mode", ""),
    (replace(PLAIN, pooler=Pooler.SESSION, has_pooler_mode=True), "pooler", True, "session mode", "pooler = none"),
    (replace(PLAIN, pooler=Pooler.TRANSACTION), "pooler", False, "calls fail", "pooler = auto"),
    (replace(PLAIN, pooler=Pooler.TRANSACTION, has_pooler_mode=True), "pooler", True, "transaction mode", "Graphs"),
    (PLAIN, "replicas", True, "none: while this server is away, so is the store", "standby"),
    (replace(PLAIN, replicas=(STANDBY,)), "replicas", True, "two (synchronous, streaming, 0 bytes behind,", ""),
    (replace(PLAIN, replicas=(replace(STANDBY, is_synchronous=False),)), "replicas", True, "asynchronous", "be lost"),
    (replace(PLAIN, replicas=(Replica("two", "", False, None),)), "replicas", True, "no right to see", "pg_monitor"),
    (replace(PLAIN, search_replica=SearchReplica("host=two", 8)), "searches", True, "host=two, 8 bytes behind", ""),
    (replace(PLAIN, search_replica=SearchReplica("host=two", None, "refused")), "searches", False, "refused", "Look"),
    (replace(PLAIN, restricted_problem="denied"), "row-level security", True, "cannot be used: denied", "Grant"),
    (PLAIN, "cluster", True, "none: this server holds every namespace", "docs/scale.md"),
    (CLUSTER, "cluster", True, "Citus 13.0 on 2 machines: zero:5432 (coordinator), one:5432", ""),
    (replace(CLUSTER, nodes=(COORDINATOR,)), "cluster", True, "on 1 machine", "citus_add_node"),
    (replace(CLUSTER, nodes=(replace(WORKER, is_reachable=False),)), "cluster", False, "does not answer", "Bring back"),
    (replace(CLUSTER, nodes=(replace(WORKER, is_reachable=None),)), "cluster", True, "one:5432", ""),
    (replace(CLUSTER, nodes=(replace(WORKER, is_active=False),)), "cluster", False, "not active", "Bring back"),
    (CLUSTER, "tables", True, "1 distributed over 32 shards, 1 on every machine, 0 on the coordinator", ""),
    (replace(CLUSTER, misplaced=("texts",)), "tables", False, "still on the coordinator: texts", "again"),
    (replace(CLUSTER, tables=()), "tables", True, "none is distributed", "dry_run"),
]  # fmt: skip


@pytest.mark.parametrize(("setup", "name", "is_well", "detail", "step"), SETUPS)
def test_each_setup_is_explained(setup: ServerSetup, name: str, is_well: bool, detail: str, step: str) -> None:
    found = explain(setup, name)
    assert found.ok == is_well
    assert detail in found.detail
    assert step in found.next_step
    assert bool(step) == bool(found.next_step)


def test_an_address_of_one_host_is_not_enough_for_a_failover() -> None:
    setup = replace(PLAIN, replicas=(STANDBY,))
    assert "one,two" in explain(setup, "replicas", "host=one dbname=memory").next_step


@pytest.mark.parametrize(
    ("setup", "line"),
    [
        (PLAIN, "PostgreSQL 18.6"),
        (replace(PLAIN, is_standby=True), "PostgreSQL 18.6, a standby"),
        (
            replace(PLAIN, pooler=Pooler.SESSION, replicas=(STANDBY,)),
            "PostgreSQL 18.6, behind a pooler in session mode, 1 replica",
        ),
        (CLUSTER, "PostgreSQL 18.6, Citus 13.0 on 2 machines, 2 tables distributed"),
    ],
)
def test_doctor_says_it_in_one_line(setup: ServerSetup, line: str) -> None:
    assert summarise_server(setup) == line


@pytest.mark.engines
def test_every_store_says_what_it_is_on(open_store: Open, target: str) -> None:
    report = open_store().scale.check()
    assert report.kind == StoreKind(target.partition(":")[0] if "://" in target else "file")
    assert report.is_well
    assert any(each.next_step for each in report.findings)


def test_a_store_in_memory_is_no_file() -> None:
    with Retentive.open(":memory:", embedder="hashing") as store:
        (finding,) = store.scale.check().findings
    assert finding.detail.startswith("in memory")


@pytest.mark.engines("sqlite", "libsql")
def test_only_a_server_can_be_distributed(store: Retentive) -> None:
    with pytest.raises(Invalid, match="Citus") as caught:
        store.scale.distribute()
    assert "migrate" in caught.value.hint
    with pytest.raises(Invalid):
        store.scale.undistribute()


@pytest.mark.engines
def test_a_restricted_view_learns_nothing_of_the_machines(store: Retentive) -> None:
    view = store.restricted("alice")
    for verb in (view.scale.check, view.scale.distribute, view.scale.undistribute):
        with pytest.raises(Forbidden):
            verb()


def make_plain_user(server: Server) -> str:
    """The address of a new database whose owner has no other right."""
    name = f"plain_{uuid.uuid4().hex}"
    server.execute(f"CREATE ROLE {name} LOGIN")
    server.execute(f"CREATE DATABASE {name} OWNER {name}")
    server.execute("CREATE EXTENSION vector", name)
    return server.url(name, name)


def test_a_real_standby_is_described(server: Server) -> None:
    standby = Server(server.settings, follows=server)
    name = server.make_store()
    try:
        server.wait_until_followed(by=standby)
        with Retentive.open(server.url(name), embedder="hashing", replica=standby.url(name)) as store:
            setup = store.scale.check().server
        assert setup
        assert [(each.state, each.is_synchronous) for each in setup.replicas] == [("streaming", False)]
        assert setup.search_replica
        assert setup.search_replica.lag_bytes is not None
        with Retentive.open(standby.url(name), embedder="hashing") as store:
            assert [each.name for each in store.scale.check().findings if not each.ok] == ["server"]
            assert [each.name for each in store.doctor() if not each.ok] == ["setup"]
        with Retentive.open(make_plain_user(server), embedder="hashing") as store:
            setup = store.scale.check().server
        assert setup
        assert [(each.state, each.lag_bytes) for each in setup.replicas] == [("", None)]
        assert "retentive_restricted" in setup.restricted_problem
    finally:
        standby.remove()
        server.drop(name)


def test_a_replica_that_is_away_is_a_fault(postgres: str) -> None:
    with Retentive.open(postgres, embedder="hashing", replica="postgresql://postgres@127.0.0.1:1/none") as store:
        (fault,) = [each for each in store.scale.check().findings if not each.ok]
        assert fault.name == "searches"
        assert "the primary does" in fault.detail
        (finding,) = [each for each in store.doctor() if not each.ok]
        assert finding.name == "setup"
        assert "`replica`" in finding.remedy


def test_the_command_line_says_it_with_the_next_step(run: Run) -> None:
    said = run("scale")
    assert said.startswith("ok   store                  a file")
    assert "-> " in said
    assert "`retentive migrate SOURCE TARGET`" in said


def test_programs_get_json(run: Run) -> None:
    answer = json.loads(run("scale", "check", "--json"))
    assert (answer["kind"], answer["ok"], answer["server"]) == ("file", True, None)
    assert answer["findings"][0]["next_step"]


def test_a_fault_is_the_exit_code_of_doctor(
    postgres: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETENTIVE_REPLICA", "postgresql://postgres@127.0.0.1:1/none")
    assert main(["--db", postgres, "--embedder", "hashing", "scale"]) == 5
    assert "BAD  searches" in capsys.readouterr().out
