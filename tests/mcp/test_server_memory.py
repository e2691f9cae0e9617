"""Our tools for knowledge graphs answer as the reference server does: the same calls, the same answers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.mcp.client import ERAS, SECONDS, stdio
from tests.mcp.node import SERVER_MEMORY, find_node, node_or_skip

ADA = {"name": "Ada", "entityType": "person", "observations": ["Speaks French", "Ada likes tea"]}
BO = {"name": "Bo_Berg", "entityType": "", "observations": []}
KNOWS = {"from": "Ada", "to": "Bo_Berg", "relationType": "knows"}
LIVES = {"from": "Bo_Berg", "to": "Oslo", "relationType": "lives_in"}

CALLS: Sequence[tuple[str, dict[str, Any]]] = (
    ("read_graph", {}),
    ("create_entities", {"entities": [ADA, BO]}),
    ("create_entities", {"entities": [{**ADA, "entityType": "poet"}]}),
    ("create_relations", {"relations": [KNOWS, LIVES]}),
    ("create_relations", {"relations": [KNOWS]}),
    ("add_observations", {"observations": [{"entityName": "Bo_Berg", "contents": ["is tall", "éats — soup 🍲"]}]}),
    ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["Speaks French", "is late"]}]}),
    ("add_observations", {"observations": [{"entityName": "Cy", "contents": ["x"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "FRENCH"}),
    ("search_nodes", {"query": "_berg"}),
    ("search_nodes", {"query": "xyzzy"}),
    ("search_nodes", {"query": ""}),
    ("open_nodes", {"names": ["Bo_Berg", "nobody"]}),
    ("open_nodes", {"names": []}),
    ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["is late", "none"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "nobody", "observations": ["x"]}]}),
    ("delete_relations", {"relations": [LIVES, {**LIVES, "to": "Rome"}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Bo_Berg", "nobody"]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [BO]}),
    ("read_graph", {}),
)


def test_the_same_calls_have_the_same_answers(db: Path, tmp_path: Path) -> None:
    node_or_skip()
    theirs = anyio.run(_ask_reference, tmp_path / "memory.jsonl")
    ours = anyio.run(_ask_ours, db)
    assert len(theirs) == len(CALLS)
    for call, their, our in zip(CALLS, theirs, ours, strict=True):
        assert our == their, call


def test_the_same_tools_are_listed_with_the_same_arguments(db: Path, tmp_path: Path) -> None:
    node_or_skip()

    async def list_reference() -> dict[str, set[str]]:
        async with _reference(tmp_path / "memory.jsonl") as client:
            return await _list_arguments(client)

    async def list_ours() -> dict[str, set[str]]:
        async with stdio(db, "2025-11-25", "--tools", "server-memory") as client:
            return await _list_arguments(client)

    assert anyio.run(list_ours) == anyio.run(list_reference)


async def _list_arguments(client: Client) -> dict[str, set[str]]:
    return {each.name: {*each.input_schema.get("properties", {})} for each in (await client.list_tools()).tools}


def _reference(file: Path) -> Client:
    server = StdioServerParameters(
        command=str(find_node()), args=[str(SERVER_MEMORY)], env={"MEMORY_FILE_PATH": str(file)}
    )
    return Client(stdio_client(server), mode=ERAS["2025-11-25"], cache=None, read_timeout_seconds=SECONDS)


async def _ask_reference(file: Path) -> list[Any]:
    async with _reference(file) as client:
        return await _ask(client)


async def _ask_ours(db: Path) -> list[Any]:
    async with stdio(db, "2025-11-25", "--tools", "server-memory") as client:
        return await _ask(client)


async def _ask(client: Client) -> list[Any]:
    return [await _answer(client, name, arguments) for name, arguments in CALLS]


async def _answer(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    """The data and the text of an answer; of an error, only that it is one and whom it names."""
    answer = await client.call_tool(name, arguments)
    (content,) = answer.content
    text = content.text if content.type == "text" else ""
    if answer.is_error:
        return "Entity with name Cy not found" in text
    return answer.structured_content, text if name.startswith("delete") else json.loads(text)
