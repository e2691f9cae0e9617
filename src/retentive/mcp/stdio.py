"""The life of a server that a client started: requests come in on standard input, answers go to standard output.

The SDK has such a transport; this one differs in three things. a) It can be stopped: a thread that waits for input
cannot be interrupted, so reading and writing are done by daemon threads on the descriptors themselves. b) When the
input ends, or a signal comes, what was asked before is still answered. c) A line that is no message, or too long, is
answered with an error instead of silence.

Descriptor 1 leads to standard error while the server runs, so that nothing ever gets between the messages.
"""

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

MAX_MESSAGE_BYTES = 16 * 1024 * 1024  # the longest memory, or message of a conversation, fits
READ_BYTES = 1 << 16
DRAIN_SECONDS = 10.0  # for the answers to what was asked before the end
LAST_SECONDS = 1.0  # for the last of them to be read
MAX_FAULT_CHARS = 200  # of the error about a message that is not JSON

Incoming = SessionMessage | Exception
Response = types.JSONRPCResponse | types.JSONRPCError


def serve(server: Server[Any], on_first_answer: Callable[[], None] = lambda: None) -> None:
    """Run until the input ends, or SIGTERM or SIGINT. `on_first_answer` is called after the first answer."""
    with _redirect_descriptors() as (source, sink):
        anyio.run(_serve, server, source, sink, on_first_answer)


async def _serve(server: Server[Any], source: int, sink: int, on_first_answer: Callable[[], None]) -> None:
    wire = Wire(source, sink, on_first_answer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_handle_signals, wire, tasks.cancel_scope)
        async with wire.streams() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _handle_signals(wire: "Wire", everything: anyio.CancelScope) -> None:
    """End in good order at the first signal; at the second end at once, also while the store is being closed."""
    try:
        with suppress(NotImplementedError), anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                if wire.ended.is_set():
                    everything.cancel()
                wire.ended.set()
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os._exit(0))


class Wire:
    """Lines in, lines out, and which requests still wait for their answer."""

    def __init__(self, source: int, sink: int, on_first_answer: Callable[[], None]) -> None:
        self.ended = anyio.Event()
        """No more requests are accepted."""
        self._source = source
        self._writer = Writer(sink)
        self._waiting: set[str | int] = set()
        self._settled = anyio.Event()
        self._on_first_answer = on_first_answer

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        to_server, incoming = anyio.create_memory_object_stream[Incoming]()
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send, from_server)
            tasks.start_soon(self._receive, to_server)
            yield incoming, outgoing
            self.ended.set()
            tasks.cancel_scope.deadline = anyio.current_time() + LAST_SECONDS

    async def _receive(self, to_server: ObjectSendStream[Incoming]) -> None:
        """The end of this stream is what ends the server, so it stays open until the last answer."""
        put, lines = anyio.create_memory_object_stream[bytes | None]()
        Reader(self._source, put).start()
        async with to_server, lines:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server ended by itself
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._take_all, lines, to_server)
                    await self.ended.wait()
                    tasks.cancel_scope.cancel()
                with anyio.move_on_after(DRAIN_SECONDS):
                    while self._waiting:
                        self._settled = anyio.Event()
                        await self._settled.wait()

    async def _take_all(self, lines: ObjectReceiveStream[bytes | None], to_server: ObjectSendStream[Incoming]) -> None:
        async for line in lines:
            message = await self._parse_line(line)
            if message is not None:
                self._expect(message)
                await to_server.send(SessionMessage(message))
        self.ended.set()

    async def _parse_line(self, line: bytes | None) -> types.JSONRPCMessage | None:
        if line is None:
            await self._complain(types.INVALID_REQUEST, f"the message is longer than {MAX_MESSAGE_BYTES:,} bytes")
            return None
        try:
            return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await self._complain(*_describe_fault(line))
            return None

    def _expect(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest():
                self._waiting.add(message.id)
            case types.JSONRPCNotification(method="notifications/cancelled"):
                self._settle((message.params or {}).get("requestId"))  # it may never be answered
            case _:
                pass

    def _settle(self, id: Any) -> None:
        if isinstance(id, str | int):
            self._waiting.discard(id)
        self._settled.set()

    async def _send(self, from_server: ObjectReceiveStream[SessionMessage]) -> None:
        async for item in from_server:
            await self._write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
            if isinstance(item.message, Response):
                self._settle(item.message.id)
                self._on_first_answer()
                self._on_first_answer = lambda: None

    async def _complain(self, code: int, fault: str, id: Any = None) -> None:
        error = {"code": code, "message": fault}
        await self._write(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode())

    async def _write(self, line: bytes) -> None:
        if not await self._writer.write(line):
            self.ended.set()
            self._waiting.clear()  # nobody reads the answers
            self._settled.set()


def _describe_fault(line: bytes) -> tuple[int, str, Any]:
    """The error code, the fault, and the id of the message if it can be read."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        return types.PARSE_ERROR, f"not JSON: {str(error)[:MAX_FAULT_CHARS]}", None
    id = given.get("id") if isinstance(given, dict) else None
    known = id if isinstance(id, str | int) and not isinstance(id, bool) else None
    return types.INVALID_REQUEST, "not a JSON-RPC 2.0 request, notification or response", known


class Reader(threading.Thread):
    """Hands over line after line, None for one that is too long; closes the stream where the input ends."""

    def __init__(self, source: int, put: ObjectSendStream[bytes | None]) -> None:
        super().__init__(name="retentive-stdin", daemon=True)
        self._source, self._put = source, put
        self._token = anyio.lowlevel.current_token()

    def run(self) -> None:
        with suppress(RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):  # the loop has ended
            for line in _lines(self._source):
                anyio.from_thread.run(self._put.send, line, token=self._token)
            anyio.from_thread.run(self._put.aclose, token=self._token)


def _lines(source: int) -> Iterator[bytes | None]:
    rest, lost = bytearray(), False
    while chunk := _read(source):
        *whole, tail = chunk.split(b"\n")
        for part in whole:
            rest += part
            if lost or len(rest) > MAX_MESSAGE_BYTES:
                yield None
            elif rest.strip():
                yield bytes(rest)
            rest, lost = bytearray(), False
        rest += tail
        if len(rest) > MAX_MESSAGE_BYTES:
            rest, lost = bytearray(), True
    if rest.strip():
        yield bytes(rest)


def _read(source: int) -> bytes:
    try:
        return os.read(source, READ_BYTES)
    except OSError:
        return b""


class Writer:
    """Writes lines in their order. A client that does not read holds up the answers, never the end of the server."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._lines: queue.SimpleQueue[tuple[bytes, anyio.Event]] = queue.SimpleQueue()
        self._token = anyio.lowlevel.current_token()
        self._broken = False
        threading.Thread(target=self._run, name="retentive-stdout", daemon=True).start()

    async def write(self, line: bytes) -> bool:
        """False: there is nobody who reads."""
        written = anyio.Event()
        self._lines.put((line + b"\n", written))
        await written.wait()
        return not self._broken

    def _run(self) -> None:
        while True:
            line, written = self._lines.get()
            try:
                while line and not self._broken:
                    line = line[os.write(self._sink, line) :]
            except OSError:
                self._broken = True
            with suppress(RuntimeError):  # the loop has ended
                anyio.from_thread.run_sync(written.set, token=self._token)


@contextmanager
def _redirect_descriptors() -> Iterator[tuple[int, int]]:
    """Yield the descriptors of the protocol; meanwhile 0 is empty, and 1 is standard error."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield source, sink
    finally:
        sys.stdout.flush()
        os.dup2(sink, 1)
        os.dup2(source, 0)
