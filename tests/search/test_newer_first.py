"""Where a newer memory and the older one that it may replace are placed."""

from dataclasses import replace

import pytest

from retentive.model import Hit, ItemType, Kind, Memory, Source, Status, Tier, Why, from_micros
from retentive.search.newer_first import Key, join_pairs, lift_newer

MOMENT = from_micros(0)


def memory(id: str) -> Memory:
    return Memory(
        id, "default", None, Kind.FACT, id, None, (), None, Source.EXPLICIT, None, 1.0, 5, Status.ACTIVE, None, "",
        MOMENT, None, MOMENT, MOMENT, None, 0, None, {}, 1,
    )  # fmt: skip


def hit(id: str, score: float) -> Hit:
    return Hit(memory(id), score, id, Why(Tier.HYBRID, None, None, 1.0, 1.0, shares={"text": score}))


def key(id: str) -> Key:
    return "default", ItemType.MEMORY, id


@pytest.mark.parametrize(
    ("found", "newer_of", "shown"),
    [
        ("abc", {}, "abc"),
        ("abc", {"a": "b"}, "bac"),  # the newer one is lifted above the older
        ("abc", {"c": "a"}, "acb"),  # the older one comes up to the newer
        ("abc", {"a": "x"}, "xabc"),  # the newer one was not found
        ("abcd", {"a": "c", "b": "c"}, "cabd"),  # one replaces two
        ("abcd", {"a": "b", "b": "d"}, "dbac"),  # a chain
        ("abc", {"a": "b", "b": "a"}, "bac"),  # each names the other
        ("abc", {"q": "a"}, "abc"),  # the older one was not found
    ],
)
def test_a_newer_hit_stands_directly_above_the_older(found: str, newer_of: dict[str, str], shown: str) -> None:
    """Pairs take the better place of the two; scores stay in order, and shares plus `pair` give the score."""
    hits = [hit(id, 0.9 - place / 10) for place, id in enumerate(found)]
    added = {key("x"): hit("x", 0.0)}
    placed = join_pairs(hits, {key(older): key(newer) for older, newer in newer_of.items()}, added)
    assert "".join(each.id for each in placed) == shown
    scores = [each.score for each in placed]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([sum(each.why.shares.values()) + each.why.pair for each in placed])


def test_a_newer_hit_is_at_least_as_relevant_as_the_older() -> None:
    """A threshold that lets the older one pass lets the newer one pass."""
    older = replace(hit("a", 0.9), relevance=0.7)
    newer, below = join_pairs([older], {key("a"): key("x")}, {key("x"): hit("x", 0.0)})
    assert (newer.relevance, below.relevance) == (0.7, 0.7)


@pytest.mark.parametrize(
    ("newer_of", "shown"),
    [
        ({}, "abcd"),
        ({"a": "c"}, "cabd"),  # lifted directly above
        ({"c": "a"}, "abcd"),  # stands above it already
        ({"a": "dc"}, "cabd"),  # the better one of two is enough
        ({"a": "x"}, "abcd"),  # not among the hits: nothing is added
        ({"a": "c", "b": "d"}, "cadb"),
    ],
)
def test_what_is_newer_is_lifted_above_what_is_outdated(newer_of: dict[str, str], shown: str) -> None:
    """Only if it stands below; the scores stay in order."""
    hits = [hit(id, 0.9 - place / 10) for place, id in enumerate("abcd")]
    placed = lift_newer(hits, {key(older): {key(each) for each in newer} for older, newer in newer_of.items()})
    assert "".join(each.id for each in placed) == shown
    scores = [each.score for each in placed]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([sum(each.why.shares.values()) + each.why.pair for each in placed])
