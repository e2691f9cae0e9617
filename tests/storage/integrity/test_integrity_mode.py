"""Integrity mode as people use it: what is sealed, who may write, what becomes of key, head and log."""

import multiprocessing
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from retentive import Retentive
from retentive.errors import BadConfig, Conflict, Corrupt, Invalid
from retentive.storage.engines.sqlite import SqliteEngine
from retentive.storage.integrity.tables import SEALED, UNSEALED_COLUMNS, UNSEALED_TABLES
from tests.support import Open, Run

Opened = Callable[..., Retentive]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "key"


@pytest.fixture
def sealed(db: Path, key: Path) -> Iterator[Opened]:
    """Opens a store in integrity mode, with its key unless told otherwise."""
    opened: list[Retentive] = []

    def open_store(*, with_key: bool = True) -> Retentive:
        given = str(key) if with_key else ""
        opened.append(Retentive.open(db, embedder="hashing", integrity_key=given))
        return opened[-1]

    with Retentive.open(db, embedder="hashing") as memory:
        memory.add("The user's dog is called Rex")
        memory.integrity.start(key)
    yield open_store
    for memory in opened:
        memory.close()


def run_sql(db: Path, sql: str, *values: object) -> None:
    connection = apsw.Connection(str(db))
    connection.execute(sql, values)
    connection.close()


def problems(memory: Retentive) -> list[tuple[str, str]]:
    return [(each.row.split(" ")[0], each.problem) for each in memory.integrity.verify()]


def test_every_table_and_column_is_sealed_or_said_not_to_be(db: Path) -> None:
    SqliteEngine(str(db)).close()
    connection = apsw.Connection(str(db))
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    ours = {name for name in names if not name.startswith(("sqlite_", "chunks_fts_", "chunks_terms"))}
    assert ours == {*SEALED, *UNSEALED_TABLES}
    for name, table in SEALED.items():
        columns = [column for _, column, *_ in connection.execute(f"PRAGMA table_info({name})")]
        assert sorted(columns) == sorted({*table.columns, *UNSEALED_COLUMNS.get(name, ())}), name


def test_whatever_is_done_with_the_key_is_sealed(sealed: Opened, tmp_path: Path) -> None:
    memory = sealed()
    note = tmp_path / "note.md"
    note.write_text("# Garden\n\nThe roses are watered on Mondays.\n")
    kept = memory.add("Ana lives in Porto", slot="ana.home").memory
    memory.update(kept.id, tags=["people"])
    memory.add("Ana lives in Braga now", slot="ana.home")
    gone = memory.add("The wifi is slow in the attic").memory
    memory.forget(gone.id)
    memory.restore(gone.id)
    memory.purge(gone.id)
    memory.add_many([f"Room {number} has a window" for number in range(30)])
    memory.sessions.append("monday", "user", "My sister Ines is a vet in Coimbra")
    memory.sessions.append("monday", "assistant", "Good to know!")
    memory.learn("monday")
    memory.notes.put("call Ines", note_id="todo")
    memory.files.index([note])
    memory.contacts.create(name="Ines", role="vet")
    memory.profile.set("name", "Maria")
    memory.expectations.add("where does Ana live?", finds=[kept.id])
    memory.consolidate()
    memory.search("where does Ana live?")
    memory.repair()
    memory.upkeep()
    assert problems(memory) == []


def test_the_log_does_not_name_what_was_deleted(sealed: Opened, db: Path) -> None:
    memory = sealed()
    memory.sessions.append("the secret affair", "user", "we met in Lisbon")
    memory.sessions.delete("the secret affair")
    names = [name for (name,) in apsw.Connection(str(db)).execute("SELECT name FROM integrity_log") if name]
    assert names
    assert not any("secret affair" in name for name in names)
    assert problems(memory) == []


def test_without_the_key_it_is_read_and_not_written(sealed: Opened) -> None:
    memory = sealed(with_key=False)
    assert memory.search("what is my dog called?").hits
    with pytest.raises(BadConfig, match="its key was not given"):
        memory.add("The cat is called Tom")
    assert len(memory.list()) == 1


