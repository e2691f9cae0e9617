"""Who it is, by `Authorization: Bearer`, and what they may see.

Tokens are looked up in the store with each request, so that one that is revoked opens nothing from then on. Guessing a
secret is hopeless; what wrong ones cost is a look into the store each, so an address that brings many is made to wait,
but not for secrets that were right before: behind a proxy everybody may have the same address.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import unquote

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from retentive.app import Retentive
from retentive.errors import Invalid, RetentiveError
from retentive.model import Token
from retentive.serve.http.answers import refusal, told, too_many
from retentive.serve.http.rate import Buckets, caller
from retentive.serve.http.settings import Settings

NAMESPACE = "x-retentive-namespace"
WRONG_PER_SECOND, WRONG_AT_ONCE = 1.0, 20  # secrets that are none, of one address
THREADS = 8  # of its own: whoever keeps all others busy does not keep anybody out
REMEMBERED = 1000  # secrets that were right, by their hashes
HINT = "Send `Authorization: Bearer rt_...`, with a secret that `retentive token create` gave."


class Admitted(NamedTuple):
    token: Token | None
    memory: Retentive
    """As far as the token reaches."""


class Bearer:
    def __init__(self, app: ASGIApp, memory: Retentive, settings: Settings) -> None:
        self._app = app
        self._memory = memory
        self._required = settings.needs_token
        self._wrong = Buckets(WRONG_PER_SECOND, WRONG_AT_ONCE)
        self._right: OrderedDict[bytes, None] = OrderedDict()
        self._threads = CapacityLimiter(THREADS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # there is nothing but HTTP behind a token
        try:
            found = await self._admitted(scope)
        except RetentiveError as error:
            found = told(error)
        if isinstance(found, Response):
            await found(scope, receive, send)
            return
        state = {**scope.get("state", {}), "token": found.token, "memory": found.memory}
        await self._app({**scope, "state": state}, receive, send)

    async def _admitted(self, scope: Scope) -> Admitted | Response:
        headers = Headers(scope=scope)
        given = headers.getlist("authorization")
        namespace = _namespace(headers.getlist(NAMESPACE))
        if not given:
            return _unauthorised("a token is needed") if self._required else self._open(None, namespace)
        secret = _secret(given)
        digest, address = sha256(secret.encode("latin-1", "replace")).digest(), caller(scope)
        known = digest in self._right
        if not known and (wait := self._wrong.take(address)):
            return too_many(wait, "too many wrong tokens from this address")
        token = await to_thread.run_sync(self._memory.tokens.verify, secret, limiter=self._threads)
        if token is None:
            self._right.pop(digest, None)
            return _unauthorised("the token is not valid: wrong, expired or revoked", 'error="invalid_token"')
        if not known:
            self._wrong.give(address)
        self._remember(digest)
        return await to_thread.run_sync(self._open, token, namespace, limiter=self._threads)

    def _open(self, token: Token | None, namespace: str | None) -> Admitted:
        memory = self._memory
        if token:
            memory = memory.restricted(token.namespace, subtree=token.subtree, read_only=token.read_only)
            memory = memory.in_namespace(token.namespace)
        return Admitted(token, memory if namespace is None else memory.in_namespace(namespace))

    def _remember(self, digest: bytes) -> None:
        self._right[digest] = None
        self._right.move_to_end(digest)
        if len(self._right) > REMEMBERED:
            self._right.popitem(last=False)


def _secret(given: list[str]) -> str:
    """Empty, which is none, if it is not said as it should be."""
    scheme, _, secret = given[0].strip().partition(" ")
    return secret.strip() if len(given) == 1 and scheme.lower() == "bearer" else ""


def _namespace(given: list[str]) -> str | None:
    """Letters that a header cannot have are written as %C3%A9."""
    if len(given) > 1:
        raise Invalid("two namespaces are named", f"Give one {NAMESPACE}.")
    return unquote(given[0].strip()) if given else None


def _unauthorised(message: str, more: str = "") -> Response:
    challenge = ", ".join(filter(None, ('Bearer realm="retentive"', more)))
    return refusal(401, "Unauthorised", message, HINT, headers={"WWW-Authenticate": challenge})
