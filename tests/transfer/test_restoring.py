"""Backups put back: all of it or nothing, whoever has the store open."""

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from retentive import Retentive, clock
from retentive.cli import main
from retentive.errors import Conflict, DiskFull, Invalid, NewerSchema, NotAStore, NotFound, RetentiveError
from retentive.index import open_images
from retentive.model import Scope, Space
from retentive.storage import step
from retentive.storage.tables.leases import Leases
from retentive.testing import parts_of
from retentive.text.search_fields import FIELD_WEIGHTS
from tests.forkserver import ForkedProgram
from tests.purge.test_purge import holding
from tests.storage.test_processes import PROGRAMS, start
from tests.store.test_bad_input import FullDisk, full_disk
from tests.support import Open, Run
from tests.test_docs import Terminal
from tests.transfer.copies import UNUSABLE, contents, flipped, foreign, holds, ids, listing, newer, of_an_older_program

__all__ = ["full_disk"]


@pytest.fixture
def backup(store: Retentive, tmp_path: Path) -> Path:
    """Of a store that has gone on since."""
    store.add("The heron stands in the reeds")
    store.sessions.append("monday", "user", "The lock is number nine")
    (tmp_path / "backups").mkdir()
    made = store.backup(tmp_path / "backups" / "copy.db").path
    store.add("The otter came later")
    return made


OLD, NEW = ["The heron stands in the reeds"], ["The heron stands in the reeds", "The otter came later"]


def found(store: Retentive, words: str) -> set[str]:
    return {hit.content for mode in ("text", "vector") for hit in store.search(words, mode=mode, include="memories")}


def test_a_restored_store_is_what_the_backup_is(store: Retentive, backup: Path, db: Path) -> None:
    store.close()
    done = Retentive.restore_backup(backup, db)
    assert (done.done, done.same_store, done.backup.memories) == (True, True, 1)
    assert holds(db) == OLD
    assert db.stat().st_mode & 0o777 == 0o600


def test_what_was_there_is_kept_whole_and_can_be_put_back(store: Retentive, backup: Path, db: Path) -> None:
    store.close()
    kept = Retentive.restore_backup(backup, db).kept
    assert kept is not None
    assert kept.name.startswith("memory.db.before-restore-")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert Retentive.restore_backup(kept, db).done
    assert holds(db) == NEW


def test_a_store_that_is_open_elsewhere_is_restored_under_its_readers(
    store: Retentive, backup: Path, open_store: Open
) -> None:
    """By words and by vectors, in what was loaded before; and they go on writing."""
    other = open_store()
    for each in (store, other):
        assert found(each, "otter came later") == {*NEW}
    Retentive.restore_backup(backup, parts_of(store).config.db)
    for each in (store, other):
        assert contents(each) == OLD
        assert found(each, "otter came later") <= {*OLD}
    other.add("The otter is back")
    assert "The otter is back" in found(store, "otter is back")
    assert [finding for finding in store.doctor() if not finding.ok] == []


def test_an_image_never_mistakes_one_past_for_another(store: Retentive, backup: Path, open_store: Open) -> None:
    """As many changes after the restore as before it: numbers alone would look the same."""
    other = open_store()
    other.search("otter", mode="vector")
    for number in range(5):
        Retentive.restore_backup(backup, parts_of(store).config.db)
        store.add(f"The otter of past {number} came later")
        assert found(other, "otter came later") == {*OLD, f"The otter of past {number} came later"}


def test_one_in_the_middle_of_reading_goes_on_with_what_it_began(store: Retentive, backup: Path, db: Path) -> None:
    reader = apsw.Connection(str(db))
    reader.execute("BEGIN")
    count = "SELECT count(*) FROM memories"
    assert reader.execute(count).fetchall() == [(2,)]
    Retentive.restore_backup(backup, db)
    assert reader.execute(count).fetchall() == [(2,)]
    reader.execute("COMMIT")
    assert reader.execute(count).fetchall() == [(1,)]
    reader.close()
    assert contents(store) == OLD


def test_another_process_that_holds_an_old_state_is_no_hindrance(store: Retentive, backup: Path, db: Path) -> None:
    store.close()
    with holding(db):
        Retentive.restore_backup(backup, db)
    assert holds(db) == OLD


