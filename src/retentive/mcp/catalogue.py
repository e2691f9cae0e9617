"""Which tools are offered: ten at most unless more are asked for, since every conversation pays for their list."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from retentive.mcp import (
    chatgpt_tools,
    conversation_tools,
    graph_tools,
    lifecycle_tools,
    maintenance_tools,
    memory_tools,
    record_tools,
    transfer_tools,
)
from retentive.mcp.tool import Tool

CHARACTERS_PER_TOKEN = 4  # roughly
MAX_NAME_LENGTH = 300  # characters up to which a limit is that of a name or an id, not of a text


class Offer(StrEnum):
    DEFAULT = "default"
    FULL = "full"
    READ = "read"
    CHATGPT = "chatgpt"
    SERVER_MEMORY = "server-memory"

    @property
    def is_own(self) -> bool:
        """Whether the tools are ours, not those of another product."""
        return self not in (Offer.CHATGPT, Offer.SERVER_MEMORY)

    @property
    def writes(self) -> bool:
        return self not in (Offer.READ, Offer.CHATGPT)


def select_tools(offer: Offer, *, person: bool = False, writes: bool = True) -> Mapping[str, Tool]:
    """The tools of an offer by name. `person` is whether the person has a namespace of their own."""
    can_write = writes and offer.writes
    tools = _list_tools(offer if can_write or not offer.is_own else Offer.READ, person=person, writes=can_write)
    return {tool.name: tool for tool in tools if can_write or tool.reads}


def _list_tools(offer: Offer, *, person: bool, writes: bool) -> Sequence[Tool]:
    match offer:
        case Offer.CHATGPT:
            return chatgpt_tools.list_tools()
        case Offer.SERVER_MEMORY:
            return graph_tools.list_tools()
        case Offer.DEFAULT:
            return _list_default_tools(person=person, writes=writes)
        case _:
            return [
                *_list_default_tools(person=person, writes=writes),
                *_list_further_tools(person=person, writes=writes),
            ]


def _list_default_tools(*, person: bool, writes: bool) -> Sequence[Tool]:
    return [
        *memory_tools.list_default_tools(person=person),
        *record_tools.list_default_tools(writes=writes),
        *conversation_tools.list_default_tools(writes=writes),
    ]


def _list_further_tools(*, person: bool, writes: bool) -> Sequence[Tool]:
    return [
        *memory_tools.list_further_tools(person=person),
        *lifecycle_tools.list_tools(),
        *conversation_tools.list_further_tools(writes=writes),
        *record_tools.list_further_tools(),
        *maintenance_tools.list_tools(),
        *transfer_tools.list_tools(),
    ]


def describe_tool(tool: Tool) -> dict[str, Any]:
    """The tool as the protocol lists it."""
    hints = {"readOnlyHint": tool.reads, "openWorldHint": False}
    if not tool.reads:
        hints |= {"destructiveHint": tool.destroys, "idempotentHint": tool.repeatable}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": {**_shorten_schema(tool.input_schema), "additionalProperties": False},
        "outputSchema": tool.output_schema,
        "annotations": hints,
    }


def _shorten_schema(schema: Any) -> Any:
    """A schema without what a model gains nothing from. The server checks it all the same."""
    if isinstance(schema, list):
        return [_shorten_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _shorten_schema(each) for name, each in schema.items() if not _is_obvious(name, each)}


def _is_obvious(name: str, value: Any) -> bool:
    """Whether a model would do the same without it: nobody writes an empty text, or a name of a page."""
    is_name = name == "maxLength" and value <= MAX_NAME_LENGTH
    return is_name or (name, value) in _OBVIOUS


_OBVIOUS = (("minLength", 1), ("minItems", 1), ("default", False), ("additionalProperties", False))


def estimate_tokens(tools: Mapping[str, Tool]) -> Mapping[str, int]:
    """Tokens that a model reads in every conversation, by tool: an estimate."""
    return {
        name: -(-len(json.dumps(describe_tool(tool), separators=(",", ":"))) // CHARACTERS_PER_TOKEN)
        for name, tool in tools.items()
    }
