"""The health check: whether the store answers. It needs no token and reveals no data."""

import asyncio
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from retentive.api import Retentive
from retentive.errors import RetentiveError

FRESH_SECONDS = 1.0  # for which an answer is reused, so that frequent checks cost nothing
MAX_WAIT_SECONDS = 2.0  # a monitor does not wait for a database that is being restarted

HealthStatus = tuple[int, dict[str, Any]]


class HealthCheck:
    def __init__(self, memory: Retentive) -> None:
        self._memory = memory
        self._latest: HealthStatus = (503, {})
        self._fresh_until = float("-inf")
        self._running: asyncio.Task[HealthStatus] | None = None

    async def answer(self, _: Request) -> Response:
        status, body = await self._check()
        return JSONResponse(body, status, {"Cache-Control": "no-store"})

    async def _check(self) -> HealthStatus:
        """Return the status. One query runs at a time, however many callers ask."""
        if time.monotonic() < self._fresh_until:
            return self._latest
        if self._running is None:
            self._running = asyncio.create_task(asyncio.to_thread(self._query))
        running = self._running
        await asyncio.wait({running}, timeout=MAX_WAIT_SECONDS)
        if not running.done():
            return 503, _unavailable("the store does not answer")
        if running is self._running:
            self._running = None
            self._latest, self._fresh_until = running.result(), time.monotonic() + FRESH_SECONDS
        return self._latest

    def _query(self) -> HealthStatus:
        try:
            return 200, {"status": "ok", **self._memory.health()}
        except RetentiveError as error:
            return 503, _unavailable(type(error).__name__)  # its message may name hosts and folders


def _unavailable(why: str) -> dict[str, Any]:
    return {"status": "unavailable", "store": why, "schema": None, "model": None}
