"""Backups of a store that other processes write to, and backups that are killed."""

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from retentive import Retentive
from tests.forkserver import ForkedProgram
from tests.storage.test_processes import PROGRAMS, assert_whole, start
from tests.support import Open
from tests.transfer.copies import ids


@contextmanager
def writing(db: Path, log: Path) -> Iterator[None]:
    """Another process keeps, changes and forgets as fast as it can; what it was told was kept is in the log."""
    with log.open("w") as file:
        writer = ForkedProgram([sys.executable, str(PROGRAMS / "writer.py"), str(db), "1"], stdout=file)
    try:
        more(log, 0)
        yield
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()


def more(log: Path, than: int) -> set[str]:
    """What was acknowledged, when it has become more."""
    deadline = time.monotonic() + 60
    while len(said := acknowledged(log)) <= than:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return said


def acknowledged(log: Path) -> set[str]:
    whole = log.read_text().rpartition("\n")[0].splitlines()
    return {id for what, _, id in (line.partition(" ") for line in whole) if what == "added"}


def test_a_backup_beside_a_busy_writer_is_a_state_the_store_was_in(store: Retentive, db: Path, tmp_path: Path) -> None:
    """All that was acknowledged before it, nothing that came after it, and every memory with all that belongs to it."""
    store.add_many([f"round item word {n} " + "word " * 100 for n in range(1000)])
    copies = []
    before: set[str] = set()
    with writing(db, tmp_path / "said.txt"):
        for number in range(5):
            before = more(tmp_path / "said.txt", len(before))
            made = store.backup(tmp_path / f"{number}.db")
            after = ids(db)
            copies.append((before, made, after))
    for before, made, after in copies:
        assert before <= ids(made.path) <= after
        assert len(ids(made.path)) == made.memories
        with Retentive.open(made.path, embedder="hashing") as copy:
            assert_whole(copy)


def test_writers_do_not_wait_for_a_backup(store: Retentive, db: Path, tmp_path: Path) -> None:
    """In each stage of it a write is kept."""
    store.add_many([f"memory {n} " + "word " * 100 for n in range(1000)])
    kept: list[str] = []

    def write(stage: str, done: int, of: int) -> None:
        with Retentive.open(db, embedder="hashing") as other:
            kept.append(other.add(f"Written while {stage}: {done} of {of}").id)

    made = store.backup(tmp_path / "copy.db", progress=write)
    assert len(kept) >= 3
    assert made.memories == 1000
    assert {*kept} <= ids(db)


@pytest.mark.parametrize("part", range(2))
def test_a_backup_that_is_killed_leaves_no_file_under_its_name_or_a_whole_one(
    open_store: Open, tmp_path: Path, part: int
) -> None:
    folder, db = tmp_path / "backups", tmp_path / "memory.db"
    folder.mkdir()
    with open_store() as store:
        store.add_many([f"memory {n} " + "word " * 30 for n in range(1000)])
    for number in range(part * 6, part * 6 + 6):
        process = start("copier.py", db, "backup", folder)
        assert process.stdout is not None
        assert process.stdout.readline(), process.communicate()[1]
        time.sleep(random.Random(number).uniform(0, 0.4))
        process.kill()
        process.communicate()
        assert all(Retentive.verify_backup(path).memories == 1000 for path in folder.glob("*.db"))
    with open_store() as store:
        store.backup(folder / "last.db")
        assert [finding for finding in store.doctor() if not finding.ok] == []
    assert [path for path in folder.iterdir() if path.suffix != ".db"] == []