def test_a_store_behind_a_link_is_restored_where_it_is(store: Retentive, backup: Path, tmp_path: Path) -> None:
    """And what is in its log, which is not beside the link, is kept."""
    (tmp_path / "desk").mkdir()
    link = tmp_path / "desk" / "link.db"
    link.symlink_to(tmp_path / "memory.db")
    done = Retentive.restore_backup(backup, link)
    assert link.is_symlink()
    assert done.kept is not None
    assert done.kept.parent == tmp_path
    assert holds(done.kept) == NEW
    assert contents(store) == OLD


def test_a_graph_saved_before_is_not_taken_for_one_of_the_restored_store(
    open_store: Open, tmp_path: Path, db: Path
) -> None:
    """Though it is saved under the same name."""
    store = open_store(embedder="none")
    vectors = np.random.default_rng(7).standard_normal((3, 60, 16)).astype(np.float32)
    store.add_many([f"heron {n}" for n in range(60)], vectors=vectors[0])
    made = store.backup(tmp_path / "copy.db").path
    store.add_many([f"otter {n}" for n in range(60)], vectors=vectors[1])
    cache = tmp_path / "index"

    def nearest(vector: Any) -> str:
        """As a process that was just started finds it, which saves its graph."""
        images = open_images(
            parts_of(store).tables.chunks, weights=FIELD_WEIGHTS, cache=cache, store_id="the same", hnsw_from=20
        )
        asked, scope = vector / np.linalg.norm(vector), Scope(("default",), None, clock.now())
        for _ in range(2):
            found = images.search_vectors(asked, Space("given-16", 16, 0.35), scope, 1)
            assert images.wait(20)
        assert images.stats()["default"]["tier"] == "hnsw"
        images.close()
        return store.get(found[0].owner).content

    assert nearest(vectors[1][7]) == "otter 7"
    assert [*cache.iterdir()]
    Retentive.restore_backup(made, db)
    store.add_many([f"newt {n}" for n in range(60)], vectors=vectors[2])
    assert [nearest(vectors[2][n]) for n in (0, 7, 59)] == ["newt 0", "newt 7", "newt 59"]
    assert nearest(vectors[1][7]) != "otter 7"


def test_where_no_store_is_one_is_made(backup: Path, tmp_path: Path) -> None:
    done = Retentive.restore_backup(backup, tmp_path / "new.db")
    assert (done.kept, done.same_store) == (None, True)
    assert holds(tmp_path / "new.db") == OLD
    assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600


def test_a_log_without_its_store_is_not_taken_for_that_of_the_new_one(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "new.db-wal").write_bytes(b"the last words of a store that is gone")
    with pytest.raises(Conflict):
        Retentive.restore_backup(backup, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_a_dry_run_only_tells(store: Retentive, backup: Path, tmp_path: Path) -> None:
    store.close()
    before = listing(tmp_path)
    done = Retentive.restore_backup(backup, tmp_path / "memory.db", dry_run=True)
    assert (done.done, done.kept, done.backup.memories) == (False, None, 1)
    assert listing(tmp_path) == before


@pytest.mark.parametrize(("spoil", "error"), UNUSABLE.values(), ids=[*UNUSABLE])
def test_what_is_no_whole_backup_changes_nothing(
    store: Retentive, backup: Path, tmp_path: Path, spoil: Callable[[Path], object], error: str
) -> None:
    store.close()
    spoil(backup)
    before = listing(tmp_path)
    with pytest.raises(RetentiveError) as caught:
        Retentive.restore_backup(backup, tmp_path / "memory.db")
    assert type(caught.value).__name__ == error
    assert listing(tmp_path) == before


@pytest.mark.parametrize("newest", [1, 5, 8])
def test_a_backup_of_an_older_program_is_brought_up_to_date(
    store: Retentive, db: Path, tmp_path: Path, newest: int
) -> None:
    """Before it is there: those who have the store open know no other schema."""
    old = tmp_path / "old.db"
    of_an_older_program(old, newest)
    before = old.read_bytes()
    assert Retentive.restore_backup(old, db).backup.schema == newest
    assert store.add("With tables of today").created
    assert [finding for finding in store.doctor() if not finding.ok] == []
    assert old.read_bytes() == before


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (foreign, NotAStore),
        (lambda path: path.write_text("My diary. " * 1000), NotAStore),
        (newer, NewerSchema),
    ],
    ids=["a database of others", "text", "of a newer program"],
)
def test_what_is_no_store_of_ours_is_not_replaced(
    store: Retentive, backup: Path, db: Path, spoil: Callable[[Path], object], error: type[RetentiveError]
) -> None:
    store.close()
    spoil(db)
    before = listing(db.parent)
    for dry_run in (True, False):
        with pytest.raises(error) as caught:
            Retentive.restore_backup(backup, db, dry_run=dry_run)
        assert caught.value.hint
    assert listing(db.parent) == before


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:20_000]),
    "cut in a page": lambda path: path.write_bytes(path.read_bytes()[:20_500]),
    "a page changed": lambda path: flipped(path, 0.5),
    "most of it gone": lambda path: path.write_bytes(path.read_bytes()[:100] + bytes(100_000)),
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("spoil", DAMAGE.values(), ids=[*DAMAGE])
def test_a_damaged_store_can_be_restored(
    store: Retentive, backup: Path, db: Path, spoil: Callable[[Path], object]
) -> None:
    store.close()
    spoil(db)
    damaged = db.read_bytes()
    done = Retentive.restore_backup(backup, db)
    assert holds(db) == OLD
    assert done.kept is not None
    assert done.kept.stat().st_size == len(damaged) or not damaged


