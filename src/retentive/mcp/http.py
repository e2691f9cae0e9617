"""The protocol over HTTP. The layers of `http/` before it put the store and the token into the request's state."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp

from retentive.api import Retentive
from retentive.http.in_flight import reserve_request_id
from retentive.http.responses import redact_error
from retentive.http.sessions import IDLE_SECONDS
from retentive.mcp.caller import Caller, limit_store
from retentive.mcp.catalogue import Offer
from retentive.mcp.instructions import instructions
from retentive.mcp.server import FindCaller, RequestContext, open_server
from retentive.model import Bounds, Token
from retentive.served_namespaces import ServedNamespaces

ANONYMOUS = "nobody"  # all who come without a token are one caller
Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]


def open_endpoint(served: ServedNamespaces, offer: Offer, max_request: int) -> tuple[ASGIApp, Lifespan]:
    """Return the application, and the lifespan that must run around it."""
    text = instructions(replace(served, person=None), offer)  # not every token's project
    server = open_server(
        make_caller_lookup(served),
        offer,
        text,
        redact=redact_error,
        reserve_request_id=lambda context: reserve_request_id(context.request),
    )
    manager = StreamableHTTPSessionManager(server, max_request_body_size=max_request, session_idle_timeout=IDLE_SECONDS)
    return manager.handle_request, lambda _: manager.run()


def make_caller_lookup(served: ServedNamespaces) -> FindCaller:
    """Return what finds the caller of a request. Without a token it reads all that the server serves."""

    async def find_caller(context: RequestContext) -> Caller:
        state = context.request.scope["state"]  # type: ignore[union-attr]  # over HTTP there always is one
        return identify_caller(served, state["memory"], state["token"])

    return find_caller


def identify_caller(served: ServedNamespaces, memory: Retentive, token: Token | None) -> Caller:
    """Make a caller that reads what the server serves, as far as its token allows."""
    readable = [name for given in served.also_read for name in _readable_names(token, given)]
    also_read = [name for name in readable if name != memory.namespace]
    person = served.person if memory.namespace == served.namespace and served.person in also_read else None
    view = limit_store(memory, memory.namespace, person, also_read)
    can_write = not (token and token.read_only)
    id = token.id if token else ANONYMOUS
    failures = _find_failure_source(memory, token)
    return Caller(view, tuple(also_read), person, can_write=can_write, is_local=False, id=id, failures=failures)


def _readable_names(token: Token | None, given: str) -> list[str]:
    """Return what a token lets read of a name or prefix: `team/*`, only `team`, or nothing."""
    name = given.removesuffix("/*")
    if token is None or token.bounds.can_read_all_of(Bounds((), also_read=(given,))):
        return [given]
    return [name] if token.bounds.cover(name) else []


def _find_failure_source(memory: Retentive, token: Token | None) -> Callable[[], Mapping[str, str]]:
    """Return what reads the failures of this machine. A caller with a token may not see them."""
    return dict if token else lambda: memory.stats()["failures"]
