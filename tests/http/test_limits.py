"""What one caller does keeps no other out: wrong tokens, connections, requests and sessions are counted for each."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from retentive import Retentive
from retentive.http import HttpSettings, open_app
from retentive.http.sessions import MAX_SESSIONS, SessionLimit
from tests.http.conftest import Serve, Served
from tests.http.test_owner import HELLO

HALF = b"GET /health HTTP/1.1\r\nHost: local"
ACCEPT = {"Accept": "application/json, text/event-stream"}


def issue(db: Path, *namespaces: str) -> list[str]:
    with Retentive.open(db, embedder="hashing") as store:
        return [store.tokens.create(name).secret for name in namespaces]


def status_of(server: Served, secret: str, path: str = "/mcp") -> int:
    return httpx.get(f"{server.url}{path}", headers=server.as_(secret), timeout=60, trust_env=False).status_code


def endless(server: Served, secret: str) -> contextlib.AbstractContextManager[httpx.Response]:
    """A request that is never answered to its end."""
    url = f"{server.url}/mcp/endless"
    return httpx.stream("GET", url, headers=server.as_(secret), timeout=60, trust_env=False)


def test_a_right_token_is_let_in_from_where_wrong_ones_came(served: Serve, db: Path) -> None:
    """Also one that nobody brought before: behind a proxy a stranger may have the same address."""
    server = served(require_token=True, requests_per_second=0)
    wrong = [status_of(server, f"rt_{n:043}") for n in range(40)]
    assert wrong[:20] == [401] * 20
    assert 429 in wrong
    secrets = issue(db, *(f"late/{n}" for n in range(5)))
    over = threading.Event()

    def guess(number: int) -> list[int]:
        client = httpx.Client(base_url=server.url, timeout=60, trust_env=False)
        answers = []
        with client:
            while not over.is_set():
                answers.append(client.get("/mcp", headers=server.as_(f"rt_{number:043}")).status_code)
        return answers

    with ThreadPoolExecutor(8) as pool:
        guessing = [pool.submit(guess, number) for number in range(8)]
        try:
            assert [status_of(server, each) for each in secrets] == [200] * 5
        finally:
            over.set()
        assert {*(status for each in guessing for status in each.result())} <= {401, 429}


def test_a_token_that_is_revoked_is_a_wrong_one(served: Serve, db: Path) -> None:
    (secret,) = issue(db, "alice")
    server = served(require_token=True)
    assert status_of(server, secret) == 200
    with Retentive.open(db, embedder="none") as store:
        store.tokens.revoke(store.tokens.list()[0].id)
    assert [status_of(server, secret) for _ in range(2)] == [401] * 2


@contextlib.contextmanager
def half_open(server: Served, count: int, source: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """Connections on which half a request was sent."""
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(count):
            address = ("127.0.0.1", server.port)
            one = stack.enter_context(socket.create_connection(address, timeout=60, source_address=(source, 0)))
            with contextlib.suppress(OSError):  # it gave way already
                one.sendall(HALF)
            opened.append(one)
        yield opened


def test_connections_that_say_nothing_keep_nobody_out(served: Serve, db: Path) -> None:
    (secret,) = issue(db, "alice")
    server = served(max_connections=20)
    with half_open(server, 100):
        assert [status_of(server, secret) for _ in range(10)] == [200] * 10


def test_a_request_under_way_is_not_given_up_for_others(served: Serve, db: Path) -> None:
    (secret,) = issue(db, "alice")
    server = served(max_connections=20)
    with ThreadPoolExecutor(1) as pool:
        add = f"{server.url}/mcp/add?seconds=2"
        slow = pool.submit(httpx.post, add, content="Slow", headers=server.as_(secret), timeout=60, trust_env=False)
        assert server.process.stdout is not None
        assert server.process.stdout.readline() == "Slow\n"
        with half_open(server, 100):
            assert slow.result().status_code == 200


def test_the_connections_of_another_address_do_not_give_way(served: Serve) -> None:
    """Those of the address that has the most do."""
    server = served(max_connections=20)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as mine:
        try:
            with half_open(server, 100, "127.0.0.2") as theirs:
                mine.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert mine.recv(4096).startswith(b"HTTP/1.1 200")
                assert _is_closed(theirs[0])
        except OSError as error:
            if error.errno is not None and "assign" in str(error):
                pytest.skip("there is no second address of loopback")
            raise


def _is_closed(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except ConnectionError:
        return True


def test_where_all_are_in_use_a_new_one_is_told_to_come_back(served: Serve, db: Path) -> None:
    secrets = issue(db, "a", "b", "c", "d")
    server = served(max_connections=4)
    with contextlib.ExitStack() as stack:
        for secret in secrets:
            stack.enter_context(
                httpx.stream("GET", f"{server.url}/mcp/endless", headers=server.as_(secret), timeout=60)
            )
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as one:
            assert one.recv(4096).startswith(b"HTTP/1.1 503")


def test_one_token_has_a_share_of_the_requests_at_once(served: Serve, db: Path) -> None:
    greedy, modest = issue(db, "greedy", "modest")
    server = served(max_connections=40)
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            assert stack.enter_context(endless(server, greedy)).status_code == 200
        answer = httpx.get(f"{server.url}/mcp", headers=server.as_(greedy), timeout=60, trust_env=False)
        assert answer.status_code == 429
        assert "4 requests of this caller" in answer.json()["error"]["message"]
        assert status_of(server, modest) == 200
    until = time.monotonic() + 60
    while status_of(server, greedy) != 200 and time.monotonic() < until:
        time.sleep(0.05)  # until the server has noticed that they are gone
    assert status_of(server, greedy) == 200


def test_one_token_cannot_use_up_the_sessions_of_others(db: Path) -> None:
    """Who opens too many loses the one that was idle for the longest."""
    with Retentive.open(db, embedder="none") as store:
        greedy, modest = (store.tokens.create(name).secret for name in ("greedy", "modest"))
        anyio.run(_crowd, store, greedy, modest)


async def _crowd(store: Retentive, greedy: str, modest: str) -> None:
    manager = StreamableHTTPSessionManager(app=Server("test"), max_sessions=MAX_SESSIONS + 1)
    app = open_app(store, manager.handle_request, HttpSettings(require_token=True, requests_per_second=0))
    transport = httpx.ASGITransport(app)
    async with manager.run(), httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

        async def post(secret: str, message: dict[str, Any], session: str | None = None) -> httpx.Response:
            named = {"Mcp-Session-Id": session} if session else {}
            headers = {**ACCEPT, "Authorization": f"Bearer {secret}", **named}
            return await client.post("/mcp", json=message, headers=headers)

        async def begin(secret: str) -> str:
            answer = await post(secret, HELLO)
            assert answer.status_code == 200, answer.text
            return str(answer.headers["mcp-session-id"])

        async def ping(secret: str, session: str) -> int:
            return (await post(secret, {"jsonrpc": "2.0", "id": 2, "method": "ping"}, session)).status_code

        own = await begin(modest)
        first = await begin(greedy)
        others = [await begin(greedy) for _ in range(MAX_SESSIONS + 20)]
        assert await ping(greedy, first) == 404
        assert await ping(greedy, others[-1]) == 200
        assert await ping(modest, own) == 200
        assert len(manager._server_instances) == MAX_SESSIONS + 1
        gone = await client.delete("/mcp", headers={"Authorization": f"Bearer {greedy}", "Mcp-Session-Id": others[-1]})
        assert gone.status_code == 200
        await begin(greedy)
        assert await ping(greedy, others[-2]) == 200


def test_sessions_that_are_in_use_are_not_ended() -> None:
    anyio.run(_in_use)


async def _in_use() -> None:
    over, opened, ended = anyio.Event(), list[str](), list[str]()

    async def app(scope: Scope, _: Receive, send: Send) -> None:
        """Opens sessions, and keeps their streams open."""
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        answer: list[tuple[bytes, bytes]] = []
        match scope["method"]:
            case "POST" if "mcp-session-id" not in headers:
                opened.append(f"s{len(opened)}")
                answer = [(b"mcp-session-id", opened[-1].encode())]
            case "DELETE":
                ended.append(headers["mcp-session-id"])
            case "GET":
                await over.wait()
        await send({"type": "http.response.start", "status": 200, "headers": answer})
        await send({"type": "http.response.body", "body": b""})

    sessions = SessionLimit(app, limit=2)

    async def ask(method: str, session: str | None = None) -> int:
        status = 0

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)

        headers = [(b"mcp-session-id", session.encode())] if session else []
        scope = {"type": "http", "method": method, "headers": headers, "client": ("192.0.2.1", 1)}
        await sessions(scope, receive, send)
        return status

    assert [await ask("POST"), await ask("POST")] == [200, 200]
    async with anyio.create_task_group() as streams:
        for session in opened:
            streams.start_soon(ask, "GET", session)
        await anyio.wait_all_tasks_blocked()
        assert await ask("POST") == 429
        over.set()
    assert ended == []
    assert await ask("POST") == 200
    assert ended == ["s0"]
