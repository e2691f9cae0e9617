"""Questions about the past: what was true at a moment, and what the store held to be true."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive import Memory, Retentive, Status
from retentive.errors import Conflict, Invalid
from retentive.model import from_micros
from retentive.testing import Clock
from tests.support import Open, Run

pytestmark = pytest.mark.engines

DAY = 86_400
EVERY = tuple(Status)
QUICK = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def search_contents(store: Retentive, query: str, **options: Any) -> list[str]:
    return [hit.content for hit in store.search(query, **options)]


def make_moment(name: str, moment: str) -> dict[str, Any]:
    return {name: moment}


def add_homes(store: Retentive) -> tuple[str, str]:
    porto = store.add("The user lives in Porto", slot="user.city", valid_from="2020-01-01").id
    braga = store.add("The user lives in Braga", slot="user.city", valid_from="2022-01-01").id
    return porto, braga


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2019-12-31", []),  # before anything was
        ("2020-01-01", ["The user lives in Porto"]),  # from its first moment on
        ("2021-12-31T23:59:59.999999", ["The user lives in Porto"]),
        ("2022-01-01", ["The user lives in Braga"]),  # to its last, exclusive
        (datetime(2024, 5, 1), ["The user lives in Braga"]),  # noqa: DTZ001 - without a zone it is UTC
        (timedelta(days=1), ["The user lives in Braga"]),
        ("1d", ["The user lives in Braga"]),
    ],
)
def test_as_of_gives_what_was_true_then(store: Retentive, moment: Any, expected: list[str]) -> None:
    add_homes(store)
    for mode in ("text", "vector", "hybrid"):
        assert search_contents(store, "where does the user live?", mode=mode, as_of=moment) == expected
    assert [memory.content for memory in store.list(as_of=moment)] == expected


def test_known_at_gives_what_the_store_held_then(store: Retentive, time: Clock) -> None:
    """Told late or not: it is about when the store learned it."""
    before = from_micros(time())
    porto, _ = add_homes(store)
    first = store.get(porto).created
    assert search_contents(store, "where does the user live?", known_at=before) == []
    assert search_contents(store, "where does the user live?", known_at=first) == ["The user lives in Porto"]
    assert search_contents(store, "where does the user live?", known_at="0s") == ["The user lives in Braga"]


def test_both_together_give_what_the_store_held_then_of_another_time(store: Retentive) -> None:
    porto, _ = add_homes(store)
    first = store.get(porto).created
    assert search_contents(store, "user live", as_of="2024-01-01", known_at=first) == ["The user lives in Porto"]
    assert search_contents(store, "user live", as_of="2021-01-01", known_at="0s") == ["The user lives in Porto"]
    assert search_contents(store, "user live", as_of="2019-01-01", known_at="0s") == []


def test_what_was_forgotten_is_not_true_of_any_time_but_was_known(store: Retentive, time: Clock) -> None:
    id = store.add("The alarm code is on the fridge", valid_from="2020-01-01").id
    known = from_micros(time())
    store.forget(id)
    assert search_contents(store, "alarm code", as_of="2021-01-01") == []
    assert search_contents(store, "alarm code", known_at=known) == ["The alarm code is on the fridge"]
    assert search_contents(store, "alarm code", known_at="0s") == []


@pytest.mark.parametrize("marked", [False, True])
def test_what_expired_was_true_until_then(store: Retentive, time: Clock, *, marked: bool) -> None:
    store.add("The museum pass is valid", expires="7d")
    time.forward(30 * DAY)
    if marked:
        store.upkeep()
    for moment in ({"as_of": "25d"}, {"known_at": "25d"}, {"as_of": "25d", "known_at": "29d"}):
        assert search_contents(store, "museum pass", **moment) == ["The museum pass is valid"]
    for moment in ({"as_of": "22d"}, {"known_at": "22d"}, {"as_of": "31d"}, {"known_at": "31d"}):
        assert search_contents(store, "museum pass", **moment) == []


def test_an_earlier_expiry_counts_for_what_was_known(store: Retentive, time: Clock) -> None:
    id = store.add("The museum pass is valid", expires="3d").id
    time.forward(DAY)
    store.update(id, expires="30d")
    time.forward(9 * DAY)
    assert search_contents(store, "museum pass", as_of="5d", known_at="228h") == []
    assert search_contents(store, "museum pass", as_of="5d", known_at="0s") == ["The museum pass is valid"]


@pytest.mark.parametrize("odd", ["a \\u0000 b", "C:\\\\new \\", 'she said "\\"', "\\\\u0000"])
def test_history_is_read_whatever_the_memory_says(store: Retentive, time: Clock, odd: str) -> None:
    id = store.add(f"odd words {odd}", metadata={"odd": f"{odd}\0"}).id
    known = from_micros(time())
    store.forget(id)
    assert [memory.id for memory in store.list(known_at=known)] == [id]


def test_of_conversations_there_is_what_had_been_said(store: Retentive) -> None:
    for day, text in enumerate(("The ferry leaves at nine", "The ferry is late", "The ferry leaves at nine"), start=1):
        store.sessions.append("s", "user", text, time=f"2024-01-0{day}")
    for moment in ("as_of", "known_at"):
        assert search_contents(store, "ferry", **make_moment(moment, "2024-01-01")) == ["The ferry leaves at nine"]
        assert len(store.search_conversations("ferry", **make_moment(moment, "2024-01-02"))) == 2
        assert search_contents(store, "ferry leaves", **make_moment(moment, "2023-12-31")) == []


def test_a_context_of_the_past_knows_nothing_later(open_store: Open) -> None:
    store = open_store(session_budget=100, summary_messages=2)
    add_homes(store)
    store.add("The user is allergic to peanuts", importance=10, valid_from="2023-01-01")
    for day in range(1, 29):
        store.sessions.append("s", "user", f"On day {day} the user walked along the river", time=f"2021-01-{day:02}")
    assert store.sessions.summary("s").upto > 5
    made = store.context("where does the user live, by the river?", "s", 2000, as_of="2021-01-05").text
    assert "Porto" in made
    assert "On day 5 " in made
    assert not [word for word in ("Braga", "peanuts", "On day 6 ", "On day 28 ") if word in made]
    assert "peanuts" in store.context("where does the user live?", "s", as_of="2023-01-01").text


def test_a_status_cannot_be_asked_for_in_the_past(store: Retentive) -> None:
    for moment in ("as_of", "known_at"):
        with pytest.raises(Invalid, match=f"{moment} and status") as refusal:
            store.search("x", status="active", **make_moment(moment, "1d"))
        assert "Leave out status" in refusal.value.hint
    with pytest.raises(Invalid, match="cannot read 'soon'"):
        store.list(as_of="soon")
    with pytest.raises(Invalid, match="no option 'as_of'"):
        store.forget_matching("x", as_of="1d")  # type: ignore[call-arg]


@pytest.mark.engines("sqlite")
def test_the_past_can_be_asked_for_on_the_terminal(run: Run, refused: Run) -> None:
    run("add", "The user lives in Porto", "--slot", "city", "--valid-from", "2020-01-01")
    run("add", "The user lives in Braga", "--slot", "city", "--valid-from", "2022-01-01")
    for verb in (("search", "user lives"), ("list",), ("context", "where does the user live?")):
        assert "Porto" in run(*verb, "--as-of", "2021-01-01")
        assert "Braga" not in run(*verb, "--as-of", "2021-01-01")
        assert "Porto" not in run(*verb, "--known-at", "2021-01-01")
    assert "as_of and status" in refused("list", "--as-of", "1d", "--status", "active", code=2)


changes = st.one_of(
    st.tuples(st.just("add"), st.sampled_from([None, "a", "b"]), st.integers(-9, 9), st.sampled_from([None, None, 2])),
    st.tuples(st.sampled_from(["forget", "restore"]), st.integers(0, 9)),
    st.tuples(st.just("update"), st.integers(0, 9), st.just("valid_from"), st.integers(-9, 0)),
    st.tuples(st.just("update"), st.integers(0, 9), st.just("expires"), st.integers(1, 4)),
    st.tuples(st.just("wait"), st.integers(1, 3)),
    st.tuples(st.just("upkeep")),
)
moments = st.one_of(st.none(), st.integers(-20, 40).map(lambda half: half / 2))
questions = st.tuples(moments, st.one_of(st.none(), st.integers(0, 15))).filter(lambda both: both != (None, None))


class Story:
    """A store with what it said after each change: known by looking, not by its history."""

    def __init__(self, store: Retentive, time: Clock) -> None:
        time.micros = (time.micros // (DAY * 1_000_000) + 30) * DAY * 1_000_000
        self.store, self.time, self.begun = store, time, from_micros(time.micros)
        self.ids: list[str] = []
        self.seen: list[tuple[datetime, Sequence[Memory]]] = []

    def day(self, number: float) -> datetime:
        return self.begun + timedelta(days=number)

    def ahead(self, days: int) -> datetime:
        return from_micros((self.time.micros // (DAY * 1_000_000) + days) * DAY * 1_000_000)

    def change(self, what: str, *how: Any) -> None:
        if what == "add":
            self._add(*how)
        elif what == "wait":
            self.time.forward(how[0] * DAY)
        elif what == "upkeep":
            self.store.upkeep()
        elif self.ids:
            self._to(what, self.ids[how[0] % len(self.ids)], *how[1:])
        moment = from_micros(self.time.micros)
        self.seen.append((moment, [*self.store.list(limit=100, status=EVERY)]))

    def _add(self, slot: str | None, begins: int, lasts: int | None) -> None:
        text, ends = f"common word and number {len(self.ids)}", self.ahead(lasts) if lasts else None
        self.ids.append(self.store.add(text, slot=slot, valid_from=self.day(begins), expires=ends).id)

    def _to(self, what: str, id: str, how: str = "", days: int = 0) -> None:
        with suppress(Conflict):
            if what == "update":
                self.store.update(id, **{how: self.ahead(days)})  # type: ignore[arg-type]
            else:
                (self.store.forget if what == "forget" else self.store.restore)(id)

    def expected(self, as_of: datetime | None, seen: Sequence[Memory]) -> set[str]:
        """In plain Python."""
        if as_of is None:
            return {memory.id for memory in seen if memory.status is Status.ACTIVE}
        return {
            memory.id
            for memory in seen
            if memory.status is not Status.FORGOTTEN
            and memory.valid_from <= as_of
            and (memory.valid_to is None or as_of < memory.valid_to)
            and (memory.expires is None or as_of < memory.expires)
        }


@given(st.lists(changes, min_size=1, max_size=16), st.lists(questions, min_size=1, max_size=4))
@QUICK
def test_a_question_about_the_past_equals_a_scan_over_what_was_there(
    target: str, time: Clock, story: list[Any], asked: list[tuple[float | None, int | None]]
) -> None:
    """Whatever happened since, in keyword search, vector search and lists."""
    place = target if "://" in target else ":memory:"
    with Retentive.open(place, namespace=uuid4().hex, embedder="hashing") as store:
        told = Story(store, time)
        for change in story:
            told.change(*change)
        for day, nth in asked:
            at, seen = told.seen[-1 if nth is None else nth % len(told.seen)]
            as_of = None if day is None else told.day(day)
            expected = told.expected(as_of, seen)
            when: dict[str, Any] = {"as_of": as_of, "known_at": None if nth is None else at}
            assert {memory.id for memory in store.list(limit=100, **when)} == expected
            for mode in ("text", "vector", "hybrid"):
                assert {hit.id for hit in store.search("common word", limit=100, mode=mode, **when)} == expected


@given(order=st.permutations([1, 2, 4, 7, 9]), together=st.booleans())
@QUICK
def test_facts_may_come_in_any_order(target: str, order: list[int], together: bool) -> None:
    """What came late is what held before: each day has the answer it would have had in the order of time."""
    place = target if "://" in target else ":memory:"
    with Retentive.open(place, namespace=uuid4().hex, embedder="none") as store:
        rows: list[dict[str, Any]] = [
            {"text": f"Version {day} is deployed", "slot": "v", "valid_from": f"2024-01-0{day}"} for day in order
        ]
        if together:
            store.add_many(rows)
        else:
            for row in rows:
                store.add(**row)
        answers = [[memory.content for memory in store.list(as_of=f"2024-01-{day:02}")] for day in range(1, 12)]
        days = (1, 2, 2, 4, 4, 4, 7, 7, 9, 9, 9)
        assert answers == [[f"Version {day} is deployed"] for day in days]
        assert [memory.content for memory in store.list()] == ["Version 9 is deployed"]


def test_what_comes_late_leads_to_what_took_its_place(store: Retentive) -> None:
    third = store.add("Third", slot="s", valid_from="2024-01-03").id
    first = store.add("First", slot="s", valid_from="2024-01-01")
    second = store.add("Second", slot="s", valid_from="2024-01-02")
    assert (first.superseded, second.superseded) == ((), ())
    chain = [store.get(id) for id in (first.id, second.id, third)]
    assert [memory.superseded_by for memory in chain] == [second.id, third, None]
    assert [memory.valid_to and memory.valid_to.day for memory in chain] == [2, 3, None]
    assert [memory.status for memory in chain] == [Status.SUPERSEDED, Status.SUPERSEDED, Status.ACTIVE]
