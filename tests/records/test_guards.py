"""Records: names that are taken, versions that have moved on, schedules that are none."""

import pytest

from retentive import Retentive
from retentive.errors import Conflict, Invalid

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
