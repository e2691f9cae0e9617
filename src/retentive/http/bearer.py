"""Authenticate a caller by `Authorization: Bearer`, and restrict the store to the namespaces of the token.

Tokens are looked up in the store with each request, so a revoked token stops working at once. Guessing a secret is
hopeless, but each wrong secret costs a query. So unknown secrets are looked up in batches, one query at a time, on a
thread of their own. An address that sends many wrong secrets gets 429. A valid secret from the same address is still
accepted, because behind a proxy all clients may have one address.
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
from retentive.http.rate import Buckets, client_address
from retentive.http.responses import error_response, refusal, too_many
from retentive.http.settings import HttpSettings
from retentive.model import Token

NAMESPACE_HEADER = "x-retentive-namespace"
WRONG_PER_SECOND, WRONG_BURST = 1.0, 20  # invalid secrets of one address
MAX_THREADS = 8  # of its own: callers who keep all other threads busy lock nobody out
MAX_KNOWN_SECRETS = 1000  # hashes of valid secrets that are remembered
HINT = "Send `Authorization: Bearer rt_...`, with a secret from `retentive token create`."


class Admitted(NamedTuple):
    token: Token | None
    memory: Retentive
    """The store, restricted to what the token allows."""


class BearerAuth:
    def __init__(self, app: ASGIApp, memory: Retentive, settings: HttpSettings) -> None:
        self._app = app
        self._memory = memory
        self._required = settings.needs_token
        self._wrong_secrets = Buckets(WRONG_PER_SECOND, WRONG_BURST)
        self._known_hashes: OrderedDict[bytes, None] = OrderedDict()
        self._threads = CapacityLimiter(MAX_THREADS)
        self._unknown = BatchVerifier(memory)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # only HTTP is served behind a token
        try:
            found = await self._admit(scope)
        except RetentiveError as error:
            found = error_response(error)
        if isinstance(found, Response):
            await found(scope, receive, send)
            return
        state = {**scope.get("state", {}), "token": found.token, "memory": found.memory}
        await self._app({**scope, "state": state}, receive, send)

    async def _admit(self, scope: Scope) -> Admitted | Response:
        headers = Headers(scope=scope)
        given = headers.getlist("authorization")
        namespace = _parse_namespace(headers.getlist(NAMESPACE_HEADER))
        if not given:
            return _unauthorised("a token is needed") if self._required else self._open(None, namespace)
        secret = _parse_secret(given)
        digest = sha256(secret.encode("latin-1", "replace")).digest()
        if digest in self._known_hashes:
            token = await to_thread.run_sync(self._memory.tokens.verify, secret, limiter=self._threads)
        else:
            token = await self._unknown.verify(secret)
        if token is None:
            self._known_hashes.pop(digest, None)
            return self._refuse(client_address(scope))
        self._remember(digest)
        return await to_thread.run_sync(self._open, token, namespace, limiter=self._threads)

    def _refuse(self, address: str) -> Response:
        if wait := self._wrong_secrets.take(address):
            return too_many(wait, "too many wrong tokens from this address")
        return _unauthorised("the token is not valid: wrong, expired or revoked", 'error="invalid_token"')

    def _open(self, token: Token | None, namespace: str | None) -> Admitted:
        memory = self._memory
        if token:
            memory = memory.restricted(token.namespace, subtree=token.subtree, read_only=token.read_only)
            memory = memory.in_namespace(token.namespace)
        return Admitted(token, memory if namespace is None else memory.in_namespace(namespace))

    def _remember(self, digest: bytes) -> None:
        self._known_hashes[digest] = None
        self._known_hashes.move_to_end(digest)
        if len(self._known_hashes) > MAX_KNOWN_SECRETS:
            self._known_hashes.popitem(last=False)


class BatchVerifier:
    """Verifies secrets that are not known to be valid, in batches.

    One query runs at a time, however many secrets arrive, and each secret waits for at most two queries.
    """

    def __init__(self, memory: Retentive) -> None:
        self._memory = memory
        self._waiting: list[tuple[str, asyncio.Future[Token | None]]] = []
        self._running: asyncio.Task[None] | None = None
        self._thread = CapacityLimiter(1)

    async def verify(self, secret: str) -> Token | None:
        answer: asyncio.Future[Token | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((secret, answer))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._verify_batch(batch)
        finally:
            self._running = None

    async def _verify_batch(self, batch: list[tuple[str, asyncio.Future[Token | None]]]) -> None:
        secrets = [secret for secret, _ in batch]
        try:
            found = await to_thread.run_sync(self._memory.tokens.verify_many, secrets, limiter=self._thread)
        except Exception as error:  # noqa: BLE001 - raised again in each waiting request
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), token in zip(batch, found, strict=True):
            if not answer.done():  # the client may have disconnected
                answer.set_result(token)


def _parse_secret(given: list[str]) -> str:
    """Return the secret of the header; "", which is never valid, if the header is malformed."""
    scheme, _, secret = given[0].strip().partition(" ")
    return secret.strip() if len(given) == 1 and scheme.lower() == "bearer" else ""


def _parse_namespace(given: list[str]) -> str | None:
    """Return the namespace of the header, percent-decoded (%C3%A9)."""
    if len(given) > 1:
        raise Invalid("two namespaces were given", f"Give one {NAMESPACE_HEADER}.")
    return unquote(given[0].strip()) if given else None


def _unauthorised(message: str, more: str = "") -> Response:
    challenge = ", ".join(filter(None, ('Bearer realm="retentive"', more)))
    return refusal(401, "Unauthorised", message, HINT, headers={"WWW-Authenticate": challenge})
