"""The door of the network: who may come in, under which name, how much and how often; and a way out without loss.

    Hosts        a page that points a name of its own at us (DNS rebinding) is turned away: 421, 403
    /health      does the store answer? No token needed
    /mcp         Bearer   who it is, and what they may see: 401, 403
                 Rate     how often: 429
                 Share    how many at once: 429
                 Body     how much: 413
                 Owner    whose session of MCP it is
                 Sessions how many of them each caller has: 429
                 InFlight no two requests of one id at once: 409
                 the application, which finds in `scope["state"]` the `token` (or None) and `memory`: the store as this
                 caller may see it, in the namespace that `X-Retentive-Namespace` names

Each is a plain ASGI class that knows nothing of the others. What is behind them may be any ASGI application.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from retentive.api import Retentive
from retentive.errors import BadConfig, RetentiveError
from retentive.http.bearer import Bearer
from retentive.http.body import Body
from retentive.http.health import Health
from retentive.http.hosts import Hosts
from retentive.http.in_flight import InFlight
from retentive.http.owner import Owner
from retentive.http.rate import Rate, Share
from retentive.http.responses import refusal, told
from retentive.http.sessions import Sessions
from retentive.http.settings import Settings, settings_of
from retentive.http.uvicorn_server import serve

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[Any]]


def open_app(
    memory: Retentive, mcp_app: ASGIApp, settings: Settings | None = None, lifespan: Lifespan | None = None
) -> Starlette:
    """The whole application. `lifespan` is entered when the server starts, and left when the last request is done."""
    known = settings or Settings()
    _check(memory, known)
    inside = guarded(Owner(Sessions(InFlight(mcp_app))), memory, known)
    return Starlette(
        routes=[
            Route("/health", Health(memory).answer, methods=["GET"]),
            Route("/mcp", _Mounted(inside, "/mcp")),
            Mount("/mcp", inside),
        ],
        middleware=[Middleware(Hosts, settings=known)],
        exception_handlers={HTTPException: _http, RetentiveError: _ours, Exception: _unexpected},
        lifespan=lifespan,
    )


def guarded(app: ASGIApp, memory: Retentive, settings: Settings) -> ASGIApp:
    """An application behind tokens and limits."""
    share = Share(Body(app, settings.max_request), settings.requests_at_once)
    return Bearer(Rate(share, settings), memory, settings)


class _Mounted:
    """Without a slash at its end the address is the same: a client that posts is not sent elsewhere."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app, self._path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = scope.get("root_path", "") + self._path
        await self._app({**scope, "root_path": root, "path": f"{root}/"}, receive, send)


def _check(memory: Retentive, settings: Settings) -> None:
    """Nobody opens a store to a network by mistake; and what would fail with the first request fails now."""
    if not settings.needs_token:
        return
    if not settings.require_token and not any(token.revoked is None for token in memory.tokens.list()):
        hint = "Make a token first (retentive token create), or say --require-token to make one later."
        raise BadConfig(f"{settings.host} can be reached from other machines, and the store has no token", hint)
    memory.restricted(memory.namespace)


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
    hint = "MCP is at /mcp, the health check at /health." if error.status_code == HTTPStatus.NOT_FOUND else ""
    return refusal(error.status_code, "HTTPError", error.detail, hint, headers=error.headers)


async def _ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, RetentiveError)  # noqa: S101 - what it is registered for
    return told(error)


async def _unexpected(_: Request, __: Exception) -> Response:
    """The connection is closed after it: whoever would use it again is told so."""
    said = "something unexpected went wrong; the server's log says what"
    return refusal(500, "RetentiveError", said, headers={"Connection": "close"})


__all__ = ["Settings", "guarded", "open_app", "serve", "settings_of"]
