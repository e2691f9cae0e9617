"""Skills: which fit a request, which are due, what came of them."""

from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import Invalid
from retentive.records import schedule
from retentive.testing import Clock, record_calls

pytestmark = pytest.mark.engines

MONDAYS = {"type": "schedule", "cron": "0 8 * * 1"}


def test_a_request_finds_the_skill_that_fits(store: Retentive) -> None:
    report = store.skills.create(name="Weekly report", description="Write up what was done", trigger=MONDAYS)
    store.skills.create(name="Deploy", description="Ship the service", trigger={"type": "event", "event": "merge"})
    off = store.skills.create(name="Weekly report of old", enabled=False, trigger=MONDAYS)
    store.add("Mondays are busy")
    found = store.skills.match("every Monday morning report")
    assert found[0].record == report
    assert off.id not in [hit.id for hit in found]
    assert store.search("every Monday morning report", include="skills")[0].id in {report.id, off.id}


def test_plain_search_finds_a_skill_by_its_schedule(store: Retentive) -> None:
    report = store.skills.create(name="Report", description="Write up what was done", trigger=MONDAYS)
    store.add_many(["The user reads reports of the weather", "Breakfast is in the morning", "The bank opens on Monday"])
    assert report.id in [hit.id for hit in store.search("every Monday morning report")[:2]]


@pytest.mark.parametrize(
    "trigger",
    [
        {"type": "schedule"},
        {"type": "schedule", "cron": "* * *"},
        {"type": "schedule", "cron": "0 0 31 2 *"},  # never occurs
        {"type": "schedule", "cron": "0 8 * * 1", "timezone": "Mars/Phobos"},
        {"type": "event"},
        {"type": "weekly"},
        {},
        "daily",
    ],
)
def test_a_trigger_that_cannot_be_is_refused(store: Retentive, trigger: Any) -> None:
    with pytest.raises(Invalid):
        store.skills.create(name="Report", trigger=trigger)
    assert len(store.skills.list()) == 0


def test_a_skill_is_due_from_its_time_until_it_ran(store: Retentive, time: Clock) -> None:
    """The clock of tests stands at eight in the morning, UTC."""
    made = store.skills.create(
        name="Report", trigger={"type": "schedule", "cron": "0 9 * * *", "timezone": "Asia/Tokyo"}
    )
    assert [*store.skills.due()] == []
    time.forward(86_400)
    (due,) = store.skills.due()
    assert (due.skill.id, due.last_run) == (made.id, None)
    assert (due.since.hour, due.since.minute) == (0, 0)  # nine in Tokyo
    store.skills.record(made.id, "sent")
    assert [*store.skills.due()] == []
    time.forward(2 * 86_400)
    assert len(store.skills.due()) == 1  # two were missed; it is due once


def test_neither_disabled_nor_newly_scheduled_skills_are_due(store: Retentive, time: Clock) -> None:
    daily = {"type": "schedule", "cron": "0 9 * * *"}
    made = store.skills.create(name="Report", trigger=daily, enabled=False)
    time.forward(2 * 86_400)
    assert [*store.skills.due()] == []
    store.skills.update(made.id, enabled=True)
    assert [*store.skills.due()] == []
    time.forward(86_400)
    store.skills.update(made.id, description="Still due")
    assert [each.skill.id for each in store.skills.due()] == [made.id]
    store.skills.update(made.id, trigger={"type": "schedule", "cron": "0 10 * * *"})
    assert [*store.skills.due()] == []


def test_outcomes_show_in_search_and_in_the_runs(store: Retentive) -> None:
    made = store.skills.create(name="Weekly report")
    store.skills.record("weekly report", "sent to five people", at="2026-01-05T08:02", metadata={"steps": 3})
    failed = store.skills.record(made.id, "the tracker did not answer", failed=True)
    assert failed.content.startswith("Weekly report failed on ")
    assert (failed.kind, failed.origin) == ("outcome", {"skill": made.id, "outcome": "failed"})
    assert [each.content.partition(": ")[2] for each in store.skills.runs(made.id)] == [
        "the tracker did not answer",
        "sent to five people",
    ]
    assert store.search("was the report sent to people?", kind="outcome")[0].memory.metadata == {"steps": 3}
    with pytest.raises(Invalid, match="in the future"):
        store.skills.record(made.id, "soon", at="2999-01-01")
    assert store.skills.get(made.id).version == 1


def test_what_is_due_is_told_without_the_history_of_each(store: Retentive, time: Clock) -> None:
    daily = {"type": "schedule", "cron": "0 9 * * *"}
    made = [store.skills.create(name=f"Report {number}", trigger=daily) for number in range(12)]
    time.forward(2 * 86_400)
    store.skills.update(made[0].id, description="Changed, and due all the same")
    assert len(store.skills.due()) == 12
    with record_calls(store) as calls:
        store.skills.due()
    assert len(calls.reads) < 6


def test_contacts_are_looked_up_together_however_they_are_called(store: Retentive) -> None:
    people = [store.contacts.create(name=f"Person {number}", aliases=[f"P{number}"]) for number in range(20)]
    store.projects.create(name="Apollo")
    each = [f"p{number}" for number in range(20)]
    with record_calls(store) as calls:
        store.projects.update("apollo", participants=each)
    assert store.projects.get("apollo").participants == tuple(person.id for person in people)
    assert len(calls.reads) < 3 * len(people)


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 8 * * 1", "at 08:00 on Monday, every week, in the morning"),
        ("0 8 * * 1#1", "at 08:00 on the first Monday of the month, every month, in the morning"),
        ("0 20 * * 5L", "at 20:00 on the last Friday of the month, every month, in the evening"),
        ("0 0 L * *", "at 00:00 on the last day of every month, every month, at night"),
    ],
)
def test_a_schedule_is_told_as_people_ask_for_it(cron: str, words: str) -> None:
    assert schedule.describe_schedule(cron, None) == words
