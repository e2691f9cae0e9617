"""How many sessions of MCP a caller may have open.

A session lives until its client ends it, or until nothing was asked in it for a while. The SDK limits how many there
are in all, so one caller could take all of them. Here each token, or each address where there is none, has a number of
its own. Who opens one more loses the session that was idle for the longest: a client that is started again and again
leaves sessions behind. The new one is refused only if all are in use.

Whether a session was opened or ended is read from the answers that pass by. In the newer era there are no sessions.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retentive.http.rate import holder
from retentive.http.responses import too_many

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
MAX_SESSIONS = 100  # of one caller: a session for each conversation of a busy day
IDLE_SECONDS = 30 * 60.0  # after which a session ends in which nothing is asked


@dataclass(slots=True)
class Session:
    owner: str
    under_way: int = 0
    """Requests, and streams that are open."""
    last_asked: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        """Whether the SDK has ended it."""
        return not self.under_way and time.monotonic() - self.last_asked > IDLE_SECONDS


class Sessions:
    def __init__(self, app: ASGIApp, limit: int = MAX_SESSIONS) -> None:
        self._app, self._limit = app, limit
        self._open: dict[str, Session] = {}
        self._opening: Counter[str] = Counter()
        """By owner: requests under way that may open one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, owner = Headers(scope=scope), holder(scope)
        if session := self._open.get(headers.get(SESSION, "")):
            await self._go_on(headers[SESSION], session, scope, receive, send)
        elif not _may_open(scope["method"], headers):
            await self._app(scope, receive, send)
        elif await self._make_room(owner, scope):
            await self._begin(owner, scope, receive, send)
        else:
            message = f"{self._limit} sessions of this caller are open and in use"
            await too_many(0, message)(scope, receive, send)

    async def _begin(self, owner: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request that may open a session. Its id is in the answer then."""

        async def watch(message: Message) -> None:
            is_accepted = message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST
            id = Headers(raw=message["headers"]).get(SESSION) if is_accepted else None
            if id:
                self._open[id] = Session(owner)
            await send(message)

        self._opening[owner] += 1
        try:
            await self._app(scope, receive, watch)
        finally:
            self._opening[owner] -= 1
            self._opening += Counter()  # drops what is zero

    async def _go_on(self, id: str, session: Session, scope: Scope, receive: Receive, send: Send) -> None:
        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                was_ended = scope["method"] == "DELETE" and message["status"] < HTTPStatus.BAD_REQUEST
                if was_ended or message["status"] == HTTPStatus.NOT_FOUND:
                    self._open.pop(id, None)
            await send(message)

        session.under_way += 1
        try:
            await self._app(scope, receive, watch)
        finally:
            session.under_way -= 1
            session.last_asked = time.monotonic()

    async def _make_room(self, owner: str, scope: Scope) -> bool:
        """Whether this owner may open one more. If need be, one that is idle is ended for it."""
        own = {id: each for id, each in self._open.items() if each.owner == owner}
        for id in [id for id, each in own.items() if each.is_over]:
            del self._open[id], own[id]
        if len(own) + self._opening[owner] < self._limit:
            return True
        idle = [id for id, each in own.items() if not each.under_way]
        if not idle:
            return False
        await self._end(min(idle, key=lambda id: own[id].last_asked), scope)
        return True

    async def _end(self, id: str, scope: Scope) -> None:
        """End a session as its client would."""
        self._open.pop(id, None)
        hosts = [(name, value) for name, value in scope["headers"] if name == b"host"]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_: Message) -> None: ...

        headers = [*hosts, (SESSION.encode(), id.encode("latin-1"))]
        await self._app({**scope, "method": "DELETE", "headers": headers}, receive, send)


def _may_open(method: str, headers: Headers) -> bool:
    version = headers.get(VERSION)
    is_older_era = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    return method == "POST" and is_older_era and SESSION not in headers
