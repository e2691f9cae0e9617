"""Copies of a store: whole, private, never over something else; and what is done about room."""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive, clock
from retentive.errors import Busy, Conflict, Corrupt, DiskFull, Invalid, NotFound, RetentiveError, Unwritable
from retentive.testing import parts_of
from retentive.transfer import backups
from tests.purge.test_purge import holding
from tests.store.test_bad_input import FullDisk, full_disk
from tests.support import Open, Run
from tests.transfer.copies import UNUSABLE, changed, contents, flipped, holds, listing, of_an_older_program

__all__ = ["full_disk"]


@pytest.fixture
def kept(store: Retentive) -> Retentive:
    store.add("The heron stands in the reeds", tags=["birds"])
    store.add("The ferry leaves at nine", slot="ferry")
    store.in_namespace("other").sessions.append("monday", "user", "The lock is number nine")
    return store


def test_a_backup_is_the_store_as_it_is(kept: Retentive, tmp_path: Path) -> None:
    made = kept.backup(tmp_path / "copy.db")
    assert (made.memories, made.sessions, made.events, made.namespaces) == (2, 1, 1, 2)
    assert made.bytes == made.path.stat().st_size
    assert holds(made.path) == contents(kept)
    with Retentive.open(made.path, embedder="hashing") as copy:
        for mode in ("text", "vector"):
            assert copy.search("heron reeds", mode=mode)[0].content == "The heron stands in the reeds"
        assert copy.in_namespace("other").search("lock number", include="events")


