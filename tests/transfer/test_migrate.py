"""A whole store moved into another, of whatever engine, and compared."""

import os
import subprocess
import sys
import uuid
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from retentive import Retentive
from retentive.errors import Conflict, Corrupt, Invalid, NotFound
from retentive.learning.learn import LearningTally, _load_state, _read_messages
from retentive.memories.add import make_draft
from retentive.memories.write import write_memories
from retentive.model import Replacement, Space
from retentive.storage import Step
from retentive.storage.tables import quarantine
from retentive.storage.tables.spaces import insert_step
from retentive.testing import parts_of
from retentive.transfer import copy_rows
from tests.engines import ENGINES, open_target
from tests.forkserver import ForkedProgram
from tests.support import Place, Run

TABLES = {table.name for table in copy_rows.MOVED_TABLES}
DERIVED = {"meta", "changes", "migrations", "leases", "integrity_log"}
NUMBERED = {"spaces": {"id"}}  # numbers that each store gives itself
NOTICE = Path(__file__).parents[2] / "NOTICE"
FIELDS = -7  # the last columns of a chunk
PROGRAM = Path(__file__).parents[1] / "programs" / "mover.py"
Where = str | Path


def filled(where: Where) -> None:
    """A store with something of everything."""
    with Retentive.open(where, embedder="hashing") as store:
        store.add("The dog is called Rex", slot="dog", tags=["pets"], context="home", metadata={"a": 1})
        store.forget(store.add("The dog is called Max", slot="dog").id, "asked")
        store.add_many([f"Fact number {n} " + "word " * 200 for n in range(30)])
        store.update(store.add("東京都の犬, çok güzel 🐕", context="!?", expires="90d").id, tags=["Läufer", "犬"])
        store.sessions.append_many("s", [{"role": "user", "content": f"Heron {n}", "x": n} for n in range(20)])
        store.sessions.append("s", "assistant", "Heron 3", speaker="Ada")
        store.sessions.append("s", "user", "Storks are running")
        store.sessions.put("s", agent="coder", tags=["work"])
        store.sessions.set_summary("s", "About herons", upto=5, epoch=0)
        store.sessions.append("asked", "user", "Remember that my desk is blue.")
        store.learn("asked")
        store.sessions.append("asked", "user", "Our parrot Zwackelmann talks")
        store.forget(store.add("The user's parrot is called Zwackelmann").id)
        store.add("Of this session alone", session="s")
        store.notes.put("Buy milk", note_id="n")
        store.add("A key, as it was pasted", context="4pX9" * 2000)
        store.purge(store.add("Nothing to see").id)
        store.search("dog", include="memories")
        store.expectations.add("What is said of herons?", store.list()[0].id, absent=store.list()[1].id, session="s")
        store.contacts.create(name="Anna", company="Acme")
        store.projects.create(name="Apollo", participants=["Anna"])
        store.skills.record(store.skills.create(name="Report").id, "It was sent")
        store.profile.set("city", "Oslo")
        store.files.index(NOTICE, session="s", tags=["legal"])
        replacement = Replacement(store.add("Tea at noon").id, "same drink", "tea, coffee")
        write_memories(
            parts_of(store), [make_draft(parts_of(store), "Coffee at noon", {})._replace(proposes=(replacement,))]
        )
        store.tokens.create("alice", subtree=True, name="laptop", expires="90d")
        store.tokens.revoke(store.tokens.create("bob").token.id)
        damaged = {"namespace": "default", "id": "m", "content": b"\xff", "confidence": float("inf")}
        parts_of(store).engine.apply([quarantine.insert_step("memories", damaged, "a reason", 1)])
    with Retentive.open(where, namespace="other/place", embedder="none") as store:
        store.add("Elsewhere, and without a vector")
        store.add("With one of another model", vector=[0.6, 0.8])


