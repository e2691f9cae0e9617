"""A hook shows memories to the model, end to end: a real process, JSON in and JSON out."""

import json
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.hooks.recall import MAX_PROMPT_MEMORIES, extract_question
from retentive.hooks.start import START_CANDIDATES
from tests.engines import SQLITE
from tests.hooks.claude import Answer, Claude, git_project
from tests.support import Open


@pytest.mark.engines
def test_a_prompt_gets_the_memories_that_bear_on_it(claude: Claude, store: Retentive) -> None:
    store.add("The billing service deploys on Tuesdays", valid_from="2026-02-03")
    store.add("The user's dog is called Rex")
    answer = claude.prompt("When does the billing service deploy?")
    assert (answer.code, answer.err) == (0, "")
    output = json.loads(answer.out)
    assert [*output] == ["hookSpecificOutput"]
    assert [*output["hookSpecificOutput"]] == ["hookEventName", "additionalContext"]
    assert output["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "- The billing service deploys on Tuesdays (2026-02-03)" in answer.context
    assert "Rex" not in answer.context


@pytest.mark.parametrize("prompt", ["", "  ", "yes, go on", "/compact the billing service", "What is a monad?"])
def test_a_prompt_that_nothing_bears_on_gets_nothing_at_all(claude: Claude, store: Retentive, prompt: str) -> None:
    store.add("The billing service deploys on Tuesdays", importance=10)
    assert claude.prompt(prompt) == (0, "", "")


def test_what_was_shown_in_a_conversation_is_not_shown_again(claude: Claude, store: Retentive, tmp_path: Path) -> None:
    store.add("The billing service deploys on Tuesdays")
    assert "Tuesdays" in claude.prompt("When does the billing service deploy?").context
    assert claude.prompt("When does the billing service deploy?").out == ""
    store.add("The billing service deploys by hand")
    assert claude.prompt("How does the billing service deploy?").context.count("\n- ") == 1
    assert "Tuesdays" in Claude(tmp_path, claude.command[1]).prompt("When does the billing service deploy?").context


def test_a_conversation_begins_with_what_is_vital_the_person_the_project_and_decisions(
    tmp_path: Path, target: str, open_store: Open
) -> None:
    memory = open_store(namespace="orders")
    memory.add("Orders are kept for ten years", importance=9, valid_from="2026-01-01")
    memory.add("The orders service runs on Kubernetes", kind="project", valid_from="2026-01-02")
    memory.add("Orders are sharded by customer", kind="decision", valid_from="2026-01-03")
    person = memory.in_namespace("default")
    person.add("The user prefers short answers", kind="preference", valid_from="2026-01-04")
    memory.in_namespace("secret").add("Nobody should see this", importance=10)
    claude = Claude(git_project(tmp_path / "orders"), target, "--namespace", "auto")
    answer = claude.hook("session-start", source="startup")
    assert json.loads(answer.out)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert answer.context.splitlines()[2:-2] == [
        "Most important:",
        "- Orders are kept for ten years (2026-01-01)",
        "About the user:",
        "- The user prefers short answers (2026-01-04)",
        "About this project:",
        "- The orders service runs on Kubernetes (2026-01-02)",
        "Recent decisions:",
        "- Orders are sharded by customer (2026-01-03)",
    ]


def read_memories(answer: Answer) -> list[str]:
    return [line[2:].rsplit(" (", 1)[0] for line in answer.context.splitlines() if line.startswith("- ")]


def test_name_role_health_and_instructions_come_first_then_decisions(claude: Claude, store: Retentive) -> None:
    store.add("The cellar has a damp wall", kind="personal", importance=8)
    store.add("Answers are short", kind="instruction")
    store.add("The user is allergic to penicillin", kind="personal")
    store.add("The user is a nurse in Bergen", kind="background")
    store.add("My name is Marit", kind="personal")
    store.add("The harbour was closed", kind="outcome")
    store.add("Decided: the bathroom is renewed in October", kind="decision")
    for number in range(60):
        store.add(f"The shelf {number} holds box {number}", kind="fact", importance=3)
    shown = read_memories(claude.hook("session-start", source="startup"))
    assert shown[:4] == [
        "My name is Marit",
        "The user is a nurse in Bergen",
        "The user is allergic to penicillin",
        "Answers are short",
    ]
    assert shown.index("Decided: the bathroom is renewed in October") == len(shown) - 1
    assert "The harbour was closed" not in shown


def test_many_newer_facts_hide_neither_the_name_nor_an_instruction(claude: Claude, store: Retentive) -> None:
    """Not even so many that the oldest facts are not read: the profile still has the name."""
    store.add("The user's name is Marit", slot="user.name", importance=8)
    store.add("Never deploy on Fridays", kind="instruction", importance=8)
    store.add_many([f"The shelf {number} holds box {number}" for number in range(START_CANDIDATES)], importance=3)
    answer = claude.hook("session-start", source="startup")
    assert "Never deploy on Fridays" in answer.context
    assert "Marit" in answer.context


def test_the_profile_is_shown_and_what_is_also_a_memory_only_once(claude: Claude, store: Retentive) -> None:
    store.add("My name is Marit", kind="personal")
    store.profile.set("/allergies", ["penicillin", "nuts"])
    answer = claude.hook("session-start", source="startup")
    assert "- allergies: penicillin, nuts" in answer.context.splitlines()
    assert answer.context.count("Marit") == 1
    assert "allergies" not in claude.hook("session-start", source="resume").context


@pytest.mark.engines(*SQLITE, "postgres")
def test_others_are_read_too_if_they_are_named(tmp_path: Path, target: str, open_store: Open) -> None:
    open_store(namespace="team/api").add("The gateway limits clients to 40 requests", kind="decision")
    open_store(namespace="team").add("The team meets on Mondays", importance=9)
    claude = Claude(tmp_path, target, "--also", "team/*")
    shown = claude.hook("session-start", source="startup").context
    assert "Mondays" in shown
    assert "40 requests" in shown
    again = Claude(tmp_path, target, "--also", "team/*")
    assert "40 requests" in again.prompt("How many requests does the gateway allow clients?").context


def test_an_empty_store_says_nothing(claude: Claude) -> None:
    assert claude.hook("session-start", source="startup") == (0, "", "")


def test_a_resumed_conversation_is_told_what_is_new(claude: Claude, store: Retentive) -> None:
    """What it began with is still before it."""
    store.add("The user drinks tea", kind="preference")
    assert "tea" in claude.hook("session-start", source="startup").context
    assert claude.hook("session-start", source="resume").out == ""
    store.add("The user prefers Fridays off", kind="preference")
    shown = claude.hook("session-start", source="resume").context
    assert ("Fridays" in shown, "tea" in shown) == (True, False)


@pytest.mark.parametrize("source", ["compact", "clear", "startup"])
def test_a_conversation_that_lost_its_beginning_is_told_all_again(
    claude: Claude, store: Retentive, source: str
) -> None:
    store.add("The user drinks tea", kind="preference")
    claude.hook("session-start", source="startup")
    assert "tea" in claude.hook("session-start", source=source).context


def test_what_a_conversation_began_with_is_not_repeated_for_a_prompt(claude: Claude, store: Retentive) -> None:
    store.add("The user drinks green tea in the afternoon", kind="preference")
    claude.hook("session-start", source="startup")
    assert claude.prompt("Which tea does the user drink in the afternoon?").out == ""


def test_a_prompt_gets_a_few_memories_and_none_far_behind_the_best(claude: Claude, store: Retentive) -> None:
    store.add_many([f"The billing service deploys service number {number}" for number in range(6)])
    store.add("The billing office has a green door")
    shown = claude.prompt("What does the billing service deploy?").context
    assert shown.count("\n- ") == MAX_PROMPT_MEMORIES
    assert "green door" not in shown


def test_the_budget_is_kept(tmp_path: Path, target: str, store: Retentive) -> None:
    store.add_many([f"The billing service deploys service number {number}" for number in range(6)])
    small = Claude(tmp_path, target, "--budget", "110").prompt("What does the billing service deploy?")
    large = Claude(tmp_path, target).prompt("What does the billing service deploy?")
    assert 0 < small.context.count("\n- ") < large.context.count("\n- ")


def test_while_the_model_is_not_built_words_alone_answer_at_once(
    tmp_path: Path, target: str, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Building it takes many seconds: that is not the user's to wait for."""
    open_store().add("The billing service deploys on Tuesdays")
    monkeypatch.setenv("RETENTIVE_CACHE", str(tmp_path / "empty"))
    claude = Claude(tmp_path, target)
    claude.command[3] = "minilm"
    assert "Tuesdays" in claude.prompt("When does the billing service deploy?").context
    assert not [*tmp_path.glob("empty/*.onnx")]


def test_meaning_finds_what_words_do_not(tmp_path: Path, target: str, model_cache: Path) -> None:
    with Retentive.open(target) as memory:
        memory.add("The user's dog is called Rex")
    assert model_cache.exists()
    claude = Claude(tmp_path, target)
    claude.command[3] = "minilm"
    assert "Rex" in claude.prompt("Do I have a pet, and what's its name?").context


@pytest.mark.parametrize(("allowed", "shown"), [("all", True), ("recall", True), ("off", False)])
def test_hooks_can_be_switched_off(
    claude: Claude, store: Retentive, monkeypatch: pytest.MonkeyPatch, allowed: str, shown: bool
) -> None:
    store.add("The billing service deploys on Tuesdays")
    monkeypatch.setenv("RETENTIVE_HOOKS", allowed)
    assert bool(claude.prompt("When does the billing service deploy?").out) is shown


@pytest.mark.parametrize(("allowed", "logged"), [("all", 1), ("recall", 0)])
def test_where_nothing_is_kept_the_prompt_is_not_in_the_access_log(
    claude: Claude, store: Retentive, monkeypatch: pytest.MonkeyPatch, allowed: str, logged: int
) -> None:
    store.add("The billing service deploys on Tuesdays")
    monkeypatch.setenv("RETENTIVE_HOOKS", allowed)
    assert claude.prompt("When does the billing service deploy?").out
    assert len(store.accesses()) == logged


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("Fix the login", "Fix the login"),
        ("/usr/bin/env fails on macOS", "/usr/bin/env fails on macOS"),  # a path, and no command
        ("/retentive:recall tea", ""),
        ("OK, thanks!", ""),
        ("Yes please, go ahead and do that now.", "Yes please, go ahead and do that now."),
        ("<task-notification>done</task-notification>", ""),
        ("<system-reminder>x</system-reminder>Why?", "Why?"),
        ("...", ""),
        ("a" * 900 + " " * 5000 + "b" * 900, "a" * 700 + "\n" + "b" * 300),
    ],
)
def test_what_is_asked_in_a_prompt(prompt: str, question: str) -> None:
    assert extract_question(prompt) == question
