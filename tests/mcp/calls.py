"""A call of every tool, in an order in which each finds what it needs."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mcp import Client, MCPError
from mcp_types import CallToolResult

from retentive import Retentive

Call = tuple[str, dict[str, Any]]

DEFAULT: tuple[Call, ...] = (
    ("memory_add", {"content": "Ada drinks green tea.", "kind": "preference"}),
    ("memory_search", {"query": "tea"}),
    ("memory_get", {"ids": ["{id}"]}),
    ("memory_update", {"id": "{id}", "importance": 8, "reason": "she said so twice"}),
    ("memory_context", {"query": "What does Ada drink?", "budget": 500}),
    ("profile", {}),
    ("profile", {"changes": {"city": "Oslo"}, "reason": "she said so"}),
    ("memory_list", {"kind": "preference"}),
    ("session_append", {"session": "monday", "messages": [{"role": "user", "content": "The roof leaks again."}]}),
    ("note", {"note_id": "plan", "text": "First the roof."}),
    ("note", {"action": "get", "note_id": "plan"}),
    ("note", {"action": "list"}),
    ("note", {"action": "delete", "note_id": "plan"}),
    ("memory_delete", {"ids": ["{id}"], "reason": "asked to"}),
)
MORE: tuple[Call, ...] = (
    ("memory_restore", {"id": "{id}"}),
    ("memory_history", {"id": "{id}"}),
    ("memory_stats", {}),
    ("memory_add_many", {"contents": ["The shed is green.", "The gate is blue."]}),
    ("conversation_search", {"query": "roof"}),
    ("session_list", {}),
    ("session_read", {"session": "monday"}),
    ("session_summary", {"session": "monday"}),
    ("session_learn", {"session": "monday"}),
    ("session_delete", {"session": "monday", "dry_run": False}),
    ("contact_save", {"name": "Ada Byron", "company": "Analytical Engines", "type": "work"}),
    ("contact_save", {"id": "Ada Byron", "role": "Programmer", "version": 1, "reason": "she said so"}),
    ("contact_get", {"id": "ada byron", "history": True}),
    ("contact_list", {"query": "analytical"}),
    ("contact_save", {"name": "A. Byron"}),
    ("contact_merge", {"id": "Ada Byron", "other": "A. Byron"}),
    ("project_save", {"name": "Engine", "participants": ["Ada Byron"], "priority": "high"}),
    ("project_get", {"id": "Engine"}),
    ("project_list", {"query": "engine"}),
    ("project_delete", {"id": "Engine"}),
    ("contact_delete", {"id": "Ada Byron"}),
    ("skill_save", {"name": "Report", "trigger": {"type": "schedule", "cron": "0 8 * * 1"}}),
    ("skill_get", {"id": "Report"}),
    ("skill_list", {"query": "report every Monday"}),
    ("skill_due", {}),
    ("skill_record", {"id": "Report", "outcome": "sent to three people"}),
    ("skill_delete", {"id": "Report", "reason": "done by hand"}),
    ("memory_backfill", {"batch": 10}),
    ("memory_review", {"limit": 5}),
    ("memory_consolidate", {"older_than": 0}),
    ("memory_purge", {"ids": ["{id}"], "dry_run": False}),
    ("memory_export", {"path": "{file}"}),
    ("files_index", {"paths": ["{file}"]}),
    ("memory_import", {"path": "{file}", "dry_run": True}),
)
LOCAL_TOOLS = {"files_index", "memory_export", "memory_import"}  # not over the network
BAD: tuple[tuple[str, dict[str, Any], str], ...] = (  # and what is said of them
    ("memory_add", {}, "content"),
    ("memory_add", {"content": "x", "importance": 11}, "importance"),
    ("memory_add", {"content": ["x", "y"]}, "content"),
    ("memory_search", {"query": "x", "colour": "red"}, "colour"),
    ("memory_get", {"ids": ["none-such"]}, "none-such"),
    ("session_append", {"session": "s", "messages": [{"role": "user"}]}, "content"),
)
ENTITY = {"name": "Ada", "entityType": "person", "observations": ["drinks tea"]}
RELATION = {"from": "Ada", "to": "Engine", "relationType": "builds"}
GRAPH: tuple[Call, ...] = (
    ("create_entities", {"entities": [ENTITY]}),
    ("create_relations", {"relations": [RELATION]}),
    ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["is tall"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "tea"}),
    ("open_nodes", {"names": ["Ada"]}),
    ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["is tall"]}]}),
    ("delete_relations", {"relations": [RELATION]}),
    ("delete_entities", {"entityNames": ["Ada"]}),
)
OFFERS = {"default": DEFAULT, "full": (*DEFAULT, *MORE), "server-memory": GRAPH}


async def call_all(client: Client, offer: str) -> dict[str, CallToolResult]:
    """The last answer of each tool."""
    answers: dict[str, CallToolResult] = {}
    kept = ""
    is_local = LOCAL_TOOLS & {each.name for each in (await client.list_tools()).tools}
    with TemporaryDirectory() as folder:
        for tool, arguments in OFFERS[offer]:
            if tool in LOCAL_TOOLS - is_local:
                continue
            answers[tool] = await client.call_tool(tool, filled(arguments, kept, str(Path(folder, "all.jsonl"))))
            if tool == "memory_add":
                kept = data(answers[tool])["id"]
    return answers


async def no_such_tool(client: Client) -> str:
    """What is said of a tool that is not there: in a result, or as an error of the protocol, as the era has it."""
    try:
        answer = await client.call_tool("memory_dream", {})
    except MCPError as error:
        return str(error)
    assert answer.is_error
    return told(answer)


def contents(db: Path) -> set[str]:
    with Retentive.open(str(db), embedder="hashing") as memory:
        return {each.content for each in memory.list(1000)}


def filled(value: Any, id: str, file: str) -> Any:
    """With the id of the memory that the first call kept, and a file that is not there yet."""
    match value:
        case dict():
            return {name: filled(each, id, file) for name, each in value.items()}
        case list():
            return [filled(each, id, file) for each in value]
        case _:
            return {"{id}": id, "{file}": file}.get(value, value) if isinstance(value, str) else value


def data(answer: CallToolResult) -> dict[str, Any]:
    assert not answer.is_error, answer
    found: dict[str, Any] = answer.structured_content or {}
    return found


def told(answer: CallToolResult) -> str:
    """What a model reads of it."""
    return "\n".join(each.text for each in answer.content if each.type == "text")
