"""Answers show a newer memory above the older one that it may replace, and mark the older one."""

from collections.abc import Sequence
from typing import Any

import pytest

from retentive import Hit, Proposal, Retentive, Successor, serialize
from retentive.testing import Clock
from tests.memories.test_proposals import COFFEE, TEA, judged, propose_pair
from tests.support import Open

pytestmark = pytest.mark.engines

QUESTION = "does the user drink tea at work"


def list_contents(hits: Sequence[Hit]) -> list[str]:
    return [hit.content for hit in hits]


def add_fillers(store: Retentive, number: int = 4) -> None:
    """Add memories that share a word or two with the question."""
    for place in range(number):
        store.add(f"The user likes work of kind {place}")


def test_the_older_memory_stands_below_the_newer_one_with_a_mark(store: Retentive) -> None:
    """The older memory matches best, but is shown second, with the id and the date of the newer one."""
    pair = propose_pair(store)
    add_fillers(store)
    newer, older, *rest = store.search(QUESTION)
    assert (newer.id, older.id) == (pair.newer_id, pair.older_id)
    assert older.outdated == Successor(pair.newer_id, pair.newer_time, is_certain=False)
    assert {hit.outdated for hit in (newer, *rest)} == {None}


def test_scores_stay_in_order_and_explain_the_move(store: Retentive) -> None:
    """Both of a pair have the better score of the two; `why.pair` is what was added."""
    propose_pair(store)
    add_fillers(store)
    hits = store.search(QUESTION)
    newer, older = hits[:2]
    assert newer.score == pytest.approx(older.score)
    assert older.why.pair == 0
    assert newer.why.pair > 0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        why = hit.why
        found = sum(why.shares.values()) * why.confidence_factor * why.importance_factor
        assert hit.score == pytest.approx(found + why.pair)


def test_a_newer_memory_that_was_not_found_is_added(store: Retentive) -> None:
    """A question in the words of the older memory shows the newer one, too, as relevant as the older."""
    older = store.add(TEA)
    newer = judged(store, "Espresso only, from Monday on", may_end=(older.id,))
    hits = store.search(QUESTION, mode="text")
    assert [hit.id for hit in hits] == [newer.id, older.id]
    assert hits[0].relevance == hits[1].relevance > 0


@pytest.mark.parametrize(("limit", "shown"), [(1, [COFFEE]), (2, [COFFEE, TEA])])
def test_an_added_memory_does_not_exceed_the_limit(store: Retentive, limit: int, shown: list[str]) -> None:
    """The newer memory comes first; what is beyond the limit goes."""
    propose_pair(store)
    add_fillers(store)
    assert list_contents(store.search(QUESTION, limit)) == shown


def test_an_older_memory_is_moved_up_to_a_newer_one_that_was_found_first(store: Retentive) -> None:
    """A question in the words of the newer memory shows the older one directly below it."""
    pair = propose_pair(store)
    add_fillers(store, 8)
    hits = store.search("coffee at the office", 20)
    assert [hit.id for hit in hits][:2] == [pair.newer_id, pair.older_id]
    assert hits[1].outdated


def test_a_chain_of_proposals_is_shown_newest_first(store: Retentive) -> None:
    """Water may replace coffee, which may replace tea."""
    pair = propose_pair(store)
    water = "The user drinks nothing but water at work"
    judged(store, water, may_end=(pair.newer_id,))
    assert list_contents(store.search(QUESTION))[:3] == [water, COFFEE, TEA]


def test_of_several_newer_memories_the_newest_is_named(store: Retentive, time: Clock) -> None:
    """Two proposals about one older memory: the one that holds from the later time stands above it."""
    older = store.add(TEA)
    judged(store, COFFEE, may_end=(older.id,))
    time.forward(86_400)
    juice = judged(store, "The user drinks juice at work", may_end=(older.id,))
    hits = store.search(QUESTION)
    below = next(place for place, hit in enumerate(hits) if hit.id == older.id)
    assert hits[below - 1].id == juice.id
    assert hits[below].outdated == Successor(juice.id, store.get(juice.id).valid_from, is_certain=False)


@pytest.mark.parametrize("decide", ["accept", "reject"])
def test_a_decided_proposal_marks_nothing(store: Retentive, decide: str) -> None:
    """After a decision hits stand by their scores alone."""
    pair = propose_pair(store)
    getattr(store.proposals, decide)(pair.id)
    assert all(hit.outdated is None and hit.why.pair == 0 for hit in store.search(QUESTION))