def answers(where: Where) -> Any:
    questions = [(word, mode) for word in ("heron", "dog", "犬", "fact 7") for mode in ("text", "vector", "hybrid")]
    with Retentive.open(where, embedder="hashing") as store:
        memories = [*store.list(limit=100, status=["active", "superseded", "forgotten"])]
        told = store.sessions.events("s"), store.sessions.list(), store.sessions.summary("s"), store.notes.list()
        expected = store.expectations.list(), store.profile.get(), store.contacts.list(), store.projects.list()
        proposed = store.proposals.list()
        assert store.skills.runs("report")
        known = [*store.namespaces()], store.tokens.list(), store.stats()["spaces"], store.stats()["vectors_pending"]
        histories = [store.history(each.id) for each in memories]
        # last: searches are counted in the memories they find. No blending: its other signals weigh by how much rows
        # differ in BM25, and FTS5's statistics are of all namespaces, PostgreSQL's of one.
        plain: dict[str, Any] = {"session": "s", "fusion": "minmax"}
        hits = [[hit.id for hit in store.search(word, 5, mode=mode, **plain)] for word, mode in questions]
        assert all(finding.ok for finding in store.doctor() if finding.name != "vectors")
        return memories, histories, told, hits, known, expected, proposed


def rows(path: Where) -> dict[str, list[Any]]:
    """All that a file holds, but what it has of its own, such as the numbers of spaces."""
    connection = apsw.Connection(str(path))
    names: list[Any] = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    kept = {name for (name,) in names if not name.startswith(("chunks_", "sqlite_"))} - DERIVED | {"chunks_fts"}
    queries = {name: f"SELECT * FROM {name}" for name in kept}
    queries["vectors"] = "SELECT chunk, name, dimension, vector FROM vectors JOIN spaces ON id = space"
    queries["spaces"] = "SELECT name, dimension, model, state, changed FROM spaces"
    return {name: sorted(connection.execute(sql), key=repr) for name, sql in queries.items()}


@pytest.mark.parametrize(("old", "new"), [*product(ENGINES, ENGINES)])
def test_a_moved_store_answers_as_the_old_one(place: Place, old: str, new: str) -> None:
    source, target = place(old), place(new)
    filled(source)
    told: list[tuple[str, int]] = []
    moved = Retentive.migrate(source, target, lambda *each: told.append(each))
    assert {each.table for each in moved} == TABLES
    assert [each.table for each in moved if not each.rows] == []
    assert dict(told) == {each.table: each.rows for each in moved}
    assert answers(target) == answers(source)


def test_from_engine_to_engine_and_back_every_row_is_as_it_was(place: Place) -> None:
    stops = [place(engine) for engine in ("sqlite", "postgres", "libsql", "postgres", "sqlite")]
    filled(stops[0])
    sums = [Retentive.migrate(old, new) for old, new in pairwise(stops)]
    assert sums == [sums[0]] * len(sums)
    assert rows(stops[-1]) == rows(stops[0])


def test_every_engine_keeps_the_same_fields_of_full_text(place: Place) -> None:
    """However they came to be written: at first, by an update, or by the message that followed."""
    found = []
    for name in ENGINES:
        filled(where := place(name))
        engine = open_target(where)
        chunks = engine.read("copy_chunks", {"k1": 0, "limit": 1000})
        found.append([(row[:3], row[4:6], row[FIELDS:]) for row in chunks])
        engine.close()
    assert found[0] == found[1] == found[2]


def test_vectors_arrive_bit_by_bit(place: Place) -> None:
    """Every number that float16 has: zeros of both signs, the smallest, the largest."""
    numbers = np.arange(1 << 16, dtype="<u2").view("<f2")
    whole = numbers[np.isfinite(numbers)].reshape(-1, 64)
    engine = open_target(place("postgres"))
    given = [("n", n, "test-64", 64, vector.tobytes()) for n, vector in enumerate(whole, start=1)]
    chunks = [_chunk(n) for _, n, *_ in given]
    vectors = [dict(zip(("namespace", "chunk", "space", "dimension", "vector"), row, strict=True)) for row in given]
    space = insert_step(Space("test-64", 64, 0.3))
    engine.apply([space, Step("put_chunks", chunks), Step("put_vectors", vectors)])
    assert engine.read("copy_vectors", {"k1": 0, "k2": "", "limit": 10_000}) == given
    engine.close()


