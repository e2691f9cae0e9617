"""How often is the database asked, and for what?"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from retentive import Retentive, clock
from retentive.model import Memory, Status
from retentive.storage import Step
from retentive.testing import parts_of

pytestmark = pytest.mark.engines


@pytest.fixture
def read_after(store: Retentive, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The queries that were read since the first write."""
    engine = type(parts_of(store).engine)
    read: Any = engine.read
    apply: Any = engine.apply
    found: Counter[str] = Counter()
    written: list[bool] = []

    def count_read(self: Any, query: str, *rest: Any, **more: Any) -> Any:
        found[query] += bool(written)
        return read(self, query, *rest, **more)

    def note_apply(self: Any, steps: Iterable[Step]) -> None:
        apply(self, steps)
        written.append(True)

    monkeypatch.setattr(engine, "read", count_read)
    monkeypatch.setattr(engine, "apply", note_apply)
    return found


def test_a_memory_just_written_is_not_read_back(store: Retentive, read_after: Counter[str]) -> None:
    store.add("The office has a cat")
    assert +read_after == Counter()


def test_a_note_just_written_is_not_read_back(store: Retentive, read_after: Counter[str]) -> None:
    store.notes.put("Buy milk", note_id="shopping")
    assert +read_after == Counter()


def test_a_fact_flows_into_the_profile_with_two_reads(store: Retentive, read_after: Counter[str]) -> None:
    """Whether the profile is in step, and the facts; what is written of them is not read back."""
    store.add("My dog is called Max", slot="user.dog.name")
    assert +read_after == Counter({"profile_and_facts": 1, "memory_in_slots": 1})
    assert store.profile.get().document == {"dog": {"name": "Max"}}


def load_stored(store: Retentive, id: str) -> Memory | None:
    return parts_of(store).tables.memories.get("default", id, clock.now())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tags": ["b", "a"], "metadata": {"a": [1, {"b": None}], "c": "\u00e9"}, "context": "at work"},
        {"kind": "decision", "importance": 9, "confidence": 0.3, "session": "s", "slot": "release.day"},
        {"valid_from": "2020-01-01", "expires": "2999-12-31T10:00:00.123456Z", "source": "import"},
    ],
)
def test_a_memory_just_written_is_given_as_it_is_stored(store: Retentive, options: Any) -> None:
    added = store.add("Releases are on Tuesdays \N{ROCKET} \u212b", **options).memory
    assert added == load_stored(store, added.id)
    note = store.notes.put("Buy milk", tags=["home"])
    assert note == load_stored(store, note.id)


def test_a_memory_that_comes_late_is_given_as_it_is_stored(store: Retentive) -> None:
    now = store.add("Ann lives in Porto", slot="ann.home", valid_from="2024-01-01").memory
    late = store.add("Ann lives in Berlin", slot="ann.home", valid_from="2020-01-01").memory
    assert (late.status, late.superseded_by) == (Status.SUPERSEDED, now.id)
    assert late == load_stored(store, late.id)


def test_a_memory_that_takes_the_place_of_another_is_given_as_it_is_stored(store: Retentive) -> None:
    old = store.add("My dog is called Max").memory
    added = store.add("My dog is called Rex")
    assert added.superseded == (old.id,)
    assert added.memory == load_stored(store, added.id)