def test_a_filter_may_leave_out_the_newer_memory_but_not_the_mark(store: Retentive) -> None:
    """What a filter hides is not added; that the older memory may be outdated is still said."""
    older = store.add(TEA, kind="preference")
    newer = judged(store, COFFEE, may_end=(older.id,), kind="fact")
    (hit,) = store.search(QUESTION, kind=["preference"])
    assert hit.outdated is not None
    assert (hit.id, hit.outdated.newer_id) == (older.id, newer.id)


@pytest.mark.parametrize("moment", ["as_of", "known_at"])
def test_a_question_about_the_past_is_not_changed(store: Retentive, time: Clock, moment: str) -> None:
    """What was true or known then is not compared with what may be true now."""
    propose_pair(store)
    time.forward(60)
    now = "2027-01-15T08:00:30+00:00"
    times: dict[str, Any] = {moment: now}
    hits = store.search(QUESTION, **times)
    assert TEA in list_contents(hits)
    assert {hit.outdated for hit in hits} == {None}


def test_other_namespaces_keep_their_pairs(open_store: Open) -> None:
    """A search over two namespaces marks what is possibly outdated in each."""
    mine, theirs = open_store(namespace="mine"), open_store(namespace="theirs")
    pair = propose_pair(theirs)
    mine.add("The user works at home")
    hits = mine.search(QUESTION, namespaces=["theirs"])
    by_id = {hit.id: hit for hit in hits}
    assert by_id[pair.older_id].outdated == Successor(pair.newer_id, pair.newer_time, is_certain=False)


def test_a_restricted_view_sees_the_pairs_of_its_namespace(open_store: Open) -> None:
    """Row-level security and the guard of namespaces let the lookup through."""
    whole = open_store(namespace="mine")
    pair = propose_pair(whole)
    view = whole.restricted(["mine"])
    assert [hit.id for hit in view.search(QUESTION)][:2] == [pair.newer_id, pair.older_id]


def test_json_names_the_newer_memory(store: Retentive) -> None:
    """`outdated` and `why.pair` are in the JSON of a hit."""
    pair = propose_pair(store)
    newer, older = serialize.results(store.search(QUESTION))["hits"]
    assert older["outdated"]["newer_id"] == pair.newer_id
    assert (older["outdated"]["is_certain"], newer["outdated"]) == (False, None)
    assert newer["why"]["pair"] > 0


def describe_day(pair: Proposal) -> str:
    day = f"{pair.newer_time:%Y-%m-%d}"
    return f"- {COFFEE} ({day})\n- {TEA} ({pair.older_time:%Y-%m-%d}, possibly outdated since {day})"


def test_a_context_shows_the_pair_with_both_dates(store: Retentive, time: Clock) -> None:
    """The older memory is directly below the newer one, though the others are in the order of time."""
    older = store.add(TEA)
    time.forward(86_400)
    add_fillers(store, 2)
    time.forward(86_400)
    judged(store, COFFEE, may_end=(older.id,))
    (pair,) = store.proposals.list()
    assert describe_day(pair) in store.context(QUESTION, min_relevance=0).text


def test_a_context_without_room_for_both_shows_the_newer_one(store: Retentive) -> None:
    """A budget for one line shows the newer memory alone."""
    pair = propose_pair(store)
    for budget in range(10, 60):
        made = store.context(QUESTION, budget=budget, min_relevance=0)
        assert pair.older_id not in made.cites or pair.newer_id in made.cites


def test_a_vital_memory_that_may_be_outdated_is_marked_in_every_context(store: Retentive) -> None:
    """What is always shown is shown below the newer memory, too."""
    older = store.add(TEA, importance=10)
    judged(store, COFFEE, may_end=(older.id,))
    (pair,) = store.proposals.list()
    assert describe_day(pair) in store.context("anything else").text


def test_the_message_of_an_older_memory_stands_below_the_pair(store: Retentive) -> None:
    """Whoever reads from the top meets what is newer first, in memories and in messages."""
    said = store.sessions.append("s", "user", "I drink tea at work, every day, green tea at work.")
    origin = {"session": "s", "events": [said.sequence]}
    older = store.add("The user drinks green tea at work.", origin=origin)
    newer = judged(store, "It is coffee for the user these days", may_end=(older.id,))
    found = [hit.id for hit in store.search("green tea at work every day", mode="text")]
    assert found == [newer.id, older.id, said.id]
