"""No two requests of one session have the same id at the same time."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.engines import NO_TLS
from tests.mcp.client import SECONDS, serving
from tests.mcp.process import HELLO, call, request

ERA = "2025-11-25"
ACCEPT = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture
def url(db: Path) -> Iterator[str]:
    with serving(db) as address:
        yield address


class Client:
    """A session of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._headers = ACCEPT
        hello = self.post(request(0, "initialize", {**HELLO, "protocolVersion": ERA}))
        self._headers = {**ACCEPT, "mcp-session-id": hello.headers["mcp-session-id"], "mcp-protocol-version": ERA}
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, message: Any) -> httpx.Response:
        with self.begin(message) as answer:
            answer.read()
            return answer

    def begin(self, message: Any) -> contextlib.AbstractContextManager[httpx.Response]:
        """The answer whose headers have come: then the request has arrived."""
        headers = self._headers
        return httpx.stream("POST", self._url, json=message, headers=headers, timeout=SECONDS, verify=NO_TLS)


@contextlib.contextmanager
def writing(db: Path) -> Iterator[None]:
    """Nobody else can write meanwhile."""
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as store:
        store.execute("BEGIN IMMEDIATE")
        yield
        store.execute("ROLLBACK")


def add(id: Any, text: str) -> Any:
    return call(id, "memory_add", {"content": text})


@pytest.mark.parametrize("other", [7, "7"])
def test_the_second_of_one_id_is_refused_while_the_first_is_under_way(url: str, db: Path, other: Any) -> None:
    one, another = Client(url), Client(url)
    with contextlib.ExitStack() as stack:
        with writing(db):
            first = stack.enter_context(one.begin(add(7, "The first.")))
            refused = one.post(request(other, "ping"))
            assert refused.status_code == 409
            assert refused.json()["id"] == other
            assert refused.json()["error"]["code"] == -32600
            assert "being answered" in refused.json()["error"]["message"]
            assert one.post(request(8, "ping")).status_code == 200
            assert another.post(request(7, "ping")).status_code == 200
        assert b'"created":true' in first.read().replace(b" ", b"")
    assert one.post(request(7, "ping")).status_code == 200


def test_a_request_is_under_way_though_whoever_asked_is_gone(url: str, db: Path) -> None:
    client = Client(url)
    with writing(db):
        with client.begin(add(7, "Nobody waits for this.")):
            pass  # and away
        time.sleep(1)  # for the server to notice it
        assert client.post(request(7, "ping")).status_code == 409
    until = time.monotonic() + SECONDS
    while client.post(request(7, "ping")).status_code == 409:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert "Nobody waits for this." in client.post(call(9, "memory_search", {"query": "Nobody waits"})).text


def test_what_is_no_request_has_no_id_to_be_refused_for(url: str, db: Path) -> None:
    client, cancelled = Client(url), {"method": "notifications/cancelled", "params": {"requestId": 99}}
    with writing(db), client.begin(add(7, "The first.")):
        assert client.post(request(7, "ping")).status_code == 409
        assert client.post({"jsonrpc": "2.0", "id": 7, "result": {}}).status_code == 202
        assert client.post({"jsonrpc": "2.0", **cancelled}).status_code == 202
        assert client.post([1, 2]).status_code == 400
