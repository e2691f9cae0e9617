"""Records as a model reads and keeps them."""

import pytest

from retentive import Retentive
from retentive.mcp.caller import Caller
from tests.mcp.test_tools import Calls


@pytest.fixture
def call(store: Retentive) -> Calls:
    return Calls(Caller(store))


def test_the_instructions_of_a_skill_are_read_in_full(call: Calls) -> None:
    call("skill_save", name="Report", instructions="Read the tracker. " * 100, execution_plan=["Collect", "Send"])
    told = call("skill_get", id="report").text
    assert "Read the tracker. " * 99 in told
    assert "execution_plan: Collect, Send" in told.splitlines()
    assert len(call("skill_list").text) < 300


def test_who_is_kept_twice_is_told(call: Calls) -> None:
    first = call("contact_save", name="Anna Keller")
    second = call("contact_save", name="anna keller")
    assert "Same name" not in first.text
    assert f"Same name: {first.data['contact']['id']}. If it is the same person, use contact_merge." in second.text
    merged = call("contact_merge", id=first.data["contact"]["id"], other=second.data["contact"]["id"])
    assert merged.data["contact"]["version"] == 2


def test_a_disabled_skill_stays_so_when_something_else_is_changed(call: Calls) -> None:
    call("skill_save", name="Report", enabled=False)
    assert call("skill_save", id="Report", description="Weekly").data["skill"]["enabled"] is False
