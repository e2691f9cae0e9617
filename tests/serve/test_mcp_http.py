"""`retentive serve` at `/mcp`, asked by the official client."""

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError

from retentive import Retentive
from tests.serve.calls import BAD, OFFERS, call_all, data, no_such_tool, told
from tests.serve.client import Serving, eras, http, over_http, serving

ADDED = {"content": "Ada plays the cello."}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for what leaves nothing behind that another test would see."""
    with serving(tmp_path_factory.mktemp("http") / "memory.db") as address:
        yield address


def contents(db: Path) -> set[str]:
    with Retentive.open(str(db), embedder="hashing") as memory:
        return {each.content for each in memory.list(1000)}


@eras
@pytest.mark.parametrize("offer", OFFERS)
def test_every_tool_that_is_listed_answers(db: Path, era: str, offer: str) -> None:
    async def talk(client: Client) -> None:
        listed = await client.list_tools()
        answers = await call_all(client, offer)
        assert {each.name for each in listed.tools} == set(answers)
        assert [name for name, each in answers.items() if each.is_error] == []

    with serving(db, "--tools", offer) as url:
        over_http(talk, url, era)


@eras
def test_the_version_asked_for_is_spoken(url: str, era: str) -> None:
    async def talk(client: Client) -> str:
        await client.list_tools()
        return client.protocol_version

    assert over_http(talk, url, era) == era


@eras
def test_bad_arguments_are_told(url: str, era: str) -> None:
    async def talk(client: Client) -> None:
        for tool, arguments, said in BAD:
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error
            assert said in told(answer)
        assert "memory_dream" in await no_such_tool(client)

    over_http(talk, url, era)


@eras
def test_resources_are_listed_and_read(url: str, era: str) -> None:
    async def talk(client: Client) -> None:
        kept = data(await client.call_tool("memory_add", ADDED))["id"]
        listed = [each.uri for each in (await client.list_resources()).resources]
        assert {"memory://profile", "memory://recent"} <= set(listed)
        for uri in (*listed, f"memory://{kept}"):
            assert (await client.read_resource(uri)).contents
        with pytest.raises(MCPError, match="none-such"):
            await client.read_resource("memory://none-such")

    over_http(talk, url, era)


@eras
def test_prompts_are_listed_and_given(url: str, era: str) -> None:
    async def talk(client: Client) -> None:
        await client.call_tool("memory_add", ADDED)
        assert {each.name for each in (await client.list_prompts()).prompts} == {"recall", "remember", "about_me"}
        recalled = await client.get_prompt("recall", {"topic": "cello"})
        assert "Ada plays the cello" in str(recalled.messages[0].content)
        with pytest.raises(MCPError, match="topic"):
            await client.get_prompt("recall", {})

    over_http(talk, url, era)


@eras
def test_a_call_that_is_cancelled_does_not_hold_up_the_next(url: str, era: str) -> None:
    said = [{"role": "user", "content": f"Box {number} is in the cellar."} for number in range(100)]

    async def talk(client: Client) -> None:
        with anyio.move_on_after(0.02) as limit:
            await client.call_tool("session_append", {"session": f"boxes {era}", "messages": said})
        assert limit.cancelled_caught
        assert data(await client.call_tool("memory_stats", {}))["namespace"] == "default"

    over_http(talk, url, era)


def test_clients_of_both_eras_share_one_memory(url: str) -> None:
    async def talk() -> None:
        async with http(url, "2025-11-25") as old, http(url, "2026-07-28") as new:
            kept = data(await old.call_tool("memory_add", {"content": "The key is under the third stone."}))["id"]
            (found,) = data(await new.call_tool("memory_get", {"ids": [kept]}))["items"]
            assert found["content"] == "The key is under the third stone."

    anyio.run(talk)


@eras
def test_calls_of_many_clients_at_the_same_time_are_all_answered(db: Path, era: str) -> None:
    async def one(url: str, name: int) -> None:
        async with http(url, era) as client, anyio.create_task_group() as tasks:
            for number in range(10):
                given = {"content": f"Box {number} of client {name} is full."}
                tasks.start_soon(partial(client.call_tool, "memory_add", given))

    async def all_of_them(url: str) -> None:
        async with anyio.create_task_group() as tasks:
            for name in range(5):
                tasks.start_soon(one, url, name)

    with serving(db) as url:
        anyio.run(all_of_them, url)
    assert len(contents(db)) == 50


@eras
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_it_ends_in_good_order_with_all_that_was_added(db: Path, era: str, number: int) -> None:
    """Also while a client is connected."""
    server = Serving(db)

    async def talk() -> int:
        async with http(server.url, era) as client:
            data(await client.call_tool("memory_add", ADDED))
            return await anyio.to_thread.run_sync(server.end, number)

    assert anyio.run(talk) == 0, server.said
    assert contents(db) == {ADDED["content"]}
