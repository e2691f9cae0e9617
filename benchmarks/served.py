"""A server as a client meets it: how soon it answers after it was started, and what it takes of the memory."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import ROOT, Figure, environment
from benchmarks.ours import path_of

RUNS = 5
ASKED = 200  # questions before the memory is looked at again
SETTLED = 2.0  # seconds after which what loads in the background is loaded
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class Client:
    def __init__(self, command: list[str]) -> None:
        self._begun = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment()
        )
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> float:
        """Seconds since the start, once it is answered."""
        assert self._process.stdin  # noqa: S101 - pipes were asked for
        assert self._process.stdout  # noqa: S101
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(answer)
        return time.perf_counter() - self._begun

    def search(self, question: str) -> float:
        return self.ask("tools/call", {"name": "memory_search", "arguments": {"query": question}})

    def resident(self) -> float:
        """Megabytes of 1024 x 1024 bytes."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text("utf-8").splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024

    def close(self) -> float:
        """Seconds until it has ended."""
        assert self._process.stdin  # noqa: S101
        begun = time.perf_counter()
        self._process.stdin.close()
        if self._process.wait(30):
            raise subprocess.CalledProcessError(self._process.returncode, self._process.args)
        return time.perf_counter() - begun


def figures(folder: Path, questions: list[str]) -> Iterator[Figure]:
    """Beside the first: a process that only imports the SDK, which nothing on it can undercut."""
    command = [str(Path(sys.executable).with_name("retentive")), "mcp", "--db", str(path_of(folder))]
    starts, bare, firsts, ends = [], [], [], []
    for _ in range(RUNS + 1):
        client = Client(command)
        starts.append(client.ask("initialize", HELLO))
        firsts.append(client.search(questions[0]))
        ends.append(client.close())
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import mcp.server"], check=True, env=environment())
        bare.append(time.perf_counter() - begun)
    started, sdk, first, ended = (median(each[1:]) * 1e3 for each in (starts, bare, firsts, ends))
    yield Figure("MCP server: start to `initialize` answered, against `import mcp.server`", "ms", started, sdk)
    yield Figure("MCP server: start to the first search answered", "ms", first)
    yield Figure("MCP server: end of input to the end of the process", "ms", ended)
    yield from _memory(command, questions)


def _memory(command: list[str], questions: list[str]) -> Iterator[Figure]:
    client = Client(command)
    client.ask("initialize", HELLO)
    time.sleep(SETTLED)
    yield Figure("MCP server: resident, idle", "MB", client.resident())
    for number in range(ASKED):
        client.search(questions[number % len(questions)])
    yield Figure(f"MCP server: resident after {ASKED} searches", "MB", client.resident())
    client.close()
