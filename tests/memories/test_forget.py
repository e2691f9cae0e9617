"""Forgetting by words and filters, retention, and where a memory came from: the same on every engine."""

from typing import Any

import pytest

from retentive import Retentive, Status
from retentive.errors import BadConfig, Conflict, Invalid, NotFound
from retentive.testing import Clock
from retentive.text.retention_rules import RetentionRule, parse_rules
from tests.support import Open, Run

pytestmark = pytest.mark.engines

ADDRESS = "The user's address is 12 Elm Street"
FACTS = (ADDRESS, "The user's dog is called Rex", "The user's dog has its birthday in May", "Herons stand in ponds")


@pytest.fixture
def filled(store: Retentive) -> Retentive:
    for text in FACTS:
        store.add(text, tags=["dog"] if "dog" in text else ["other"])
    return store


def list_contents(found: Any) -> list[str]:
    return [memory.content for memory in found]


@pytest.mark.parametrize(
    ("words", "meant", "clear"),
    [
        ("address", [ADDRESS], True),
        ("forget my old address", [], False),  # the command's own word is not in it: whoever reads commands drops it
        ("my old address", [ADDRESS], True),  # "old" says which one, it need not stand there
        ("dog birthday", [FACTS[2]], True),
        ("the dogs", [FACTS[1], FACTS[2]], False),  # stemmed; two are meant, so it is not clear
        ("dog food", [], False),  # a likeness is not enough
        ("ELM street", [ADDRESS], True),
    ],
)
def test_words_name_what_has_every_one_of_them(filled: Retentive, words: str, meant: list[str], clear: bool) -> None:
    found = filled.candidates(words)
    assert sorted(list_contents(found.memories)) == sorted(meant)
    assert (found.clear is not None) == clear


def test_the_old_one_is_the_one_that_was_replaced(store: Retentive) -> None:
    old = store.add(ADDRESS, slot="user.address")
    store.add("The user's address is 5 Oak Lane", slot="user.address")
    store.add("The old mill stands by the river")
    assert list_contents(store.candidates("old mill").memories) == ["The old mill stands by the river"]
    assert store.candidates("address").clear != old.memory
    found = store.candidates("my old address").clear
    assert found is not None
    assert found.id == old.id


def test_what_is_like_it_is_named_and_stays(filled: Retentive) -> None:
    with pytest.raises(NotFound, match=r"no memory has all of the words 'dog food'; similar ones: .*dog") as caught:
        filled.forget_matching("dog food")
    assert "by id" in caught.value.hint
    assert len(filled.list()) == 4


def test_one_is_forgotten_by_words_and_can_be_brought_back(filled: Retentive) -> None:
    """Softly, and on record: who, when, why, and what it was."""
    done = filled.forget_matching("old address", reason="moved", actor="anna")
    assert (list_contents(done.memories), done.done) == ([ADDRESS], True)
    last = filled.history(done.memories[0].id)[-1]
    assert (last.action, last.actor, last.reason) == ("forgotten", "anna", "moved")
    assert last.before is not None
    assert last.before["content"] == ADDRESS
    assert ADDRESS not in list_contents(filled.list())
    assert filled.restore(done.memories[0].id).status is Status.ACTIVE


def test_more_than_one_must_be_confirmed(filled: Retentive) -> None:
    with pytest.raises(Conflict, match=r"2 memories match: .*birthday"):
        filled.forget_matching(tags=["dog"])
    assert len(filled.list()) == 4
    told = filled.forget_matching(tags=["dog"], dry_run=True)
    assert (len(told.memories), told.done, len(filled.list())) == (2, False, 4)
    done = filled.forget_matching(tags=["dog"], confirm=True)
    assert {memory.status for memory in done.memories} == {Status.FORGOTTEN}
    assert [filled.get(memory.id) for memory in done.memories] == [*done.memories]
    assert list_contents(filled.list()) == [FACTS[3], FACTS[0]]
    assert filled.forget_matching(tags=["dog"], confirm=True).memories == ()


