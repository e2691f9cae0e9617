"""What a token opens of the tools, through the real program: on a file, and in PostgreSQL.

Each test has a server of its own, which takes as long to start as all that is asked of it; so both eras ask the same.
"""

from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from retentive import Retentive
from tests.mcp.client import ERAS, SECONDS, serving
from tests.support import Open

pytestmark = pytest.mark.engines("sqlite", "postgres")


@pytest.fixture
def store(open_store: Open) -> Retentive:
    return open_store()


@pytest.fixture
def url(target: str, store: Retentive) -> Iterator[str]:
    store.in_namespace("alice").add("Alice sends invoices on Fridays")
    store.in_namespace("alice/coder").add("Alice's coder sends invoices at noon")
    store.in_namespace("bob").add("Bob sends invoices on Mondays")
    store.add("Everybody sends invoices")
    with serving(target, "--require-token", "--also", "default", "--also", "alice/*") as address:
        yield address


def asked(url: str, era: str, secret: str, *calls: tuple[str, dict[str, Any]], namespace: str | None = None) -> Any:
    """The answers, and the names of the tools."""

    async def run() -> Any:
        headers = {"Authorization": f"Bearer {secret}", **({"X-Retentive-Namespace": namespace} if namespace else {})}
        async with httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=ERAS[era], cache=None, read_timeout_seconds=SECONDS) as client:
                answers = [await called(client, name, given) for name, given in calls]
                return answers, {tool.name for tool in (await client.list_tools()).tools}

    return anyio.run(run)


async def called(client: Client, name: str, given: dict[str, Any]) -> Any:
    try:
        return await client.call_tool(name, given)
    except MCPError as error:  # a tool that is not there is one of the protocol in the newer era
        return error


def texts(answer: Any) -> set[str]:
    return {hit["text"] for hit in answer.structured_content["hits"]}


SEARCH = ("memory_search", {"query": "invoices"})


def test_a_token_opens_its_namespace_and_no_other(url: str, store: Retentive) -> None:
    alice, bob = store.in_namespace("alice"), store.in_namespace("bob").list()[0].id
    secret = store.tokens.create("alice").secret
    for era in ERAS:
        (found, read, kept), _ = asked(
            url, era, secret, SEARCH, ("memory_get", {"ids": [bob]}), ("memory_add", {"content": "Alice has a boat"})
        )
        assert texts(found) == {"Alice sends invoices on Fridays"}
        assert read.is_error
        assert alice.get(kept.structured_content["id"]).content == "Alice has a boat"
        alice.forget(kept.structured_content["id"])


def test_with_the_subtree_it_opens_what_is_below(url: str, store: Retentive) -> None:
    secret = store.tokens.create("alice", subtree=True).secret
    for era in ERAS:
        (found,), _ = asked(url, era, secret, SEARCH)
        assert texts(found) == {"Alice sends invoices on Fridays", "Alice's coder sends invoices at noon"}
        (below,), _ = asked(url, era, secret, SEARCH, namespace="alice/coder")
        assert "Alice's coder sends invoices at noon" in texts(below)


def test_one_for_reading_offers_only_tools_that_read(url: str, store: Retentive) -> None:
    secret = store.tokens.create("alice", read_only=True).secret
    for era in ERAS:
        (found, refused), tools = asked(url, era, secret, SEARCH, ("memory_add", {"content": "Alice has a boat"}))
        assert texts(found)
        assert "memory_add" in str(refused)
        assert isinstance(refused, MCPError) or refused.is_error
        assert "memory_search" in tools
        assert not {"memory_add", "memory_delete", "session_append"} & tools
        assert len(store.in_namespace("alice").list()) == 1


def test_one_that_was_revoked_opens_nothing(url: str, store: Retentive) -> None:
    issued = store.tokens.create("alice")
    asked(url, "2026-07-28", issued.secret, SEARCH)
    store.tokens.revoke(issued.token.id)
    with pytest.raises(BaseExceptionGroup):
        asked(url, "2026-07-28", issued.secret, SEARCH)
