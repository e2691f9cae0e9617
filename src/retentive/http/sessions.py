"""Limit the number of open MCP sessions per caller.

A session lives until its client ends it, or until it was idle for a while. The SDK only limits the total, so one caller
could take all sessions. Here each token has a limit of its own, or each address without a token. At the limit, a new
session replaces the one that was idle longest: a client that is restarted often leaves sessions behind. The new session
is refused only if all others are in use.

Opened and ended sessions are recognised by the responses. Newer versions of the protocol have no sessions.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retentive.http.rate import caller_key
from retentive.http.responses import too_many

SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"
MAX_SESSIONS = 100  # per caller: one for each conversation of a busy day
IDLE_SECONDS = 30 * 60.0  # after which an idle session ends


@dataclass(slots=True)
class OpenSession:
    owner: str
    running: int = 0
    """The number of requests and open streams."""
    last_used: float = field(default_factory=time.monotonic)

    @property
    def is_expired(self) -> bool:
        """Whether it was idle so long that the SDK has ended it."""
        return not self.running and time.monotonic() - self.last_used > IDLE_SECONDS


class SessionLimit:
    def __init__(self, app: ASGIApp, limit: int = MAX_SESSIONS) -> None:
        self._app, self._limit = app, limit
        self._open: dict[str, OpenSession] = {}
        self._opening: Counter[str] = Counter()
        """By owner: the number of running requests that may open a session."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, owner = Headers(scope=scope), caller_key(scope)
        if session := self._open.get(headers.get(SESSION_HEADER, "")):
            await self._continue(headers[SESSION_HEADER], session, scope, receive, send)
        elif not _may_open(scope["method"], headers):
            await self._app(scope, receive, send)
        elif await self._make_room(owner, scope):
            await self._begin(owner, scope, receive, send)
        else:
            message = f"{self._limit} sessions of this caller are open and in use"
            await too_many(0, message)(scope, receive, send)

    async def _begin(self, owner: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that may open a session. The response then has its id."""

        async def watch(message: Message) -> None:
            is_accepted = message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST
            id = Headers(raw=message["headers"]).get(SESSION_HEADER) if is_accepted else None
            if id:
                self._open[id] = OpenSession(owner)
            await send(message)

        self._opening[owner] += 1
        try:
            await self._app(scope, receive, watch)
        finally:
            self._opening[owner] -= 1
            self._opening += Counter()  # drops zero counts

    async def _continue(self, id: str, session: OpenSession, scope: Scope, receive: Receive, send: Send) -> None:
        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                was_ended = scope["method"] == "DELETE" and message["status"] < HTTPStatus.BAD_REQUEST
                if was_ended or message["status"] == HTTPStatus.NOT_FOUND:
                    self._open.pop(id, None)
            await send(message)

        session.running += 1
        try:
            await self._app(scope, receive, watch)
        finally:
            session.running -= 1
            session.last_used = time.monotonic()

    async def _make_room(self, owner: str, scope: Scope) -> bool:
        """Return whether this owner may open one more session. End its longest idle one if needed."""
        own = {id: each for id, each in self._open.items() if each.owner == owner}
        for id in [id for id, each in own.items() if each.is_expired]:
            del self._open[id], own[id]
        if len(own) + self._opening[owner] < self._limit:
            return True
        idle = [id for id, each in own.items() if not each.running]
        if not idle:
            return False
        await self._end_session(min(idle, key=lambda id: own[id].last_used), scope)
        return True

    async def _end_session(self, id: str, scope: Scope) -> None:
        """End a session as its client would."""
        self._open.pop(id, None)
        hosts = [(name, value) for name, value in scope["headers"] if name == b"host"]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_: Message) -> None: ...

        headers = [*hosts, (SESSION_HEADER.encode(), id.encode("latin-1"))]
        await self._app({**scope, "method": "DELETE", "headers": headers}, receive, send)


def _may_open(method: str, headers: Headers) -> bool:
    version = headers.get(VERSION_HEADER)
    has_handshake = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    return method == "POST" and has_handshake and SESSION_HEADER not in headers