def _chunk(n: int) -> dict[str, Any]:
    columns = next(table.columns for table in copy_rows.MOVED_TABLES if table.name == "chunks")
    given = {"n": n, "namespace": "n", "owner_type": "memory", "owner": str(n), "ordinal": 0, "kind": "fact"}
    given |= {"source": "explicit", "confidence": 1.0, "importance": 5, "status": "active", "valid_from": 1}
    return {**dict.fromkeys(columns), **given, "f_content": "word"}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_moved_store_can_be_written_to(place: Place, engine: str) -> None:
    """What is new has numbers of its own; what was moved can be changed and deleted."""
    source, target = place("sqlite"), place(engine)
    filled(source)
    Retentive.migrate(source, target)
    with Retentive.open(target, embedder="hashing") as store:
        log = store.accesses(limit=100)
        dog = store.search("dog called rex", include="memories").hits[0].id
        store.update(dog, content="The dog is called Fido", tags=["old"])
        store.add("A whale in the bay")
        store.sessions.append("s", "user", "And a seal")
        store.sessions.delete("s")
        assert [hit.content for hit in store.search("whale", mode="text")] == ["A whale in the bay"]
        assert store.search("heron", mode="text").hits == ()
        assert [hit.id for hit in store.search("fido", mode="text")] == [dog]
    with Retentive.open(target, embedder="hashing") as store:
        assert len(store.accesses(limit=100)) > len(log)
        assert [each.name for each in store.doctor() if not each.ok] == []


def test_every_table_of_the_schema_is_moved_or_derived(tmp_path: Path) -> None:
    Retentive.open(tmp_path / "a.db", embedder="none").close()
    assert {*rows(tmp_path / "a.db")} - {"chunks_fts", "integrity_log"} == TABLES


