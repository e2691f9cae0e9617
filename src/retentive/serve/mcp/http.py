"""The protocol over HTTP, behind the guards of `serve/http`, which say in each request's state how far it may reach."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp

from retentive.app import Retentive
from retentive.model import Token
from retentive.serve.http.answers import outward
from retentive.serve.mcp.catalogue import Offer
from retentive.serve.mcp.instructions import instructions
from retentive.serve.mcp.reach import Reached
from retentive.serve.mcp.server import Asked, Reach, open_server
from retentive.serve.whose import Whose

Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]


def open_endpoint(whose: Whose, offer: Offer, max_request: int) -> tuple[ASGIApp, Lifespan]:
    """The application, and what must be running while it is asked."""
    told = instructions(replace(whose, person=None), writes=offer is not Offer.READ)  # not every token's project
    server = open_server(reach_of(whose), offer, told, shown=outward)
    manager = StreamableHTTPSessionManager(server, max_request_body_size=max_request)
    return manager.handle_request, lambda _: manager.run()


def reach_of(whose: Whose) -> Reach:
    """A request without a token reads what the server's own client would; one with a token, what that opens of it."""

    async def reach(asked: Asked) -> Reached:
        state = asked.request.scope["state"]  # type: ignore[union-attr]  # over HTTP there always is one
        return reached(whose, state["memory"], state["token"])

    return reach


def reached(whose: Whose, memory: Retentive, token: Token | None) -> Reached:
    also = tuple(name for name in whose.also if name != memory.namespace and _opens(token, name))
    person = whose.person if memory.namespace == whose.namespace and whose.person in also else None
    memory = memory.in_namespace(memory.namespace, person=person or "")
    return Reached(memory, also, person, writes=not (token and token.read_only), whole=token is None, near=False)


def _opens(token: Token | None, name: str) -> bool:
    return token is None or token.bounds.cover(name.removesuffix("/*"))
