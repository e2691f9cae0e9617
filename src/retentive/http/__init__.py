"""The HTTP server: host checks, authentication, limits, a health check, and a shutdown that loses nothing.

A request passes these layers, from the outside in. `uvicorn_server.py` runs the whole application.

    HostCheck             refuses web pages that point a name of their own at us (DNS rebinding): 421, 403
    /health               whether the store answers; needs no token
    /mcp                  BearerAuth        authenticates the caller and restricts the store: 401, 403
                          RateLimit         limits requests per second: 429
                          ConcurrencyLimit  limits concurrent requests: 429
                          BodyLimit         limits the size of a body: 413
                          SessionOwner      binds an MCP session to its token
                          SessionLimit      limits the MCP sessions of a caller: 429
                          DuplicateIdCheck  refuses two concurrent requests of one id: 409
                          the application, which finds in `scope["state"]` the `token` (or None) and `memory`: the
                          store as this caller may see it, in the namespace that `X-Retentive-Namespace` names

Each is a plain ASGI class that knows nothing of the others. The application behind them may be any ASGI application.
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
from retentive.http.bearer import BearerAuth
from retentive.http.body import BodyLimit
from retentive.http.health import HealthCheck
from retentive.http.hosts import HostCheck
from retentive.http.in_flight import DuplicateIdCheck
from retentive.http.owner import SessionOwner
from retentive.http.rate import ConcurrencyLimit, RateLimit
from retentive.http.responses import error_response, refusal
from retentive.http.sessions import SessionLimit
from retentive.http.settings import HttpSettings, make_settings
from retentive.http.uvicorn_server import serve

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[Any]]


def open_app(
    memory: Retentive, mcp_app: ASGIApp, settings: HttpSettings | None = None, lifespan: Lifespan | None = None
) -> Starlette:
    """Build the whole application. `lifespan` is entered at the start, and left when the last request is done."""
    settings = settings or HttpSettings()
    _require_safe_start(memory, settings)
    inside = protect_app(SessionOwner(SessionLimit(DuplicateIdCheck(mcp_app))), memory, settings)
    return Starlette(
        routes=[
            Route("/health", HealthCheck(memory).answer, methods=["GET"]),
            Route("/mcp", _ServeWithoutSlash(inside, "/mcp")),
            Mount("/mcp", inside),
        ],
        middleware=[Middleware(HostCheck, settings=settings)],
        exception_handlers={
            HTTPException: _on_http_error,
            RetentiveError: _on_own_error,
            Exception: _on_unexpected_error,
        },
        lifespan=lifespan,
    )


def protect_app(app: ASGIApp, memory: Retentive, settings: HttpSettings) -> ASGIApp:
    """Put an application behind tokens and limits."""
    limited = ConcurrencyLimit(BodyLimit(app, settings.max_request), settings.requests_at_once)
    return BearerAuth(RateLimit(limited, settings), memory, settings)


class _ServeWithoutSlash:
    """Serve the mounted path also without a trailing slash, so that a POST is not redirected."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app, self._path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = scope.get("root_path", "") + self._path
        await self._app({**scope, "root_path": root, "path": f"{root}/"}, receive, send)


def _require_safe_start(memory: Retentive, settings: HttpSettings) -> None:
    """Refuse to open a store without tokens to a network."""
    if not settings.needs_token:
        return
    if not settings.require_token and not any(token.revoked is None for token in memory.tokens.list()):
        hint = "Create a token first (retentive token create), or use --require-token to create one later."
        raise BadConfig(f"{settings.host} can be reached from other machines, and the store has no token", hint)
    memory.restricted(memory.namespace)  # every request with a token does this: fail now if it cannot


async def _on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - what it is registered for
    hint = "MCP is at /mcp, the health check at /health." if error.status_code == HTTPStatus.NOT_FOUND else ""
    return refusal(error.status_code, "HTTPError", error.detail, hint, headers=error.headers)


async def _on_own_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RetentiveError)  # noqa: S101 - what it is registered for
    return error_response(error)


async def _on_unexpected_error(_: Request, __: Exception) -> Response:
    """Answer 500. The connection is closed after it, and the client is informed."""
    message = "unexpected error; the server's log says what happened"
    return refusal(500, "RetentiveError", message, headers={"Connection": "close"})


__all__ = ["HttpSettings", "make_settings", "open_app", "protect_app", "serve"]
