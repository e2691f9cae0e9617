"""Records: names that are taken, versions that have moved on, schedules that are none."""

from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import Conflict, Invalid
from retentive.store import validate

pytestmark = pytest.mark.engines


@pytest.mark.parametrize("noun", ["projects", "skills"])
def test_a_name_that_another_has_is_refused_however_it_comes(store: Retentive, noun: str) -> None:
    kind = getattr(store, noun)
    kind.create(name="Ferry")
    second = kind.create(name="Boat")
    with pytest.raises(Conflict, match="already"):
        kind.update(second.id, name="FERRY")
    kind.update(second.id, name="Ship")
    kind.create(name="Boat")
    with pytest.raises(Conflict, match="already"):
        kind.rollback(second.id, 1)
    assert kind.get(second.id).name == "Ship"
    assert kind.update(second.id, name="ship").name == "ship"


def test_one_that_was_deleted_does_not_come_back_beside_another_of_its_name(store: Retentive) -> None:
    first = store.skills.delete(store.skills.create(name="Ferry").id)
    store.skills.create(name="Ferry")
    with pytest.raises(Conflict, match="already"):
        store.skills.rollback(first.id, 1)


def test_a_profile_that_was_read_empty_is_guarded_by_version_0(store: Retentive) -> None:
    assert store.profile.get().version == 0
    assert store.profile.set("city", "Oslo", version=0).version == 1
    with pytest.raises(Conflict, match="city"):
        store.profile.set("city", "Bergen", version=0)
    assert store.profile.get().document == {"city": "Oslo"}


@pytest.mark.parametrize("cron", ["0 0 8 * * 1", "@daily", "0 8", "", "8 o'clock each and every"])
def test_a_schedule_has_five_fields(store: Retentive, cron: str) -> None:
    with pytest.raises(Invalid):
        store.skills.create(name="Report", trigger={"type": "schedule", "cron": cron})
    assert not store.skills.list()


@pytest.mark.parametrize("blank", ["", "  ", "\u0301"])
@pytest.mark.parametrize("noun", ["contacts", "projects", "skills"])
def test_an_empty_id_means_nobody(store: Retentive, noun: str, blank: str) -> None:
    kind = getattr(store, noun)
    kind.create(name="The only one")
    with pytest.raises(Invalid, match="no id"):
        kind.delete(blank)
    assert len(kind.list()) == 1


def test_a_version_that_was_a_deletion_is_stale_like_any_other(store: Retentive) -> None:
    gone = store.contacts.delete(store.contacts.create(name="Anna", role="CTO").id)
    store.contacts.rollback(gone.id, 1)
    with pytest.raises(Conflict, match="is at version 3, not 2: user changed name to 'Anna'; role to 'CTO'"):
        store.contacts.update(gone.id, version=gone.version, role="CEO")


@pytest.mark.parametrize("levels", [99, 101, 450, 900])
def test_a_document_goes_so_deep_and_no_deeper(store: Retentive, levels: int) -> None:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": value}
    if levels < validate.MAX_JSON_DEPTH:
        assert store.profile.set("deep", value).document == {"deep": value}
        assert store.profile.text()
        return
    for change in (
        lambda: store.profile.set("deep", value),
        lambda: store.profile.merge({"deep": value}),
        lambda: store.profile.patch([{"op": "add", "path": "/deep", "value": value}]),
        lambda: store.profile.set(".".join("a" * levels), 1),
        lambda: store.skills.create(name="Deep", trigger={"type": "manual", "more": value}),
        lambda: store.add("Deep", metadata={"more": value}),
    ):
        with pytest.raises(Invalid):
            change()
    assert store.profile.get().version == 0


def test_names_that_differ_by_marks_of_their_script_are_two(store: Retentive) -> None:
    for name in ("カード", "ガード", "ปา", "ป่า"):
        store.projects.create(name=name)
    store.projects.create(name="Café")
    with pytest.raises(Conflict, match="already"):
        store.projects.create(name="CAFE")
    assert store.projects.get("ガード").name == "ガード"
    assert store.projects.create(name="℡ 1").id == store.projects.get("tel 1").id
