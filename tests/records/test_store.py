"""What contacts, projects and skills have in common: one promise each, kept by all three on every engine."""

from typing import Any, NamedTuple

import pytest

from retentive import Retentive
from retentive.errors import Conflict, Forbidden, Invalid, NotFound, SecretFound
from retentive.records.collection import RecordCollection
from retentive.storage import step
from retentive.testing import parts_of
from tests.support import Open

pytestmark = pytest.mark.engines


class Case(NamedTuple):
    """A type by its verbs, a record of it, a change, and something that is refused."""

    verbs: str
    given: dict[str, Any]
    change: dict[str, Any]
    bad: dict[str, Any]


CASES = (
    Case(
        "contacts",
        {
            "name": "Anna Kowalska", "aliases": ["Ania"], "email": "anna@acme.example", "phone": "+47 555 0199",
            "company": "Acme", "role": "CTO", "type": "work", "notes": "Met in Gdańsk",
        },
        {"role": "CEO"},
        {"email": "not an address"},
    ),
    Case(
        "projects",
        {
            "name": "Apollo", "status": "planned", "type": "research", "description": "Land on the moon",
            "company": "Acme", "priority": "high",
        },
        {"status": "active"},
        {"status": "flying"},
    ),
    Case(
        "skills",
        {
            "name": "Weekly report", "description": "Write up the week", "enabled": False,
            "trigger": {"type": "schedule", "cron": "0 8 * * 1", "timezone": "Europe/Oslo", "grace": 5},
            "instructions": "Read the tracker", "required_tools": ["tracker", "mail"],
            "execution_plan": ["Collect", "Write", "Send"], "max_steps": 12,
        },
        {"enabled": True},
        {"trigger": {"type": "schedule", "cron": "61 8 * * 1"}},
    ),
)  # fmt: skip


@pytest.fixture(params=CASES, ids=[case.verbs for case in CASES])
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


@pytest.fixture
def verbs(store: Retentive, case: Case) -> RecordCollection[Any]:
    return verbs_of(store, case)


def verbs_of(store: Retentive, case: Case) -> RecordCollection[Any]:
    found: RecordCollection[Any] = getattr(store, case.verbs)
    return found


def fields_of(record: Any, case: Case) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in case.given}
    return {name: [*value] if isinstance(value, tuple) else value for name, value in values.items()}


def test_what_was_given_reads_back(verbs: RecordCollection[Any], case: Case) -> None:
    made = verbs.create(**case.given)
    assert fields_of(made, case) == case.given
    assert (made.version, verbs.get(made.id), verbs.get(case.given["name"].upper())) == (1, made, made)


def test_an_update_changes_what_is_given_and_the_same_again_changes_nothing(
    verbs: RecordCollection[Any], case: Case
) -> None:
    made = verbs.create(**case.given)
    changed = verbs.update(made.id, **case.change)
    assert fields_of(changed, case) == {**case.given, **case.change}
    assert (changed.version, changed.created) == (2, made.created)
    assert verbs.update(made.id, **case.change) == changed


def test_none_empties_a_field(verbs: RecordCollection[Any], case: Case) -> None:
    made = verbs.create(**case.given)
    emptied: dict[str, Any] = {name: None for name in case.given if name != "name"}
    left = verbs.update(made.id, **emptied)
    assert left == type(left)(left.id, left.namespace, 2, left.created, left.updated, name=case.given["name"])
    with pytest.raises(Invalid, match="needs a name"):
        verbs.update(made.id, name="")


def test_history_tells_who_when_why_and_how_it_was(verbs: RecordCollection[Any], case: Case) -> None:
    made = verbs.create(**case.given, actor="anna", reason="met")
    verbs.update(made.id, **case.change, actor="bot", reason="told")
    verbs.delete(made.id, reason="left")
    told = verbs.history(made.id)
    assert [(each.version, each.action, each.actor, each.reason) for each in told] == [
        (1, "created", "anna", "met"),
        (2, "updated", "bot", "told"),
        (3, "deleted", "user", "left"),
    ]
    assert [each.record and fields_of(each.record, case) for each in told] == [
        case.given,
        {**case.given, **case.change},
        None,
    ]


def test_a_stale_update_is_refused_with_what_changed(verbs: RecordCollection[Any], case: Case) -> None:
    made = verbs.create(**case.given)
    verbs.update(made.id, version=1, **case.change)
    (name,) = case.change
    with pytest.raises(Conflict, match=f"is at version 2, not 1: user changed {name} to"):
        verbs.update(made.id, version=1, name="Another")
    with pytest.raises(Conflict, match="is at version 2, not 1"):
        verbs.delete(made.id, version=1)
    with pytest.raises(Conflict, match="no version 3 yet"):
        verbs.update(made.id, version=3, name="Another")
    assert verbs.get(made.id).name == case.given["name"]


def test_what_was_deleted_is_not_found_but_can_come_back(
    store: Retentive, verbs: RecordCollection[Any], case: Case
) -> None:
    made = verbs.create(**case.given)
    verbs.delete(made.id)
    for missing in (made.id, case.given["name"]):
        with pytest.raises(NotFound):
            verbs.get(missing)
    assert [*verbs.list()] == []
    assert store.search(case.given["name"], include=case.verbs).hits == ()
    with pytest.raises(NotFound, match="was deleted"):
        verbs.update(made.id, **case.change)
    again = verbs.rollback(made.id, 1)
    assert (fields_of(again, case), again.version) == (case.given, 3)
    assert [hit.id for hit in store.search(case.given["name"], include=case.verbs)] == [made.id]


