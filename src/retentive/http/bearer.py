"""Who it is, by `Authorization: Bearer`, and what they may see.

Tokens are looked up in the store with each request, so that one that is revoked opens nothing from then on. Guessing a
secret is hopeless; what wrong ones cost is a look into the store. So secrets that nobody brought before are looked up
together, one query at a time, however many there are, and on a thread of their own. An address that brings many wrong
ones is told to wait. Whoever brings a right one is let in all the same, also from there: behind a proxy everybody may
have the same address.
"""

import asyncio
from collections import OrderedDict
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import unquote

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from retentive.api import Retentive
from retentive.errors import Invalid, RetentiveError
from retentive.http.rate import Buckets, caller
from retentive.http.responses import refusal, told, too_many
from retentive.http.settings import Settings
from retentive.model import Token

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
        self._strangers = Strangers(memory)

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
        digest = sha256(secret.encode("latin-1", "replace")).digest()
        if digest in self._right:
            token = await to_thread.run_sync(self._memory.tokens.verify, secret, limiter=self._threads)
        else:
            token = await self._strangers.verify(secret)
        if token is None:
            self._right.pop(digest, None)
            return self._refuse(caller(scope))
        self._remember(digest)
        return await to_thread.run_sync(self._open, token, namespace, limiter=self._threads)

    def _refuse(self, address: str) -> Response:
        if wait := self._wrong.take(address):
            return too_many(wait, "too many wrong tokens from this address")
        return _unauthorised("the token is not valid: wrong, expired or revoked", 'error="invalid_token"')

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


class Strangers:
    """Secrets that were not right before, looked up together.

    However many are brought, one query at a time is under way, and each secret waits for two of them at the most.
    """

    def __init__(self, memory: Retentive) -> None:
        self._memory = memory
        self._waiting: list[tuple[str, asyncio.Future[Token | None]]] = []
        self._looking: asyncio.Task[None] | None = None
        self._thread = CapacityLimiter(1)

    async def verify(self, secret: str) -> Token | None:
        answer: asyncio.Future[Token | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((secret, answer))
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        return await answer

    async def _look(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._answer(batch)
        finally:
            self._looking = None

    async def _answer(self, batch: list[tuple[str, asyncio.Future[Token | None]]]) -> None:
        secrets = [secret for secret, _ in batch]
        try:
            found = await to_thread.run_sync(self._memory.tokens.verify_many, secrets, limiter=self._thread)
        except Exception as error:  # noqa: BLE001 - raised again for each who waits
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), token in zip(batch, found, strict=True):
            if not answer.done():  # whoever asked may be gone
                answer.set_result(token)


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
