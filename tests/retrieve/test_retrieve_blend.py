"""Sums of what speaks for a row, and their order, by tables."""

from dataclasses import replace

import pytest

from retentive.model import Match
from retentive.retrieve.blend import RECIPE, Blend, Candidate, Recipe, Trait, pool
from retentive.retrieve.rank import rank
from retentive.retrieve.relevance import BOTH, Evidence, least_cosine, relevance


def memory(chunk: int, score: float) -> Match:
    return Match(chunk, score, f"m{chunk}", "memory", 0, 0.9, 5, "n")


def event(chunk: int, score: float, session: str = "s", sequence: int | None = None) -> Match:
    return Match(chunk, score, f"{session}#{sequence or chunk}", "event", 0, 0.6, 5, "n")


def scores(candidates: list[Candidate], traits: dict[int, Trait], recipe: Recipe = RECIPE) -> dict[int, float]:
    return {match.chunk: score for score, match in Blend(candidates, traits, 0.7, 1.0, recipe).scores()}


def test_a_pool_has_each_row_once_with_what_both_legs_say() -> None:
    found = pool([memory(1, 8.0), memory(2, 4.0)], [memory(2, 0.9), memory(3, 0.5)], 0.7, None)
    assert [(each.match.chunk, each.text, each.cosine) for each in found] == [
        (2, 0.5, 0.9),
        # not among the vector leg's matches: no nearer than its last
        (1, 1.0, 0.5),
        (3, 0.0, 0.5),
    ]


def test_a_pool_keeps_the_best() -> None:
    found = pool([], [memory(1, 0.9), memory(2, 0.8), memory(3, 0.1)], 1.0, 2)
    assert [each.match.chunk for each in found] == [1, 2]


def test_a_pool_has_one_slice_of_each_text() -> None:
    slices = [memory(n, 0.9 - n / 100)._replace(owner="long") for n in range(1, 50)]
    found = pool([], [*slices, memory(99, 0.1)], 1.0, 2)
    assert [each.match.chunk for each in found] == [1, 99]


def test_neighbours_come_from_the_same_session_alone() -> None:
    near = [event(1, 0.8, "a", 1), event(2, 0.6, "a", 2), event(3, 0.2, "b", 3)]
    around = {each.match.chunk: each.around for each in pool([], near, 0.7, None)}
    assert around[2] == pytest.approx(0.3 * 0.6)  # that much nearer than the leg's last
    assert around[1] == pytest.approx(0.15 * 0.4)
    assert around[3] == 0


def test_sessions_are_named_as_callers_like() -> None:
    (found,) = pool([], [event(1, 0.8, "a#b#7", 3)], 0.7, None)
    assert found.session == ("n", "a#b#7")


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        # the person named in the question said it
        (Trait(1.0, 20), Trait(0.0, 20)),
        # somebody else than "my" means said it
        (Trait(0.0, 20), Trait(-1.0, 20)),
        # more words
        (Trait(0.0, 30), Trait(0.0, 5)),
        # a user said it, and not an assistant
        (Trait(0.0, 20), Trait(0.0, 20, is_reply=True)),
        # an assistant's answer, and not the short question before it
        (Trait(0.0, 20, is_reply=True), Trait(0.0, 5, asks=True)),
        # it tells, and does not ask
        (Trait(0.0, 20), Trait(0.0, 20, asks=True)),
    ],
)
def test_of_two_like_messages_the_traits_decide(better: Trait, worse: Trait) -> None:
    candidates = [Candidate(event(n, 0.5), 0.5, 0.5, 0.1, ("n", f"s{n}")) for n in (1, 2)]
    found = scores(candidates, {1: worse, 2: better})
    assert found[2] > found[1]


def test_a_message_gains_by_the_best_of_its_session() -> None:
    candidates = [
        Candidate(event(1, 0.9, "a"), 1.0, 0.9, 0.1, ("n", "a")),
        Candidate(event(2, 0.5, "a"), 0.5, 0.5, 0.1, ("n", "a")),
        Candidate(event(3, 0.5, "b"), 0.5, 0.5, 0.1, ("n", "b")),
    ]
    found = scores(candidates, {})
    assert found[1] > found[2] > found[3]
    alone = scores(candidates, {}, replace(RECIPE, session=0.0))
    assert alone[2] == alone[3]