def test_a_rollback_is_a_change_and_a_diff_says_what_it_did(verbs: RecordCollection[Any], case: Case) -> None:
    made = verbs.create(**case.given)
    verbs.update(made.id, **case.change)
    back = verbs.rollback(made.id, 1)
    assert (fields_of(back, case), back.version) == (case.given, 3)
    assert [*verbs.diff(made.id, 1)] == []
    ((name, value),) = case.change.items()
    assert [*verbs.diff(made.id, 1, 2)] == [{"op": "replace", "path": f"/{name}", "value": value}]
    with pytest.raises(NotFound, match="no version 9"):
        verbs.rollback(made.id, 9)


def test_they_are_listed_by_name_a_page_at_a_time(verbs: RecordCollection[Any], case: Case) -> None:
    for name in ("beta", "Ärger", "alpha", "Gamma"):
        verbs.create(**{**case.given, "name": name})
    first = verbs.list(3)
    assert [each.name for each in first] == ["alpha", "Ärger", "beta"]
    assert [each.name for each in verbs.list(3, after=first.next)] == ["Gamma"]
    assert verbs.list(4).next is None


def test_each_is_found_by_plain_search_with_its_type(
    store: Retentive, verbs: RecordCollection[Any], case: Case
) -> None:
    made = verbs.create(**{**case.given, "name": "Zyxomma"})
    store.add("Herons eat fish")
    hit = store.search("Zyxomma")[0]
    assert (hit.type, hit.id, hit.record) == (case.verbs.removesuffix("s"), made.id, made)
    assert store.search("Zyxomma", mode="text", include="memories").hits == ()
    verbs.update(made.id, name="Quetzalcoatl")
    assert [each.id for each in store.search("quetzalcoatl", mode="text")] == [made.id]
    assert store.search("Zyxomma", mode="text").hits == ()


def test_namespaces_do_not_see_each_others(store: Retentive, verbs: RecordCollection[Any], case: Case) -> None:
    made = verbs.create(**case.given)
    other = store.in_namespace("other")
    with pytest.raises(NotFound):
        verbs_of(other, case).get(made.id)
    assert other.search(case.given["name"]).hits == ()
    assert [hit.id for hit in other.search(case.given["name"], namespaces=["default"])] == [made.id]
    verbs_of(other, case).create(**case.given)
    with pytest.raises(Forbidden):
        verbs_of(store.restricted("default", read_only=True), case).update(made.id, **case.change)
    with pytest.raises(NotFound):
        verbs_of(store.restricted("other"), case).get(made.id)


def test_bad_input_is_refused_and_changes_nothing(verbs: RecordCollection[Any], case: Case) -> None:
    made = verbs.create(**case.given)
    for bad in (case.bad, {"colour": "red"}, {"name": "two\nlines"}, {"name": 7}, {"name": "x" * 300}):
        with pytest.raises(Invalid):
            verbs.update(made.id, **bad)
    with pytest.raises(Invalid, match="needs a name"):
        verbs.create()
    with pytest.raises(SecretFound):
        verbs.update(made.id, name="password is hunter2hunter2")
    assert verbs.get(made.id) == made


def test_two_writers_lose_nothing(open_store: Open, case: Case) -> None:
    first, second = open_store(), open_store()
    made = verbs_of(first, case).create(**case.given)
    verbs_of(first, case).update(made.id, **case.change)
    verbs_of(second, case).update(made.id, name="Renamed")
    assert fields_of(verbs_of(first, case).get(made.id), case) == {**case.given, **case.change, "name": "Renamed"}
    assert [each.version for each in verbs_of(first, case).history(made.id)] == [1, 2, 3]


def test_a_purge_leaves_nothing_of_it(store: Retentive, verbs: RecordCollection[Any], case: Case) -> None:
    made = verbs.create(**{**case.given, "name": "Xylophonius Brzęczyszczykiewicz"})
    verbs.update(made.id, name="Somebody else")
    gone = store.purge(made.id)
    assert (gone.ids, gone.removed["records"], gone.remaining) == ((made.id,), 1, ())
    with pytest.raises(NotFound):
        verbs.history(made.id)
    assert store.search("Xylophonius", mode="text").hits == ()


def test_a_repair_and_a_backfill_keep_them_searchable(open_store: Open, case: Case) -> None:
    mute = open_store(embedder="none")
    made, kind = verbs_of(mute, case).create(**case.given), case.verbs.removesuffix("s")
    store = open_store()
    assert store.backfill().remaining == 0
    parts_of(store).engine.apply([step("chunk_delete", namespace="default", owner=made.id, owner_type=kind)])
    assert [finding.name for finding in store.doctor() if not finding.ok] == ["records"]
    store.repair()
    assert all(finding.ok for finding in store.doctor())
    assert [hit.id for hit in store.search(case.given["name"], mode="vector", include=case.verbs)] == [made.id]
