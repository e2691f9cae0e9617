"""`retentive mcp`, started by the official client: what it answers, and how it ends."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client

from tests.mcp.calls import contents
from tests.mcp.client import command, eras, over_stdio, surroundings
from tests.mcp.process import HELLO, Piped, call, request

ADDED = {"content": "Ada plays the cello."}
GONE = pytest.raises(ProcessLookupError)


@eras
def test_a_client_learns_who_answers_and_when_to_ask(db: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        assert client.protocol_version == era
        if era == "2025-11-25":  # without a handshake a client has to ask for it
            assert client.server_info is not None
            assert client.server_info.name == "retentive"
            assert "memory_search" in (client.instructions or "")

    over_stdio(talk, db, era)


@eras
def test_calls_at_the_same_time_are_all_answered(db: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(partial(client.call_tool, "memory_add", {"content": f"Box {number} is full."}))

    over_stdio(talk, db, era)
    assert len(contents(db)) == 40


@eras
@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT], ids=["end", "SIGTERM", "SIGINT"])
def test_it_ends_in_good_order_with_all_that_was_added(db: Path, era: str, number: int | None) -> None:
    server = Piped(db, era)
    server.call("memory_add", ADDED)
    assert server.end(number) == 0
    assert all(each["jsonrpc"] == "2.0" for each in server.messages())
    assert contents(db) == {ADDED["content"]}
    with GONE:
        os.killpg(server.process.pid, 0)


@eras
def test_what_was_asked_before_the_end_is_still_answered(db: Path, era: str) -> None:
    server = Piped(db, era)
    server.send(*(call(number, "memory_add", {"content": f"Box {number} is full."}, era) for number in range(30)))
    assert server.end() == 0
    answered = {each["id"] for each in server.messages() if "result" in each}
    assert set(range(30)) <= answered
    assert len(contents(db)) == 30


@eras
def test_a_signal_amid_calls_keeps_what_was_acknowledged(db: Path, era: str) -> None:
    server = Piped(db, era)
    server.send(*(call(number, "memory_add", {"content": f"Box {number} is full."}, era) for number in range(200)))
    server.call("memory_list", {})
    assert server.end(signal.SIGTERM) == 0
    done = {each["id"] for each in server.messages() if isinstance(each.get("id"), int) and "result" in each}
    assert {f"Box {number} is full." for number in done} <= contents(db)


def test_a_second_signal_ends_it_at_once(db: Path) -> None:
    server = Piped(db)
    server.process.send_signal(signal.SIGTERM)
    assert server.end(signal.SIGTERM) == 0


def test_it_outlives_a_client_that_never_said_a_word(db: Path) -> None:
    server = Piped(db, greet=False)
    assert server.end() == 0
    assert server.lines == []


@pytest.mark.parametrize("closed", ["stdin", "stdout"])
def test_without_both_ends_of_the_line_it_says_so(db: Path, closed: str) -> None:
    left, number = (subprocess.DEVNULL, {"stdin": 0, "stdout": 1}[closed])
    ended = subprocess.run(
        ["sh", "-c", f'"$@" {number}>&-', "sh", *command("mcp", db)],
        stdin=left, stdout=left, stderr=subprocess.PIPE, env=surroundings(db), timeout=60, check=False, text=True,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "closed" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_namespace_to_read_that_can_be_none_is_told_at_once(db: Path) -> None:
    started = command("mcp", db, "--also", "not a name")
    ended = subprocess.run(
        started, stdin=subprocess.DEVNULL, capture_output=True, env=surroundings(db), timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"not a namespace" in ended.stderr


@pytest.fixture
def deaf(db: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose client asks for more than a pipe holds, and reads nothing."""
    asked = [request(0, "initialize", {**HELLO, "protocolVersion": "2025-11-25"})]
    asked += [request(number, "tools/list") for number in range(1, 41)]
    with subprocess.Popen(
        command("mcp", db),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings(db),
    ) as server:  # fmt: skip
        assert server.stdin
        assert server.stdout
        server.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in asked))
        server.stdin.flush()
        server.stdout.read(1)
        yield server
        server.kill()


def test_a_client_that_does_not_read_does_not_keep_it_from_ending(deaf: subprocess.Popen[bytes]) -> None:
    deaf.send_signal(signal.SIGTERM)
    assert deaf.wait(60) == 0


def test_a_client_that_is_gone_is_not_waited_for(deaf: subprocess.Popen[bytes]) -> None:
    assert deaf.stdout
    assert deaf.stderr
    deaf.stdout.close()
    assert deaf.wait(60) == 0
    assert deaf.stderr.read() == b""
