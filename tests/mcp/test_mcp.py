"""What a server answers is the same at both doors, `retentive mcp` and `retentive serve`: the official client asks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import anyio
import pytest
from mcp import Client, MCPError

from tests.mcp.calls import BAD, LOCAL_TOOLS, OFFERS, call_all, contents, data, no_such_tool, told
from tests.mcp.client import Talk, eras, over_http, over_stdio, serving

ADDED = {"content": "Ada plays the cello."}


class Over(Protocol):
    def __call__(self, talk: Talk[Any], era: str, *options: str) -> Any: ...


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for what can be asked of one that has been asked before."""
    with serving(tmp_path_factory.mktemp("http") / "memory.db") as address:
        yield address


@pytest.fixture(params=["stdio", "http"])
def over(request: pytest.FixtureRequest, db: Path) -> Over:
    """Talks to a server; with options, to one of its own."""

    def by_lines(talk: Talk[Any], era: str, *options: str) -> Any:
        return over_stdio(talk, db, era, *options)

    def by_network(talk: Talk[Any], era: str, *options: str) -> Any:
        if not options:
            return over_http(talk, request.getfixturevalue("url"), era)
        with serving(db, *options) as url:
            return over_http(talk, url, era)

    return by_lines if request.param == "stdio" else by_network


@eras
@pytest.mark.parametrize("offer", OFFERS)
def test_every_tool_that_is_listed_answers(over: Over, era: str, offer: str) -> None:
    async def talk(client: Client) -> None:
        listed = await client.list_tools()
        answers = await call_all(client, offer)
        assert {each.name for each in listed.tools} == set(answers)
        assert [name for name, each in answers.items() if each.is_error] == []

    over(talk, era, "--tools", offer)


@eras
def test_bad_arguments_are_told_and_change_nothing(over: Over, era: str) -> None:
    async def kept(client: Client) -> tuple[int, int]:
        memories = data(await client.call_tool("memory_list", {}))["memories"]
        sessions = [each for each in (await client.list_resources()).resources if "session" in str(each.uri)]
        return len(memories), len(sessions)

    async def talk(client: Client) -> None:
        before = await kept(client)
        for tool, arguments, said in BAD:
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error
            assert said in told(answer)
        assert await kept(client) == before

    over(talk, era)


@eras
def test_a_tool_that_is_not_there_is_named(over: Over, era: str) -> None:
    async def talk(client: Client) -> None:
        said = await no_such_tool(client)
        assert "memory_dream" in said
        assert "memory_search" in said

    over(talk, era)


@eras
def test_resources_are_listed_and_read(over: Over, era: str) -> None:
    async def talk(client: Client) -> None:
        kept = data(await client.call_tool("memory_add", ADDED))["id"]
        listed = [each.uri for each in (await client.list_resources()).resources]
        templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        assert "memory://recent" in listed
        assert "memory://{id}" in templates
        for uri in (*listed, f"memory://{kept}"):
            assert (await client.read_resource(uri)).contents
        with pytest.raises(MCPError, match="none-such"):
            await client.read_resource("memory://none-such")

    over(talk, era)


@eras
def test_prompts_are_listed_and_given(over: Over, era: str) -> None:
    async def talk(client: Client) -> None:
        await client.call_tool("memory_add", ADDED)
        listed = {each.name for each in (await client.list_prompts()).prompts}
        assert listed == {"recall", "remember", "about_me"}
        recalled = await client.get_prompt("recall", {"topic": "cello"})
        assert "Ada plays the cello" in str(recalled.messages[0].content)
        with pytest.raises(MCPError, match="topic"):
            await client.get_prompt("recall", {})

    over(talk, era)


@eras
def test_a_call_that_is_cancelled_does_not_hold_up_the_next(over: Over, db: Path, era: str) -> None:
    many = [f"Box {number} is in the cellar." for number in range(500)]

    async def talk(client: Client) -> None:
        with anyio.move_on_after(0.02) as limit:
            await client.call_tool("memory_add_many", {"contents": many})
        assert limit.cancelled_caught
        kept = data(await client.call_tool("memory_add", ADDED))
        assert kept["created"]

    over(talk, era, "--tools", "full")
    assert ADDED["content"] in contents(db)


@eras
def test_files_of_the_machine_are_named_only_by_those_on_it(
    over: Over, era: str, request: pytest.FixtureRequest
) -> None:
    async def talk(client: Client) -> set[str]:
        return LOCAL_TOOLS & {each.name for each in (await client.list_tools()).tools}

    is_local = request.node.callspec.params["over"] == "stdio"
    assert over(talk, era, "--tools", "full") == (LOCAL_TOOLS if is_local else set())
