"""What replaces what, as a model is told it and decides on it."""

from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import Invalid, NotFound
from retentive.mcp import arguments, memory_tools
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer, select_tools
from retentive.mcp.tool import Answer
from retentive.memories.add import make_draft
from retentive.memories.write import write_memories
from retentive.model import AddResult, Replacement
from retentive.testing import parts_of

pytestmark = pytest.mark.engines


def call(caller: Caller, name: str, /, **given: Any) -> Answer:
    tool = select_tools(Offer.FULL, person=caller.person is not None)[name]
    return tool.run(caller, **arguments.parse_arguments(tool, given))


def propose(store: Retentive) -> AddResult:
    """Coffee may replace tea."""
    why = Replacement(store.add("Tea at noon").id, "same drink", "tea, coffee")
    (kept,) = write_memories(
        parts_of(store), [make_draft(parts_of(store), "Coffee at noon", {})._replace(proposes=(why,))]
    )
    return AddResult(store.get(kept.id), created=True, proposals=kept.proposals)


def test_a_model_is_told_what_may_be_replaced_and_how(store: Retentive) -> None:
    """The same content again with `replaces` ends the older memory and makes no second one."""
    added = propose(store)
    tea = added.proposals[0].older_id
    told = memory_tools._describe_added(added)
    assert f"May replace [{tea}] Tea at noon (same drink: tea, coffee)" in told
    assert f"call memory_add again with replaces=[{tea}]" in told
    assert memory_tools._serialize_added(added)["proposals"][0]["older_id"] == tea
    again = call(Caller(store), "memory_add", content="Coffee at noon", replaces=[tea])
    assert (again.data["id"], again.data["created"], again.data["superseded"]) == (added.id, False, [tea])
    assert f"Replaced [{tea}] Tea at noon (replaces: named by the caller)" in again.text
    assert store.history(tea)[-1].actor == "agent"
    assert store.proposals.list() == []


def test_a_model_lists_accepts_and_rejects(store: Retentive) -> None:
    """Deciding gives what is left."""
    caller, found = Caller(store), propose(store).proposals[0]
    listed = call(caller, "memory_review")
    assert [each["id"] for each in listed.data["proposals"]] == [found.id]
    assert "Coffee at noon may replace" in listed.text
    done = call(caller, "memory_review", accept=[found.id])
    assert (done.data["accepted"], done.data["proposals"]) == ([found.id], [])
    assert store.history(found.older_id)[-1].actor == "agent"
    assert call(caller, "memory_review").text == "Nothing to review."
    store.restore(found.older_id)


def test_what_concerns_the_person_is_reviewed_inside_a_project_too(store: Retentive) -> None:
    """Proposals of both namespaces that may be written are listed and decided; of others none."""
    project = Caller(store.in_namespace("billing"), ("default", "team/*"), "default")
    ours = propose(store.in_namespace("billing")).proposals[0]
    personal = propose(store).proposals[0]
    foreign = propose(store.in_namespace("team/x")).proposals[0]
    listed = call(project, "memory_review").data["proposals"]
    assert {each["id"] for each in listed} == {ours.id, personal.id}
    call(project, "memory_review", accept=[personal.id], reject=[ours.id])
    assert call(project, "memory_review").data["proposals"] == []
    with pytest.raises(NotFound, match="no proposal"):
        call(project, "memory_review", accept=[foreign.id])


def test_a_wrong_id_decides_nothing(store: Retentive) -> None:
    """All are looked up first, and one cannot be in both."""
    caller, found = Caller(store), propose(store).proposals[0]
    with pytest.raises(NotFound, match="no proposal"):
        call(caller, "memory_review", accept=[found.id], reject=["nothing"])
    with pytest.raises(Invalid, match="in both accept and reject"):
        call(caller, "memory_review", accept=[found.id], reject=[found.id])
    assert store.proposals.list() == [found]


def test_a_search_marks_what_may_be_outdated(store: Retentive) -> None:
    """A model sees the newer memory first, and the mark in the text and in the data."""
    added = propose(store)
    found = call(Caller(store), "memory_search", query="tea at noon")
    newer, older = found.data["hits"]
    assert (newer["id"], older["outdated"]["newer_id"]) == (added.id, added.id)
    assert f"(possibly outdated since {newer['date']}, see [{added.id}]): Tea at noon" in found.text
    assert "outdated" not in newer


def test_pages_of_two_namespaces_lose_no_proposal(store: Retentive) -> None:
    """Newest first, whichever namespace they are of."""
    billing = store.in_namespace("billing")
    wanted = [propose(each).proposals[0].id for each in (billing, store)]
    project, seen, after = Caller(billing, ("default",), "default"), list[str](), ""
    while page := call(project, "memory_review", limit=1, **({"after": after} if after else {})).data["proposals"]:
        seen.append(page[0]["id"])
        after = seen[-1]
    assert seen == wanted[::-1]
