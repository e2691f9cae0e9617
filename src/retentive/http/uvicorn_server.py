"""The server itself: uvicorn, with limits, and an end that loses nothing.

On SIGTERM or Ctrl-C nobody new is let in, what runs is finished, and `serve` returns, so that its caller closes the
store. (By itself uvicorn would then let the signal end the process.) A second Ctrl-C waits for nothing.

Nobody is kept out by the connections of others. Where there are too many, some give way that wait for a request: the
oldest of the address that has the most of them. (By itself uvicorn would answer every request with 503 then, also those
of connections that were there before.) Only if none waits, a new one is turned away.
"""

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import HANDLED_SIGNALS

from retentive.errors import BadConfig
from retentive.http.rate import caller
from retentive.http.settings import Settings

BACKLOG = 256
FILES_FOR_OTHERS = 200  # descriptors that are left to the store, beside those of the connections
GIVING_WAY = 20  # shares of the waiting connections of one address, of which one gives way: looking costs 0.1 ms
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def serve(app: ASGIApp, settings: Settings, started: Callable[[str], None] | None = None) -> None:
    """Until it is told to end, by a signal. `started` hears the address, which has the true port."""
    listening = _listening(settings)
    config = uvicorn.Config(
        app,
        http=_connections(_affordable(settings.max_connections)),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips=[*settings.trusted_proxies],
        timeout_keep_alive=settings.idle_seconds,
        timeout_graceful_shutdown=settings.drain_seconds,
        backlog=BACKLOG,
    )
    with listening:
        _Server(config, lambda: (started or _say)(_shown(listening))).run([listening])


class _Connection(H11Protocol):
    """Closed when no request began for a while, though half of one did: else a few clients could hold them all."""

    limit: int
    connections: "set[_Connection]"  # type: ignore[assignment]  # all are of this class

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.address = caller({"client": self.client})
        self.since = self.loop.time()
        self._watch()
        if len(self.connections) > self.limit:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def is_waiting(self) -> bool:
        """Whether no request is under way: not the first, or not the next."""
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn has none before the first
        return cycle is None or cycle.response_complete

    def _watch(self) -> None:
        self._seen: RequestResponseCycle | None = self.cycle
        self._timer = self.loop.call_later(self.timeout_keep_alive, self._look)

    def _look(self) -> None:
        waiting = self._seen is None or self._seen.response_complete
        if waiting and self.cycle is self._seen:
            self.transport.close()
        else:
            self._watch()

    def _make_room(self) -> None:
        by_address: dict[str, list[_Connection]] = {}
        for each in self.connections:
            if each.is_waiting and each is not self:
                by_address.setdefault(each.address, []).append(each)
        if not by_address:
            self.transport.write(BUSY)
            self.transport.close()
            return
        most = max(by_address.values(), key=len)
        most.sort(key=lambda each: each.since)
        for each in most[: max(1, len(most) // GIVING_WAY)]:
            each.transport.abort()


def _connections(limit: int) -> type[_Connection]:
    return type("_Connection", (_Connection,), {"limit": limit})


def _affordable(wanted: int) -> int:
    """As many connections as the process may have files open. That limit is raised, as far as it may be."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    needed = wanted + FILES_FOR_OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        needed = min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return max(1, min(wanted, needed - FILES_FOR_OTHERS))


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._tell()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does it, but a signal that was heard is not sent again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _listening(settings: Settings) -> socket.socket:
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_ADDRCONFIG
        )
        family, address = found[0][0], found[0][4]
        return socket.create_server(address, family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or error
        hint = "Is another server there? Choose another port; 0 takes one that is free."
        raise BadConfig(f"cannot listen on {settings.host} port {settings.port}: {said}", hint) from error


def _shown(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _say(address: str) -> None:
    sys.stderr.write(f"retentive serves at {address}\n")
    sys.stderr.flush()