def test_a_backup_is_one_private_file(kept: Retentive, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    made = kept.backup(folder / "copy.db")
    assert [path.name for path in folder.iterdir()] == ["copy.db"]
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.path.read_bytes()[18:20] == b"\1\1"  # no log is needed to read it


def test_a_store_in_memory_can_be_backed_up(tmp_path: Path) -> None:
    with Retentive.open(":memory:", embedder="hashing") as store:
        store.add("Only here")
        assert store.backup(tmp_path / "copy.db").memories == 1
    assert holds(tmp_path / "copy.db") == ["Only here"]


def test_progress_tells_what_is_done(kept: Retentive, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    kept.backup(tmp_path / "copy.db", progress=lambda *words: told.append(words))
    assert [*dict.fromkeys(stage for stage, _, _ in told)] == ["copying", "checking"]
    assert all(done <= of for _, done, of in told)


def test_a_file_that_is_there_is_left_alone_unless_it_may_go(kept: Retentive, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("mine")
    with pytest.raises(Conflict):
        kept.backup(target)
    assert target.read_text() == "mine"
    kept.backup(target, overwrite=True)
    assert holds(target) == contents(kept)


def test_a_link_that_leads_nowhere_is_a_name_that_is_taken(kept: Retentive, tmp_path: Path) -> None:
    (tmp_path / "copy.db").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Conflict):
        kept.backup(tmp_path / "copy.db")


def test_a_store_is_never_overwritten(kept: Retentive, open_store: Open, db: Path, tmp_path: Path) -> None:
    other = open_store(target=str(tmp_path / "other.db"))
    other.add("Somebody else's")
    for target in (db, tmp_path / "other.db"):
        with pytest.raises(Conflict):
            kept.backup(target, overwrite=True)
    assert contents(other) == ["Somebody else's"]


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("missing/copy.db", Invalid),
        ("memory.db/copy.db", Invalid),
        ("", Invalid),
        ("a\0b", Invalid),
        ("~nobody-by-this-name/copy.db", Invalid),
        ("n" * 300, Invalid),
    ],
)
def test_a_place_that_cannot_be_is_refused(
    kept: Retentive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: type[RetentiveError]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(error) as caught:
        kept.backup(place)
    assert caught.value.hint
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(kept: Retentive, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(Unwritable):
        kept.backup(tmp_path / "closed")


def test_a_full_disk_leaves_nothing_behind(full_disk: type[FullDisk], open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    store.add("Kept")
    (tmp_path / "backups").mkdir()
    full_disk.full = True
    with pytest.raises(DiskFull) as caught:
        store.backup(tmp_path / "backups")
    full_disk.full = False
    assert caught.value.hint
    assert [*(tmp_path / "backups").iterdir()] == []
    assert store.backup(tmp_path / "backups").memories == 1


def test_a_damaged_store_gives_no_backup(kept: Retentive, db: Path, tmp_path: Path) -> None:
    kept.add_many([f"memory {n} " + "word " * 50 for n in range(200)])
    kept.close()
    flipped(db, 0.5)
    (tmp_path / "backups").mkdir()
    with Retentive.open(db, embedder="hashing") as damaged, pytest.raises(Corrupt):
        damaged.backup(tmp_path / "backups")
    assert [*(tmp_path / "backups").iterdir()] == []


def test_of_a_folder_the_newest_stay(kept: Retentive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, made = tmp_path / "backups", []
    folder.mkdir()
    for second in range(5):
        monkeypatch.setattr(clock, "now", lambda second=second: 1_800_000_000_000_000 + second * 1_000_000)
        made.append(kept.backup(folder, keep=3))
    assert [path.name for path in sorted(folder.iterdir())] == [
        "retentive-20270115-080002.db", "retentive-20270115-080003.db", "retentive-20270115-080004.db",
    ]  # fmt: skip
    assert [each.removed for each in made] == [(), (), (), (made[0].path,), (made[1].path,)]


def test_only_copies_of_this_store_are_removed(kept: Retentive, open_store: Open, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    others = open_store(target=str(tmp_path / "other.db"))
    others.backup(folder / "retentive-20200101-000000.db")
    (folder / "retentive-20200101-000001.db").write_text("called so, but no store")
    (folder / "retentive-20200101-000002.db").symlink_to(tmp_path / "memory.db")
    (folder / "retentive-20200101-000003.db").mkdir()
    kept.backup(folder / "mine.db")
    kept.backup(folder / "retentive-20200101.db")
    old = kept.backup(folder / "retentive-20200101-000004.db")
    before = {path.name for path in folder.iterdir()}
    made = kept.backup(folder, keep=1)
    assert {path.name for path in folder.iterdir()} == before - {old.path.name} | {made.path.name}
    assert made.removed == (old.path,)


def test_without_keep_nothing_is_removed(kept: Retentive, tmp_path: Path) -> None:
    old = kept.backup(tmp_path / "retentive-20200101-000000.db")
    assert kept.backup(tmp_path).removed == ()
    assert old.path.exists()


@pytest.mark.parametrize("keep", [0, -1, True, "3", 1.5])
def test_a_number_that_is_none_removes_nothing(kept: Retentive, tmp_path: Path, keep: Any) -> None:
    with pytest.raises(Invalid):
        kept.backup(tmp_path, keep=keep)


def test_keep_is_for_folders(kept: Retentive, tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        kept.backup(tmp_path / "copy.db", keep=3)
    assert not (tmp_path / "copy.db").exists()


def test_two_backups_at_once_are_two_files(kept: Retentive, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    threads = [threading.Thread(target=kept.backup, args=(folder,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [holds(path) for path in [*folder.iterdir()]] == [contents(kept)] * 2


def test_of_two_at_once_for_one_name_one_is_told(kept: Retentive, tmp_path: Path) -> None:
    outcomes: list[object] = []

    def back_up() -> None:
        try:
            outcomes.append(kept.backup(tmp_path / "copy.db"))
        except Conflict as error:
            outcomes.append(error)

    threads = [threading.Thread(target=back_up) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(each, Conflict) for each in outcomes) == 2
    assert holds(tmp_path / "copy.db") == contents(kept)


def test_what_a_killed_backup_left_is_removed_by_the_next(kept: Retentive, tmp_path: Path) -> None:
    """And what one that still works holds is not."""
    left, held = tmp_path / ".retentive-left.part", tmp_path / ".retentive-held.part"
    for path in (left, held, Path(f"{left}-wal")):
        path.write_bytes(b"half")
    with held.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept.backup(tmp_path / "copy.db")
        assert sorted(tmp_path.glob(".retentive-*")) == [held]


@pytest.mark.parametrize(("spoil", "error"), UNUSABLE.values(), ids=[*UNUSABLE])
def test_what_is_no_whole_backup_is_told_and_left_as_it_is(
    kept: Retentive, tmp_path: Path, spoil: Callable[[Path], object], error: str
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    path = kept.backup(folder / "copy.db").path
    spoil(path)
    before = listing(folder)
    with pytest.raises(RetentiveError) as caught:
        Retentive.verify_backup(path)
    assert type(caught.value).__name__ == error
    assert caught.value.hint
    assert listing(folder) == before


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Retentive.verify_backup(tmp_path / "none.db")
    with pytest.raises(Invalid, match="is a folder"):
        Retentive.verify_backup(tmp_path)


@pytest.mark.parametrize("newest", [1, 5, 8])
def test_a_backup_of_an_older_program_is_whole(tmp_path: Path, newest: int) -> None:
    of_an_older_program(tmp_path / "old.db", newest)
    assert Retentive.verify_backup(tmp_path / "old.db").schema == newest


def test_a_copy_with_its_log_beside_it_is_read_with_it(kept: Retentive, db: Path) -> None:
    """A store that is in use can be verified, too."""
    kept.add("Still in the log")
    assert Path(f"{db}-wal").stat().st_size
    assert Retentive.verify_backup(db).memories == 3


@pytest.mark.engines("libsql", "postgres")
def test_a_server_has_backups_of_its_own(store: Retentive, tmp_path: Path) -> None:
    with pytest.raises(Invalid) as caught:
        store.backup(tmp_path / "copy.db")
    assert "Retentive.migrate" in caught.value.hint
    assert [*tmp_path.iterdir()] == [] or not (tmp_path / "copy.db").exists()
    assert [*tmp_path.glob(".retentive-*")] == []


@pytest.mark.engines("postgres")
def test_of_postgresql_it_names_the_tool(store: Retentive, tmp_path: Path) -> None:
    with pytest.raises(Invalid) as caught:
        store.backup(tmp_path / "copy.db")
    assert "pg_dump" in caught.value.hint


@pytest.mark.engines
def test_compacting_keeps_everything(store: Retentive) -> None:
    store.add_many([f"memory {n} " + "word " * 50 for n in range(300)])
    doomed = [memory.id for memory in store.list(limit=200)]
    for id in doomed[:5]:
        store.forget(id)
    before = contents(store)
    done = store.compact()
    assert done.before > 0 < done.after
    assert contents(store) == before
    assert len(store.search("memory", mode="text", limit=1000)) == 295
    assert [finding for finding in store.doctor() if not finding.ok] == []


def test_compacting_gives_room_back(store: Retentive, db: Path) -> None:
    said = [{"role": "user", "content": f"line {n} " + "word " * 100} for n in range(300)]
    store.sessions.append_many("long", said)
    store.sessions.delete("long")
    done = store.compact()
    assert done.after < done.before / 2
    assert db.stat().st_size + Path(f"{db}-wal").stat().st_size == done.after


def test_one_who_only_has_the_store_open_does_not_hold_up_compacting(store: Retentive, db: Path) -> None:
    store.add("Kept")
    with holding(db, "idle"):
        assert store.compact().after


def test_one_who_reads_an_older_state_holds_up_compacting_and_is_told(store: Retentive, db: Path) -> None:
    store.add("Kept")
    with holding(db):
        store.add("Newer than what is read")
        with pytest.raises(Busy) as caught:
            store.compact()
    assert caught.value.retryable
    assert len(contents(store)) == 2
    assert store.compact().after


def test_compacting_needs_room(store: Retentive) -> None:
    with pytest.raises(DiskFull) as caught:
        backups._require_room(parts_of(store), 1 << 60)
    assert "twice" in caught.value.hint


def test_a_disk_that_fills_up_while_compacting_loses_nothing(full_disk: type[FullDisk], open_store: Open) -> None:
    store = open_store()
    store.add_many([f"memory {n}" for n in range(50)])
    full_disk.full = True
    with pytest.raises(DiskFull):
        store.compact()
    full_disk.full = False
    assert len(contents(store)) == 50
    assert [finding for finding in store.doctor() if not finding.ok] == []


def test_the_terminal_makes_no_store_to_copy_it(refused: Run, db: Path, tmp_path: Path) -> None:
    for words in (["backup", "create", str(tmp_path / "copy.db")], ["compact"]):
        assert "there is no store" in refused(*words, code=3)
    assert not db.exists()


@pytest.mark.usefixtures("kept")
def test_the_terminal_backs_up_and_verifies(run: Run, refused: Run, tmp_path: Path) -> None:
    target = str(tmp_path / "copy.db")
    assert "2 memories and 1 message in 1 session" in run("backup", "create", target)
    assert "--force" in refused("backup", "create", target, code=4)
    assert "complete" in run("backup", "create", target, "--force")
    assert "complete" in run("backup", "verify", target)
    changed(Path(target), "DELETE FROM chunks")
    assert "agree" in refused("backup", "verify", target, code=5)
    assert "bytes before" in run("compact")
