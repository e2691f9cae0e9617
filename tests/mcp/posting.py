"""`retentive serve` at the level of HTTP: what a client library would not send."""

import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx

from tests.engines import NO_TLS
from tests.mcp.client import SECONDS
from tests.mcp.malformed import HUGE, LONG, line
from tests.mcp.process import HELLO, call, request

HEADERS: tuple[dict[str, str], ...] = (
    {"content-type": "text/plain"},
    {"content-type": ""},
    {"accept": "image/png"},
    {"mcp-protocol-version": "1999-01-01"},
    {"mcp-protocol-version": LONG[:9000]},
    {"host": "evil.example.org"},
    {"origin": "http://evil.example.org"},
    {"origin": "null"},
)
POST = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
NOT_HTTP = (
    b"",
    b"\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),  # a greeting of TLS
    b"hello\r\n\r\n",
    b"POST /mcp HTTP/9.9\r\n\r\n",
    b"POST " + b"/" * 100_000 + b" HTTP/1.1\r\n\r\n",
    POST + b"Content-Length: 1000\r\n\r\n{",  # and then no more
    POST + b"Content-Length: -1\r\n\r\n{}",
    POST + b"Content-Length: 9" + b"9" * 30 + b"\r\n\r\n{}",
    POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n" + b"x" * 1_000_000,
    POST + b"".join(b"X-%d: y\r\n" % number for number in range(5000)) + b"\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"x" * 65_536 + b"\r\n") * (HUGE // 65_536),
)


class Posting:
    """One who posts to a server, greeted as the era has it."""

    def __init__(self, url: str, era: str) -> None:
        self._url, self._era = url, era
        self._client = httpx.Client(timeout=SECONDS, verify=NO_TLS)
        self._headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if era == "2026-07-28":
            self._headers |= {"mcp-protocol-version": era, "mcp-method": "tools/list"}
        else:
            answer = self._post(line(request(0, "initialize", {**HELLO, "protocolVersion": era})), {})
            self._headers |= {"mcp-protocol-version": era, "mcp-session-id": answer.headers["mcp-session-id"]}
            self._post(line({"jsonrpc": "2.0", "method": "notifications/initialized"}), {})

    def post(self, body: bytes, headers: Mapping[str, str] | None = None) -> int:
        """The status; what is streamed after it is not waited for."""
        with self._client.stream(
            "POST", self._url, content=body, headers={**self._headers, **(headers or {})}
        ) as answer:
            return answer.status_code

    def lives(self) -> None:
        named = {"mcp-method": "tools/call", "mcp-name": "memory_list"} if self._era == "2026-07-28" else {}
        answer = self._post(line(call("good", "memory_list", {}, self._era)), named)
        assert answer.status_code == 200, answer.text
        assert '"memories"' in answer.text

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def _post(self, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        return self._client.post(self._url, content=body, headers={**self._headers, **headers})


def connected(url: str) -> socket.socket:
    where = urlsplit(url)
    return socket.create_connection((where.hostname, where.port), timeout=SECONDS)
