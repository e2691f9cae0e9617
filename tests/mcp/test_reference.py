"""Every tool, argument, resource and prompt is described in docs/reference/mcp.md."""

from pathlib import Path

import pytest

from retentive.mcp import prompts, resources
from retentive.mcp.catalogue import Offer, select_tools
from retentive.mcp.tool import Tool

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "mcp.md").read_text("utf-8")
EVERY_TOOL = {
    **select_tools(Offer.FULL, person=True), **select_tools(Offer.CHATGPT), **select_tools(Offer.SERVER_MEMORY)
}  # fmt: skip


@pytest.mark.parametrize("tool", EVERY_TOOL.values(), ids=lambda tool: tool.name)
def test_every_tool_is_described_as_it_is(tool: Tool) -> None:
    _, found, rest = PAGE.partition(f"### `{tool.name}`")
    section = rest.partition("\n##")[0]
    assert found
    assert tool.description in section
    assert all(f"| `{name}` |" in section for name in tool.takes)
    assert all(f"`{name}`" in section for name in tool.gives)
    for offer in Offer:
        assert (str(offer) in section.splitlines()[2]) == (tool.name in select_tools(offer)), offer


def test_nothing_is_described_that_there_is_not() -> None:
    tools = [line.strip("#` ") for line in PAGE.splitlines() if line.startswith("### ")]
    assert tools == [*EVERY_TOOL]


def test_every_resource_and_prompt_is_described() -> None:
    addresses = [each.uri.replace("{+", "{") for each in (*resources.FIXED_RESOURCES, *resources.RESOURCE_TEMPLATES)]
    names = [name for each in prompts.list_prompts(writes=True).values() for name in (each.name, each.argument) if name]
    assert all(f"| `{address}` |" in PAGE for address in addresses)
    assert all(f"`{name}`" in PAGE for name in names)
