"""The corrections that people make every day, through every door: the older statement ends, and the answer says so."""

import pytest

from retentive import Retentive
from retentive.mcp import arguments
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer, select_tools
from tests.judgement.everyday import EVERYDAY
from tests.support import Open, Run


@pytest.mark.engines
def test_add_ends_the_older_statement(store: Retentive) -> None:
    """On all engines; each pair in a namespace of its own."""
    for number, (older, newer) in enumerate(EVERYDAY):
        memory = store.in_namespace(f"pair{number}")
        first = memory.add(older)
        second = memory.add(newer)
        assert [(each.id, each.content) for each in second.replaced] == [(first.id, older)], (older, newer)
        assert memory.get(first.id).superseded_by == second.id


@pytest.mark.engines
def test_learning_ends_the_older_statement(open_store: Open) -> None:
    """What was said in one conversation is corrected by the next."""
    store = open_store(embedder="minilm")
    for number, (older, newer) in enumerate(EVERYDAY):
        memory = store.in_namespace(f"pair{number}")
        for session, text in (("monday", older), ("tuesday", newer)):
            memory.sessions.append(session, "user", f"Remember that {text}.")
            memory.learn(session)
        assert len(memory.list(status="superseded")) == 1, (older, newer)
        assert len(memory.list()) == 1, (older, newer)


@pytest.mark.engines
def test_a_model_is_told_what_it_ended(store: Retentive) -> None:
    tool = select_tools(Offer.FULL)["memory_add"]
    for number, (older, newer) in enumerate(EVERYDAY):
        caller = Caller(store.in_namespace(f"pair{number}"))
        tool.run(caller, **arguments.parse_arguments(tool, {"content": older}))
        answer = tool.run(caller, **arguments.parse_arguments(tool, {"content": newer}))
        assert "Replaced [" in answer.text, (older, newer)
        assert older in answer.text, (older, newer)


@pytest.mark.parametrize(("older", "newer"), EVERYDAY[:4])
def test_the_terminal_prints_the_text_that_ended(run: Run, older: str, newer: str) -> None:
    run("add", older)
    assert older in run("add", newer)
    assert run("list").count("\n") == 1


@pytest.mark.engines
def test_an_ending_that_was_undone_is_not_made_again(store: Retentive) -> None:
    """`restore` keeps the pair apart."""
    first = store.add("my dog is Max")
    store.add("my dog is Luna")
    store.restore(first.id)
    again = store.add("my dog is Luna")
    assert not again.replaced
    assert store.get(first.id).status == "active"
