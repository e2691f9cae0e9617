"""What is wrong in one line of an export is told of that line: the rest comes in, and the store stays usable."""

import base64
import struct
from collections.abc import Sequence
from typing import Any

import pytest

from retentive import Retentive
from tests.support import Open, Place
from tests.transfer.stores import exported, fill, lines

pytestmark = pytest.mark.engines

SPACE = "hashing-384"


def vector(numbers: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}e", *numbers)).decode()


def brought(numbers: Sequence[float], times: int = 1) -> dict[str, Any]:
    return {"vectors": [{"ordinal": 0, "whole": True, "space": SPACE, "vector": vector(numbers)}] * times}


def change(version: int) -> dict[str, Any]:
    told: dict[str, Any] = {
        "action": "updated",
        "at": "2026-01-01T00:00:00Z",
        "actor": "a",
        "reason": None,
        "before": {},
    }
    return {"version": version, **told}


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "two\nlines"},
        {"id": "x" * 5000},  # no index of PostgreSQL's has room for it
        {"session": "a\x1bb"},
        {"importance": 11},
        {"confidence": -0.1},
        {"created": "0001-01-01T00:00:00+14:00"},  # a time that cannot be read back
        {"history": [change(1), change(1)]},
        brought([1.0] + [0.0] * 383, times=2),
        brought([float("nan")] * 384),
        brought([float("inf")] * 384),
        brought([50.0] * 384),
    ],
    ids=lambda changed: str(changed)[:40],
)
def test_a_memory_that_cannot_be_is_refused(place: Place, open_store: Open, saved: Any, changed: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("Bad")
    source.add("Good")
    head, space, bad, *rest = lines(exported(source))
    done = target.import_memories(saved(head, space, {**bad, **changed}, *rest))
    assert [each.place for each in done.refusals] == ["all.jsonl, line 3"]
    assert [memory.content for memory in target.list()] == ["Good"]
    assert b"Good" in exported(target)


def test_a_type_that_is_no_name_is_refused(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("Good")
    head, *rest = lines(exported(source))
    done = target.import_memories(saved(head, {"type": ["memory"]}, {"type": {}}, *rest))
    assert (done.refused, done.created) == (2, 1)


@pytest.mark.parametrize(
    ("type", "changed"),
    [
        ("project", {"links": ["a", "a"]}),
        ("expectation", {"depth": 0}),
        ("session", {"claims": [1]}),
        ("session", {"claims": [{"verb": "add"}]}),
        ("event", {"sequence": 0}),
    ],
    ids=str,
)
def test_one_of_any_type_does_not_stop_the_rest(
    place: Place, open_store: Open, saved: Any, type: str, changed: dict[str, Any]
) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    fill(source)
    whole = lines(exported(source))
    at = next(number for number, line in enumerate(whole) if line["type"] == type)
    done = target.import_memories(saved(*whole[:at], {**whole[at], **changed}, *whole[at + 1 :]))
    assert f"line {at + 1}" in done.refusals[0].place
    assert done.lines["file"] == {"created": 1}
    target.learn()
    target.expectations.run()


def test_a_vector_that_its_space_cannot_have_is_made_anew(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("The dog is called Max")
    head, space, memory, *rest = lines(exported(source))
    done = target.import_memories(saved(head, space, {**memory, **brought([1.0, 0.0, 0.0])}, *rest))
    assert (done.created, done.pending) == (1, 0)
    assert target.search("dog Max").hits[0].why.vector


def conversation(source: Retentive) -> list[dict[str, Any]]:
    source.sessions.append_many("s", [{"role": "user", "content": f"Message {n}"} for n in range(3)])
    return lines(exported(source))


def test_a_message_that_comes_twice_is_kept_once(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    head, space, session, first, *rest = conversation(source)
    done = target.import_memories(saved(head, space, session, first, first, *rest))
    assert (done.refused, done.lines["event"]) == (0, {"created": 3, "same": 1})
    assert exported(target) == exported(source)


def test_of_two_messages_with_one_number_the_first_is_kept(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    head, space, session, first, *rest = conversation(source)
    done = target.import_memories(saved(head, space, session, first, {**first, "content": "Other"}, *rest))
    assert [each.place for each in done.refusals] == ["all.jsonl, line 5"]
    assert exported(target) == exported(source)


def test_a_session_that_counts_wrongly_can_go_on(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    head, space, session, *rest = conversation(source)
    target.import_memories(saved(head, space, {**session, "last_sequence": 0, "events": 0}, *rest))
    assert target.sessions.append("s", "user", "One more").sequence == 4


def test_lines_that_are_missing_are_told(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add_many(["One", "Two", "Three"])
    head, space, first, _, *rest = lines(exported(source))
    done = target.import_memories(saved(head, space, first, *rest))
    assert [each.reason for each in done.refusals] == ["there were 4 lines before this one, and 3 are left"]
    assert done.created == 2


def test_an_export_twice_in_one_file_comes_in_once(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    fill(source)
    whole = exported(source)
    target.import_memories(saved(whole, whole))
    assert exported(target) == whole
