"""Claude Code itself, as people run it, with our plugin: what it sends to the model, and what is recorded of it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from retentive import Retentive
from retentive.hooks.blocks import TAG
from tests.hooks.claude import said
from tests.hooks.claude_code import PLUGIN, PROJECT, TOOL_PREFIX, ClaudeCode, claude_code_or_skip
from tests.hooks.messages_api import Request, ToolCall

QUESTION = "Which tea is my favourite, and who runs the billing service?"
SEARCH = f"{TOOL_PREFIX}memory_search"
TEA = "favourite tea is lapsang"
CONTACT = "Priya Nair runs the billing service"


class Conversations(NamedTuple):
    """What was sent to the model, and the ids of the sessions."""

    client: ClaudeCode
    first: str
    second: str
    fork: str
    question: Request
    after_tool: Request
    after_compaction: Request
    resumed: Request


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClaudeCode]:
    claude_code_or_skip()
    with ClaudeCode(tmp_path_factory.mktemp("home")) as client:
        yield client


@pytest.fixture(scope="module")
def conversations(client: ClaudeCode) -> Conversations:
    """One to tell something, another to ask for it, which is compacted, resumed and forked."""
    client.model.answers = ["Noted."]
    first = client.converse("My favourite tea is lapsang")
    client.retentive("add", CONTACT, "--kind", "contact", "--namespace", PROJECT)
    client.model.answers = [
        ToolCall(SEARCH, {"query": "favourite tea"}),
        "Lapsang, and Priya.",
        "<summary>The user asked about tea.</summary>",
        "With milk.",
        "Every day.",
        "A different tea.",
    ]
    second = client.converse(QUESTION, "/compact", "How do I drink it?", options=("--allowedTools", SEARCH))
    client.converse("How often do I drink it?", options=("--resume", second))
    fork = client.converse("What if I were Dutch?", options=("--resume", second, "--fork-session"))
    _, question, after_tool, _, after_compaction, resumed, _ = client.model.turns
    return Conversations(client, first, second, fork, question, after_tool, after_compaction, resumed)


@pytest.fixture
def store(conversations: Conversations) -> Iterator[Retentive]:
    with Retentive.open(conversations.client.db, embedder="hashing", namespace=PROJECT) as memory:
        yield memory


def injected(request: Request) -> str:
    """The memories that hooks added to a request."""
    return "\n".join(part for text in request.texts for part in text.split(f"<{TAG}>")[1:])


def test_a_hook_runs_for_each_event(conversations: Conversations) -> None:
    hooks = conversations.client.list_hooks()
    assert hooks == {"session-start": 5, "prompt": 5, "stop": 5, "pre-compact": 1, "session-end": 4}


def test_what_was_told_in_one_conversation_is_shown_in_the_next(conversations: Conversations) -> None:
    assert TEA in injected(conversations.question)


def test_what_is_relevant_to_a_prompt_is_shown_with_it(conversations: Conversations) -> None:
    assert CONTACT in injected(conversations.question)


def test_the_tools_of_the_server_are_called_and_answer(conversations: Conversations) -> None:
    assert conversations.question.tool_results == []
    (result,) = conversations.after_tool.tool_results
    assert TEA in result


def test_after_a_compaction_it_is_shown_again(conversations: Conversations) -> None:
    assert QUESTION not in "\n".join(conversations.after_compaction.texts)
    assert injected(conversations.after_compaction).count(TEA) == 1


def test_a_conversation_that_is_resumed_is_not_shown_it_twice(conversations: Conversations) -> None:
    assert injected(conversations.resumed).count(TEA) == 1


def test_conversations_are_recorded_once(conversations: Conversations, store: Retentive) -> None:
    """Also one that was compacted and resumed; without the words of tools and of the summary."""
    assert said(store.sessions.events(f"claude-code/{conversations.first}")) == [
        ("user", "My favourite tea is lapsang"),
        ("assistant", "Noted."),
    ]
    assert said(store.sessions.events(f"claude-code/{conversations.second}")) == [
        ("user", QUESTION),
        ("assistant", "Lapsang, and Priya."),
        ("user", "How do I drink it?"),
        ("assistant", "With milk."),
        ("user", "How often do I drink it?"),
        ("assistant", "Every day."),
    ]


def test_what_was_shown_and_used_is_logged(conversations: Conversations, store: Retentive) -> None:
    sessions = {each.session: each for each in store.injections.report(namespaces=["default"]).sessions}
    second = sessions[f"claude-code/{conversations.second}"]
    assert second.prompts == 3
    assert second.used >= 1


def test_of_a_fork_only_what_is_new_is_recorded(conversations: Conversations, store: Retentive) -> None:
    assert said(store.sessions.events(f"claude-code/{conversations.fork}")) == [
        ("user", "What if I were Dutch?"),
        ("assistant", "A different tea."),
    ]


def test_the_plugin_is_valid(client: ClaudeCode) -> None:
    assert "Validation passed" in client.run("plugin", "validate", str(PLUGIN))


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What Claude Code says of its servers, after both ways to install ours."""
    claude_code_or_skip()
    with ClaudeCode(tmp_path_factory.mktemp("home")) as client:
        client.run("plugin", "marketplace", "add", str(PLUGIN.parents[1]))
        client.run("plugin", "install", "retentive@retentive")
        client.retentive("install", "claude-code")
        return dict(re.findall(r"^(.*retentive): (.*)$", client.run("mcp", "list"), re.MULTILINE))


def test_it_connects_to_the_server_that_retentive_installs(servers: dict[str, str]) -> None:
    assert re.search(r"retentive mcp .*--namespace auto - .*Connected", servers["retentive"])


def test_it_connects_to_the_server_of_the_plugin(servers: dict[str, str]) -> None:
    """As it is installed from our marketplace."""
    assert re.search(r"retentive mcp --namespace auto - .*Connected", servers["plugin:retentive:retentive"])
