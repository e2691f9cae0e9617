"""What is learned about the person reaches their namespace through hooks, servers and the command line."""

from pathlib import Path

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.hooks.request import HookCall, HookOptions, find_target
from retentive.mcp import conversation_tools, lifecycle_tools
from retentive.mcp.caller import Caller
from retentive.mcp.http import identify_caller
from retentive.memories.add import make_draft
from retentive.memories.write import write_memories
from retentive.model import Move, Token
from retentive.served_namespaces import PERSON, ServedNamespaces
from retentive.testing import parts_of
from tests.support import Open, Run

BOSS = "Remember that my boss is Priya."
SERVED = ServedNamespaces("project", (PERSON,), PERSON)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, in which commands are typed."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def texts(store: Retentive, namespace: str) -> list[str]:
    return [memory.content for memory in store.in_namespace(namespace).list()]


def test_a_hook_opens_the_store_for_the_person(db: Path, repository: Path) -> None:
    call = HookCall("s", repository, None, "", "")
    with find_target(call, HookOptions(namespace="auto", db=str(db), embedder="hashing"), repository).open(
        "hashing"
    ) as store:
        assert (store.namespace, store.person) == ("project", PERSON)


def test_the_command_line_keeps_it_with_the_person(db: Path, run: Run, repository: Path) -> None:  # noqa: ARG001 - cwd
    run("-n", "auto", "session", "append", "s", BOSS)
    run("-n", "auto", "learn", "s")
    with Retentive.open(db, embedder="hashing") as store:
        assert (texts(store, "project"), texts(store, PERSON)) == ([], ["The user's boss is Priya."])


def test_the_command_line_shows_and_moves_what_is_doubtful(
    db: Path, run: Run, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Retentive.open(db, "project", embedder="hashing") as store:
        id = propose_move(store)
    assert run("-n", "auto", "review").split("\t")[2] == f"move to {PERSON}"
    assert f"moved to {PERSON} as" in run("-n", "auto", "review", "accept", id)
    assert main(["--db", str(db), "-n", "auto", "review"]) == 0
    assert id not in capsys.readouterr().out
    assert repository.exists()


def propose_move(store: Retentive) -> str:
    """A memory that may be about the person, with its proposal."""
    draft = make_draft(parts_of(store), "The user likes tea", {})
    move = Move(store.namespace, PERSON, "about the person", "it seems so")
    (kept,) = write_memories(parts_of(store), [draft._replace(proposed_move=move)])
    return kept.proposals[0].id


@pytest.mark.engines
class TestServed:
    def test_a_tool_logs_for_the_person(self, open_store: Open) -> None:
        store = open_store(namespace="project")
        client = Caller(store.in_namespace("project", person=PERSON), SERVED.also_read, PERSON)
        conversation_tools.append_messages(client, "s", [{"role": "user", "content": BOSS}])
        conversation_tools.learn_sessions(client, "s")
        assert texts(store, PERSON) == ["The user's boss is Priya."]

    def test_a_model_is_shown_what_may_move_and_moves_it(self, open_store: Open) -> None:
        client = Caller(open_store(namespace="project"), SERVED.also_read, PERSON)
        id = propose_move(client.memory)
        shown = lifecycle_tools.review(client)
        assert "may belong to 'default' (about the person: it seems so)" in shown.text
        assert shown.data["proposals"][0]["move_to"] == PERSON
        assert "Moved [" in lifecycle_tools.review(client, accept=[id]).text
        assert texts(client.memory, PERSON) == ["The user likes tea"]

    def test_a_token_of_the_project_alone_has_no_person(self, open_store: Open) -> None:
        store = open_store(namespace="project", person=PERSON)
        view = store.restricted("project")
        client = identify_caller(SERVED, view, _token_for("project"))
        assert (client.person, client.memory.person) == (None, None)
        client.memory.sessions.append("s", "user", BOSS)
        assert (len(texts(store, "project")), texts(store, PERSON)) == (1, [])

    def test_a_token_of_another_project_has_no_person(self, open_store: Open) -> None:
        view = open_store(namespace="project", person=PERSON).restricted("other")
        assert identify_caller(SERVED, view, _token_for("other")).memory.person is None


def _token_for(namespace: str) -> Token:
    with Retentive.open(":memory:", embedder="none") as store:
        return store.tokens.create(namespace).token
