"""What was purged in one store, and what an import says and does of it in another."""

from typing import Any

import pytest

from retentive import Retentive
from retentive.text.purged_message import PURGED
from tests.support import Open, Place
from tests.transfer.stores import exported

pytestmark = pytest.mark.engines


def test_a_record_that_was_purged_here_does_not_come_back(store: Retentive, saved: Any) -> None:
    anna = store.contacts.create(name="Anna Keller", notes="afraid of herons")
    path = saved(exported(store))
    store.purge(anna.id)
    assert store.import_memories(path).lines["contact"] == {"purged": 1}
    assert b"heron" not in exported(store)


def test_a_message_that_was_purged_stays_so_though_its_session_is_deleted(store: Retentive, saved: Any) -> None:
    store.sessions.append_many("s", [{"role": "user", "content": text} for text in ("The heron", "The crane")])
    store.sessions.set_summary("s", "A heron and a crane", upto=2, epoch=0)
    path = saved(exported(store))
    store.purge("s#1", with_origin=True)
    store.sessions.delete("s")
    assert store.import_memories(path).lines["event"] == {"purged": 1, "created": 1}
    assert [event.content for event in store.sessions.events("s")] == [PURGED, "The crane"]
    assert b"heron" not in exported(store)
    assert store.import_memories(path).lines["event"] == {"same": 2}


def test_a_question_that_went_with_a_memory_does_not_come_back(store: Retentive, saved: Any) -> None:
    code = store.add("The spare key is under the blue mat").id
    store.expectations.add("The spare key is under the blue mat, is it not?", code)
    path = saved(exported(store))
    store.purge(code, with_origin=True)
    assert store.import_memories(path).lines["expectation"] == {"purged": 1}
    assert b"blue mat" not in exported(store)


def test_what_was_purged_there_and_is_here_is_named(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    code = source.add("The code is 4711").id
    anna = source.contacts.create(name="Anna Keller").id
    source.sessions.append("s", "user", "The safe is behind the door")
    target.import_memories(saved(exported(source)))
    source.purge([code, anna, "s#1"])
    notes = target.import_memories(saved(exported(source))).notes
    assert [sum(id in note and "still here" in note for note in notes) for id in (code, anna, "s#1")] == [1, 1, 1]


def test_what_was_told_anew_since_is_not(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.notes.put("Buy milk", note_id="shopping")
    source.purge("shopping")
    source.notes.put("Buy bread", note_id="shopping")
    assert target.import_memories(saved(exported(source))).notes == ()
