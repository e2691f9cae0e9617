"""A server with a small application behind the door, for tests: what MCP will be, in a few lines.

Arguments: the store, and the settings of the server as JSON.
"""

import json
import sys
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from retentive import Retentive
from retentive.http import HttpSettings, open_app, serve


async def whoami(request: Request) -> Response:
    token = request.state.token
    return JSONResponse({"namespace": request.state.memory.namespace, "token": token and token.id})


async def search(request: Request) -> Response:
    asked = json.loads(await request.body())
    found = await run_in_threadpool(lambda: request.state.memory.search(asked["query"], namespaces=asked["also"]))
    return JSONResponse([hit.content for hit in found])


async def add(request: Request) -> Response:
    """Tells on standard output that it began."""
    text = (await request.body()).decode()

    def keep() -> str:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
        time.sleep(float(request.query_params.get("seconds", 0)))
        return str(request.state.memory.add(text).id)

    return JSONResponse({"id": await run_in_threadpool(keep)})


async def size(request: Request) -> Response:
    return JSONResponse(len(await request.body()))


async def fail(_: Request) -> Response:
    raise ZeroDivisionError


async def endless(_: Request) -> Response:
    async def words() -> AsyncIterator[str]:
        while True:
            yield "on and on\n"
            await anyio.sleep(0.1)

    return StreamingResponse(words())


def main() -> None:
    inner = Router(
        [
            Route("/endless", endless),
            Route("/", whoami, methods=["GET", "POST"]),
            Route("/search", search, methods=["POST"]),
            Route("/add", add, methods=["POST"]),
            Route("/size", size, methods=["POST", "PUT"]),
            Route("/fail", fail),
        ]
    )
    given: dict[str, Any] = {
        name: tuple(each) if isinstance(each, list) else each for name, each in json.loads(sys.argv[2]).items()
    }
    settings = HttpSettings(**{"port": 0, **given})
    with Retentive.open(sys.argv[1], embedder="hashing") as memory:
        serve(open_app(memory, inner, settings), settings)
        sys.stdout.write(f"drained, {threading.active_count()} threads\n")
    sys.stdout.write("closed\n")


if __name__ == "__main__":
    main()
