"""How often the network is crossed to PostgreSQL: on a server far away, that is how long a call takes."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.errors import Stale, StorageError
from retentive.storage import Engine, step
from retentive.storage.engines.postgres import PostgresEngine, connections
from retentive.testing import parts_of
from tests.storage.postgres_trips import TripCounter

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="libpq traces no messages there")

Verb = Callable[[Retentive, int], object]
"""A call; the number makes its texts different each time."""


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TripCounter]:
    monkeypatch.setattr(connections, "PRUNE_SHARE", 0)
    monkeypatch.setattr("retentive.storage.engines.postgres.FOLD_ROWS", 10**9)
    counting = TripCounter(tmp_path, monkeypatch)
    yield counting
    counting.close()


@pytest.fixture
def store(postgres: str, counter: TripCounter) -> Iterator[Retentive]:
    """With a search behind it, so that what is read once in a process has been read."""
    with Retentive.open(postgres, embedder="hashing", access_log=False) as opened:
        opened.add_many([f"Heron number {number} nests by the river" for number in range(30)])
        for number in range(5):
            said = [f"Where does stork {number} nest?", f"On chimney {number}."]
            opened.sessions.append_many(f"s{number}", [{"role": "user", "content": text} for text in said])
        opened.context("herons nest", session="s1")
        assert counter.trips
        yield opened


def count_trips(counter: TripCounter, store: Retentive, verb: Verb) -> int:
    """The fewest of some calls: a driver prepares a statement at its sixth use, in a trip of its own."""
    counts = []
    for number in range(8):
        parts_of(store).journal.flush()
        parts_of(store).active.expire_check()  # the model of the store is looked up in each call
        time.sleep(0.01)
        before = counter.trips
        verb(store, number)
        counts.append(counter.trips - before)
    return min(counts)


VERBS: dict[str, tuple[Verb, int]] = {
    "get": (lambda store, _: store.get(store_id(store)), 2),  # and the list that finds the id
    "list": (lambda store, _: store.list(), 1),
    # the model; both searches; the memories; which of them may be outdated
    "search": (lambda store, _: store.search("heron 7", include="memories"), 4),
    # what exists already; the memories near it; the write with its commit
    "add": (lambda store, number: store.add(f"The zebra number {number} grazes in a meadow"), 3),
    "add to a slot": (lambda store, number: store.add(f"The cat is called Tom {number}", slot="team.pet"), 3),
    "add many": (lambda store, number: store.add_many([f"Okapi {number} {each}" for each in range(20)]), 3),
    # what exists already; the write with its commit
    "append": (lambda store, number: store.sessions.append("s1", "user", f"Thank you {number}."), 2),
    "append a pair": (lambda store, number: store.sessions.append_pair("s2", f"Hm {number}", f"Well {number}"), 2),
    "context": (lambda store, _: store.context("where does the stork nest", session="s1"), 7),
}


def store_id(store: Retentive) -> str:
    return store.list(limit=1)[0].id


@pytest.mark.parametrize("verb", [*VERBS])
def test_a_call_takes_few_round_trips(counter: TripCounter, store: Retentive, verb: str) -> None:
    call, limit = VERBS[verb]
    assert count_trips(counter, store, call) <= limit


@pytest.mark.parametrize("verb", [*VERBS])
def test_a_restricted_view_takes_no_more(counter: TripCounter, store: Retentive, verb: str) -> None:
    call, limit = VERBS[verb]
    view = store.restricted("default")
    assert count_trips(counter, view, call) <= limit


@pytest.mark.parametrize("is_cluster", [False, True])
def test_a_guard_holds_wherever_it_is_checked(counter: TripCounter, store: Retentive, is_cluster: bool) -> None:
    """By the server, or on a cluster by the client, which then needs a second trip. Nothing of the write is kept."""
    engine = parts_of(store).engine
    assert isinstance(engine, PostgresEngine)
    engine._link.is_cluster = is_cluster
    guard = step("memory_unchanged", expect=1, namespace="default", id=store_id(store), version=1)
    before = counter.trips
    engine.apply([guard])
    assert counter.trips - before == (2 if is_cluster else 1)
    with pytest.raises(Stale):
        engine.apply([step("meta_set", key="a", value="1"), replace(guard, rows=[{**guard.rows[0], "version": 9}])])  # type: ignore[index]
    assert engine.read("meta_get", {"key": "a"}) == []


@pytest.mark.parametrize("is_cluster", [False, True])
def test_a_cluster_is_not_told_how_to_plan(counter: TripCounter, store: Retentive, is_cluster: bool) -> None:
    """It could not plan a batch with a plan for all parameters."""
    engine = parts_of(store).engine
    assert isinstance(engine, PostgresEngine)
    engine._link.is_cluster = is_cluster
    before = counter.messages.count("force_generic_plan")
    store.add_many([f"Okapi number {number}" for number in range(60)])
    assert (counter.messages.count("force_generic_plan") > before) is not is_cluster


def test_what_readers_ask_at_the_same_time_is_one_trip(counter: TripCounter, store: Retentive) -> None:
    def read_twice(engine: Engine) -> int:
        return len(engine.read("namespace_list")) + len(engine.read("meta_get", {"key": "a"}))

    def read_once(engine: Engine) -> int:
        return len(engine.read("namespace_list"))

    before = counter.trips
    assert parts_of(store).engine.together([read_twice, read_once, lambda _: 5]) == [1, 1, 5]
    assert counter.trips - before == 2


def test_of_readers_side_by_side_only_the_one_that_fails_has_the_error(store: Retentive) -> None:
    engine = parts_of(store).engine
    answers: list[object] = []

    def read(name: str, each: Engine) -> None:
        answers.append(each.read("meta_get", {"key": name}))

    def fail(each: Engine) -> None:
        each.read("summary_get", {"namespace": "default", "session": 5})

    works: list[Callable[[Engine], None]] = [partial(read, "a"), fail, partial(read, "b")]
    with pytest.raises(StorageError):
        engine.together(works)
    assert answers == [[], []]
    assert len(engine.read("namespace_list")) == 1
