"""Which tools are offered: ten at most unless more are asked for, since every conversation pays for their list."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from retentive.mcp import conversation_tools, maintenance_tools, memory_tools, record_tools, transfer_tools
from retentive.mcp.tool import Tool

CHARACTERS = 4  # to a token, roughly


class Offer(StrEnum):
    DEFAULT = "default"
    FULL = "full"
    READ = "read"


def offered(offer: Offer, *, person: bool = False) -> Mapping[str, Tool]:
    """By name. `person` is whether there is a place of its own for what concerns the person."""
    writes = offer is not Offer.READ
    tools = [
        *memory_tools.tools(person=person),
        *record_tools.tools(writes=writes),
        *maintenance_tools.tools(),
        *conversation_tools.tools(writes=writes),
    ]
    if offer is not Offer.DEFAULT:
        tools += [
            *memory_tools.more(person=person),
            *conversation_tools.more(writes=writes),
            *record_tools.more(),
            *maintenance_tools.more(),
            *transfer_tools.more(),
        ]
    return {tool.name: tool for tool in tools if writes or tool.reads}


def shown(tool: Tool) -> dict[str, Any]:
    """As the protocol has it."""
    hints = {"readOnlyHint": tool.reads, "openWorldHint": False}
    if not tool.reads:
        hints |= {"destructiveHint": tool.destroys, "idempotentHint": tool.repeatable}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": hints,
    }


def cost(tools: Mapping[str, Tool]) -> Mapping[str, int]:
    """Tokens that a model reads in every conversation, by tool."""
    return {name: -(-len(json.dumps(shown(tool), separators=(",", ":"))) // CHARACTERS) for name, tool in tools.items()}
