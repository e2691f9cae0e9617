"""Which requests of a session of MCP are being answered.

A client tells answers apart by the ids that it gave to its requests, and so does the SDK. If two requests of a session
had one id at the same time, one would get the answer of the other. So the second is refused while the first is under
way. That may be longer than its connection lives: whoever went away does not end what was begun.
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

from retentive.http.body import again
from retentive.http.rate import holder
from retentive.http.sessions import SESSION

INVALID_REQUEST = -32600  # of JSON-RPC
SHOWN = 60  # characters of an id that are repeated

Key = tuple[str, str, str]


class Flight:
    """One request, held by all who have still to do with it."""

    def __init__(self, over: Callable[["Flight"], None]) -> None:
        self._over = over
        self._holders = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._over(self)


class InFlight:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way: dict[Key, Flight] = {}
        """By caller, session and id. The SDK does not tell 1 from "1"."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get(SESSION)
        if session is None or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        message = await receive()
        body = message.get("body", b"")
        id = _id_of(body)
        key = holder(scope), session, str(id)
        if id is not None and key in self._under_way:
            await _refusal(id)(scope, receive, send)
            return
        flight = Flight(lambda flight: self._end(key, flight))
        if id is not None:
            self._under_way[key] = flight
        state = {**scope.get("state", {}), "flight": flight}
        with flight.hold():
            await self._app({**scope, "state": state}, again(body, receive), send)

    def _end(self, key: Key, flight: Flight) -> None:
        if self._under_way.get(key) is flight:
            del self._under_way[key]


def hold(request: Request | None) -> AbstractContextManager[None]:
    """Keep a request among those under way while it is worked on."""
    flight = request.scope.get("state", {}).get("flight") if request else None
    return flight.hold() if isinstance(flight, Flight) else nullcontext()


def _id_of(body: bytes) -> str | int | None:
    """The id of a request; None if it is a notification, an answer or nonsense, which others judge."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    id = message.get("id")
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def _refusal(id: str | int) -> Response:
    shown = repr(id if isinstance(id, int) else id[:SHOWN])
    told = {"type": "Conflict", "hint": "Give each request an id of its own.", "retryable": False}
    message = f"a request of this session with the id {shown} is being answered. {told['hint']}"
    error = {"code": INVALID_REQUEST, "message": message, "data": told}
    return JSONResponse({"jsonrpc": "2.0", "id": id, "error": error}, HTTPStatus.CONFLICT)
