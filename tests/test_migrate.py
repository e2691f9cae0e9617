"""A whole store moved into another, and compared."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from retentive import Retentive
from retentive.errors import Conflict, Corrupt, NotFound
from retentive.transfer import migrate
from tests.support import Run

TABLES = {table.name for table in migrate.TABLES}


def filled(path: Path) -> None:
    """A store with something of everything."""
    with Retentive.open(path, embedder="hashing") as store:
        store.add("The dog is called Rex", slot="dog", tags=["pets"], context="home", metadata={"a": 1})
        store.forget(store.add("The dog is called Max", slot="dog").id, "asked")
        store.add_many([f"Fact number {n} " + "word " * 200 for n in range(30)])
        store.sessions.append_many("s", [{"role": "user", "content": f"Heron {n}", "x": n} for n in range(20)])
        store.sessions.put("s", agent="coder", tags=["work"])
        store.sessions.set_summary("s", "About herons", upto=5, epoch=0)
        store.notes.put("Buy milk", "n")
        store.purge(store.add("Nothing to see").id)
        store.search("dog", include="memories")
    with Retentive.open(path, namespace="other", embedder="hashing") as store:
        store.add("Elsewhere")


def answers(path: Path) -> Any:
    with Retentive.open(path, embedder="hashing") as store:
        hits = [[hit.id for hit in store.search(word, limit=20, session="s")] for word in ("heron", "dog", "fact 7")]
        memories = [*store.list(limit=100, status=["active", "superseded", "forgotten"])]
        assert all(finding.ok for finding in store.doctor())
        return hits, memories, store.sessions.events("s"), store.sessions.list(), store.history(memories[-1].id)


def test_a_moved_store_answers_as_the_old_one(tmp_path: Path) -> None:
    filled(tmp_path / "a.db")
    told: list[tuple[str, int]] = []
    moved = Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db", lambda *each: told.append(each))
    assert {each.table for each in moved} == TABLES
    assert [each.table for each in moved if not each.rows] == []
    assert dict(told) == {each.table: each.rows for each in moved}
    assert answers(tmp_path / "b.db") == answers(tmp_path / "a.db")


def test_every_table_of_the_schema_is_moved_or_derived(tmp_path: Path) -> None:
    Retentive.open(tmp_path / "a.db", embedder="none").close()
    names = apsw.Connection(str(tmp_path / "a.db")).execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    kept = {name for (name,) in names if not name.startswith(("chunks_", "sqlite_"))}
    assert kept - TABLES == {"meta", "spaces", "changes", "migrations", "leases"}


def test_a_move_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "a.db")
    monkeypatch.setattr(migrate, "PAGE", 7)

    def stop(table: str, done: int) -> None:
        if (table, done) in ((("memories", 14), ("events", 7), ("vectors", 21))):
            raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db", stop)
    Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db", stop)
    assert answers(tmp_path / "b.db") == answers(tmp_path / "a.db")


def test_a_target_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    filled(tmp_path / "a.db")
    with Retentive.open(tmp_path / "b.db", embedder="none") as store:
        store.add("Mine")
    with pytest.raises(Conflict, match="not empty"):
        Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db")
    with Retentive.open(tmp_path / "b.db", embedder="none") as store:
        assert [memory.content for memory in store.list()] == ["Mine"]


def test_a_move_is_not_gone_on_with_from_another_source(tmp_path: Path) -> None:
    filled(tmp_path / "a.db")
    filled(tmp_path / "c.db")
    with pytest.raises(KeyboardInterrupt):
        Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db", _stop)
    with pytest.raises(Conflict, match="not empty"):
        Retentive.migrate(tmp_path / "c.db", tmp_path / "b.db")


def _stop(*_: Any) -> None:
    raise KeyboardInterrupt


def test_what_did_not_arrive_as_it_was_is_told(tmp_path: Path) -> None:
    filled(tmp_path / "a.db")

    def meddle(table: str, _: int) -> None:
        if table == "measures":
            connection = apsw.Connection(str(tmp_path / "b.db"))
            connection.execute("UPDATE events SET content = 'forged' WHERE sequence = 3")
            connection.close()

    with pytest.raises(Corrupt, match="events: 20 rows in the source, 20 in the target, or not the same"):
        Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db", meddle)


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no store"):
        Retentive.migrate(tmp_path / "a.db", tmp_path / "b.db")
    assert not (tmp_path / "a.db").exists()


def test_on_the_terminal(tmp_path: Path, run: Run) -> None:
    filled(tmp_path / "a.db")
    lines = run("migrate", str(tmp_path / "a.db"), str(tmp_path / "b.db")).splitlines()
    assert lines[1].split("\t")[:2] == ["memories", "34"]
