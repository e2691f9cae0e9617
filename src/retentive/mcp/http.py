"""The protocol over HTTP, behind the guards of `http/`, which say in each request's state how far it may reach."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp

from retentive.api import Retentive
from retentive.http.in_flight import hold
from retentive.http.responses import outward
from retentive.http.sessions import IDLE_SECONDS
from retentive.mcp.caller import Reached, limit_store
from retentive.mcp.catalogue import Offer
from retentive.mcp.instructions import instructions
from retentive.mcp.server import Asked, Reach, open_server
from retentive.model import Bounds, Token
from retentive.served_namespaces import Whose

NOBODY = "nobody"  # whoever comes without a token: all of them are one caller
Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]


def open_endpoint(whose: Whose, offer: Offer, max_request: int) -> tuple[ASGIApp, Lifespan]:
    """The application, and what must be running while it is asked."""
    told = instructions(replace(whose, person=None), writes=offer is not Offer.READ)  # not every token's project
    server = open_server(reach_of(whose), offer, told, shown=outward, hold=lambda asked: hold(asked.request))
    manager = StreamableHTTPSessionManager(server, max_request_body_size=max_request, session_idle_timeout=IDLE_SECONDS)
    return manager.handle_request, lambda _: manager.run()


def reach_of(whose: Whose) -> Reach:
    """A request without a token reads what the server's own client would; one with a token, what that opens of it."""

    async def reach(asked: Asked) -> Reached:
        state = asked.request.scope["state"]  # type: ignore[union-attr]  # over HTTP there always is one
        return reached(whose, state["memory"], state["token"])

    return reach


def reached(whose: Whose, memory: Retentive, token: Token | None) -> Reached:
    also = [name for given in whose.also for name in _opened(token, given) if name != memory.namespace]
    person = whose.person if memory.namespace == whose.namespace and whose.person in also else None
    view = limit_store(memory, memory.namespace, person, also)
    writes = not (token and token.read_only)
    who = token.id if token else NOBODY
    failures = _failures_of(memory, token)
    return Reached(view, tuple(also), person, writes=writes, near=False, caller=who, failures=failures)


def _opened(token: Token | None, given: str) -> list[str]:
    """What a token opens of a name, or of a prefix such as `team/*`: all of it, the name itself, or nothing."""
    name = given.removesuffix("/*")
    if token is None or token.bounds.contain(Bounds((), also_read=(given,))):
        return [given]
    return [name] if token.bounds.cover(name) else []


def _failures_of(memory: Retentive, token: Token | None) -> Callable[[], Mapping[str, str]]:
    """Whoever brings a token is told nothing of the machine."""
    return dict if token else lambda: memory.stats()["failures"]
