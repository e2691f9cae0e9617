"""In which order is background work done?"""

import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from retentive.index.worker import IndexWorker, JobControl, give_memory_back

PATIENCE = 30.0  # seconds; only a worker that hangs takes as long


@pytest.fixture
def worker() -> Iterator[IndexWorker]:
    worker = IndexWorker()
    yield worker
    worker.close()


@pytest.fixture
def done() -> list[str]:
    return []


def hold(worker: IndexWorker) -> threading.Event:
    """Have the worker busy until the event is set: what is submitted meanwhile waits."""
    release = threading.Event()

    def wait(_: JobControl) -> None:
        assert release.wait(PATIENCE)

    worker.submit(("home", "hold"), wait)
    return release


def note(done: list[str], name: str, _: JobControl) -> None:
    done.append(name)


def test_urgent_jobs_come_before_what_waited_longer(worker: IndexWorker, done: list[str]) -> None:
    release = hold(worker)
    for name, urgent in (("build", False), ("fold", False), ("load", True), ("terms", True)):
        worker.submit(("home", name), partial(note, done, name), urgent=urgent)
    release.set()
    assert worker.wait(PATIENCE)
    assert done == ["load", "terms", "build", "fold"]


def test_a_long_job_gives_way_to_urgent_ones(worker: IndexWorker, done: list[str]) -> None:
    def build(control: JobControl) -> None:
        done.append("build begins")
        worker.submit(("home", "terms"), partial(note, done, "terms"), urgent=True)
        worker.submit(("home", "fold"), partial(note, done, "fold"))
        control.run_urgent_jobs()
        done.append("build ends")

    worker.submit(("home", "build"), build)
    assert worker.wait(PATIENCE)
    assert done == ["build begins", "terms", "build ends", "fold"]


def test_a_job_that_gave_way_is_not_begun_again(worker: IndexWorker, done: list[str]) -> None:
    def build(control: JobControl) -> None:
        done.append("build")
        worker.submit(("home", "terms"), again, urgent=True)
        control.run_urgent_jobs()

    def again(_: JobControl) -> None:
        worker.submit(("home", "build"), build)

    worker.submit(("home", "build"), build)
    assert worker.wait(PATIENCE)
    assert done == ["build"]


def test_an_urgent_job_that_fails_does_not_end_the_one_that_gave_way(worker: IndexWorker, done: list[str]) -> None:
    def fail(_: JobControl) -> None:
        raise OSError("the disk is gone")

    def build(control: JobControl) -> None:
        worker.submit(("home", "terms"), fail, urgent=True)
        control.run_urgent_jobs()
        done.append("build")

    worker.submit(("home", "build"), build)
    assert worker.wait(PATIENCE)
    assert done == ["build"]
    assert [*worker.errors] == [("home", "terms")]


def test_nothing_urgent_begins_when_the_worker_closes(done: list[str]) -> None:
    worker, begun = IndexWorker(), threading.Event()

    def build(control: JobControl) -> None:
        begun.set()
        assert control.run_urgent_jobs_for(PATIENCE)
        control.run_urgent_jobs()

    worker.submit(("home", "build"), build)
    assert begun.wait(PATIENCE)
    worker.submit(("home", "terms"), partial(note, done, "terms"), urgent=True)
    worker.close()
    assert done == []


def test_urgent_jobs_do_not_wait_for_a_job_that_rests(worker: IndexWorker, done: list[str]) -> None:
    def build(control: JobControl) -> None:
        worker.submit(("home", "terms"), lambda _: done.append("terms"), urgent=True)
        assert control.run_urgent_jobs_for(PATIENCE)

    worker.submit(("home", "build"), build)
    deadline = time.monotonic() + PATIENCE
    while not done and time.monotonic() < deadline:
        time.sleep(0.01)
    worker.close()
    assert done == ["terms"]


def test_memory_is_given_back_where_the_system_can_and_nowhere_fails() -> None:
    give_memory_back()
