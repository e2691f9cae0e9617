"""`retentive mcp` at the level of its lines: what a client library would not send, and how the process ends."""

import itertools
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.forkserver import ForkedProgram
from tests.mcp.client import SECONDS, command, surroundings

Message = dict[str, Any]

META = "io.modelcontextprotocol"
HELLO = {"capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}


def request(id: Any, method: str, params: Mapping[str, Any] | None = None, era: str = "2025-11-25") -> Message:
    """As the era has it: the newer one says with every request who asks and what it understands."""
    given = dict(params or {})
    if era == "2026-07-28":
        given["_meta"] = {f"{META}/protocolVersion": era, f"{META}/clientCapabilities": {}}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": given}


def call(id: Any, tool: str, arguments: Any, era: str = "2025-11-25") -> Message:
    return request(id, "tools/call", {"name": tool, "arguments": arguments}, era)


class Piped:
    """A server behind two pipes. Lines are read as they come, so that it never waits for us."""

    def __init__(self, db: Path | str, era: str = "2025-11-25", *options: str, greet: bool = True) -> None:
        self.era = era
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `remove`
        self.process = ForkedProgram(
            command("mcp", db, *options),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=surroundings(db),
            start_new_session=True,
        )  # fmt: skip
        self.lines: list[bytes] = []
        self._said = ""
        self._ids = itertools.count()
        self._answers: dict[str, queue.SimpleQueue[Message]] = {}
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if greet:
            self.greet()

    def greet(self) -> Message:
        if self.era == "2026-07-28":
            return self.ask("server/discover")
        hello = self.ask("initialize", {**HELLO, "protocolVersion": self.era})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return hello

    def send(self, *messages: Message | bytes) -> None:
        lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(each + b"\n" for each in lines))
        self.process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """The answer, whatever else is on the wire."""
        return self.answer(self.post(method, params))

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> str:
        id = f"asked-{next(self._ids)}"
        self._answers[id] = queue.SimpleQueue()
        self.send(request(id, method, params, self.era))
        return id

    def answer(self, id: str) -> Message:
        try:
            return self._answers[id].get(timeout=SECONDS)
        except queue.Empty:
            pytest.fail(f"no answer; exit code {self.process.poll()}; log: {self.said()}")

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Message:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer["result"].get("isError"), answer
        found: Message = answer["result"]["structuredContent"]
        return found

    def end(self, number: int | None = None) -> int:
        """The code it ends with, after a signal or the end of its input."""
        assert self.process.stdin is not None
        if number:
            self.process.send_signal(number)
        else:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail(f"it goes on; log: {self.said()}")
        finally:
            self.remove()
        return code

    def remove(self) -> None:
        """Whatever is left of it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # it did not wait for all that was sent
                    pipe.close()
        self._said = self.said()
        self._log.close()

    def said(self) -> str:
        """On standard error."""
        if self._log.closed:
            return self._said
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def messages(self) -> list[Message]:
        """All that it wrote, each line of which must be one."""
        return [json.loads(each) for each in self.lines]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self.process.poll() is None:
                assert self.end() == 0, self.said()
        finally:
            self.remove()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            waiting = self._answers.get(str(_id(line)))
            if waiting is not None:
                waiting.put(json.loads(line))


def _id(line: bytes) -> Any:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message.get("id") if isinstance(message, dict) else None
