"""Limit the size of request bodies, and read each one completely before the application sees it.

A body that is too long, too slow or broken off never reaches the application.
"""

from anyio import move_on_after
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retentive.http.responses import refusal

BODY_SECONDS = 30.0  # for a body to arrive
LINGER_SECONDS = 1.0  # for the rest of a body that is refused


class BodyLimit:
    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self._read(Headers(scope=scope).get("content-length", ""), receive)
        except ClientDisconnect:
            return
        if isinstance(body, Response):
            await body(scope, receive, send)
        else:
            await self._app(scope, replay_body(body, receive), send)

    async def _read(self, announced: str, receive: Receive) -> bytes | Response:
        if announced.isdecimal() and int(announced) > self._limit:
            return await self._refuse_too_long(receive)
        parts, size = list[bytes](), 0
        with move_on_after(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > self._limit:
                    return await self._refuse_too_long(receive)
                if not message.get("more_body"):
                    return b"".join(parts)
        return refusal(408, "Timeout", f"the body did not arrive within {BODY_SECONDS:.0f} s", headers=_CLOSE)

    async def _refuse_too_long(self, receive: Receive) -> Response:
        """Read some more of the body, then refuse: a client that is cut off while sending never reads the answer."""
        left = self._limit
        with move_on_after(LINGER_SECONDS):
            while left > 0 and (message := await receive()).get("more_body"):
                left -= len(message.get("body", b""))
        hint = "Send less at once; the limit is the setting max_request."
        return refusal(413, "TooLarge", f"the body is longer than {self._limit:,} bytes", hint, headers=_CLOSE)


_CLOSE = {"Connection": "close"}  # the rest of the body is still to come


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Make a `receive` that returns the body that was read, and then what follows: a disconnect."""
    first = True

    async def receive_again() -> Message:
        nonlocal first
        if first:
            first = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return receive_again
