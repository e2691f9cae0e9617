"""`replaces`: memories that the caller has a new one replace."""

from collections.abc import Callable
from typing import Any

import pytest

from retentive import ReplacedMemory, Retentive, Status
from retentive.errors import Conflict, Invalid, NotFound, RetentiveError

pytestmark = pytest.mark.engines


def test_what_is_named_is_ended_with_its_reason(store: Retentive) -> None:
    """The named memories are superseded, told with their texts, and their history says who and why."""
    tea, milk = store.add("Tea at noon").id, store.add("Milk with it").id
    added = store.add("Nothing but water", replaces=[tea, milk, tea], actor="agent")
    assert added.replaced == tuple(
        ReplacedMemory(id, text, "replaces", "named by the caller")
        for id, text in ((tea, "Tea at noon"), (milk, "Milk with it"))
    )
    assert added.superseded == (tea, milk)
    last = store.history(tea)[-1]
    assert (last.action, last.actor, last.reason) == ("superseded", "agent", "replaces: named by the caller")
    assert [memory.content for memory in store.list()] == ["Nothing but water"]


def test_a_known_text_can_be_the_successor(store: Retentive) -> None:
    """The same text again with `replaces` makes no second memory."""
    tea, water = store.add("Tea at noon").id, store.add("Water at noon").id
    again = store.add("Water at noon", replaces=tea)
    assert (again.id, again.created, again.superseded) == (water, False, (tea,))
    assert store.get(tea).superseded_by == water


def test_a_slot_says_so_in_the_history(store: Retentive) -> None:
    """What held the slot ended by its slot; the actor is whoever wrote."""
    old = store.add("Porto", slot="user.home").id
    new = store.add("Braga", slot="user.home")
    assert new.replaced == (ReplacedMemory(old, "Porto", "slot", "same slot user.home"),)
    last = store.history(old)[-1]
    assert (last.actor, last.reason) == ("user", "same slot user.home")


def test_words_say_so_in_the_history(store: Retentive) -> None:
    """What the words put an end to was ended by rules."""
    old = store.add("I live in Porto").id
    new = store.add("I moved from Porto to Braga")
    assert new.superseded == (old,)
    last = store.history(old)[-1]
    assert last.actor == "rules"
    assert last.reason == f"{new.replaced[0].rule}: {new.replaced[0].reason}"


def test_what_comes_late_still_replaces_what_is_named(store: Retentive) -> None:
    """A memory of an earlier time takes its place in the slot, and ends what the caller named."""
    store.add("Braga", slot="home", valid_from="2022-01-01")
    wrong = store.add("Lisbon, perhaps").id
    late = store.add("Porto", slot="home", valid_from="2020-01-01", replaces=wrong)
    assert (late.memory.status, late.superseded) == (Status.SUPERSEDED, (wrong,))
    assert store.get(wrong).superseded_by == late.id


def test_a_late_memory_may_replace_the_one_that_holds_its_slot(store: Retentive) -> None:
    """If the caller names the holder, the new memory holds the slot though it tells of an earlier time."""
    braga = store.add("Braga", slot="home", valid_from="2022-01-01").id
    porto = store.add("Porto", slot="home", valid_from="2020-01-01", replaces=braga)
    assert (porto.memory.status, store.get(braga).superseded_by) == (Status.ACTIVE, porto.id)


def note(store: Retentive) -> str:
    return store.notes.put("Buy milk", note_id="shopping").id


def gone(store: Retentive) -> str:
    return store.forget(store.add("Forgotten").id).id


def replaced(store: Retentive) -> str:
    old = store.add("Old", slot="s").id
    store.add("New", slot="s")
    return old


def elsewhere(store: Retentive) -> str:
    return store.in_namespace("other").add("Elsewhere").id


BAD: list[tuple[Callable[[Retentive], object], type[RetentiveError], str]] = [
    (lambda _: "nothing", NotFound, "no memory"),
    (elsewhere, NotFound, "no memory"),
    (gone, Conflict, "is forgotten"),
    (replaced, Conflict, "is superseded"),
    (note, Invalid, "is a note"),
    (lambda store: store.add("Twice the same").id, Invalid, "says the same"),
    (lambda _: 7, Invalid, "must be a list"),
    (lambda _: [None], Invalid, "must be text"),
    (lambda _: [str(n) for n in range(101)], Invalid, "up to 100"),
]


@pytest.mark.parametrize(("named", "error", "told"), BAD)
@pytest.mark.parametrize("many", [False, True])
def test_what_cannot_be_replaced_is_refused_and_nothing_changed(
    store: Retentive, named: Callable[[Retentive], object], error: type[RetentiveError], told: str, *, many: bool
) -> None:
    """One wrong id, and neither the memory is kept nor another one ended."""
    fine, wrong = store.add("A fine one").id, named(store)
    before = [(memory.id, memory.version) for memory in store.list(status=[*Status])]
    ids = [fine, wrong] if isinstance(wrong, str) else wrong
    first: list[Any] = ["First"] if many else []
    add: Callable[[Any], object] = store.add_many if many else lambda items: store.add(**items[0])
    with pytest.raises(error, match=told):
        add([*first, {"text": "Twice the same", "replaces": ids}])
    assert [(memory.id, memory.version) for memory in store.list(status=[*Status])] == before


def test_items_of_a_load_replace_what_each_names(store: Retentive) -> None:
    """Also where the text of one item came before in the same load."""
    tea, milk = store.add("Tea at noon").id, store.add("Milk at noon").id
    loaded = store.add_many(
        [{"text": "Water at noon", "replaces": tea}, "Bread", {"text": "Water at noon", "replaces": [milk]}]
    )
    assert (loaded.created, loaded.superseded) == (2, 2)
    assert store.get(tea).superseded_by == store.get(milk).superseded_by == loaded.ids[0]


def test_two_items_cannot_replace_the_same_memory(store: Retentive) -> None:
    """The second is told which was first, before anything is kept."""
    tea = store.add("Tea at noon").id
    with pytest.raises(Conflict, match="replaced by item 1 already"):
        store.add_many([{"text": "Water", "replaces": tea}, {"text": "Milk", "replaces": tea}])
    with pytest.raises(Invalid, match="for all"):
        store.add_many(["Water"], replaces=tea)
    assert [memory.content for memory in store.list()] == ["Tea at noon"]