def test_words_and_filters_hold_together(filled: Retentive) -> None:
    assert list_contents(filled.forget_matching("user", tags=["other"]).memories) == [ADDRESS]


def test_a_filter_may_forget_very_many(store: Retentive) -> None:
    store.add_many([f"Fact number {n}" for n in range(450)], kind="outcome")
    store.add("It stays")
    assert len(store.forget_matching(kind="outcome", confirm=True).memories) == 450
    assert list_contents(store.list()) == ["It stays"]
    assert all(finding.ok for finding in store.doctor())


def test_in_a_session_its_own_memories_are_meant(store: Retentive) -> None:
    """A search in a session sees the global ones, too; forgetting must not."""
    store.add("The user likes herons")
    store.add("Herons are due today", session="s")
    assert list_contents(store.forget_matching("herons", session="s").memories) == ["Herons are due today"]
    store.add("Geese are due today", session="s")
    assert list_contents(store.forget_matching(session="s").memories) == ["Geese are due today"]
    assert list_contents(store.list()) == ["The user likes herons"]


@pytest.mark.parametrize("options", [{}, {"words": " "}, {"tags": ["x"], "actor": 7}, {"kind": "nonsense"}])
def test_a_wrong_wish_changes_nothing(filled: Retentive, options: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        filled.forget_matching(**options)
    assert len(filled.list()) == 4


# Retention.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("fact: 10", [RetentionRule("*", "fact", 10, None)]),
        (
            "outcome: 90d, work/*: 1y",
            [RetentionRule("*", "outcome", None, 7_776_000), RetentionRule("work/*", None, None, 31_536_000)],
        ),
        ("work/* outcome: 12h", [RetentionRule("work/*", "outcome", None, 43_200)]),
        ("alice: 5", [RetentionRule("alice", None, 5, None)]),
        ("* : 0,", [RetentionRule("*", None, 0, None)]),
    ],
)
def test_rules_are_read_as_people_write_them(text: str, expected: list[RetentionRule]) -> None:
    assert parse_rules(text) == expected


@pytest.mark.parametrize("text", ["fact", "fact:", ": 5", "fact: soon", "a b c: 5", "fact facts: 5", "fact: -1"])
def test_a_rule_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadConfig, match="retention"):
        Retentive.open(":memory:", embedder="none", retention=text)


@pytest.mark.parametrize(
    ("rule", "namespace", "holds"),
    [
        ("*: 1", "a/b", True),
        ("a: 1", "a", True),
        ("a: 1", "a/b", False),
        ("a/*: 1", "a", True),
        ("a/*: 1", "a/b", True),
        ("a/*: 1", "ab", False),
    ],
)
def test_a_rule_holds_for_its_namespaces(rule: str, namespace: str, holds: bool) -> None:
    assert parse_rules(rule)[0].applies_to(namespace) is holds


def test_upkeep_keeps_the_newest_of_a_kind(open_store: Open, time: Clock) -> None:
    """By the namespace; what is said again counts as new. Off unless it is set."""
    store, other = open_store(retention="fact: 2"), open_store(namespace="other")
    for number in range(4):
        time.forward(60)
        store.add(f"Fact number {number}")
        other.add(f"Fact number {number}", kind="outcome")
    time.forward(60)
    store.add("Fact number 0")
    other.upkeep()
    assert len(store.list()) == 4
    store.upkeep()
    assert sorted(list_contents(store.list())) == ["Fact number 0", "Fact number 3"]
    assert len(other.list()) == 4
    forgotten = store.list(status="forgotten")[0]
    last = store.history(forgotten.id)[-1]
    assert (last.action, last.actor, last.reason) == ("forgotten", "upkeep", "retention")
    assert store.restore(forgotten.id).status is Status.ACTIVE


def test_upkeep_keeps_what_is_young_enough(open_store: Open, time: Clock) -> None:
    store = open_store(retention="outcome: 90d, work/*: 1d")
    work = open_store(namespace="work/billing")
    for each in (store, work):
        each.add("The build passed", kind="outcome")
        each.add("The user likes herons")
    time.forward(2 * 86400)
    store.upkeep()
    assert (len(store.list()), len(work.list())) == (2, 0)
    time.forward(90 * 86400)
    store.upkeep()
    assert list_contents(store.list()) == ["The user likes herons"]


