"""A hook never disturbs the user: it exits with 0 and prints nothing, except one line on standard error."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from retentive import Retentive
from tests.hooks.claude import PROGRAM, Answer, Claude

EVENTS = ["session-start", "prompt", "stop", "pre-compact", "session-end"]


def failed_quietly(answer: Answer) -> bool:
    return answer.code == 0 and not answer.out and answer.err.count("\n") == 1 and "Traceback" not in answer.err


@pytest.mark.parametrize("event", EVENTS)
def test_no_input(claude: Claude, event: str) -> None:
    assert failed_quietly(claude.hook(event, b""))


@pytest.mark.parametrize(
    "given",
    [
        b"{",
        b"[]",
        b"null",
        b"\xff\x00\xfe",
        b"{}",
        b'{"session_id": 7}',
        b'{"session_id": "../../etc"}',
        b'{"session_id": "a\\nb"}',
        b'{"session_id": ""}',
        b"[" * 200_000,
        b'{"session_id": "' + b"x" * 33_000_000,
    ],
    ids=lambda given: repr(given[:24]),
)
def test_input_that_cannot_be_used(claude: Claude, given: bytes) -> None:
    assert failed_quietly(claude.hook("prompt", given))


def test_a_file_that_is_no_store(claude: Claude, db: Path) -> None:
    db.write_text("This is a letter, and no database.\n" * 100)
    claude.says("Hello")
    assert failed_quietly(claude.prompt("When do we deploy?"))
    assert failed_quietly(claude.hook("stop"))
    assert db.read_text().startswith("This is a letter")


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    claude = Claude(tmp_path, "libsql://127.0.0.1:9", "--limit", "3")
    claude.says("Hello")
    assert failed_quietly(claude.prompt("When do we deploy?"))
    assert failed_quietly(claude.hook("stop"))


def test_a_configuration_that_is_wrong(claude: Claude, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("colour = 'blue'")
    assert failed_quietly(claude.prompt("When do we deploy?"))


@pytest.mark.parametrize("words", [["nonsense"], [], ["prompt", "--colour", "blue"], ["prompt", "--budget", "much"]])
def test_a_hook_that_is_typed_wrongly_blocks_nothing(words: list[str]) -> None:
    """Exit code 2, which wrong usage has elsewhere, would discard the user's prompt."""
    run = subprocess.run([PROGRAM, "hook", *words], input=b"{}", capture_output=True, check=False)
    assert (run.returncode, run.stdout) == (0, b"")
    assert run.stderr.startswith(b"error: ")


def test_a_transcript_that_cannot_be_read(claude: Claude, store: Retentive) -> None:
    claude.transcript.mkdir()
    assert failed_quietly(claude.hook("stop"))
    claude.transcript.rmdir()
    claude.transcript.write_bytes(b"\x00\xff\n" * 1000 + b'{"type":"user"}\n{"type":"user","uuid":1}\n')
    assert claude.hook("stop") == (0, "", "")
    assert store.sessions.list() == []


def test_a_transcript_that_is_a_pipe_is_not_waited_for(claude: Claude) -> None:
    os.mkfifo(claude.transcript)
    answer = claude.hook("stop")
    assert failed_quietly(answer)
    assert "not a regular file" in answer.err


def test_a_folder_that_is_gone(claude: Claude, store: Retentive) -> None:
    store.add("The billing service deploys on Tuesdays")
    answer = claude.hook("prompt", prompt="When does the billing service deploy?", cwd="/nowhere/at/all")
    assert "Tuesdays" in answer.context


def test_what_went_wrong_is_told_in_full_if_asked_for(claude: Claude) -> None:
    claude.command.append("--debug")
    answer = claude.hook("prompt", b"{")
    assert (answer.code, answer.out) == (0, "")
    assert "Traceback" in answer.err


def test_an_input_that_never_ends_is_given_up(claude: Claude) -> None:
    command = [PROGRAM, "hook", "prompt", *claude.command, "--limit", "1.5"]
    begun = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(20) == 0
        assert process.stdout
        assert process.stdout.read() == b""
    assert time.monotonic() - begun > 1.4


def test_a_store_that_another_writes_is_read_all_the_same_and_not_waited_for(
    claude: Claude, store: Retentive, db: Path
) -> None:
    store.add("The billing service deploys on Tuesdays", kind="decision")
    assert "Tuesdays" in held(db, lambda: claude.hook("session-start", source="startup")).context
    claude.says("Hello")
    claude.command += ["--limit", "3"]
    assert failed_quietly(held(db, lambda: claude.hook("stop")))
    claude.command += ["--limit", "60"]
    claude.hook("stop")
    assert [event.content for event in store.sessions.events(claude.name)] == ["Hello"]


def held(db: Path, action: Callable[[], Answer]) -> Answer:
    """Done while another connection is about to write, and does not."""
    other = apsw.Connection(str(db))
    other.execute("BEGIN IMMEDIATE")
    try:
        return action()
    finally:
        other.close()