def test_another_key_is_refused(sealed: Opened, key: Path) -> None:
    memory = sealed()
    memory.close()
    key.write_text("ab" * 32)
    with pytest.raises(BadConfig, match="is not the key"):
        sealed().add("The cat is called Tom")


@pytest.mark.parametrize("text", ["", "not hexadecimal", "abcd"])
def test_what_is_no_key_is_refused(sealed: Opened, key: Path, text: str) -> None:
    key.write_text(text)
    with pytest.raises(BadConfig, match="not a key"):
        sealed().add("The cat is called Tom")


def test_a_key_that_others_can_read_is_refused(sealed: Opened, key: Path) -> None:
    key.chmod(0o644)
    with pytest.raises(BadConfig, match="others can read"):
        sealed().add("The cat is called Tom")


def test_key_and_head_are_for_their_owner_alone(sealed: Opened, key: Path) -> None:
    sealed().add("The cat is called Tom")
    assert {path.stat().st_mode & 0o777 for path in key.parent.iterdir()} == {0o600}


def test_a_row_that_is_deleted_with_its_entry_leaves_a_gap(sealed: Opened, db: Path) -> None:
    memory = sealed()
    run_sql(db, "DELETE FROM integrity_log WHERE name LIKE '%\"memories\"%'")
    run_sql(db, "DELETE FROM memories")
    assert any("deleted from the integrity log" in problem for _, problem in problems(memory))


def test_an_older_row_put_back_is_told_as_such(sealed: Opened, db: Path) -> None:
    memory = sealed()
    kept = memory.add("Ana lives in Porto").memory
    connection = apsw.Connection(str(db))
    columns = ", ".join(SEALED["memories"].columns)
    (before,) = connection.execute(f"SELECT {columns} FROM memories WHERE id = ?", (kept.id,)).fetchall()
    memory.update(kept.id, content="Ana lives in Braga")
    connection.execute("DELETE FROM memories WHERE id = ?", (kept.id,))
    marks = ", ".join("?" for _ in before)
    connection.execute(f"INSERT INTO memories ({columns}) VALUES ({marks})", before)
    assert ("memories", "rolled back to an earlier state") in problems(memory)


def test_a_log_that_is_rewritten_without_the_key_is_noticed(sealed: Opened, db: Path) -> None:
    memory = sealed()
    run_sql(db, "UPDATE integrity_log SET mac = x'00' WHERE seq = 2")
    assert any(problem == "changed in the integrity log" for _, problem in problems(memory))


def test_a_store_that_says_it_was_never_sealed_is_not_written(sealed: Opened, db: Path) -> None:
    run_sql(db, "DELETE FROM meta WHERE key = 'integrity'")
    with pytest.raises(Corrupt, match="says it never was"):
        sealed().add("The cat is called Tom")


def test_a_damaged_row_is_named(sealed: Opened, db: Path) -> None:
    memory = sealed()
    run_sql(db, "UPDATE memories SET content = CAST(x'ff41' AS TEXT)")
    assert ("memories", "damaged: it cannot be read") in problems(memory)


def test_a_head_that_lags_behind_does_no_harm(sealed: Opened, key: Path) -> None:
    memory = sealed()
    heads = [*key.parent.glob("*.head")]
    older = heads[0].read_bytes()
    memory.add("The cat is called Tom")
    heads[0].write_bytes(older)
    assert problems(memory) == []


def test_rotation_seals_everything_with_a_new_key(sealed: Opened, key: Path) -> None:
    memory, old = sealed(), key.read_text()
    kept = memory.integrity.rotate()
    assert (kept.read_text(), key.read_text() != old) == (old, True)
    memory.add("The cat is called Tom")
    assert problems(memory) == []
    assert problems(sealed()) == []