# Where it came from.


def test_a_memory_says_where_it_came_from(store: Retentive) -> None:
    said = store.sessions.append("monday", "user", "My dog is called Rex", speaker="Anna")
    first = store.add("The dog is called Max", slot="dog")
    origin = {"session": "monday", "events": [said.sequence, 9], "file": "notes.md"}
    second = store.add("The dog is called Rex", slot="dog", origin=origin)
    store.update(second.id, importance=8, reason="vital")
    third = store.add("The dog is called Bo", slot="dog")
    told = store.why(second.id)
    assert (told.memory.id, told.messages, told.missing) == (second.id, (said,), ("monday#9",))
    assert ([each.id for each in told.replaced], [each.id for each in told.replaced_by]) == ([first.id], [third.id])
    assert [change.action for change in told.changes] == ["created", "updated", "superseded"]
    assert [each.id for each in store.why(third.id).replaced] == [first.id, second.id]
    assert [each.id for each in store.why(first.id).replaced_by] == [second.id, third.id]


@pytest.mark.parametrize(
    ("origin", "found"),
    [
        ({"session": "s", "sequence": 1}, ["s#1"]),
        ({"session": "s", "events": [1, 2]}, ["s#1", "s#2"]),
        ({"event": "s#2"}, ["s#2"]),
        ({"events": ["s#1"], "session": "other"}, ["s#1"]),
        ({"session": "s", "events": "nonsense", "sequence": -1}, []),
        ({"session": "s", "events": [10**30, True, None, 2.0, {}]}, []),
        ({"url": "https://example.org"}, []),
        (None, []),
    ],
)
def test_every_way_to_name_a_message_is_read(store: Retentive, origin: Any, found: list[str]) -> None:
    store.sessions.append_pair("s", "Hello", "Good morning")
    told = store.why(store.add("The user is polite", origin=origin).id)
    assert [event.id for event in told.messages] == found


def test_the_terminal_tells_where_it_came_from(run: Run) -> None:
    run("add", "The dog is called Max", "--slot", "dog")
    run("add", "The dog is called Rex", "--slot", "dog")
    id = run("list").split("\t")[0]
    assert [line.split("\t")[0] for line in run("why", id).splitlines()] == ["replaced", "explicit"]


# On the terminal.


@pytest.fixture
def shown(run: Run) -> None:
    for text in FACTS:
        run("add", text)


@pytest.mark.usefixtures("shown")
def test_the_terminal_forgets_by_words(run: Run, refused: Run) -> None:
    """Without a person to ask, more than one needs --yes."""
    assert ADDRESS in run("forget", "--words", "old address", "--dry-run")
    assert ADDRESS in run("forget", "--words", "old address")
    assert "this would forget 2 memories" in refused("forget", "--words", "dog", code=2)
    assert run("forget", "--words", "dog", "--yes").count("forgotten") == 2
    assert run("list").count("\n") == 1


@pytest.mark.usefixtures("shown")
def test_several_ids_need_a_yes_too(run: Run, refused: Run) -> None:
    ids = [line.split("\t")[0] for line in run("list").splitlines()]
    assert "this would forget 2 memories" in refused("forget", *ids[:2], code=2)
    run("forget", *ids[:2], "--yes")
    run("forget", ids[2])
    assert run("list").count("\n") == 1


@pytest.mark.usefixtures("shown")
@pytest.mark.parametrize("arguments", [(), ("someid", "--words", "dog"), ("someid", "--tag", "dog")])
def test_a_wrong_command_is_refused(refused: Run, arguments: tuple[str, ...]) -> None:
    refused("forget", *arguments, code=2)


def test_nothing_to_forget_is_said(run: Run) -> None:
    assert run("forget", "--tag", "nothing") == "nothing matches\n"