def test_the_only_match_of_few_words_is_no_full_answer() -> None:
    candidates = [
        Candidate(event(1, 1.0), 1.0, 0.2, 0.0, ("n", "s1")),
        Candidate(event(2, 0.6), 0.0, 0.5, 0.0, ("n", "s2")),
    ]
    covered = {m.chunk: s for s, m in Blend(candidates, {}, 0.7, 1.0).scores()}
    uncovered = {m.chunk: s for s, m in Blend(candidates, {}, 0.7, 0.2).scores()}
    assert covered[1] > covered[2]
    assert uncovered[1] < uncovered[2]


def test_a_score_is_the_sum_of_its_shares() -> None:
    candidates = [
        Candidate(memory(1, 1.0), 1.0, 0.4, 0.0, None),
        Candidate(event(2, 0.6), 0.3, 0.5, 0.2, ("n", "s")),
    ]
    blend = Blend(candidates, {1: Trait(1.0), 2: Trait(1.0, 12, asks=True)}, 0.7, 0.5)
    for score, match in blend.scores():
        assert score == pytest.approx(sum(blend.shares(match.chunk).values()))
    assert {*blend.shares(2)} == {"text", "vector", "neighbours", "person", "reply", "session", "length", "question"}


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (Evidence(0.3, 0.5), Evidence(0.1, 0.5)),
        (Evidence(0.3, 0.5), Evidence(0.3, 0.2)),
        (Evidence(0.3, 0.5), Evidence(0.3, 0.5, person=False)),
        (Evidence(0.3, 0.5), Evidence(0.3, 0.5, asks=True)),
        (Evidence(None, 0.8), Evidence(None, 0.3)),
        (Evidence(0.4, None), Evidence(0.1, None)),
        (Evidence(None, 0.1), Evidence(None, None)),
    ],
)
def test_relevance_grows_with_the_evidence(more: Evidence, less: Evidence) -> None:
    assert 1 > relevance(more) > relevance(less) >= 0


@pytest.mark.parametrize("threshold", [0.2, 0.45, 0.8])
def test_the_least_cosine_is_where_the_threshold_is_met(threshold: float) -> None:
    assert relevance(Evidence(least_cosine(threshold, 0.5), 0.5)) == pytest.approx(threshold)
    assert BOTH.cosine > 0


def test_among_memories_alone_a_word_of_several_counts_for_less() -> None:
    candidates = [Candidate(memory(1, 0.0), 1.0, 0.2, 0.0, None), Candidate(memory(2, 0.0), 0.0, 0.4, 0.0, None)]
    half = {m.chunk: s for s, m in Blend(candidates, {}, 0.65, 0.5).scores()}
    assert half[2] > half[1]
    beside = [*candidates, Candidate(event(3, 0.0), 0.0, 0.0, 0.0, ("n", "s"))]
    half = {m.chunk: s for s, m in Blend(beside, {}, 0.65, 0.5).scores()}
    assert half[1] > half[2]


@pytest.mark.parametrize("threshold", [0.01, 0.45, 0.9, 0.99])
def test_the_least_cosine_of_a_question_without_words_is_where_its_threshold_is_met(threshold: float) -> None:
    assert relevance(Evidence(least_cosine(threshold, None), None)) == pytest.approx(threshold)


@pytest.mark.parametrize("score", [-0.5, 0.5])
def test_of_likes_the_more_trusted_is_better_even_below_nothing(score: float) -> None:
    trusted, doubted = (memory(n, 0.0)._replace(confidence=sure) for n, sure in ((1, 1.0), (2, 0.1)))
    assert [each[3] for each in rank([(score, doubted), (score, trusted)])] == [trusted, doubted]
    vital, idle = (memory(n, 0.0)._replace(importance=weight) for n, weight in ((1, 10), (2, 1)))
    assert [each[3] for each in rank([(score, idle), (score, vital)])] == [vital, idle]
