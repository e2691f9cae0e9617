"""What the hooks showed is logged: which memories, in which conversation, and whether an answer used them."""

import json
import subprocess
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.memories.injections import is_used
from tests.engines import SQLITE
from tests.hooks.claude import PROGRAM, Claude

DEPLOYS = "The billing service deploys on Tuesdays at 14:30"
QUESTION = "When does the billing service deploy?"


def run_report(target: str, *options: str) -> str:
    command = [PROGRAM, "hook", "report", "--db", target, "--embedder", "hashing", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.engines
def test_a_prompt_logs_what_it_was_given(claude: Claude, store: Retentive) -> None:
    added = store.add(DEPLOYS)
    claude.prompt(QUESTION)
    (row,) = store.accesses()
    assert (row.id, row.how, row.query) == (added.id, "hook prompt", f"{claude.name} {QUESTION}")


def test_the_start_of_a_conversation_logs_what_it_was_given(claude: Claude, store: Retentive) -> None:
    added = store.add("The user drinks tea", kind="preference")
    claude.hook("session-start", source="startup")
    assert [(row.id, row.how, row.query) for row in store.accesses()] == [(added.id, "hook session-start", claude.name)]


def test_nothing_is_logged_of_a_prompt_that_was_given_nothing(claude: Claude, store: Retentive) -> None:
    store.add(DEPLOYS)
    claude.prompt("What is a monad?")
    assert store.accesses() == []


@pytest.mark.parametrize(
    ("answer", "used"), [("On Tuesdays, at 14:30.", 1), ("I do not know when the billing service does.", 0)]
)
def test_a_memory_is_used_if_the_answer_says_what_it_says(
    claude: Claude, store: Retentive, answer: str, used: int
) -> None:
    store.add(DEPLOYS)
    claude.prompt(QUESTION)
    claude.says(QUESTION, answer)
    claude.hook("stop")
    (session,) = store.injections.report().sessions
    assert (session.session, session.prompts, session.injected, session.used) == (claude.name, 1, 1, used)
    assert session.tokens > 0


def test_a_memory_that_the_model_read_by_its_id_is_used(claude: Claude, store: Retentive) -> None:
    added = store.add(DEPLOYS)
    claude.prompt(QUESTION)
    store.get(added.id)
    (session,) = store.injections.report().sessions
    assert session.used == 1


@pytest.mark.parametrize(
    ("memory", "said", "answer", "used"),
    [
        ("The staging host is pg-stg-2.internal", "What is the host?", "Use pg-stg-2.internal.", True),  # a value
        ("The user is allergic to peanuts", "Any dinner ideas?", "No peanuts, as you are allergic.", True),
        ("The user is allergic to peanuts", "I am allergic to peanuts", "No peanuts, as you are allergic.", False),
        ("The user is allergic to peanuts", "Any dinner ideas?", "Pasta with tomatoes.", False),
        ("The user prefers tabs", "Format it", "Done.", False),
        ("Priya Nair runs the billing service", "Who runs the billing service?", "Priya does.", True),
        ("The user drinks green tea at noon", "A drink?", "How about noon?", False),
        ("The user drinks tea", "The user drinks tea", "Indeed.", False),
    ],
)
def test_use_is_what_the_answer_has_and_the_user_did_not_say(
    memory: str, said: str, answer: str, *, used: bool
) -> None:
    assert is_used(memory, answer, said) is used


@pytest.mark.engines(*SQLITE)
def test_a_purge_removes_what_was_logged_of_a_memory(claude: Claude, store: Retentive) -> None:
    added = store.add(DEPLOYS)
    claude.prompt(QUESTION)
    store.purge([added.id])
    report = store.injections.report()
    assert (store.accesses(), report.sessions, report.unused) == ([], [], [])


@pytest.mark.parametrize("allowed", ["recall", "off"])
def test_nothing_is_logged_where_nothing_is_kept(
    claude: Claude, store: Retentive, monkeypatch: pytest.MonkeyPatch, allowed: str
) -> None:
    store.add(DEPLOYS)
    monkeypatch.setenv("RETENTIVE_HOOKS", allowed)
    claude.prompt(QUESTION)
    assert store.accesses() == []


def test_the_report_names_what_was_shown_and_never_used(claude: Claude, store: Retentive, target: str) -> None:
    added = store.add(DEPLOYS)
    claude.prompt(QUESTION)
    report = json.loads(run_report(target, "--json"))
    assert [each["session"] for each in report["sessions"]] == [claude.name]
    assert [(each["id"], each["shown"]) for each in report["unused"]] == [(added.id, 1)]
    shown = run_report(target)
    assert claude.name in shown
    assert DEPLOYS in shown


def test_the_report_can_be_of_one_conversation(tmp_path: Path, store: Retentive, target: str) -> None:
    store.add(DEPLOYS)
    first, second = Claude(tmp_path, target), Claude(tmp_path, target)
    for each in (first, second):
        each.prompt(QUESTION)
    report = json.loads(run_report(target, "--json", "--session", second.name))
    assert [each["session"] for each in report["sessions"]] == [second.name]


def test_the_report_of_an_unused_store_says_so(store: Retentive, target: str) -> None:
    store.add(DEPLOYS)
    assert run_report(target) == "nothing was shown in the last 30 days\n"
