"""`retentive serve` at `/mcp`, asked by the official client."""

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client

from tests.mcp.calls import contents, data
from tests.mcp.client import Serving, eras, http, over_http, serving

ADDED = {"content": "Ada plays the cello."}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for what leaves nothing behind that another test would see."""
    with serving(tmp_path_factory.mktemp("http") / "memory.db") as address:
        yield address


@eras
def test_the_version_asked_for_is_spoken(url: str, era: str) -> None:
    async def talk(client: Client) -> str:
        await client.list_tools()
        return client.protocol_version

    assert over_http(talk, url, era) == era


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
