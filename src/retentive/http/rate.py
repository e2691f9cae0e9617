"""Limit the requests of each caller: per second (a token bucket) and at the same time."""

import threading
import time
from collections import Counter
from ipaddress import IPv6Address, IPv6Network

from starlette.types import ASGIApp, Receive, Scope, Send

from retentive.http.responses import too_many
from retentive.http.settings import BURST_SECONDS, HttpSettings, parse_address

MAX_CALLERS = 10_000  # that are remembered, the most recent ones


class Buckets:
    """Token buckets by key. `take` returns 0.0, or the seconds to wait."""

    def __init__(self, per_second: float, size: float) -> None:
        self._per_second, self._size = per_second, size
        self._held: dict[str, tuple[float, float]] = {}
        """By key: what was left, and at which time."""
        self._lock = threading.Lock()

    def take(self, key: str) -> float:
        with self._lock:
            now = time.monotonic()
            left = self._left(key, now)
            if left < 1:
                return (1 - left) / self._per_second
            self._put(key, left - 1, now)
            return 0.0

    def _left(self, key: str, now: float) -> float:
        left, at = self._held.get(key, (self._size, now))
        return min(self._size, left + (now - at) * self._per_second)

    def _put(self, key: str, left: float, now: float) -> None:
        self._held.pop(key, None)
        self._held[key] = left, now  # the most recent at the end
        if len(self._held) > MAX_CALLERS:
            del self._held[next(iter(self._held))]


class RateLimit:
    """Limits requests per second of a token, or of an address without one."""

    def __init__(self, app: ASGIApp, settings: HttpSettings) -> None:
        self._app = app
        rate = settings.requests_per_second
        self._buckets = Buckets(rate, max(1.0, rate * BURST_SECONDS)) if rate else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = self._buckets.take(caller_key(scope)) if self._buckets else 0.0
        if wait:
            await too_many(wait, "too many requests")(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class ConcurrencyLimit:
    """Limits concurrent requests of a token or an address, open streams included.

    So nobody takes all connections of the server.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app, self._limit = app, limit
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = caller_key(scope)
        if self._running[key] >= self._limit:
            await too_many(0, f"{self._limit} requests of this caller are in progress already")(scope, receive, send)
            return
        self._running[key] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]


def caller_key(scope: Scope) -> str:
    """Return the id of the token of a request, or its address if it has none."""
    token = scope.get("state", {}).get("token")
    return str(token.id) if token else client_address(scope)


def client_address(scope: Scope) -> str:
    """Return the address of a request; for IPv6 its /64 network, because a client has all 2^64 addresses of it."""
    host = str((scope.get("client") or ("unknown",))[0])
    address = parse_address(host)
    return str(IPv6Network((address, 64), strict=False)) if isinstance(address, IPv6Address) else host
