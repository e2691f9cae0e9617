"""Consolidation as a model asks for it."""

from typing import Any

import pytest

from retentive.mcp import arguments
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer, select_tools
from retentive.mcp.tool import Answer
from tests.support import Open

pytestmark = pytest.mark.engines


@pytest.fixture
def caller(open_store: Open) -> Caller:
    """A store with two memories that say the same."""
    store = open_store(corrections=False)
    store.add("The user lives in Oslo.")
    store.add("I live in Oslo, Norway")
    return Caller(store)


def call(caller: Caller, **given: Any) -> Answer:
    tool = select_tools(Offer.FULL)["memory_consolidate"]
    return tool.run(caller, **arguments.parse_arguments(tool, given))


def test_the_tool_is_in_the_full_set_only() -> None:
    assert "memory_consolidate" in select_tools(Offer.FULL)
    assert "memory_consolidate" not in select_tools(Offer.DEFAULT)
    assert "memory_consolidate" not in select_tools(Offer.READ)


def test_a_call_is_a_dry_run_unless_it_says_otherwise(caller: Caller) -> None:
    told = call(caller, older_than=0)
    assert "Would make 1 of 2 memories" in told.text
    assert (told.data["done"], len(caller.memory.list())) == (False, 2)


def test_a_model_merges_and_undoes(caller: Caller) -> None:
    done = call(caller, older_than=0, dry_run=False)
    run = done.data["run"]
    assert f"Undo with undo={run}" in done.text
    assert [each.content for each in caller.memory.list()] == ["I live in Oslo, Norway"]
    undone = call(caller, undo=run)
    assert ("Active again: 2" in undone.text, len(caller.memory.list())) == (True, 2)
    assert caller.memory.history(undone.data["restored"][0])[-1].actor == "agent"
