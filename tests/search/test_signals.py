"""Sums of what speaks for a row, and their order, by tables."""

from dataclasses import replace

import pytest

from retentive.model import Match, Space
from retentive.search.order_matches import order_matches
from retentive.search.relevance import BOTH, Evidence, least_cosine, relevance
from retentive.search.signals import RECIPE, Blend, CandidateTraits, MatchSignals, Recipe, Replies, pool_matches


def memory(chunk: int, score: float) -> Match:
    return Match(chunk, score, f"m{chunk}", "memory", 0, 0.9, 5, "n")


def event(chunk: int, score: float, session: str = "s", sequence: int | None = None) -> Match:
    return Match(chunk, score, f"{session}#{sequence or chunk}", "event", 0, 0.6, 5, "n")


def score_candidates(
    candidates: list[MatchSignals], traits: dict[int, CandidateTraits], recipe: Recipe = RECIPE
) -> dict[int, float]:
    return {match.chunk: score for score, match in Blend(candidates, traits, 0.7, 1.0, recipe).scores()}


def test_a_pool_has_each_row_once_with_the_scores_of_both_searches() -> None:
    found = pool_matches(
        [memory(1, 8.0), memory(2, 4.0)],
        [memory(2, 0.9), memory(3, 0.5)],
        0.7,
        None,
    )
    assert [(each.match.chunk, each.text, each.cosine) for each in found] == [
        (2, 0.5, 0.9),
        # not among the matches of vector search: no nearer than its last
        (1, 1.0, 0.5),
        (3, 0.0, 0.5),
    ]


def test_a_pool_keeps_the_best() -> None:
    found = pool_matches([], [memory(1, 0.9), memory(2, 0.8), memory(3, 0.1)], 1.0, 2)
    assert [each.match.chunk for each in found] == [1, 2]


def test_a_pool_has_one_slice_of_each_text() -> None:
    chunks = [memory(n, 0.9 - n / 100)._replace(owner="long") for n in range(1, 50)]
    found = pool_matches([], [*chunks, memory(99, 0.1)], 1.0, 2)
    assert [each.match.chunk for each in found] == [1, 99]


def test_neighbours_come_from_the_same_session_alone() -> None:
    near = [event(1, 0.8, "a", 1), event(2, 0.6, "a", 2), event(3, 0.2, "b", 3)]
    found = {each.match.chunk: (each.previous, each.next) for each in pool_matches([], near, 0.7, None)}
    assert found[2] == pytest.approx((0.6, 0.0))  # that much nearer than the last that vector search found
    assert found[1] == pytest.approx((0.0, 0.4))
    assert found[3] == (0, 0)


def test_a_model_whose_cosines_lie_closer_together_is_ranked_alike() -> None:
    """Cosines between .3 and .9 that are squeezed into .64 to .82, as some models have them."""
    squeezed = Space("close", 2, min_similarity=0.55 + 0.3 * 0.35, spread=0.3 * 0.11)
    text = [memory(1, 8.0), event(4, 3.0)]
    wide = [memory(2, 0.9), event(3, 0.7), event(4, 0.6), memory(5, 0.3)]
    close = [match._replace(score=0.55 + 0.3 * match.score) for match in wide]
    expected = pool_matches(text, wide, 0.7, None, measured={1: 0.4})
    found = pool_matches(text, close, 0.7, None, measured={1: 0.55 + 0.3 * 0.4}, space=squeezed)
    assert [each.match.chunk for each in found] == [each.match.chunk for each in expected]
    assert [each.cosine for each in found] == pytest.approx([each.cosine for each in expected])
    assert [each.next for each in found] == pytest.approx([each.next for each in expected])


def test_a_calibrated_cosine_can_be_turned_back() -> None:
    space = Space("close", 2, min_similarity=0.6, spread=0.05)
    assert space.calibrate(0.6) == pytest.approx(0.35)
    assert space.uncalibrate(space.calibrate(0.71)) == pytest.approx(0.71)


def test_sessions_are_named_as_callers_like() -> None:
    (found,) = pool_matches([], [event(1, 0.8, "a#b#7", 3)], 0.7, None)
    assert found.session == ("n", "a#b#7")


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        # the person named in the question said it
        (CandidateTraits(1.0, words=20), CandidateTraits(words=20)),
        # somebody else than "my" means said it
        (CandidateTraits(words=20), CandidateTraits(role=-1.0, words=20)),
        # more words
        (CandidateTraits(words=30), CandidateTraits(words=5)),
        # a user said it, and not an assistant
        (CandidateTraits(words=20), CandidateTraits(words=20, is_reply=True)),
        # an assistant's answer, and not the short question before it
        (CandidateTraits(words=20, is_reply=True), CandidateTraits(words=5, asks=True)),
        # it tells, and does not ask
        (CandidateTraits(words=20), CandidateTraits(words=20, asks=True)),
        # it has more of the question's words, or words that are related
        (CandidateTraits(words=20, related=0.6), CandidateTraits(words=20, related=0.2)),
    ],
)
def test_of_two_like_messages_the_traits_decide(better: CandidateTraits, worse: CandidateTraits) -> None:
    candidates = [MatchSignals(event(n, 0.5), 0.5, 0.5, 0.1, 0.0, ("n", f"s{n}")) for n in (1, 2)]
    found = score_candidates(candidates, {1: worse, 2: better})
    assert found[2] > found[1]


