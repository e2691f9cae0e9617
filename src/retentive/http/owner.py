"""Whose session it is.

A session of MCP has an id, and whoever has it could go on with it. The SDK therefore compares the `user` of each
request with that of the session's first; here it is told who that is: the token.
"""

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.types import ASGIApp, Receive, Scope, Send


class Owner:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if token := scope.get("state", {}).get("token"):
            known = AccessToken(token="", client_id=token.id, scopes=[])  # its secret is nobody's concern here
            scope = {**scope, "user": AuthenticatedUser(known)}
        await self._app(scope, receive, send)
