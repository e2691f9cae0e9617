"""Consolidation as a model asks for it."""

from typing import Any

import pytest

from retentive.mcp import arguments
from retentive.mcp.caller import Reached
from retentive.mcp.catalogue import Offer, offered
from retentive.mcp.tool import Answer
from tests.support import Open

pytestmark = pytest.mark.engines


@pytest.fixture
def reached(open_store: Open) -> Reached:
    """A store with two memories that say the same."""
    store = open_store(corrections=False)
    store.add("The user lives in Oslo.")
    store.add("I live in Oslo, Norway")
    return Reached(store)


def call(reached: Reached, **given: Any) -> Answer:
    tool = offered(Offer.FULL)["memory_consolidate"]
    return tool.run(reached, **arguments.checked(tool, given))


def test_the_tool_is_in_the_full_set_only() -> None:
    assert "memory_consolidate" in offered(Offer.FULL)
    assert "memory_consolidate" not in offered(Offer.DEFAULT)
    assert "memory_consolidate" not in offered(Offer.READ)


def test_a_call_is_a_dry_run_unless_it_says_otherwise(reached: Reached) -> None:
    told = call(reached, older_than=0)
    assert "Would make 1 of 2 memories" in told.text
    assert (told.data["done"], len(reached.memory.list())) == (False, 2)


def test_a_model_merges_and_undoes(reached: Reached) -> None:
    done = call(reached, older_than=0, dry_run=False)
    run = done.data["run"]
    assert f"Undo with undo={run}" in done.text
    assert [each.content for each in reached.memory.list()] == ["I live in Oslo, Norway"]
    undone = call(reached, undo=run)
    assert ("Active again: 2" in undone.text, len(reached.memory.list())) == (True, 2)
    assert reached.memory.history(undone.data["restored"][0])[-1].actor == "agent"
