"""A hook records a conversation once, whatever happens in between."""

import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from retentive import Retentive
from tests.forkserver import run_program
from tests.hooks.claude import RECORDED, Claude, ended, git_project, said
from tests.support import Open

pytestmark = pytest.mark.engines

TALK = ("I moved to Lisbon", "Noted.", "The dog is called Rex", "A good name.")
ROLES = ("user", "assistant")


def kept(store: Retentive, claude: Claude) -> list[tuple[str, str]]:
    return said(store.sessions.events(claude.name, 10_000))


def turns(*texts: str) -> list[tuple[str, str]]:
    return [(ROLES[number % 2], text) for number, text in enumerate(texts)]


@pytest.mark.parametrize("event", ["stop", "pre-compact", "session-end"])
@pytest.mark.engines("sqlite")
def test_each_of_these_hooks_keeps_the_conversation(claude: Claude, store: Retentive, event: str) -> None:
    claude.says(*TALK)
    assert claude.hook(event) == (0, "", "")
    assert kept(store, claude) == turns(*TALK)
    assert store.sessions.get(claude.name).agent == "claude-code"


def test_the_same_hook_again_adds_nothing_and_a_later_one_what_is_new(claude: Claude, store: Retentive) -> None:
    claude.says(*TALK)
    for _ in range(2):
        claude.hook("stop")
    assert kept(store, claude) == turns(*TALK)
    claude.says("Rex likes cheese", "Who does not?")
    claude.hook("session-end")
    assert kept(store, claude) == [*turns(*TALK), *turns("Rex likes cheese", "Who does not?")]


def test_hooks_that_run_at_once_keep_it_once(claude: Claude, store: Retentive) -> None:
    claude.says(*(f"message {number}" for number in range(250)))
    running = [claude.start("stop") for _ in range(3)]
    assert {ended(process).code for process in running} == {0}
    claude.hook("stop")
    assert [text for _, text in kept(store, claude)] == [f"message {number}" for number in range(250)]


