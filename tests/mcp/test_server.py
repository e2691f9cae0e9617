"""Between the protocol and the store: calls on threads of their own, and errors that tell no more than they should."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import anyio
import pytest
from mcp import MCPError

from retentive import Retentive
from retentive.cli.serve import hide_package
from retentive.errors import Busy, Invalid, RetentiveError, Unwritable
from retentive.http.responses import redact_error
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer, select_tools
from retentive.mcp.server import Handlers, RequestContext, Threads
from tests.mcp.calls import LOCAL_TOOLS


async def nowhere(_: RequestContext) -> Caller:
    raise AssertionError


def handlers() -> Handlers:
    return Handlers(nowhere, Offer.DEFAULT, lambda error: error, in_order=True)


@pytest.fixture
def caller() -> Iterator[Caller]:
    with Retentive.open(":memory:", embedder="none") as memory:
        yield Caller(memory)


def test_who_is_cancelled_does_not_wait_for_a_call_at_work(caller: Caller) -> None:
    """So a server that is told to end does, whatever a call waits for."""
    over = threading.Event()

    async def ask() -> None:
        with anyio.move_on_after(0.1):
            await handlers()._run(lambda: over.wait(30), caller)

    begun = time.monotonic()
    anyio.run(ask)
    over.set()
    assert time.monotonic() - begun < 10


def test_long_calls_that_never_end_hold_up_no_question() -> None:
    over, served = threading.Event(), handlers()
    tools = select_tools(Offer.FULL).values()
    for tool in tools:
        if tool.long:
            served._threads_for(tool)._pool.submit(over.wait)

    async def ask() -> set[str]:
        return {await served._threads_for(tool).run(lambda: "answered") for tool in tools if not tool.long}

    try:
        assert anyio.run(ask) == {"answered"}
    finally:
        over.set()


def test_one_caller_takes_up_half_of_the_threads() -> None:
    """Also one who begins calls and goes away: their threads are taken until they are done."""
    over, threads = threading.Event(), Threads(4)

    async def ask() -> str:
        for _ in range(20):
            with anyio.move_on_after(0.01):
                await threads.run(lambda: over.wait(60), "greedy")
        return await threads.run(lambda: "answered", "modest")

    try:
        assert anyio.run(ask) == "answered"
        assert threads._pool._work_queue.qsize() == 0
    finally:
        over.set()


def test_what_fails_unexpectedly_tells_nothing_of_our_insides(caller: Caller) -> None:
    def fail() -> None:
        raise ValueError("SELECT secret FROM /home/ada/memory.db")

    with pytest.raises(MCPError, match="failed unexpectedly") as told:
        anyio.run(handlers()._run, fail, caller)
    assert "secret" not in str(told.value.error)


@pytest.mark.parametrize("kind", [Busy, Unwritable])
def test_the_network_hears_what_kind_of_trouble_there_is_and_not_where(kind: type[RetentiveError]) -> None:
    told = redact_error(kind("cannot write '/home/ada/memory.db'", "mkdir -p /home/ada"))
    assert type(told) is kind
    assert "ada" not in f"{told} {told.hint}"


def test_the_network_hears_what_is_wrong_with_its_own_call() -> None:
    error = Invalid("limit is 0", "Give a number above.")
    assert redact_error(error) is error


def test_why_a_search_did_without_is_for_local_callers(store: Retentive) -> None:
    note = "vectors were not used: The vocabulary /home/ada/words.txt cannot be read: no such file"
    assert Caller(store).render_notes([note]) == [note]
    assert Caller(store, is_local=False).render_notes([note]) == ["vectors were not used"]


def test_who_is_elsewhere_is_not_offered_the_files_of_this_machine(store: Retentive) -> None:
    full = Handlers(nowhere, Offer.FULL, lambda error: error, in_order=False)
    assert {*full._tools_for(Caller(store))} - {*full._tools_for(Caller(store, is_local=False))} == LOCAL_TOOLS


IDLE = """
import sys, threading
from retentive import Retentive
from retentive.cli.serve import _start_background_work, hide_package
with hide_package("uvicorn"):
    import retentive.mcp.client_roots, retentive.mcp.server, retentive.mcp.stdio
memory = Retentive.open(sys.argv[1])
memory.namespaces()
memory.worker().once()
_start_background_work(memory, has_worker=True)
for thread in threading.enumerate():
    if thread.name == "retentive-begin":
        thread.join()
print(*sys.modules)
"""
HEAVY = {
    "retentive.files.walk",
    "numpy",
    "numkong",
    "onnxruntime",
    "tokenizers",
    "usearch",
    "uvicorn",
    "watchfiles",
    "yaml",
}


def test_an_idle_server_has_loaded_neither_model_nor_index(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", IDLE, tmp_path / "m.db"], capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(run.stdout.split())


def test_a_package_is_hidden_only_while_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with hide_package("colorsys"), pytest.raises(ImportError):
        import_module("colorsys")
    assert import_module("colorsys").__name__ == "colorsys"
