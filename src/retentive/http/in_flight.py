"""Refuse a request whose id another request of the same MCP session is using.

The client and the SDK match answers to requests by id. If two concurrent requests had one id, one would get the answer
of the other. So the second is refused while the first runs, also if its client has disconnected.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from retentive.http.body import replay_body
from retentive.http.rate import caller_key
from retentive.http.sessions import SESSION_HEADER

INVALID_REQUEST = -32600  # of JSON-RPC
MAX_ID_CHARS = 60  # of an id in an error message

Key = tuple[str, str, str]


class Flight:
    """One running request, whose id is reserved. It ends when its last holder releases it."""

    def __init__(self, on_end: Callable[["Flight"], None]) -> None:
        self._on_end = on_end
        self._holders = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._on_end(self)


class DuplicateIdCheck:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._running: dict[Key, Flight] = {}
        """By caller, session and id. The SDK does not distinguish 1 from "1"."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get(SESSION_HEADER)
        if session is None or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        message = await receive()
        body = message.get("body", b"")
        id = _parse_id(body)
        key = caller_key(scope), session, str(id)
        if id is not None and key in self._running:
            await _duplicate_id_response(id)(scope, receive, send)
            return
        flight = Flight(lambda flight: self._end(key, flight))
        if id is not None:
            self._running[key] = flight
        state = {**scope.get("state", {}), "flight": flight}
        with flight.hold():
            await self._app({**scope, "state": state}, replay_body(body, receive), send)

    def _end(self, key: Key, flight: Flight) -> None:
        if self._running.get(key) is flight:
            del self._running[key]


def reserve_request_id(request: Request | None) -> AbstractContextManager[None]:
    """Keep the id of a request reserved while it is handled."""
    flight = request.scope.get("state", {}).get("flight") if request else None
    return flight.hold() if isinstance(flight, Flight) else nullcontext()


def _parse_id(body: bytes) -> str | int | None:
    """Return the id of a request; None for a notification, an answer or an invalid message."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    id = message.get("id")
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def _duplicate_id_response(id: str | int) -> Response:
    shown = repr(id if isinstance(id, int) else id[:MAX_ID_CHARS])
    data = {"type": "Conflict", "hint": "Give each request an id of its own.", "retryable": False}
    message = f"a request of this session with the id {shown} is being answered. {data['hint']}"
    error = {"code": INVALID_REQUEST, "message": message, "data": data}
    return JSONResponse({"jsonrpc": "2.0", "id": id, "error": error}, HTTPStatus.CONFLICT)