def test_every_column_of_a_moved_table_is_moved(tmp_path: Path) -> None:
    """A column that a later schema adds is not left behind."""
    Retentive.open(tmp_path / "a.db", embedder="none").close()
    connection = apsw.Connection(str(tmp_path / "a.db"))
    for table in copy_rows.MOVED_TABLES:
        there = {row[1] for row in connection.execute(f"PRAGMA table_info({table.name})")}
        assert there - NUMBERED.get(table.name, set()) <= {*table.columns}, table.name


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_waiting_to_be_learned_moves_along(place: Place, engine: str) -> None:
    """What was read is not read again, a request that was done is not done again, and claims that wait are kept."""
    source, target = place("sqlite"), place(engine)
    with Retentive.open(source, embedder="none") as store:
        store.sessions.append("s", "user", "Remember that my desk is blue.")
        store.sessions.append("s", "user", "I live in Porto. I work at Stripe.")
        parts = parts_of(store)
        _read_messages(parts, _load_state(parts, "s"), LearningTally())
        store.forget(store.list()[0].id)
        waiting = parts.tables.learning.get("default", "s")
    Retentive.migrate(source, target)
    with Retentive.open(target, embedder="none") as store:
        assert waiting is not None
        assert waiting.claims_left
        assert parts_of(store).tables.learning.get("default", "s") == waiting
        assert parts_of(store).tables.learning.count_handled_requests("default", "s", 0, 2) == {1: 1}
        (learned,) = store.learn("s")
        assert (learned.events, len(learned.kept)) == (0, 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_move_that_was_stopped_goes_on(place: Place, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = place("sqlite"), place(engine)
    filled(source)
    monkeypatch.setattr(copy_rows, "PAGE_SIZE", 7)

    def stop(table: str, done: int) -> None:
        if (table, done) in ((("memories", 14), ("events", 7), ("chunks", 28), ("vectors", 21))):
            raise KeyboardInterrupt

    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            Retentive.migrate(source, target, stop)
    Retentive.migrate(source, target, stop)
    assert answers(target) == answers(source)


@pytest.mark.parametrize(("old", "new"), [("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "libsql")])
def test_a_move_whose_process_was_killed_goes_on(place: Place, old: str, new: str) -> None:
    source, target = place(old), place(new)
    filled(source)
    command = [sys.executable, str(PROGRAM), source, target]
    with ForkedProgram(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as one:
        assert one.stdout
        assert any(line.startswith("chunks 9") for line in one.stdout)
        one.kill()
    begun: list[int] = []
    Retentive.migrate(source, target, lambda table, done: begun.append(done) if table == "chunks" else None)
    assert begun[0] > 9
    assert answers(target) == answers(source)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_target_that_is_not_empty_is_left_alone(place: Place, engine: str) -> None:
    source, target = place("sqlite"), place(engine)
    filled(source)
    with Retentive.open(target, embedder="none") as store:
        store.add("Mine")
    with pytest.raises(Conflict, match="not empty"):
        Retentive.migrate(source, target)
    with Retentive.open(target, embedder="none") as store:
        assert [memory.content for memory in store.list()] == ["Mine"]


def test_a_target_that_was_only_asked_is_not_empty_either(tmp_path: Path) -> None:
    """Its figures would be mixed with those that come."""
    filled(tmp_path / "a.db")
    with Retentive.open(tmp_path / "b.db", embedder="none") as store:
        store.search("anything")
    with pytest.raises(Conflict, match="not empty"):
        Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db")


def test_a_move_is_not_gone_on_with_from_another_source(tmp_path: Path) -> None:
    filled(tmp_path / "a.db")
    filled(tmp_path / "c.db")
    with pytest.raises(KeyboardInterrupt):
        Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db", _stop)
    with pytest.raises(Conflict, match="not empty"):
        Retentive.migrate(tmp_path / "c.db", tmp_path / "b.db")


def _stop(*_: Any) -> None:
    raise KeyboardInterrupt


def test_who_sees_only_some_namespaces_cannot_move_all(place: Place) -> None:
    file, server = place("sqlite"), place("postgres")
    for source, target in ((file, server), (server, file)):
        with pytest.raises(Invalid, match="restrict_to"):
            Retentive.migrate(source, target, restrict_to="default")
    assert not Path(file).exists()


def test_what_an_earlier_version_kept_is_repaired_before_it_moves(place: Place, tmp_path: Path) -> None:
    """It kept the stems of words alone, which nothing but PostgreSQL could use."""
    source = place("postgres")
    filled(source)
    _run(source, "UPDATE retentive.texts SET raw_content = NULL, raw_before = NULL, raw_after = NULL")
    with pytest.raises(Corrupt, match="without their full text") as caught:
        Retentive.migrate(source, tmp_path / "a.db")
    assert "repair()" in caught.value.hint
    with Retentive.open(source, embedder="hashing") as store:
        assert not all(finding.ok for finding in store.doctor())
        store.repair()
    Retentive.migrate(source, tmp_path / "b.db")
    assert answers(tmp_path / "b.db")[:4] == answers(source)[:4]


def _run(url: str, sql: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql)


def test_a_target_may_be_made_with_partitions(place: Place, request: pytest.FixtureRequest) -> None:
    source, name = place("sqlite"), f"parts_{uuid.uuid4().hex}"
    filled(source)
    server = request.getfixturevalue("server")
    server.execute(f"CREATE DATABASE {name}")
    Retentive.migrate(source, server.url(name), partitions=4)
    assert server.execute("SELECT count(*) FROM pg_partitioned_table", name) == [(6,)]
    assert answers(server.url(name)) == answers(source)


def test_what_did_not_arrive_as_it_was_is_told(tmp_path: Path) -> None:
    filled(tmp_path / "a.db")

    def meddle(table: str, _: int) -> None:
        if table == "measures":
            connection = apsw.Connection(str(tmp_path / "b.db"))
            connection.execute("UPDATE events SET content = 'forged' WHERE sequence = 3")
            connection.close()

    with pytest.raises(Corrupt, match="events: 24 rows in the source, 24 in the target, or not the same"):
        Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db", meddle)


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no store"):
        Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db")
    assert not (tmp_path / "a.db").exists()


def test_on_the_terminal(place: Place, run: Run) -> None:
    source, target = place("sqlite"), place("postgres")
    filled(source)
    lines = run("migrate", source, target).splitlines()
    assert lines[2].split("\t")[:2] == ["memories", "43"]
