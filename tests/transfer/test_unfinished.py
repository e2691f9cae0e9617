"""Copies that a killed process left: they are swept, and what is being written is left alone."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.testing import parts_of
from tests.forkserver import ForkedProgram
from tests.support import Open, Run

STUCK = Path(__file__).parents[1] / "programs" / "stuck.py"
WORD = "quetzalcoatlus"
VERBS = ["backup", "restore", "export", "pages"]


@pytest.fixture
def memory_id(open_store: Open, tmp_path: Path) -> str:
    """The id of a memory with the word, in a store that was closed."""
    (tmp_path / "elsewhere").mkdir()
    with open_store() as store:
        store.add_many([f"memory {number}" for number in range(50)])
        return store.add(f"The door opens with {WORD}").id


@contextmanager
def copying(verb: str, db: Path, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process, half-way through a copy, which is killed at the end."""
    target = folder / "elsewhere" / "copy"
    if verb == "restore":
        with Retentive.open(db, embedder="hashing") as store:
            store.backup(target)
    command = [sys.executable, str(STUCK), verb, str(db), str(target)]
    process = ForkedProgram(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        assert process.stdout.readline() == "half-way\n", process.communicate()[1]
        yield process
    finally:
        process.kill()
        process.communicate()


def unfinished(folder: Path) -> list[Path]:
    return [*folder.rglob(".retentive-*")]


def leave_one(verb: str, db: Path, folder: Path) -> None:
    with copying(verb, db, folder):
        assert unfinished(folder)
    assert unfinished(folder)


@pytest.mark.parametrize("verb", VERBS)
def test_opening_a_store_sweeps_what_a_killed_copy_left(
    verb: str, memory_id: str, db: Path, tmp_path: Path, open_store: Open
) -> None:
    leave_one(verb, db, tmp_path)
    with open_store() as store:
        assert unfinished(tmp_path) == []
        assert store.get(memory_id).content.endswith(WORD)


@pytest.mark.parametrize("verb", VERBS)
def test_upkeep_sweeps_what_a_killed_copy_left(
    verb: str, memory_id: str, db: Path, tmp_path: Path, open_store: Open
) -> None:
    store = open_store()
    leave_one(verb, db, tmp_path)
    store.upkeep()
    assert unfinished(tmp_path) == []
    assert parts_of(store).engine.read("copy_note_list") == []
    assert store.get(memory_id).content.endswith(WORD)


@pytest.mark.usefixtures("memory_id")
def test_the_worker_sweeps_what_a_killed_copy_left(db: Path, tmp_path: Path, open_store: Open) -> None:
    store = open_store()
    leave_one("backup", db, tmp_path)
    assert store.worker().once().done["copies"] == 1
    assert unfinished(tmp_path) == []
    assert "copies" not in store.worker().once().done


@pytest.mark.usefixtures("memory_id")
def test_work_on_the_command_line_says_what_it_swept(db: Path, tmp_path: Path, run: Run) -> None:
    leave_one("backup", db, tmp_path)
    assert run("work", "--once") == "unfinished copies of the store removed: 1\n"


@pytest.mark.parametrize("verb", VERBS)
def test_a_purge_sweeps_what_a_killed_copy_left_and_says_so(
    verb: str, memory_id: str, db: Path, tmp_path: Path, open_store: Open
) -> None:
    store = open_store()
    leave_one(verb, db, tmp_path)
    gone = store.purge(memory_id)
    assert gone.complete
    assert gone.proof.startswith(("removed 1 unfinished copy; scanned", "removed 2 unfinished copies; scanned"))
    assert unfinished(tmp_path) == []


@pytest.mark.parametrize("verb", ["backup", "pages"])
def test_what_another_process_writes_is_left_alone(
    verb: str, memory_id: str, db: Path, tmp_path: Path, open_store: Open
) -> None:
    """And a purge is not complete until it was finished or swept."""
    with copying(verb, db, tmp_path) as process:
        before = unfinished(tmp_path)
        store = open_store()
        store.upkeep()
        gone = store.purge(memory_id)
        assert (gone.complete, process.poll()) == (False, None)
        assert before[0].name in gone.proof
        store.upkeep()
        assert parts_of(store).tables.purges.list_due() != []
        assert unfinished(tmp_path) == before
    store.upkeep()
    assert parts_of(store).tables.purges.list_due() == []
    assert unfinished(tmp_path) == []


def test_a_folder_that_is_not_there_is_named_in_the_proof(
    memory_id: str, db: Path, tmp_path: Path, open_store: Open
) -> None:
    """A disk that is not mounted: what is on it is swept when it is back."""
    leave_one("backup", db, tmp_path)
    (tmp_path / "elsewhere").rename(tmp_path / "away")
    store = open_store()
    gone = store.purge(memory_id)
    assert str(tmp_path / "elsewhere") in gone.proof
    (tmp_path / "away").rename(tmp_path / "elsewhere")
    store.upkeep()
    assert unfinished(tmp_path) == []
    assert parts_of(store).engine.read("copy_note_list") == []


@pytest.mark.usefixtures("memory_id")
def test_a_copy_of_this_process_is_not_swept_by_it(tmp_path: Path, open_store: Open) -> None:
    store = open_store()
    seen: list[int] = []

    def look(stage: str, done: int, of: int) -> None:
        del stage, done, of
        store.upkeep()
        seen.append(len(unfinished(tmp_path)))

    made = store.backup(tmp_path / "elsewhere" / "copy", progress=look)
    assert made.memories == 51
    assert {*seen} == {1}
    assert unfinished(tmp_path) == []
    assert parts_of(store).engine.read("copy_note_list") == []


def test_other_files_of_the_folder_stay(memory_id: str, tmp_path: Path, open_store: Open) -> None:
    others = [tmp_path / name for name in (".retentive-x.partial", "retentive-1.part", ".part", ".retentive.part")]
    for path in others:
        path.write_text("mine")
    with open_store() as store:
        store.upkeep()
        assert store.purge(memory_id).complete
    assert all(path.exists() for path in others)


def test_looking_for_copies_does_not_slow_down_opening(memory_id: str, open_store: Open, tmp_path: Path) -> None:
    """A folder of ten thousand files takes about 10 ms; the limit leaves room for a busy machine."""
    for number in range(10_000):
        (tmp_path / f"file-{number}").touch()
    begun = time.process_time()
    with open_store() as store:
        assert store.get(memory_id).id == memory_id
    assert time.process_time() - begun < 2
