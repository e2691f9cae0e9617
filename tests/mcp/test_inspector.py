"""The protocol's inspector against the real `retentive mcp`, as a person would run it."""

import json
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from tests.mcp.node import inspector, node_or_skip
from tests.sizes import every

ERAS = ("legacy", "modern")  # as the inspector calls them
DEFAULT = {
    "memory_add": {"content": "Ada's cat is called Miro."},
    "memory_search": {"query": "tea"},
    "memory_get": {"ids": ["{id}"]},
    "memory_update": {"id": "{id}", "importance": 8},
    "memory_delete": {"ids": ["{id}"], "dry_run": True},
    "memory_context": {"query": "What does Ada drink?"},
    "profile": {"changes": {"city": "Oslo"}},
    "memory_list": {},
    "session_append": {"session": "monday", "messages": [{"role": "user", "content": "Good morning."}]},
    "note": {"note_id": "plan", "text": "First the roof."},
}


@pytest.fixture
def known(db: Path) -> str:
    """The id of the one memory in the store."""
    node_or_skip()
    with Retentive.open(str(db), embedder="hashing") as memory:
        return memory.add("Ada drinks green tea.").id


def call(db: Path, tool: str, arguments: dict[str, Any], era: str = "legacy") -> dict[str, Any]:
    given = ("--tool-name", tool, "--tool-args-json", json.dumps(arguments))
    return inspector(db, "--method", "tools/call", *given, era=era)


@pytest.mark.parametrize("era", ERAS)
def test_the_default_tools_are_listed(db: Path, known: str, era: str) -> None:
    assert known
    said = inspector(db, "--method", "tools/list", era=era)
    assert {each["name"] for each in said["result"]["tools"]} == set(DEFAULT)


def test_no_schema_is_of_a_kind_that_some_clients_refuse(db: Path, known: str) -> None:
    assert known
    assert inspector(db, "--method", "tools/list", "--strict", tools="full")["code"] == 0


@pytest.mark.parametrize("tool", every(3, [*DEFAULT]))
def test_each_default_tool_can_be_called(db: Path, known: str, tool: str) -> None:
    arguments = json.loads(json.dumps(DEFAULT[tool]).replace("{id}", known))
    said = call(db, tool, arguments, era="modern")
    assert (said["code"], said["result"]["isError"]) == (0, False)
    assert said["result"]["structuredContent"]


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("memory_add", {}, "content"),
        ("memory_get", {"ids": ["no-such-id"]}, "no-such-id"),
    ],
)
def test_bad_arguments_are_told_to_the_model(
    db: Path, known: str, tool: str, arguments: dict[str, Any], told: str
) -> None:
    assert known
    said = call(db, tool, arguments)
    assert said["error"]["code"] == "tool_is_error"
    assert told in said["result"]["content"][0]["text"]


def test_a_tool_that_is_not_there_is_an_error(db: Path, known: str) -> None:
    assert known
    assert call(db, "no_such_tool", {})["error"]["code"] == "tool_not_found"


@pytest.mark.parametrize("era", ERAS)
def test_resources_are_listed_and_read(db: Path, known: str, era: str) -> None:
    listed = inspector(db, "--method", "resources/list", era=era)["result"]["resources"]
    assert {"memory://profile", "memory://recent"} <= {each["uri"] for each in listed}
    read = inspector(db, "--method", "resources/read", "--uri", f"memory://{known}", era=era)
    assert "green tea" in read["result"]["contents"][0]["text"]


@pytest.mark.parametrize("era", ERAS)
def test_prompts_are_listed_and_given(db: Path, known: str, era: str) -> None:
    assert known
    listed = inspector(db, "--method", "prompts/list", era=era)["result"]["prompts"]
    assert {each["name"] for each in listed} == {"recall", "remember", "about_me"}
    asked = ("--prompt-name", "recall", "--prompt-args", "topic=tea")
    got = inspector(db, "--method", "prompts/get", *asked, era=era)
    assert "green tea" in got["result"]["messages"][0]["content"]["text"]
