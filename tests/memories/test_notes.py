"""Notes: known by their id, replaced whole, found with the rest."""

import re

import pytest

from retentive import Retentive
from retentive.errors import Conflict, Invalid, NotFound
from retentive.testing import Clock
from tests.support import Open

pytestmark = pytest.mark.engines


def test_a_note_without_an_id_gets_one(store: Retentive) -> None:
    note = store.notes.put("Buy milk")
    assert re.fullmatch(r"note-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}", note.id)
    assert (note.kind, note.content, store.notes.get(note.id)) == ("note", "Buy milk", note)
    assert store.notes.put("Buy milk").id != note.id


def test_putting_again_replaces_wholly_and_the_same_changes_nothing(store: Retentive) -> None:
    first = store.notes.put("Buy milk", note_id="shopping", tags=["home"])
    assert store.notes.put("Buy milk", note_id="shopping", tags=["home"]) == first
    second = store.notes.put("Buy bread", note_id="shopping", session="s")
    assert (second.content, second.tags, second.session, second.version) == ("Buy bread", (), "s", 2)
    assert [hit.id for hit in store.search("milk", mode="text")] == []
    assert [hit.content for hit in store.search("bread", mode="text", session="s")] == ["Buy bread"]
    assert store.search("bread", mode="text").hits == ()
    before = store.history("shopping")[-1].before
    assert before is not None
    assert (before["content"], before["tags"], before["session"]) == ("Buy milk", ["home"], None)


def test_two_notes_and_a_fact_may_say_the_same(store: Retentive) -> None:
    fact = store.add("Buy milk").id
    store.notes.put("Buy milk", note_id="one")
    store.notes.put("Buy milk", note_id="two")
    added = store.add("Buy milk", kind="note")
    assert added.created
    assert {hit.id for hit in store.search("milk", mode="text")} == {fact, "one", "two", added.id}
    assert store.add("Buy milk").id == fact
    loaded = store.add_many([{"text": "Buy milk", "kind": "note"}, {"text": "Buy milk", "kind": "note"}])
    assert loaded.created == 2
    store.update("one", content="Buy bread")
    assert store.update("two", content="Buy bread").content == "Buy bread"


def test_a_deleted_note_is_forgotten_and_can_come_back(store: Retentive) -> None:
    store.notes.put("Buy milk", note_id="shopping")
    assert store.notes.delete("shopping") is True
    assert store.notes.delete("shopping") is False
    with pytest.raises(NotFound, match="no note 'shopping'"):
        store.notes.get("shopping")
    assert store.search("milk", mode="text").hits == ()
    assert store.notes.put("Buy milk", note_id="shopping").status == "active"
    assert [hit.id for hit in store.search("milk", mode="text")] == ["shopping"]
    assert [change.action for change in store.history("shopping")] == ["created", "forgotten", "updated"]


def test_notes_are_listed_newest_first_whatever_their_ids(store: Retentive, time: Clock) -> None:
    for id in ("b", "a", "c"):
        store.notes.put(f"Note {id}", note_id=id)
        time.forward(1)
    store.notes.put("Of a session", note_id="local", session="s")
    store.add("A fact")
    page = store.notes.list(limit=2)
    assert ([note.id for note in page], page.next) == (["c", "a"], "a")
    assert [note.id for note in store.notes.list(after=page.next)] == ["b"]
    assert [note.id for note in store.notes.list(session="s")] == ["local", "c", "a", "b"]
    assert [memory.id for memory in store.list(limit=3)][1:] == ["c", "a"]
    assert [memory.id for memory in store.list(after="c")] == ["a", "b"]


def test_notes_are_listed_by_all_of_their_tags(store: Retentive, time: Clock) -> None:
    store.notes.put("Buy milk", note_id="milk", tags=["shop", "dairy"])
    time.forward(1)
    store.notes.put("Buy nails", note_id="nails", tags=["shop"])
    assert [note.id for note in store.notes.list(tags=["shop"])] == ["nails", "milk"]
    assert [note.id for note in store.notes.list(tags=["shop", "dairy"])] == ["milk"]
    assert not [*store.notes.list(tags=["garden"])]


def test_the_id_of_another_memory_is_no_notes(store: Retentive) -> None:
    fact = store.add("Water boils at 100 degrees").id
    with pytest.raises(Conflict, match="is a fact, not a note"):
        store.notes.put("x", note_id=fact)
    assert store.notes.delete(fact) is False
    with pytest.raises(NotFound):
        store.notes.get(fact)


@pytest.mark.parametrize(("text", "id"), [("", None), ("  ", "a"), ("x", ""), ("x", "y" * 201), ("a\0b", "a")])
def test_a_bad_note_is_refused(store: Retentive, text: str, id: str | None) -> None:
    with pytest.raises(Invalid):
        store.notes.put(text, note_id=id)
    assert len(store.notes.list()) == 0


def test_notes_of_another_process_are_seen(open_store: Open) -> None:
    one, two = open_store(), open_store()
    one.notes.put("Buy milk", note_id="shopping")
    two.notes.put("Buy bread", note_id="shopping")
    assert one.notes.get("shopping").content == "Buy bread"
    assert [hit.content for hit in one.search("buy", mode="vector", limit=5)] == ["Buy bread"]


def test_a_note_before_a_fact_of_the_same_words_is_no_fact(store: Retentive) -> None:
    loaded = store.add_many([{"text": "Buy milk", "kind": "note"}, {"text": "Buy milk"}, {"text": "Buy milk"}])
    assert (loaded.created, loaded.repeated) == (2, 1)


def test_an_id_may_be_written_in_any_form(store: Retentive) -> None:
    store.notes.put("x", note_id="cafe\u0301")
    assert store.notes.get("café").id == "café"
    assert store.notes.delete(" cafe\u0301 ") is True


def test_the_same_words_again_take_away_what_was_added_since(store: Retentive) -> None:
    store.notes.put("Buy milk", note_id="n")
    store.update("n", expires="1h", context="zebra", importance=9, metadata={"a": 1}, slot="s")
    again = store.notes.put("Buy milk", note_id="n")
    assert (again.expires, again.context, again.importance, again.metadata, again.slot) == (None, None, 5, {}, None)