def test_a_message_gains_by_the_best_of_its_session() -> None:
    candidates = [
        MatchSignals(event(1, 0.9, "a"), 1.0, 0.9, 0.1, 0.0, ("n", "a")),
        MatchSignals(event(2, 0.5, "a"), 0.5, 0.5, 0.1, 0.0, ("n", "a")),
        MatchSignals(event(3, 0.5, "b"), 0.5, 0.5, 0.1, 0.0, ("n", "b")),
    ]
    found = score_candidates(candidates, {})
    assert found[1] > found[2] > found[3]
    alone = score_candidates(candidates, {}, replace(RECIPE, session=0.0))
    assert alone[2] == alone[3]


def test_the_only_match_of_few_words_is_no_full_answer() -> None:
    candidates = [
        MatchSignals(event(1, 1.0), 1.0, 0.2, 0.0, 0.0, ("n", "s1")),
        MatchSignals(event(2, 0.6), 0.0, 0.45, 0.0, 0.0, ("n", "s2")),
    ]
    covered = {m.chunk: s for s, m in Blend(candidates, {}, 0.7, 1.0).scores()}
    uncovered = {m.chunk: s for s, m in Blend(candidates, {}, 0.7, 0.2).scores()}
    assert covered[1] > covered[2]
    assert uncovered[1] < uncovered[2]


def test_a_score_is_the_sum_of_its_shares() -> None:
    candidates = [
        MatchSignals(memory(1, 1.0), 1.0, 0.4, 0.0, 0.0, None),
        MatchSignals(event(2, 0.6), 0.3, 0.5, 0.2, 0.1, ("n", "s")),
    ]
    traits = {1: CandidateTraits(1.0, related=0.5), 2: CandidateTraits(1.0, words=12, asks=True, related=0.3)}
    blend = Blend(candidates, traits, 0.7, 0.5)
    for score, match in blend.scores():
        assert score == pytest.approx(sum(blend.shares(match.chunk).values()))
    assert {*blend.shares(1)} == {"text", "vector", "related", "person"}
    own = {"text", "vector", "related", "neighbours", "person", "reply"}
    assert {*blend.shares(2)} == {*own, "session", "length", "question"}


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (Evidence(0.3, 0.5), Evidence(0.1, 0.5)),
        (Evidence(0.3, 0.5), Evidence(0.3, 0.2)),
        (Evidence(0.3, 0.5), Evidence(0.3, 0.5, other_person=True)),
        (Evidence(0.3, 0.5), Evidence(0.3, 0.5, missing_names=1.0)),
        (Evidence(0.3, 0.5), Evidence(0.3, 0.5, lacks_value=True)),
        (Evidence(0.3, 0.5), Evidence(0.3, 0.5, is_reply=True)),
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


def test_in_talk_with_an_assistant_words_count_more_and_the_message_before_less() -> None:
    by_words = MatchSignals(event(1, 0.0), 1.0, 0.2, 0.0, 0.0, ("n", "a"))
    by_neighbour = MatchSignals(event(2, 0.0), 0.0, 0.2, 0.6, 0.0, ("n", "b"))
    reply = MatchSignals(event(3, 0.0), 0.0, 0.0, 0.0, 0.0, ("n", "c"))
    said = {1: CandidateTraits(words=20), 2: CandidateTraits(words=20), 3: CandidateTraits(words=20)}
    among_people = score_candidates([by_words, by_neighbour, reply], said)
    with_assistant = score_candidates(
        [by_words, by_neighbour, reply], {**said, 3: CandidateTraits(words=20, is_reply=True)}
    )
    assert with_assistant[1] - with_assistant[2] > among_people[1] - among_people[2]


def test_replies_are_taken_into_the_pool_after_what_people_said() -> None:
    found = pool_matches(
        [],
        [event(1, 0.6, "a"), event(2, 0.59, "b"), event(3, 0.3, "c")],
        1.0,
        1,
        replies=Replies({1}, 0.3),
    )
    assert [each.match.chunk for each in found] == [2]


@pytest.mark.parametrize("threshold", [0.01, 0.45, 0.9, 0.99])
def test_the_least_cosine_of_a_question_without_words_is_where_its_threshold_is_met(threshold: float) -> None:
    assert relevance(Evidence(least_cosine(threshold, None), None)) == pytest.approx(threshold)


@pytest.mark.parametrize("score", [-0.5, 0.5])
def test_of_likes_the_more_trusted_is_better_even_below_nothing(score: float) -> None:
    trusted, doubted = (memory(n, 0.0)._replace(confidence=sure) for n, sure in ((1, 1.0), (2, 0.1)))
    assert [each.match for each in order_matches([(score, doubted), (score, trusted)])] == [trusted, doubted]
    vital, idle = (memory(n, 0.0)._replace(importance=weight) for n, weight in ((1, 10), (2, 1)))
    assert [each.match for each in order_matches([(score, idle), (score, vital)])] == [vital, idle]
