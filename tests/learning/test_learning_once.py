"""Learning in several processes, and in processes that die: each message counts once."""

import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.testing import parts_of
from tests.places import place
from tests.storage.test_processes import start

ANY = ["active", "superseded", "forgotten", "expired"]
KILLS = 8


@pytest.fixture
def talk(store: Retentive) -> list[str]:
    """A session of 200 messages; what is to be learned from it."""
    said: list[dict[str, Any]] = []
    for number in range(100):
        said.append({"role": "user", "content": f"I visited {place(number)} with my sister."})
        said.append({"role": "assistant", "content": f"I love {place(number)}, and I live in {place(number + 500)}."})
    store.sessions.append_many("talk", said)
    return sorted(f"The user visited {place(number)} with their sister." for number in range(100))


def everything(store: Retentive) -> list[str]:
    """The contents of all memories there ever were, of any status."""
    return sorted(memory.content for memory in store.list(limit=10_000, status=ANY))


def killed(program: str, *arguments: str | Path, seed: int) -> None:
    """Soon after it was heard of."""
    process = start(program, *arguments)
    assert process.stdout is not None
    assert process.stdout.readline(), process.communicate()[1]
    time.sleep(random.Random(seed).uniform(0, 0.3))
    process.kill()
    process.communicate()


def killed_at_work(db: Path, store: Retentive, seed: int) -> int:
    """A learner, after it has kept a few more. How many there are then."""
    wanted = len(everything(store)) + random.Random(seed).randrange(1, 10)
    process = start("learner.py", db, "talk")
    while len(everything(store)) < wanted and process.poll() is None:
        time.sleep(random.Random(seed).uniform(0, 0.01))
    process.kill()
    process.communicate()
    return len(everything(store))


def test_a_learner_that_is_killed_again_and_again_loses_and_doubles_nothing(
    db: Path, store: Retentive, talk: list[str]
) -> None:
    killed("learner.py", db, "talk", seed=0)  # while it reads
    counts = [killed_at_work(db, store, seed) for seed in range(KILLS)]
    assert 0 < counts[0] < counts[-1] < len(talk)
    store.learn("talk")
    assert everything(store) == talk
    assert {memory.version for memory in store.list(limit=1000)} == {1}  # none was said again


def test_after_a_kill_learning_goes_on_where_it_was(db: Path, store: Retentive, talk: list[str]) -> None:
    """How far was read and what is left agree: what is done is not read again, and at the end nothing is left."""
    before = killed_at_work(db, store, seed=3)
    (learned,) = store.learn("talk")
    assert (learned.upto, learned.events, len(learned.kept)) == (200, 0, len(talk) - before)
    (again,) = store.learn("talk")
    assert (again.upto, again.events, again.kept, again.reinforced) == (200, 0, (), ())
    state = parts_of(store).tables.learning.get("default", "talk")
    assert state is not None
    assert state[:5] == ("talk", 200, "", 0, 200)


@pytest.mark.engines
def test_two_processes_that_learn_one_session_share_the_work(target: str, store: Retentive, talk: list[str]) -> None:
    learners = [start("learner.py", target, "talk") for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in learners]
    assert [error for _, error in outputs] == ["", ""]
    kept = [id for output, _ in outputs for id in output.split()[1:]]
    assert len(kept) == len(set(kept)) == len(talk)
    assert everything(store) == talk


def test_requests_are_done_once_though_the_process_is_killed(db: Path, store: Retentive, tmp_path: Path) -> None:
    """Between a message and the deed, or between its two deeds: what is left is done by `learn`."""
    for seed in range(KILLS):
        wishes = (
            f"Remember that I visited {place(n)}. Note that I visited {place(n + 1)}."
            for n in range(1000 * seed, 1000 * seed + 1000, 2)
        )
        (tmp_path / "wishes.txt").write_text("\n".join(wishes), "utf-8")
        killed("asker.py", db, tmp_path / "wishes.txt", seed=seed)
    store.learn("talk")
    said = " ".join(event.content for event in store.sessions.events("talk", limit=10_000))
    assert everything(store) == sorted(f"The user visited {each}." for each in re.findall(r"visited (\w+)", said))
    assert {memory.confidence for memory in store.list(limit=10_000)} == {0.9}


def test_processes_that_keep_nothing_do_not_disturb_each_other(db: Path, store: Retentive) -> None:
    """What is refused is done with, once, by either."""
    lines = [f"My password for {place(number)} is {place(number + 500)}-{number}." for number in range(200)]
    store.sessions.append_many("talk", [{"role": "user", "content": line} for line in lines])
    learners = [start("learner.py", db, "talk") for _ in range(3)]
    assert [process.communicate(timeout=120) for process in learners] == [("ready\n\n", "")] * 3
    assert everything(store) == []