def test_the_bytes_of_a_damaged_store_are_kept(store: Retentive, backup: Path, db: Path) -> None:
    """With its log: whoever is able to read it may find more in it than SQLite does."""
    store.add("In the log alone")
    aside = db.with_name("aside")
    shutil.copy2(f"{db}-wal", aside)
    store.close()
    db.write_bytes(db.read_bytes()[:100] + bytes(100_000))
    log = bytes(32) + aside.read_bytes()[32:]  # of which nothing can be read either
    Path(f"{db}-wal").write_bytes(log)
    damaged = db.read_bytes()
    kept = Retentive.restore_backup(backup, db).kept
    assert kept is not None
    assert kept.read_bytes() == damaged
    assert Path(f"{kept}-wal").read_bytes() == log
    assert holds(db) == OLD


def test_pages_of_another_size_are_no_hindrance(store: Retentive, backup: Path, db: Path) -> None:
    connection = apsw.Connection(str(backup))
    connection.execute("PRAGMA page_size = 8192; VACUUM")
    connection.close()
    Retentive.restore_backup(backup, db)
    assert contents(store) == OLD


def test_what_was_revoked_stays_revoked(store: Retentive, tmp_path: Path, db: Path) -> None:
    token, later = store.tokens.create("laptop"), store.tokens.create("phone")
    made = store.backup(tmp_path / "copy.db").path
    store.tokens.revoke(token.token.id)
    Retentive.restore_backup(made, db)
    assert [each.id for each in store.tokens.list() if each.revoked] == [token.token.id]
    assert store.tokens.verify(later.secret)


def test_what_was_purged_and_is_back_is_named(store: Retentive, tmp_path: Path, db: Path) -> None:
    gone, said = store.add("My PIN is under the mat").id, store.sessions.append("monday", "user", "The mat is red").id
    anna = store.contacts.create(name="Anna Keller").id
    made = store.backup(tmp_path / "copy.db").path
    never = store.add("Made and purged after the backup").id
    store.purge([gone, said, anna, never])
    assert {*Retentive.restore_backup(made, db).returned} == {gone, said, anna}


def test_work_that_was_under_way_at_the_time_of_the_backup_is_free(store: Retentive, tmp_path: Path, db: Path) -> None:
    engine = parts_of(store).engine
    assert Leases(engine, "one who is gone").take("work", 3600.0)
    made = store.backup(tmp_path / "copy.db").path
    Retentive.restore_backup(made, db)
    assert Leases(engine, "another").take("work", 3600.0)


def test_a_backup_of_another_store_is_told(store: Retentive, open_store: Open, tmp_path: Path, db: Path) -> None:
    other = open_store(target=str(tmp_path / "other.db"))
    other.add("Somebody else's")
    made = other.backup(tmp_path / "copy.db").path
    store.add("Mine")
    assert not Retentive.restore_backup(made, db).same_store
    assert contents(store) == ["Somebody else's"]
    assert found(store, "somebody else's") == {"Somebody else's"}


@pytest.mark.parametrize("place", [":memory:", "libsql://127.0.0.1:1/x", "postgresql://127.0.0.1:1/x"])
def test_only_files_are_restored(backup: Path, place: str) -> None:
    with pytest.raises(Invalid) as caught:
        Retentive.restore_backup(backup, place)
    assert caught.value.hint


