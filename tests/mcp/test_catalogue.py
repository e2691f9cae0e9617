"""What models are offered, and what it costs them."""

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from retentive import Retentive
from retentive.mcp import arguments
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer, describe_tool, estimate_tokens, select_tools
from retentive.surface.servers import TOOL_SETS
from tests.support import Run

WRITING = {"memory_add", "memory_update", "memory_delete", "session_append", "memory_purge", "memory_restore",
           "memory_review", "session_delete", "session_learn", "memory_backfill", "memory_add_many", "files_index",
           "memory_export", "memory_consolidate",
           "memory_import", "contact_merge", "skill_record",
           *(f"{type}_{verb}" for type in ("contact", "project", "skill") for verb in ("save", "delete"))}  # fmt: skip

BOUNDS = {"string": {"maxLength", "enum"}, "integer": {"maximum"}, "array": {"maxItems"}, "boolean": {"default"}}


@pytest.mark.parametrize("person", [False, True])
def test_the_default_set_is_small(person: bool) -> None:
    tools = select_tools(Offer.DEFAULT, person=person)
    assert len(tools) <= 10
    assert sum(estimate_tokens(tools).values()) < 2500


def test_the_cost_is_that_of_the_list_as_it_is_sent() -> None:
    tools = select_tools(Offer.DEFAULT)
    sent = json.dumps([describe_tool(tool) for tool in tools.values()], separators=(",", ":"))
    assert sum(estimate_tokens(tools).values()) == pytest.approx(len(sent) / 4, abs=len(tools))


def test_full_has_all_and_read_only_what_changes_nothing() -> None:
    full, read = select_tools(Offer.FULL), select_tools(Offer.READ)
    assert set(select_tools(Offer.DEFAULT)) < set(full)
    assert set(full) > WRITING
    assert not WRITING & set(read)
    assert all(tool.reads for tool in read.values())
    assert set(read) == set(full) - WRITING


EVERY_TOOL = [tool for offer in ("full", "chatgpt", "server-memory") for tool in select_tools(Offer(offer)).values()]


@pytest.mark.parametrize("tool", EVERY_TOOL, ids=lambda tool: tool.name)
def test_every_tool_is_described_bounded_and_strict(tool: Any) -> None:
    listed = describe_tool(tool)
    Draft202012Validator.check_schema(listed["inputSchema"])
    Draft202012Validator.check_schema(listed["outputSchema"])
    assert listed["inputSchema"]["additionalProperties"] is False
    assert len(listed["description"]) > 40
    assert {"readOnlyHint", "openWorldHint"} <= set(listed["annotations"])
    for name, schema in tool.takes.items():
        bounds = {
            "string": {"maxLength", "enum"},
            "integer": {"maximum"},
            "array": {"maxItems"},
            "boolean": {"default"},
            "object": {"maxProperties", "properties"},
        }
        assert bounds[schema["type"]] & set(schema), name


def test_the_sets_are_those_that_may_be_named_on_the_command_line() -> None:
    assert (*Offer,) == TOOL_SETS


def test_a_read_only_caller_is_offered_what_changes_nothing() -> None:
    assert {*select_tools(Offer.SERVER_MEMORY, writes=False)} == {"read_graph", "search_nodes", "open_nodes"}
    assert {*select_tools(Offer.CHATGPT, writes=False)} == {"search", "fetch"}
    assert {*select_tools(Offer.FULL, writes=False)} == {*select_tools(Offer.READ)}


def test_what_only_reads_writes_nothing(store: Retentive) -> None:
    """Every tool that says so is called, and no row of the store is another afterwards."""
    id = store.add("The tide turns at noon").id
    store.sessions.append("talk", "user", "the tide again")
    store.notes.put("a note", note_id="plan")
    store.contacts.create(name="Ada")
    store.projects.create(name="Engine")
    store.skills.create(name="Report")
    given: dict[str, dict[str, Any]] = {
        "memory_search": {"query": "tide"}, "memory_get": {"ids": [id, "talk#1"]}, "memory_context": {"query": "tide"},
        "memory_history": {"id": id}, "conversation_search": {"query": "tide"}, "session_read": {"session": "talk"},
        "session_summary": {"session": "talk"}, "note": {"note_id": "plan"}, "contact_get": {"id": "Ada"},
        "project_get": {"id": "Engine"}, "skill_get": {"id": "Report"},
    }  # fmt: skip
    before = [store.list(), store.sessions.events("talk"), store.notes.list(), store.history(id)]
    for name, tool in select_tools(Offer.READ).items():
        tool.run(Caller(store, can_write=False), **arguments.parse_arguments(tool, given.get(name)))
    assert [[*map(_lasting, store.list())], store.sessions.events("talk"), store.history(id)] == [
        [*map(_lasting, before[0])], before[1], before[3]
    ]  # fmt: skip


def _lasting(memory: Any) -> Any:
    """All but the counts of readings."""
    from dataclasses import replace

    return replace(memory, access_count=0, last_access=None)


def test_the_cost_can_be_looked_at(run: Run) -> None:
    told = json.loads(run("mcp", "--tool-cost", "--json"))
    assert told["total"] == sum(told["tools"].values()) < 2500
    assert "memory_add" in run("mcp", "--tool-cost")


@pytest.mark.parametrize("offer", Offer)
def test_a_tool_speaks_only_of_tools_that_are_offered_with_it(offer: Offer) -> None:
    known = select_tools(offer)
    names = {name for other in Offer for name in select_tools(other) if "_" in name}  # `search` is also a word
    listed = json.dumps([describe_tool(each) for each in known.values()])
    assert {name for name in names if name in re.findall(r"\w+", listed)} <= {*known}
