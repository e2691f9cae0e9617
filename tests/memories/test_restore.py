"""Undoing a replacement: what was superseded is current again. In a slot, what took its place is not."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive import Memory, Retentive, Status
from retentive.errors import Conflict
from retentive.testing import Clock
from tests.support import Run

pytestmark = pytest.mark.engines


def add_chain(store: Retentive, *values: str, slot: str | None = "s") -> list[str]:
    """Each true from a year of its own on: 2020, 2021, and so on."""
    return [store.add(value, slot=slot, valid_from=f"{year}-01-01").id for year, value in enumerate(values, start=2020)]


def list_current(store: Retentive) -> list[str]:
    return [memory.content for memory in store.list()]


def list_years(store: Retentive) -> list[list[str]]:
    """What is said to have been true in the middle of each year."""
    return [[memory.content for memory in store.list(as_of=f"{year}-07-01")] for year in range(2020, 2025)]


def test_a_correction_is_undone_as_if_it_had_never_been(store: Retentive) -> None:
    old, new = add_chain(store, "The dog is Rex", "The dog is Max")
    restored = store.restore(old, reason="it was right")
    assert (restored.status, restored.superseded_by, restored.valid_to) == (Status.ACTIVE, None, None)
    closed = store.get(new)
    assert (closed.status, closed.superseded_by, closed.valid_to) == (Status.SUPERSEDED, old, closed.valid_from)
    assert [hit.content for hit in store.search("the dog")] == ["The dog is Rex"]
    assert list_years(store) == [["The dog is Rex"]] * 5


def test_history_tells_of_the_undoing_on_both_sides(store: Retentive) -> None:
    old, new = add_chain(store, "Rex", "Max")
    store.restore(old, actor="anna")
    assert [each.action for each in store.history(old)] == ["created", "superseded", "restored"]
    last = store.history(new)[-1]
    assert (last.action, last.actor, last.reason) == ("superseded", "anna", f"{old} was restored")
    store.restore(new, reason="no, it was wrong")
    assert store.history(new)[-1].reason == store.history(old)[-1].reason == "no, it was wrong"


def test_undoing_the_undoing_gives_what_was(store: Retentive) -> None:
    old, new = add_chain(store, "Rex", "Max")
    before = [(m.status, m.superseded_by, m.valid_from, m.valid_to) for m in map(store.get, (old, new))]
    for _ in range(2):
        store.restore(old)
        store.restore(new)
    assert [(m.status, m.superseded_by, m.valid_from, m.valid_to) for m in map(store.get, (old, new))] == before


def test_the_last_of_a_chain_is_closed(store: Retentive) -> None:
    first, second, third = add_chain(store, "A", "B", "C")
    store.restore(first)
    assert [store.get(id).superseded_by for id in (first, second, third)] == [None, third, first]
    assert list_current(store) == ["A"]
    assert list_years(store) == [["A"]] * 5
    store.restore(second)
    assert [store.get(id).superseded_by for id in (first, second, third)] == [second, None, first]
    assert list_years(store) == [["A"], ["B"], ["B"], ["B"], ["B"]]


def test_without_a_slot_both_are_current_afterwards(store: Retentive) -> None:
    """Restoring undoes the ending alone: what ended it by its words stays."""
    old = store.add("The user drinks coffee every morning.").id
    new = store.add("The user quit coffee.")
    assert new.superseded == (old,)
    store.restore(old)
    assert [(each.status, each.superseded_by) for each in map(store.get, (old, new.id))] == [(Status.ACTIVE, None)] * 2


def test_what_was_undone_is_not_done_again_by_words(store: Retentive) -> None:
    """The same two texts stay apart, also when the newer one is forgotten and told anew."""
    old = store.add("The user drinks coffee every morning.").id
    new = store.add("The user quit coffee.")
    store.restore(old)
    store.forget(new.id)
    assert store.add("The user quit coffee.").superseded == ()
    assert store.get(old).status is Status.ACTIVE


def test_a_slot_read_out_of_the_words_is_not_taken_again(store: Retentive) -> None:
    """What was restored to its slot keeps it when the text that ended it is told anew."""
    old = store.add("I live in Porto").id
    new = store.add("I moved from Porto to Braga")
    assert new.superseded == (old,)
    store.restore(old)
    again = store.add("I moved from Porto to Braga")
    assert (again.superseded, store.get(old).status) == ((), Status.ACTIVE)


def test_a_slot_that_the_caller_gives_is_obeyed_after_an_undoing(store: Retentive) -> None:
    """One value at a time: who names the slot again has the new value."""
    old, _ = add_chain(store, "Rex", "Max")
    store.restore(old)
    assert store.add("Max", slot="s").superseded == (old,)


def test_the_same_text_may_have_come_back_meanwhile(store: Retentive) -> None:
    first, _, again = add_chain(store, "The dog is Rex", "The dog is Max", "The dog is Rex")
    assert first != again
    assert store.restore(first).status is Status.ACTIVE
    assert store.get(again).superseded_by == first


def test_a_successor_that_was_forgotten_is_left_alone(store: Retentive) -> None:
    old, new = add_chain(store, "Rex", "Max")
    store.forget(new)
    assert store.restore(old).status is Status.ACTIVE
    assert store.get(new).status is Status.FORGOTTEN
    with pytest.raises(Conflict, match="holds the slot"):
        store.restore(new)


def test_what_holds_the_slot_is_closed_wherever_the_chain_leads(store: Retentive) -> None:
    old, new = add_chain(store, "Rex", "Max")
    store.forget(new)
    later = store.add("Bello", slot="s").id
    assert store.restore(old).status is Status.ACTIVE
    assert store.get(later).superseded_by == old


def test_an_undoing_that_would_say_a_thing_twice_is_refused(store: Retentive) -> None:
    old, new = add_chain(store, "Rex", "Max")
    store.add("Rex")
    with pytest.raises(Conflict, match="says the same"):
        store.restore(old)
    assert store.get(new).status is Status.ACTIVE


def test_what_expired_is_not_restored(store: Retentive, time: Clock) -> None:
    old = store.add("Rex", slot="s", expires="1h").id
    ended = store.add("Over", expires="1h").id
    store.add("Max", slot="s")
    time.forward(7200)
    for id, told in ((old, "has expired"), (ended, "is expired")):
        with pytest.raises(Conflict, match=told) as refusal:
            store.restore(id)
        assert "add it again" in refusal.value.hint
    assert list_current(store) == ["Max"]


def test_a_successor_whose_time_ran_out_makes_room(store: Retentive, time: Clock) -> None:
    old = store.add("Rex", slot="s").id
    new = store.add("Max", slot="s", expires="1h").id
    time.forward(7200)
    assert store.restore(old).status is Status.ACTIVE
    assert store.get(new).status is Status.EXPIRED


def test_of_many_who_restore_at_once_one_is_current_in_the_end(store: Retentive) -> None:
    ids = add_chain(store, "A", "B", "C", "D")
    with ThreadPoolExecutor(4) as pool:
        [*pool.map(store.restore, ids * 3)]
    found = [store.get(id) for id in ids]
    assert [memory.status for memory in found].count(Status.ACTIVE) == 1
    assert all(_leads_to_what_is_current(store, memory) for memory in found)
    assert all(finding.ok for finding in store.doctor())


def _leads_to_what_is_current(store: Retentive, memory: Memory) -> bool:
    for _ in range(10):
        if memory.superseded_by is None:
            return memory.status is Status.ACTIVE
        memory = store.get(memory.superseded_by)
    return False


@given(st.lists(st.integers(0, 4), max_size=12))
@settings(max_examples=25, deadline=None)
def test_however_often_there_is_one_answer_for_each_time(order: list[int]) -> None:
    """No circle, one that is current, and from its own time on it alone."""
    with Retentive.open(":memory:", embedder="none") as store:
        ids = add_chain(store, "A", "B", "C", "D", "E")
        for place in order:
            store.restore(ids[place])
            assert list_current(store) == ["ABCDE"[place]]
            assert all(_leads_to_what_is_current(store, store.get(id)) for id in ids)
            held = list_years(store)
            assert all(len(answers) <= 1 for answers in held)
            assert held[place:] == [["ABCDE"[place]]] * (5 - place)


@pytest.mark.engines("sqlite")
def test_a_correction_is_undone_on_the_terminal(run: Run) -> None:
    old = run("add", "The dog is Rex", "--slot", "dog").split()[1]
    run("add", "The dog is Max", "--slot", "dog")
    assert run("restore", old, "--reason", "misheard") == f"active {old}  The dog is Rex\n"
    assert "Rex" in run("search", "dog")
    assert "misheard" in run("history", old)


def test_what_ended_several_still_holds_for_the_others(store: Retentive) -> None:
    """Bringing back one of those that a statement ended does not take the statement away."""
    first = store.add("The user drinks coffee every morning.")
    second = store.add("The user takes coffee with milk.")
    last = store.add("The user quit coffee.", replaces=[first.id, second.id])
    assert {*last.superseded} == {first.id, second.id}
    store.restore(first.id)
    told = [store.get(each.id).status for each in (first, second, last)]
    assert told == [Status.ACTIVE, Status.SUPERSEDED, Status.ACTIVE]