def test_killed_in_the_middle_nothing_is_lost_or_doubled(claude: Claude, store: Retentive) -> None:
    claude.says(*(f"message {number}" for number in range(900)))
    process = claude.start("stop")
    wait_for(lambda: bool(some(store, claude)) or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    ended(process)
    assert some(store, claude)
    claude.hook("stop")
    assert [text for _, text in kept(store, claude)] == [f"message {number}" for number in range(900)]


def some(store: Retentive, claude: Claude) -> list[str]:
    return [each.id for each in store.sessions.list() if each.id == claude.name and each.events]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.mark.engines("sqlite")
def test_a_recorded_conversation_is_kept_with_its_times(claude: Claude, store: Retentive) -> None:
    shutil.copy(RECORDED, claude.transcript)
    claude.hook("stop")
    events = store.sessions.events(claude.name)
    assert len(events) == 7
    assert f"{events[0].time:%Y-%m-%d %H:%M}" == "2026-03-02 09:00"


@pytest.mark.engines("sqlite")
def test_a_conversation_that_was_rewound_does_not_double(claude: Claude, store: Retentive) -> None:
    """The new branch is written behind the old one; both were said."""
    claude.says(*TALK)
    claude.hook("stop")
    claude.says("No: the dog is called Max", "Max it is.")
    claude.hook("stop")
    assert kept(store, claude) == [*turns(*TALK), *turns("No: the dog is called Max", "Max it is.")]


@pytest.mark.engines("sqlite")
def test_a_transcript_that_was_written_anew_does_not_double(claude: Claude, store: Retentive) -> None:
    """As after a clean-up: its older lines are gone, or all but they."""
    claude.says(*TALK)
    claude.hook("stop")
    lines = claude.transcript.read_text("utf-8").splitlines(keepends=True)
    claude.transcript.write_text("".join(lines[1:2]), "utf-8")
    delete_state()
    claude.says("Rex likes cheese")
    claude.hook("stop")
    assert kept(store, claude) == [*turns(*TALK), ("user", "Rex likes cheese")]
    claude.transcript.unlink()
    claude.says("Something else")
    claude.hook("stop")
    assert kept(store, claude)[-1] == ("user", "Something else")
    assert len(kept(store, claude)) == 6


def delete_state() -> None:
    from retentive import config

    shutil.rmtree(config.data_folder() / "hooks")


@pytest.mark.engines("sqlite")
def test_without_its_marks_it_is_known_from_the_store(claude: Claude, store: Retentive) -> None:
    claude.says(*TALK)
    claude.hook("stop")
    delete_state()
    claude.hook("stop")
    assert kept(store, claude) == turns(*TALK)


@pytest.mark.engines("sqlite")
def test_what_was_purged_or_deleted_does_not_come_back(claude: Claude, store: Retentive) -> None:
    claude.says(*TALK)
    claude.hook("stop")
    run_program([sys.executable, "-m", "retentive", "purge", f"{claude.name}#4", "--yes", *claude.command[:4]])
    delete_state()
    claude.hook("stop")
    assert [text for _, text in kept(store, claude)] == [*TALK[:3], "[purged]"]
    store.sessions.delete(claude.name)
    claude.says("Hello again")
    assert claude.hook("stop") == (0, "", "")
    assert kept(store, claude) == [("user", "Hello again")]


@pytest.mark.engines("sqlite")
def test_at_the_end_it_is_learned_from(claude: Claude, store: Retentive) -> None:
    claude.says("We decided to shard the invoices table by customer", "Good.")
    claude.hook("stop")
    assert not store.list()
    claude.hook("session-end")
    assert [each.content for each in store.list()] == ["We decided to shard the invoices table by customer."]


@pytest.mark.engines("sqlite")
def test_vectors_are_made_later(claude: Claude, store: Retentive) -> None:
    claude.says(*TALK)
    claude.hook("stop")
    assert store.backfill().done == len(TALK)


@pytest.mark.engines("sqlite")
def test_it_belongs_to_the_project_it_began_in(tmp_path: Path, target: str, open_store: Open) -> None:
    """Wherever it has gone since."""
    claude = Claude(git_project(tmp_path / "elsewhere"), target, "--namespace", "auto")
    claude.begun_in = git_project(tmp_path / "orders")
    claude.says(*TALK)
    claude.hook("stop")
    assert kept(open_store(namespace="orders"), claude) == turns(*TALK)


@pytest.mark.engines("sqlite")
def test_secrets_are_not_kept(claude: Claude, store: Retentive) -> None:
    claude.says("The password is hunter2hunter2!", "I will not keep it.")
    claude.hook("stop")
    assert "hunter2" not in kept(store, claude)[0][1]


@pytest.mark.engines("sqlite")
def test_where_such_messages_are_refused_the_others_are_kept(
    claude: Claude, store: Retentive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETENTIVE_SECRETS_IN_MESSAGES", "refuse")
    claude.says("Hello", "Hi.", "The password is hunter2hunter2!", "I will not keep it.")
    for _ in range(2):
        assert claude.hook("stop").code == 0
    assert [text for _, text in kept(store, claude)] == ["Hello", "Hi.", "I will not keep it."]


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("allowed", ["recall", "off"])
def test_keeping_can_be_switched_off(
    claude: Claude, store: Retentive, monkeypatch: pytest.MonkeyPatch, allowed: str
) -> None:
    monkeypatch.setenv("RETENTIVE_HOOKS", allowed)
    claude.says(*TALK)
    assert claude.hook("stop") == (0, "", "")
    assert store.sessions.list() == []


@pytest.mark.engines("sqlite")
def test_a_conversation_in_which_nothing_was_said_is_none(claude: Claude, store: Retentive) -> None:
    claude.hook("session-end")
    claude.transcript.write_text("", "utf-8")
    assert claude.hook("session-end") == (0, "", "")
    assert store.sessions.list() == []
