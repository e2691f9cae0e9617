"""Run the application in uvicorn, with connection limits and a shutdown that loses nothing.

On SIGTERM or Ctrl-C new connections are refused, running requests are finished, and `serve` returns, so that its caller
can close the store. (Unchanged, uvicorn would then let the signal end the process.) A second Ctrl-C stops at once.

A caller with many connections locks nobody out. Above the limit, idle connections are closed: the oldest of the address
that has most of them. (Unchanged, uvicorn would answer all requests with 503, also on older connections.) A new
connection is refused only if none is idle.

uvicorn has no public way to see which connections are idle. So `_Connection` extends its HTTP protocol, which
`uvicorn.Config(http=...)` accepts as a class, and reads the attributes `client`, `connections`, `cycle`, `loop`,
`timeout_keep_alive` and `transport` of it, and `response_complete` of the cycle. `_Server` overrides `startup` and
`capture_signals`. `tests/http/test_uvicorn_contract.py` fails if a new version of uvicorn changes one of them.
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

from retentive.errors import BadConfig
from retentive.http.rate import client_address
from retentive.http.settings import HttpSettings

BACKLOG = 256
RESERVED_FILES = 200  # descriptors that are left to the store
CLOSED_PART = 20  # one in so many idle connections of an address is closed at a time: finding them takes 0.1 ms
STOP_SIGNALS = [signal.SIGINT, signal.SIGTERM]
if sys.platform == "win32":
    STOP_SIGNALS.append(signal.SIGBREAK)  # Ctrl-Break
BUSY_RESPONSE = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def serve(app: ASGIApp, settings: HttpSettings, started: Callable[[str], None] | None = None) -> None:
    """Serve until a signal says stop. `started` is called with the address, which has the actual port."""
    listener = _open_listener(settings)
    config = uvicorn.Config(
        app,
        http=_connection_class(_limit_connections(settings.max_connections)),
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
    on_start = started or _print_address
    with listener:
        _Server(config, lambda: on_start(_format_address(listener))).run([listener])


class _Connection(H11Protocol):
    """Closes itself if no complete request starts for a while, so that half-sent requests cannot hold connections."""

    limit: int
    connections: "set[_Connection]"  # type: ignore[assignment]  # all are of this class

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.address = client_address({"client": self.client})
        self.opened_at = self.loop.time()
        self._start_timer()
        if len(self.connections) > self.limit:
            self._close_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is running."""
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        return cycle is None or cycle.response_complete

    def _start_timer(self) -> None:
        self._last_cycle: RequestResponseCycle | None = self.cycle
        self._timer = self.loop.call_later(self.timeout_keep_alive, self._close_if_unused)

    def _close_if_unused(self) -> None:
        """Close the connection if no request was started since the timer was."""
        if self.is_idle and self.cycle is self._last_cycle:
            self.transport.close()
        else:
            self._start_timer()

    def _close_idle(self) -> None:
        """Close the oldest idle connections of the address that has most of them. Refuse this one if none is idle."""
        by_address: dict[str, list[_Connection]] = {}
        for each in self.connections:
            if each.is_idle and each is not self:
                by_address.setdefault(each.address, []).append(each)
        if not by_address:
            self.transport.write(BUSY_RESPONSE)
            self.transport.close()
            return
        most = max(by_address.values(), key=len)
        most.sort(key=lambda each: each.opened_at)
        for each in most[: max(1, len(most) // CLOSED_PART)]:
            each.transport.abort()


def _connection_class(limit: int) -> type[_Connection]:
    return type("_Connection", (_Connection,), {"limit": limit})


def _limit_connections(wanted: int) -> int:
    """Return how many connections the process can have open. Raises the limit of open files as far as possible."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    needed = wanted + RESERVED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        needed = min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return max(1, min(wanted, needed - RESERVED_FILES))


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals as uvicorn does, but do not raise them again after the shutdown."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in STOP_SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _open_listener(settings: HttpSettings) -> socket.socket:
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_ADDRCONFIG
        )
        family, address = found[0][0], found[0][4]
        return socket.create_server(address, family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "Is another server running? Choose another port; 0 takes a free one."
        raise BadConfig(f"cannot listen on {settings.host} port {settings.port}: {reason}", hint) from error


def _format_address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _print_address(address: str) -> None:
    sys.stderr.write(f"retentive is running at {address}\n")
    sys.stderr.flush()
