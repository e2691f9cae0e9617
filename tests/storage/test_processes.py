"""Several processes on one store, and processes that die."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retentive import Retentive
from tests.forkserver import ForkedProgram
from tests.support import Open

PROGRAMS = Path(__file__).parents[1] / "programs"


def start(program: str, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAMS / program), *map(str, arguments)]
    return ForkedProgram(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def fewer(target: str, count: int) -> int:
    """Over a server, where each takes several round trips."""
    return count // 4 if "://" in target else count


@pytest.mark.engines
def test_four_processes_lose_nothing_and_see_each_other(target: str, open_store: Open) -> None:
    names = ["a", "b", "c", "d"]
    count = fewer(target, 25)
    crowd = [start("crowd.py", target, name, str(count), ",".join(names)) for name in names]
    outputs = [process.communicate(timeout=120) for process in crowd]
    assert [output.strip() for output, _ in outputs] == ["ok"] * 4, outputs
    store = open_store()
    kept = {memory.content for memory in store.list(limit=1000)}
    assert {f"process {name} keeps item {number}" for name in names for number in range(count)} <= kept
    assert all(finding.ok for finding in store.doctor())


@pytest.mark.engines
def test_two_processes_on_one_session_never_collide(target: str, open_store: Open) -> None:
    """Each message has its own number, none is lost, and each process's own are in the order it said them."""
    count = fewer(target, 60)
    talkers = [start("talker.py", target, name, str(count)) for name in ("a", "b", "c")]
    outputs = [process.communicate(timeout=120) for process in talkers]
    assert [error for _, error in outputs] == ["", "", ""]
    given = [[int(number) for number in output.split()] for output, _ in outputs]
    assert sorted(number for numbers in given for number in numbers) == [*range(1, 3 * count + 1)]
    store = open_store()
    events = {event.sequence: event.content for event in store.sessions.events("shared", limit=1000)}
    for name, numbers in zip(("a", "b", "c"), given, strict=True):
        assert [events[number] for number in numbers] == [f"talker {name} says heron {n}" for n in range(count)]
    assert all(finding.ok for finding in store.doctor())
    assert len(store.search("heron", include="events", mode="text", limit=1000)) == 3 * count


@pytest.mark.engines
def test_of_two_summarisers_exactly_one_wins_each_epoch(target: str, open_store: Open) -> None:
    store = open_store()
    store.sessions.append("shared", "user", "hello")
    count = fewer(target, 40)
    writers = [start("summariser.py", target, name, str(count)) for name in ("a", "b")]
    outputs = [process.communicate(timeout=120) for process in writers]
    assert [error for _, error in outputs] == ["", ""]
    won = [line.split() for output, _ in outputs for line in output.splitlines()]
    assert sorted(int(epoch) for _, epoch in won) == [*range(1, 2 * count + 1)]
    last = next(name for name, epoch in won if epoch == str(2 * count))
    assert store.sessions.summary("shared").text == f"{last} wrote epoch {2 * count}"


@pytest.mark.parametrize("part", range(5))
def test_what_was_acknowledged_survives_kill_9(db: Path, open_store: Open, part: int) -> None:
    """Fifty times in all, at random moments, on a file that goes on being used."""
    for number in range(part * 10, part * 10 + 10):
        acknowledged = killed_writer(db, number)
        store = open_store()
        for what, id in acknowledged:
            if what == "said":
                assert f"round {number} " in store.sessions.events("talk", 1, around=int(id.split("#")[1]))[0].content
            else:
                assert store.get(id).status in EXPECTED[what], (what, id)
        assert_whole(store)
        store.close()


EXPECTED = {"added": ("active", "superseded"), "forgotten": ("forgotten",), "changed": ("active",)}


def killed_writer(db: Path, number: int) -> list[tuple[str, str]]:
    """What a writer said was kept before it was killed."""
    process = start("writer.py", db, str(number))
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first, process.communicate()[1]
    time.sleep(random.Random(number).uniform(0, 0.15))
    process.kill()
    rest, _ = process.communicate()
    whole_lines = (first + rest).rpartition("\n")[0].splitlines()
    return [(what, id) for what, _, id in (line.partition(" ") for line in whole_lines)]


def assert_whole(store: Retentive) -> None:
    """The file, the full text, the vectors and the index agree."""
    assert [finding for finding in store.doctor() if not finding.ok] == []
    active = {memory.id for memory in store.list(limit=100_000)}
    events = (each for session in store.sessions.list() for each in store.sessions.events(session.id, limit=100_000))
    said = {each.id for each in events if not each.is_hidden}  # what was forgotten may have been said, too
    for mode in ("text", "vector"):
        found = {hit.id for hit in store.search("round item word", mode=mode, limit=100_000, fold_copies=False)}
        assert found == active | said


_TAKE_LOCK = """
import fcntl, sys
with open(sys.argv[1], "rb+") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except OSError:
        sys.exit("held")
"""


def test_opening_a_store_twice_leaves_the_first_its_lock(db: Path, open_store: Open) -> None:
    """A process that held no lock any more would have the log removed under it by whoever closes the file."""
    first = open_store()
    first.add("The tide turns at noon")
    for _ in range(2):
        open_store(target=str(db)).list()
        asked = subprocess.run([sys.executable, "-c", _TAKE_LOCK, str(db)], capture_output=True, check=False)
        assert asked.stderr.strip() == b"held"
