"""Bind an MCP session to the token that opened it.

Anyone who knows the id of a session could continue it. The SDK therefore compares the `user` of each request with that
of the session's first request. This layer sets that `user` to the token.
"""

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.types import ASGIApp, Receive, Scope, Send


class SessionOwner:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if token := scope.get("state", {}).get("token"):
            known = AccessToken(token="", client_id=token.id, scopes=[])  # the secret is not needed here
            scope = {**scope, "user": AuthenticatedUser(known)}
        await self._app(scope, receive, send)