def test_a_rotation_that_was_stopped_at_its_last_step_is_finished(sealed: Opened, key: Path) -> None:
    memory, old = sealed(), key.read_text()
    memory.integrity.rotate()
    memory.close()
    key.with_name(f"{key.name}.new").write_text(key.read_text())
    key.with_name(f"{key.name}.new").chmod(0o600)
    key.write_text(old)
    memory = sealed()
    memory.add("The cat is called Tom")
    assert problems(memory) == []


def test_a_key_is_not_changed_over_a_row_that_was_tampered_with(sealed: Opened, db: Path) -> None:
    memory = sealed()
    run_sql(db, "UPDATE memories SET content = 'The dog is called Max'")
    with pytest.raises(Conflict, match="changed without the key"):
        memory.integrity.rotate()


def test_another_process_goes_on_with_the_new_key(sealed: Opened) -> None:
    first, second = sealed(), sealed()
    first.integrity.rotate()
    second.add("The cat is called Tom")
    first.add("The hamster is called Ham")
    assert problems(first) == []


def _write(db: Path, key: Path, name: str) -> None:
    with Retentive.open(db, embedder="none", integrity_key=str(key)) as memory:
        for number in range(20):
            memory.add(f"{name} has written line {number}")


def test_processes_that_write_at_once_make_one_chain(sealed: Opened, db: Path, key: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(db, key, name)) for name in ("Ana", "Bert")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    memory = sealed()
    assert len(memory.list(limit=100)) == 41
    assert problems(memory) == []


def test_a_restored_backup_counts_as_the_newest(sealed: Opened, db: Path, key: Path, tmp_path: Path) -> None:
    memory = sealed()
    memory.backup(tmp_path / "backup.db")
    memory.add("The cat is called Tom")
    memory.close()
    Retentive.restore_backup(tmp_path / "backup.db", db, integrity_key=str(key))
    assert problems(sealed()) == []


def test_verifying_says_what_a_repair_took_out_of_what_is_sealed(sealed: Opened, db: Path) -> None:
    connection = apsw.Connection(str(db))
    connection.execute("UPDATE memories SET tags = '[\"a'")
    connection.close()
    with sealed() as memory:
        memory.repair()
        (found,) = [each for each in memory.doctor(verify=True) if each.name == "integrity"]
    assert found.ok
    assert "a repair moved 1 rows to the quarantine, where nothing is sealed" in found.detail


def test_an_older_copy_is_named_until_it_is_accepted(sealed: Opened, db: Path, tmp_path: Path) -> None:
    memory = sealed()
    memory.close()
    shutil.copy(db, tmp_path / "older.db")
    memory = sealed()
    memory.add("The cat is called Tom")
    memory.close()
    shutil.copy(tmp_path / "older.db", db)
    memory = sealed()
    assert ["missing" in problem for _, problem in problems(memory)] == [True]
    memory.integrity.accept()
    assert problems(memory) == []


def test_stopped_it_leaves_an_ordinary_store(sealed: Opened, db: Path) -> None:
    memory = sealed()
    memory.integrity.stop()
    memory.add("The cat is called Tom")
    assert apsw.Connection(str(db)).execute("SELECT count(*) FROM integrity_log").fetchone() == (0,)
    assert len(sealed(with_key=False).list()) == 2
    with pytest.raises(Invalid, match="is off"):
        memory.integrity.verify()


@pytest.mark.engines("libsql", "postgres")
def test_a_server_says_that_it_is_for_files(open_store: Open, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="for a store in a file"):
        open_store().integrity.start(tmp_path / "key")


def test_the_command_line_names_what_was_changed(
    db: Path, key: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "The user's dog is called Rex")
    assert f"integrity_key = '{key}'" in run("integrity", "start", "--key", str(key))
    monkeypatch.setenv("RETENTIVE_INTEGRITY_KEY", str(key))
    run("add", "The cat is called Tom")
    assert "every row is as it was sealed" in run("doctor", "--verify")
    run_sql(db, "UPDATE memories SET source = 'file' WHERE content LIKE '%cat%'")
    told = run("doctor", "--verify", code=5)
    assert "memories default/" in told
    assert "changed without the key" in told
