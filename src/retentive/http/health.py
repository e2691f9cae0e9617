"""Does the store answer? For whoever watches the server: no token, nothing that tells of anybody."""

import asyncio
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from retentive.api import Retentive
from retentive.errors import RetentiveError

FRESH_SECONDS = 1.0  # for which an answer is given again: asking costs nothing, however often
PATIENCE = 2.0  # seconds; who watches does not wait for a database that is being restarted

Known = tuple[int, dict[str, Any]]


class Health:
    def __init__(self, memory: Retentive) -> None:
        self._memory = memory
        self._known: Known = (503, {})
        self._until = float("-inf")
        self._looking: asyncio.Task[Known] | None = None

    async def answer(self, _: Request) -> Response:
        status, said = await self._look()
        return JSONResponse(said, status, {"Cache-Control": "no-store"})

    async def _look(self) -> Known:
        """One look at a time, whoever asks."""
        if time.monotonic() < self._until:
            return self._known
        if self._looking is None:
            self._looking = asyncio.create_task(asyncio.to_thread(self._ask))
        looking = self._looking
        await asyncio.wait({looking}, timeout=PATIENCE)
        if not looking.done():
            return 503, _unavailable("the store does not answer")
        if looking is self._looking:
            self._looking = None
            self._known, self._until = looking.result(), time.monotonic() + FRESH_SECONDS
        return self._known

    def _ask(self) -> Known:
        try:
            return 200, {"status": "ok", **self._memory.health()}
        except RetentiveError as error:
            return 503, _unavailable(type(error).__name__)  # its message may name hosts and folders


def _unavailable(why: str) -> dict[str, Any]:
    return {"status": "unavailable", "store": why, "schema": None, "model": None}
