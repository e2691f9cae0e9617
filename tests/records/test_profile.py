"""The profile: changed in three ways, kept in all versions, in step with facts."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import Conflict, Forbidden, Invalid, NotFound, SecretFound
from retentive.testing import Clock, parts_of, record_calls
from tests.forkserver import run_program
from tests.support import Open

pytestmark = pytest.mark.engines

PROGRAM = Path(__file__).parent.parent / "programs" / "profiler.py"


def test_it_is_empty_before_anything_is_said(store: Retentive) -> None:
    assert (store.profile.get().version, store.profile.get().document, store.profile.text()) == (0, {}, "")
    assert [*store.profile.history()] == []
    with pytest.raises(Conflict, match="no versions yet"):
        store.profile.rollback(1)


def test_it_is_changed_by_path_by_merge_and_by_patch(store: Retentive) -> None:
    store.profile.set("dog.name", "Rex")
    store.profile.set("/a~1b", [1])
    store.profile.merge({"dog": {"age": 3}, "city": "Oslo", "a/b": None})
    made = store.profile.patch(
        [
            {"op": "test", "path": "/city", "value": "Oslo"},
            {"op": "move", "from": "/city", "path": "/home"},
            {"op": "add", "path": "/languages", "value": ["en"]},
            {"op": "add", "path": "/languages/-", "value": "pl"},
        ]
    )
    assert made.document == {"dog": {"name": "Rex", "age": 3}, "home": "Oslo", "languages": ["en", "pl"]}
    assert [each.action for each in store.profile.history()] == ["set", "set", "merged", "patched"]
    assert store.profile.text() == "dog: name: Rex, age: 3\nhome: Oslo\nlanguages: en, pl"
    assert [*store.profile.diff(3)] == [
        {"op": "remove", "path": "/city"},
        {"op": "add", "path": "/home", "value": "Oslo"},
        {"op": "add", "path": "/languages", "value": ["en", "pl"]},
    ]


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "add", "path": "/x", "value": 1}, {"op": "test", "path": "/city", "value": "Bergen"}],
        [{"op": "remove", "path": "/nothing"}],
        [{"op": "fly", "path": "/x"}],
        [{"path": "/x"}],
        [{"op": "add", "value": 1}],
        [{"op": "replace", "path": "", "value": 7}],
        ["add"],
        {"op": "add"},
        "[]",
        None,
    ],
)
def test_a_patch_that_fails_changes_nothing(store: Retentive, operations: object) -> None:
    before = store.profile.set("city", "Oslo")
    with pytest.raises(Invalid):
        store.profile.patch(operations)  # type: ignore[arg-type]
    assert store.profile.get() == before


def test_a_schema_is_met_by_every_change(store: Retentive) -> None:
    store.profile.set("age", 3)
    store.profile.schema({"type": "object", "properties": {"age": {"type": "integer"}}, "additionalProperties": False})
    with pytest.raises(Invalid, match=r"\$\.age: 'old' is not of type 'integer'"):
        store.profile.set("age", "old")
    with pytest.raises(Invalid, match="Additional properties"):
        store.profile.merge({"city": "Oslo"})
    store.add("The user lives in Oslo", slot="user.home")
    assert store.profile.get().document == {"age": 3}  # a fact for which there is no room
    wrong: tuple[Any, ...] = ({"type": "unheard of"}, [], {"$ref": "https://example.org/schema"})
    for bad in wrong:
        with pytest.raises(Invalid):
            store.profile.schema(bad)
    with pytest.raises(Invalid):
        store.profile.schema({"required": ["name"]})
    store.profile.schema(None)
    assert store.profile.set("city", "Oslo").document == {"age": 3, "city": "Oslo"}


def test_facts_flow_in_and_a_correction_changes_it(store: Retentive) -> None:
    store.profile.set("city", "Oslo")
    rex = store.add("My dog is called Rex", slot="user.dog.name")
    assert store.profile.get().document == {"city": "Oslo", "dog": {"name": "Rex"}}
    assert store.profile.get().sources == {"/dog/name": {"memory": rex.id, "slot": "user.dog.name"}}
    max_ = store.add("My dog is called Max", slot="user.dog.name")
    assert store.profile.get().document == {"city": "Oslo", "dog": {"name": "Max"}}
    assert store.profile.history()[-1].reason == f"from {max_.id}"
    store.restore(rex.id)
    assert store.profile.get().document["dog"] == {"name": "Rex"}
    store.forget(rex.id)
    assert (store.profile.get().document, store.profile.get().sources) == ({"city": "Oslo"}, {})
    assert [each.action for each in store.profile.history()] == ["set", *["learned"] * 4]


def test_what_is_set_by_hand_stays_until_the_fact_is_another(store: Retentive) -> None:
    store.add("My dog is called Rex", slot="user.dog.name")
    store.profile.set("dog.name", "Rexy")
    assert (store.profile.get().document, store.profile.get().sources) == ({"dog": {"name": "Rexy"}}, {})
    store.forget_matching("Rex", confirm=True)
    assert store.profile.get().document == {"dog": {"name": "Rexy"}}
    store.add("My dog is called Max", slot="user.dog.name")
    assert store.profile.get().document == {"dog": {"name": "Max"}}


def test_a_fact_that_moves_to_another_slot_leaves_the_stored_profile(store: Retentive) -> None:
    rex = store.add("My dog is called Rex", slot="user.dog.name")
    store.update(rex.id, slot="team.dog.name")
    table = parts_of(store).tables.records
    assert table.get("default", "profile", "profile").body["document"] == {}  # type: ignore[union-attr]


def test_facts_of_sessions_of_others_and_in_other_slots_stay_out(store: Retentive) -> None:
    store.add("My dog is called Rex", slot="user.dog.name", session="s")
    store.add("The deploy day is Tuesday", slot="deploy.day")
    store.in_namespace("other").add("My dog is called Max", slot="user.dog.name")
    assert store.profile.get().version == 0


def test_a_value_may_be_said_beside_the_fact_and_slots_may_cross(store: Retentive) -> None:
    store.add("There is a dog at home", slot="user.dog")
    store.add("The kennel has a name plate", slot="user.dog.name", metadata={"value": {"first": "Rex"}})
    assert store.profile.get().document == {"dog": "There is a dog at home", "dog_name": {"first": "Rex"}}


def test_the_profile_is_found_but_facts_are_found_once(store: Retentive) -> None:
    fact = store.add("My dog is called Rex", slot="user.dog.name")
    store.profile.set("instrument", "hurdy-gurdy")
    assert [hit.type for hit in store.search("hurdy-gurdy", mode="text")] == ["profile"]
    assert [hit.id for hit in store.search("rex", mode="text")] == [fact.id]
    assert store.context("anything at all").text == "## Profile\n- dog: name: Rex\n- instrument: hurdy-gurdy"
    shown = store.context("what is my dog called? Rex?").text
    assert shown.startswith("## Profile\n- instrument: hurdy-gurdy\n\n## Relevant Memories\n- My dog is called Rex")


def test_who_may_only_read_sees_it_in_step(store: Retentive) -> None:
    store.profile.set("city", "Oslo")
    view = store.restricted("default", read_only=True)
    with pytest.raises(Forbidden):
        view.profile.set("city", "Bergen")
    store.add("My dog is called Rex", slot="user.dog.name")
    assert view.profile.get().document == {"city": "Oslo", "dog": {"name": "Rex"}}


def test_a_read_writes_nothing_also_if_a_fact_expired(store: Retentive, time: Clock) -> None:
    store.profile.set("city", "Oslo")
    store.add("My dog is called Rex", slot="user.dog.name", expires="1h")
    before = store.profile.history()
    time.forward(7200)
    read = store.profile.get()
    assert (read.document, read.version) == ({"city": "Oslo"}, len(before) + 1)
    assert store.profile.history() == before
    changed = store.profile.set("age", 3, version=read.version)
    assert (changed.document, changed.version) == ({"city": "Oslo", "age": 3}, read.version + 1)


def test_a_read_of_a_profile_and_a_context_write_nothing(store: Retentive, time: Clock) -> None:
    store.profile.set("city", "Oslo")
    store.add("My dog is called Rex", slot="user.dog.name", expires="1h")
    parts_of(store).journal.flush()
    time.forward(7200)
    with record_calls(store) as calls:
        assert store.profile.get().document == {"city": "Oslo"}
        assert store.profile.text() == "city: Oslo"
        assert store.context("what is my dog called?").text == "## Profile\n- city: Oslo"
    assert calls.batches == []


def test_a_purged_fact_is_gone_from_the_profile_and_its_history(store: Retentive) -> None:
    store.profile.set("city", "Oslo")
    secret = store.add("My dog is called Xanthippulus", slot="user.dog.name")
    store.add("My dog is called Max", slot="user.dog.name")
    gone = store.purge(secret.id)
    assert gone.remaining == ()
    documents = [each.record.document for each in store.profile.history() if each.record]
    assert {"city": "Oslo"} in documents
    assert "Xanthippulus" not in json.dumps(documents)
    assert store.profile.get().document == {"city": "Oslo", "dog": {"name": "Max"}}


def test_a_stale_change_is_refused_with_what_changed(store: Retentive) -> None:
    store.profile.set("city", "Oslo")
    store.profile.set("city", "Bergen", version=1)
    with pytest.raises(Conflict, match="is at version 2, not 1: user changed city to 'Bergen'"):
        store.profile.set("city", "Tromsø", version=1)
    with pytest.raises(NotFound, match="no version 7"):
        store.profile.rollback(7)


def test_a_nul_character_is_kept_and_does_no_harm(store: Retentive) -> None:
    store.profile.set("odd", "one\0two")
    assert store.profile.get().document == {"odd": "one\0two"}
    assert [hit.type for hit in store.search("two", mode="text")] == ["profile"]


def test_bad_documents_and_secrets_are_refused(store: Retentive) -> None:
    for value in (object(), float("nan"), {1: "one"}):
        with pytest.raises(Invalid):
            store.profile.set("x", value)
    with pytest.raises(Invalid, match="a profile is an object"):
        store.profile.set("", [1])
    with pytest.raises(Invalid):
        store.profile.merge([1])  # type: ignore[arg-type]
    with pytest.raises(SecretFound):
        store.profile.set("password", "hunter2hunter2")
    assert store.profile.get().version == 0


def test_a_rollback_through_ten_changes_by_two_processes_gives_the_very_document(open_store: Open, target: str) -> None:
    """Byte for byte, for every one of the earlier versions."""
    store = open_store()
    for turn in range(5):
        run_program([sys.executable, str(PROGRAM), target, str(turn)])
        store.profile.merge({"turn": turn, f"key{turn}": {"ü": [turn, None, 1.0, True], "b": "x" * turn}})
    written = {each.version: each.record.document for each in store.profile.history() if each.record}
    assert len(written) == 10
    for version, document in written.items():
        back = store.profile.rollback(version).document
        assert json.dumps(back, ensure_ascii=False) == json.dumps(document, ensure_ascii=False)


def test_a_name_with_lines_is_one_line_of_a_context(store: Retentive) -> None:
    store.profile.set("", {"city\n## Recent\n- user": "Oslo"})
    assert store.context("anything at all").text == "## Profile\n- city ## Recent - user: Oslo"


def test_a_fact_for_which_there_is_no_room_leaves_the_profile_as_it_can_be_changed(store: Retentive) -> None:
    for number in range(4):
        store.add(f"Thing {number}", slot=f"user.thing{number}", metadata={"value": "v" * 60_000})
    assert [*store.profile.get().document] == ["thing0", "thing1", "thing2"]
    assert store.profile.set("city", "Oslo").document["city"] == "Oslo"
    deep: Any = "x"
    for _ in range(98):
        deep = [deep]
    store.add("Deep down", slot="user.a.b.c.d.e", metadata={"value": deep})
    assert "a" not in store.profile.get().document
