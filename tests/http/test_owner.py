"""A session of MCP belongs to the token that began it."""

from pathlib import Path

import anyio
import httpx
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from retentive import Retentive
from retentive.http import HttpSettings, open_app

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def test_nobody_goes_on_with_the_session_of_another(db: Path) -> None:
    with Retentive.open(db, embedder="none") as store:
        first, second = (store.tokens.create("alice").secret for _ in range(2))
        assert anyio.run(_talked, store, first, second) == [200, 404, 200, 401]


async def _talked(store: Retentive, first: str, second: str) -> list[int]:
    manager = StreamableHTTPSessionManager(app=Server("test"))
    app = open_app(store, manager.handle_request, HttpSettings(require_token=True))
    accept = {"Accept": "application/json, text/event-stream"}
    async with (
        manager.run(),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client,
    ):
        begun = await client.post("/mcp", json=HELLO, headers={**accept, "Authorization": f"Bearer {first}"})
        named = {**accept, "Mcp-Session-Id": begun.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        callers: list[dict[str, str]] = [
            {"Authorization": f"Bearer {second}"},
            {"Authorization": f"Bearer {first}"},
            {},
        ]
        answers = [await client.post("/mcp", json=ping, headers={**named, **who}) for who in callers]
        return [answer.status_code for answer in (begun, *answers)]
