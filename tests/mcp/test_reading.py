"""Resources and prompts."""

import pytest

from retentive import Retentive
from retentive.errors import Invalid, NotFound
from retentive.mcp import prompts, resources
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer
from retentive.mcp.instructions import instructions
from retentive.served_namespaces import ServedNamespaces


@pytest.fixture
def caller(store: Retentive) -> Caller:
    own = store.in_namespace("billing")
    own.add("Invoices are sent on Fridays", kind="decision")
    own.add("Answer in French", kind="instruction", importance=9)
    store.add("The user likes figs", kind="preference")
    own.sessions.append("claude/1", "user", "The tide turns at noon")
    return Caller(own, ("default",), "default")


def test_the_profile_tells_of_the_person_in_all_namespaces_that_are_read(caller: Caller) -> None:
    told = resources.read_resource(caller, "memory://profile")
    assert told == "Instruction:\n- Answer in French\n\nPreference:\n- The user likes figs"


def test_the_profile_is_bounded_however_many_namespaces_are_read(store: Retentive) -> None:
    for name in ("team/a", "team/b"):
        store.in_namespace(name).add_many([f"Rule {n} of {name}" for n in range(150)], kind="instruction")
    told = resources.read_profile(Caller(store, ("team/*",)))
    assert told.count("- Rule") == resources.MAX_PROFILE_MEMORIES


def test_an_empty_store_has_an_empty_profile(store: Retentive) -> None:
    assert "Nothing is known" in resources.read_profile(Caller(store))


def test_recent_has_the_newest_first(caller: Caller) -> None:
    told = resources.read_resource(caller, "memory://recent").splitlines()
    assert [line.partition(": ")[2] for line in told] == ["Answer in French", "Invoices are sent on Fridays"]


def test_a_memory_and_a_session_are_read_by_their_addresses(caller: Caller) -> None:
    id = caller.memory.list(kind="decision")[0].id
    assert "Fridays" in resources.read_resource(caller, f"memory://{id}")
    listed = [each.uri for each in resources.list_resources(caller)]
    assert listed == ["memory://profile", "memory://recent", "memory://session/claude/1"]
    assert "tide turns" in resources.read_resource(caller, listed[-1])


@pytest.mark.parametrize("uri", ["memory://", "memory://nobody", "memory://session/none", "file:///etc/passwd", ""])
def test_an_address_that_leads_nowhere_is_said_to(caller: Caller, uri: str) -> None:
    with pytest.raises((NotFound, Invalid)):
        resources.read_resource(caller, uri)


def test_recall_brings_what_is_known_along(caller: Caller) -> None:
    given = {"topic": "invoices"}
    told = prompts.find_prompt("recall", given, writes=True).render(caller, given)
    assert "Invoices are sent on Fridays" in told


def test_about_me_brings_the_profile_along(caller: Caller) -> None:
    assert "figs" in prompts.find_prompt("about_me", None, writes=False).render(caller, {})


@pytest.mark.parametrize(
    ("name", "given", "writes"),
    [("recall", {}, True), ("recall", {"topic": " "}, True), ("recall", {"topic": "a", "x": "b"}, True),
     ("nothing", {}, True), ("remember", {}, False)],
)  # fmt: skip
def test_a_prompt_asked_for_wrongly_says_how(name: str, given: dict[str, str], writes: bool) -> None:
    with pytest.raises(Invalid) as caught:
        prompts.find_prompt(name, given, writes=writes)
    assert caught.value.hint


def test_instructions_tell_only_of_what_there_is() -> None:
    assert "memory_add" in instructions(ServedNamespaces("default"), Offer.DEFAULT)
    assert "memory_add" not in instructions(ServedNamespaces("default"), Offer.READ)
    assert "personal=true" in instructions(ServedNamespaces("billing", ("default",), "default"), Offer.DEFAULT)
    assert len(instructions(ServedNamespaces("billing", ("default",), "default"), Offer.DEFAULT)) < 2000