def test_a_store_is_not_its_own_backup(store: Retentive, db: Path, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(db)
    for file in (db, tmp_path / "link.db"):
        with pytest.raises(Invalid):
            Retentive.restore_backup(file, db)
    assert contents(store) == []


def test_a_folder_that_is_not_there_is_told(backup: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Retentive.restore_backup(backup, tmp_path / "none" / "memory.db")


@pytest.mark.parametrize("stage", ["copying", "checking", "saving the present store", "restoring"])
def test_a_full_disk_leaves_the_store_as_it_was(
    full_disk: type[FullDisk], open_store: Open, db: Path, tmp_path: Path, stage: str
) -> None:
    """Wherever it fills up: in the middle of each stage."""
    store = open_store()
    store.add("The heron stands in the reeds")
    parts_of(store).engine.apply([step("meta_set", key="ballast", value="x" * 6_000_000)])  # several steps long
    made = store.backup(tmp_path / "copy.db").path
    store.add("The otter came later")
    files = {path.name for path in tmp_path.iterdir()}
    stages = []

    def fill(reached: str, *_: int) -> None:
        stages.append(reached)
        full_disk.full = reached == stage and stages.count("checking") != 1  # the first is of the backup, and reads

    with pytest.raises(DiskFull):
        Retentive.restore_backup(made, db, progress=fill)
    full_disk.full = False
    assert stages[-1] == stage
    assert contents(store) == NEW
    assert {path.name for path in tmp_path.iterdir() if "before-restore" not in path.name} == files
    assert store.add("Room again").created
    assert [finding for finding in store.doctor() if not finding.ok] == []


def test_killed_at_any_moment_a_restore_leaves_the_old_store_or_the_new(
    store: Retentive, db: Path, tmp_path: Path
) -> None:
    """Twelve times, while it goes back and forth between two that are large enough to be caught in the middle."""
    states, files = [], []
    for round in range(2):
        store.add_many([f"round {round} item {n} " + "word " * 30 for n in range(400)])
        files.append(store.backup(tmp_path / f"{round}.db").path)
        states.append(contents(store))
    store.close()
    for number in range(12):
        process = start("copier.py", db, "restore", *files)
        assert process.stdout is not None
        assert process.stdout.readline(), process.communicate()[1]
        time.sleep(random.Random(number).uniform(0, 0.7))
        process.kill()
        process.communicate()
        with Retentive.open(db, embedder="hashing") as again:
            assert contents(again) in states
            assert [finding for finding in again.doctor() if not finding.ok] == []
        for kept in tmp_path.glob("memory.db.before-restore-*"):
            assert holds(kept) in states
            kept.unlink()
        for copy in tmp_path.glob("*.opened"):
            copy.unlink()
    Retentive.restore_backup(files[0], db)
    assert [*tmp_path.glob(".retentive-*")] == []


def test_what_is_acknowledged_while_a_store_is_restored_is_in_it_or_in_what_is_kept(
    store: Retentive, backup: Path, db: Path
) -> None:
    """Another process writes all the time; nothing falls between the copy of the old state and the new one."""
    store.close()
    command = [sys.executable, str(PROGRAMS / "writer.py"), str(db), "7"]
    writer = ForkedProgram(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline()
    copies = []
    for _ in range(3):
        time.sleep(0.2)
        copies.append(Retentive.restore_backup(backup, db).kept)
    time.sleep(0.2)
    writer.kill()
    said, errors = writer.communicate()
    assert errors == ""
    added = {id for what, _, id in (line.partition(" ") for line in said.splitlines()[:-1]) if what == "added"}
    assert len(added) > 20
    assert added <= {id for path in [db, *copies] for id in ids(path)}


def test_the_terminal_asks_before_it_replaces(store: Retentive, backup: Path, run: Run, refused: Run) -> None:
    assert "--yes" in refused("backup", "restore", str(backup), code=2)
    assert run("backup", "restore", str(backup), "--dry-run").startswith("would restore")
    assert contents(store) == NEW
    told = run("backup", "restore", str(backup), "--yes")
    assert told.startswith("restored")
    assert "before-restore" in told
    assert contents(store) == OLD


def test_the_terminal_takes_no_answer_but_yes(
    store: Retentive, backup: Path, db: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(answer: str) -> int:
        monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
        return main(["--db", str(db), "backup", "restore", str(backup)])

    assert asked("no") == 1
    assert contents(store) == NEW
    assert asked("y") == 0
    assert "A copy of the present store will be kept" in capsys.readouterr().err
    assert contents(store) == OLD


def test_the_json_says_what_became_of_it(store: Retentive, backup: Path, run: Run) -> None:
    told: dict[str, Any] = json.loads(run("backup", "restore", str(backup), "--yes", "--json"))
    assert {*told} == {"path", "backup", "kept", "same_store", "returned", "done"}
    assert contents(store) == OLD
