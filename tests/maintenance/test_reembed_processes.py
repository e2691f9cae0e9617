"""A store whose model is changed while other processes write to it, by processes that are killed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retentive import Retentive
from retentive.model import Space, SpaceState
from retentive.storage.tables.spaces import insert_step, mark_step
from retentive.store.active_model import SWITCH_SECONDS
from retentive.store.vectors import pack_vectors
from retentive.testing import parts_of
from tests.forkserver import ForkedProgram
from tests.sizes import choose
from tests.small_model import SmallModel, open_with_small

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
MANY = choose(1_000, 20_000)
PATIENCE = 300  # seconds: nothing here is about speed, and the machine may be busy

pytestmark = pytest.mark.engines


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a program, which ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def start_(program: str, *arguments: str) -> subprocess.Popen[str]:
        command, pipe = [sys.executable, str(PROGRAMS / program), *arguments], subprocess.PIPE
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # for `tests.small_model`
        started.append(ForkedProgram(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment))
        return started[-1]

    yield start_
    for process in started:
        process.kill()
        with process:  # closes its pipes
            pass


def read_until(process: subprocess.Popen[str], wanted: str) -> str:
    """The first line that begins so."""
    assert process.stdout
    for line in process.stdout:
        if line.startswith(wanted):
            return line
    pytest.fail(f"it ended before {wanted!r}: {process.communicate(timeout=PATIENCE)}")


def end(process: subprocess.Popen[str]) -> list[str]:
    """The lines of a writer that was asked to end."""
    output, errors = process.communicate("\n", timeout=PATIENCE)
    assert errors == ""
    assert process.returncode == 0
    return output.splitlines()


@pytest.fixture
def filled(target: str) -> str:
    with open_with_small(target) as store:
        store.add_many(f"memory number {n} is about topic {n % 97} and place {n % 31}" for n in range(MANY))
    return target


def test_many_memories_change_their_model_under_writers_and_a_kill(filled: str, start: Start) -> None:
    writers = [start("switched_writer.py", filled, name) for name in ("a", "b")]
    first = [read_until(writer, "") for writer in writers]
    killed = start("reembedder.py", filled, "building", str(MANY // 3))
    killed.communicate(timeout=PATIENCE)
    with open_with_small(filled) as store:
        assert find_active(store) == "hashing-384"
        begun = {each.space.name: each for each in store.reembed_status()}["small-64"]
        assert begun.space.state is SpaceState.BUILDING
        assert MANY // 3 <= begun.vectors < MANY
    again = start("reembedder.py", filled)
    embedded, switched = read_until(again, "result").split()[1:]
    assert switched == "True"
    assert int(embedded) >= MANY - begun.vectors
    lines = [line for line in first if line]
    for writer in writers:  # they go on in the new space without being opened again
        lines += read_until_in(writer, "small-64")
    lines += [line for writer in writers for line in end(writer)]
    items = sum(line.split()[1:] == ["hashing-384"] for line in lines) + len(writers)
    meanwhile = 8 * items // 5  # of five items one is changed, one has a message and one a second memory
    assert int(embedded) <= MANY - begun.vectors + meanwhile, "it began anew"
    with open_with_small(filled) as store:
        check_complete(store)
        for line in lines:
            if line.strip() != "closed":
                id = line.split()[0]
                assert any(knows(store.in_namespace(name), id) for name in ("a", "b"))
        assert {each.space.name: each.pending for each in store.reembed_status()}["small-64"] == 0


def read_until_in(writer: subprocess.Popen[str], space: str) -> list[str]:
    """The lines up to the first that was written in this space."""
    assert writer.stdout
    lines = []
    for line in writer.stdout:
        lines.append(line)
        if line.split()[1] == space:
            return lines
    pytest.fail(f"the writer ended: {writer.communicate(timeout=PATIENCE)}")


def knows(store: Retentive, id: str) -> bool:
    return bool(parts_of(store).tables.memories.load_by_ids(store.namespace, [id], 0))


def find_active(store: Retentive) -> str | None:
    active = parts_of(store).tables.spaces.find_active()
    return active.name if active else None


def check_complete(store: Retentive) -> None:
    """Every text has its vector in the active space, and it is the one that the model gives."""
    assert find_active(store) == "small-64"
    assert store.stats()["vectors_pending"] == 0
    stored = dict(read_vectors(store, "small-64"))
    model = SmallModel()
    count = 0
    for page in read_texts(store):
        count += len(page)
        made = pack_vectors(model.embed([text for _, text in page]))
        for (chunk, text), vector in zip(page, made, strict=True):
            kept, wanted = (np.frombuffer(each, "<f2").astype(np.float32) for each in (stored[chunk], vector))
            assert float(kept @ wanted) > 0.999, text
    assert count >= 1
    bad = [finding for finding in store.doctor() if not finding.ok]
    assert bad == []


def read_texts(store: Retentive) -> Iterator[list[tuple[int, str]]]:
    """All that can be found: what a space without vectors lacks."""
    after = 0
    while page := parts_of(store).tables.chunks.list_unbuilt(Space("nothing", 1, 0.0), "nothing", after, 5000):
        after = page[-1].chunk
        yield [(each.chunk, each.text) for each in page]


def read_vectors(store: Retentive, space: str) -> Iterator[tuple[int, bytes]]:
    after: dict[str, Any] = {"k1": 0, "k2": ""}
    while page := parts_of(store).engine.read("copy_vectors", {**after, "limit": 5000}):
        after = {"k1": page[-1][1], "k2": page[-1][2]}
        yield from ((chunk, bytes(vector)) for _, chunk, name, _, vector in page if name == space)


@pytest.mark.parametrize(
    ("stage", "active"),
    [
        ("building", "hashing-384"),  # before the first batch
        ("switching", "hashing-384"),  # before the transaction of the switch
        ("switched", "small-64"),  # after it
    ],
)
def test_a_kill_at_any_step_leaves_one_space_active_and_the_next_run_completes_it(
    target: str, start: Start, stage: str, active: str
) -> None:
    with open_with_small(target) as store:
        store.add_many(f"memory number {n}" for n in range(250))
    process = start("reembedder.py", target, stage)
    process.communicate(timeout=PATIENCE)
    with open_with_small(target) as store:
        assert find_active(store) == active
        assert store.search("memory number 7").tier == "hybrid"
        store.add("written between the two runs")
    again = start("reembedder.py", target)
    assert read_until(again, "result").split()[2] == "True"
    again.communicate(timeout=PATIENCE)
    with open_with_small(target) as store:
        check_complete(store)


def test_two_processes_that_change_the_model_at_once_do_no_work_twice(target: str, start: Start) -> None:
    with open_with_small(target) as store:
        store.add_many(f"memory number {n}" for n in range(1000))
    both = [start("reembedder.py", target) for _ in range(2)]
    results = [read_until(each, "result").split() for each in both]
    assert sorted(int(each[1]) for each in results) == [0, 1000]
    assert [each[2] for each in results] == ["True", "True"]
    for each in both:
        each.communicate(timeout=PATIENCE)
    with open_with_small(target) as store:
        check_complete(store)


def test_a_switch_that_was_announced_and_never_made_holds_writers_up_for_a_moment_only(target: str) -> None:
    with open_with_small(target) as store:
        store.add("one")
        announced = [insert_step(SmallModel.space, SpaceState.BUILDING), mark_step("small-64", SpaceState.SWITCHING)]
        parts_of(store).engine.apply(announced)
        waited = []
        for text in ("two", "three"):
            parts_of(store).active.expire_check()
            begun = time.monotonic()
            store.add(text)
            waited.append(time.monotonic() - begun)
        assert waited[0] > 1
        assert waited[1] < SWITCH_SECONDS - 1  # it was announced long ago: nobody waits for it any more
