"""In which order is background work done?"""

import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from retentive.index.worker import Turn, Worker, give_memory_back

PATIENCE = 30.0  # seconds; only a worker that hangs takes as long


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture
def done() -> list[str]:
    return []


def hold(worker: Worker) -> threading.Event:
    """Have the worker busy until the event is set: what is submitted meanwhile waits."""
    release = threading.Event()

    def wait(_: Turn) -> None:
        assert release.wait(PATIENCE)

    worker.submit(("home", "hold"), wait)
    return release


def note(done: list[str], name: str, _: Turn) -> None:
    done.append(name)


def test_urgent_jobs_come_before_what_waited_longer(worker: Worker, done: list[str]) -> None:
    release = hold(worker)
    for name, urgent in (("build", False), ("fold", False), ("load", True), ("terms", True)):
        worker.submit(("home", name), partial(note, done, name), urgent=urgent)
    release.set()
    assert worker.wait(PATIENCE)
    assert done == ["load", "terms", "build", "fold"]


def test_a_long_job_gives_way_to_urgent_ones(worker: Worker, done: list[str]) -> None:
    def build(turn: Turn) -> None:
        done.append("build begins")
        worker.submit(("home", "terms"), partial(note, done, "terms"), urgent=True)
        worker.submit(("home", "fold"), partial(note, done, "fold"))
        turn.give_way()
        done.append("build ends")

    worker.submit(("home", "build"), build)
    assert worker.wait(PATIENCE)
    assert done == ["build begins", "terms", "build ends", "fold"]


def test_a_job_that_gave_way_is_not_begun_again(worker: Worker, done: list[str]) -> None:
    def build(turn: Turn) -> None:
        done.append("build")
        worker.submit(("home", "terms"), again, urgent=True)
        turn.give_way()

    def again(_: Turn) -> None:
        worker.submit(("home", "build"), build)

    worker.submit(("home", "build"), build)
    assert worker.wait(PATIENCE)
    assert done == ["build"]


def test_an_urgent_job_that_fails_does_not_end_the_one_that_gave_way(worker: Worker, done: list[str]) -> None:
    def fail(_: Turn) -> None:
        raise OSError("the disk is gone")

    def build(turn: Turn) -> None:
        worker.submit(("home", "terms"), fail, urgent=True)
        turn.give_way()
        done.append("build")

    worker.submit(("home", "build"), build)
    assert worker.wait(PATIENCE)
    assert done == ["build"]
    assert [*worker.errors] == [("home", "terms")]


def test_nothing_urgent_begins_when_the_worker_closes(done: list[str]) -> None:
    worker, begun = Worker(), threading.Event()

    def build(turn: Turn) -> None:
        begun.set()
        assert turn.rest(PATIENCE)
        turn.give_way()

    worker.submit(("home", "build"), build)
    assert begun.wait(PATIENCE)
    worker.submit(("home", "terms"), partial(note, done, "terms"), urgent=True)
    worker.close()
    assert done == []


def test_urgent_jobs_do_not_wait_for_a_job_that_rests(worker: Worker, done: list[str]) -> None:
    def build(turn: Turn) -> None:
        worker.submit(("home", "terms"), lambda _: done.append("terms"), urgent=True)
        assert turn.rest(PATIENCE)

    worker.submit(("home", "build"), build)
    deadline = time.monotonic() + PATIENCE
    while not done and time.monotonic() < deadline:
        time.sleep(0.01)
    worker.close()
    assert done == ["terms"]


def test_memory_is_given_back_where_the_system_can_and_nowhere_fails() -> None:
    give_memory_back()
