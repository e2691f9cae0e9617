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
from mcp import Client, MCPError

from retentive import Retentive
from tests.serve.calls import BAD, OFFERS, call_all, data, no_such_tool, told
from tests.serve.client import command, eras, over_stdio, surroundings
from tests.serve.process import HELLO, Piped, call, request

ADDED = {"content": "Ada plays the cello."}
GONE = pytest.raises(ProcessLookupError)


def contents(db: Path) -> set[str]:
    with Retentive.open(str(db), embedder="hashing") as memory:
        return {each.content for each in memory.list(1000)}


@eras
@pytest.mark.parametrize("offer", OFFERS)
def test_every_tool_that_is_listed_answers(db: Path, era: str, offer: str) -> None:
    async def talk(client: Client) -> None:
        listed = await client.list_tools()
        answers = await call_all(client, offer)
        assert {each.name for each in listed.tools} == set(answers)
        assert [name for name, each in answers.items() if each.is_error] == []

    over_stdio(talk, db, era, "--tools", offer)


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
def test_bad_arguments_are_told_and_change_nothing(db: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        for tool, arguments, said in BAD:
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error
            assert said in told(answer)
        stats = data(await client.call_tool("memory_stats", {}))
        assert (stats["memories"], stats["sessions"]) == (0, 0)

    over_stdio(talk, db, era)


@eras
def test_a_tool_that_is_not_there_is_named(db: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        said = await no_such_tool(client)
        assert "memory_dream" in said
        assert "memory_search" in said

    over_stdio(talk, db, era)


@eras
def test_resources_are_listed_and_read(db: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        kept = data(await client.call_tool("memory_add", ADDED))["id"]
        listed = [each.uri for each in (await client.list_resources()).resources]
        templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
        assert "memory://recent" in listed
        assert "memory://{id}" in templates
        for uri in (*listed, f"memory://{kept}"):
            assert (await client.read_resource(uri)).contents
        with pytest.raises(MCPError, match="none-such"):
            await client.read_resource("memory://none-such")

    over_stdio(talk, db, era)


@eras
def test_prompts_are_listed_and_given(db: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        await client.call_tool("memory_add", ADDED)
        listed = {each.name for each in (await client.list_prompts()).prompts}
        assert listed == {"recall", "remember", "about_me"}
        recalled = await client.get_prompt("recall", {"topic": "cello"})
        assert "Ada plays the cello" in str(recalled.messages[0].content)
        with pytest.raises(MCPError, match="topic"):
            await client.get_prompt("recall", {})

    over_stdio(talk, db, era)


@eras
def test_a_call_that_is_cancelled_does_not_hold_up_the_next(db: Path, era: str) -> None:
    many = [f"Box {number} is in the cellar." for number in range(500)]

    async def talk(client: Client) -> None:
        with anyio.move_on_after(0.02) as limit:
            await client.call_tool("memory_add_many", {"contents": many})
        assert limit.cancelled_caught
        kept = data(await client.call_tool("memory_add", ADDED))
        assert kept["created"]

    over_stdio(talk, db, era, "--tools", "full")
    assert ADDED["content"] in contents(db)


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
    server.call("memory_stats", {})
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
