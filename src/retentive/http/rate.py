"""How often, and how many at once: a bucket of requests for each caller, refilled at a steady pace, and a share."""

import threading
import time
from collections import Counter
from ipaddress import IPv6Address, IPv6Network

from starlette.types import ASGIApp, Receive, Scope, Send

from retentive.http.responses import too_many
from retentive.http.settings import BURST_SECONDS, Settings, address_of

MOST = 10_000  # callers that are remembered, those that asked last


class Buckets:
    """`take` one from the bucket of a key: 0.0, or the seconds until there is one."""

    def __init__(self, per_second: float, size: float) -> None:
        self._per_second, self._size = per_second, size
        self._held: dict[str, tuple[float, float]] = {}
        """By key: how much was left, and when."""
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
        self._held[key] = left, now  # the last used at the end
        if len(self._held) > MOST:
            del self._held[next(iter(self._held))]


class Rate:
    """Of one token; of one address, where there is none."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        rate = settings.requests_per_second
        self._buckets = Buckets(rate, max(1.0, rate * BURST_SECONDS)) if rate else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = self._buckets.take(holder(scope)) if self._buckets else 0.0
        if wait:
            await too_many(wait, "too many requests")(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class Share:
    """How many at once, of one token or one address: streams that stay open among them.

    So nobody takes up all the connections that the server has.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app, self._limit = app, limit
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = holder(scope)
        if self._under_way[who] >= self._limit:
            await too_many(0, f"{self._limit} requests of this caller are under way already")(scope, receive, send)
            return
        self._under_way[who] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way[who] -= 1
            if not self._under_way[who]:
                del self._under_way[who]


def holder(scope: Scope) -> str:
    """Whose request it is: the token's, or the address's where there is none."""
    token = scope.get("state", {}).get("token")
    return str(token.id) if token else caller(scope)


def caller(scope: Scope) -> str:
    """Its address; of IPv6 the network, since whoever has one address there has 2^64 of them."""
    host = str((scope.get("client") or ("unknown",))[0])
    address = address_of(host)
    return str(IPv6Network((address, 64), strict=False)) if isinstance(address, IPv6Address) else host
