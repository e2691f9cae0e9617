"""Orders scored matches, and explains their scores.

`signals.py` or `fuse.py` gives the scores. They are weighed by confidence and importance here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import Match, RetrieverScore, Tier, TimeMatch, Why

# Gentle by design: they decide between answers of like relevance, they do not lift an answer that is off the question.
# From the least to the most trusted, 0.8 to 1; from importance 1 to 10, 0.92 to 1.1, with 1 for the default 5.
CONFIDENCE_BASE, CONFIDENCE_GAIN = 0.8, 0.2
IMPORTANCE_BASE, IMPORTANCE_GAIN = 0.9, 0.02


class Ranked(NamedTuple):
    """A match with its weighed score. The larger tuple is the better one, so that ties go to the newer."""

    score: float
    time: int
    chunk: int
    match: Match


def factors(score: float, match: Match) -> tuple[float, float]:
    """The factors of confidence and importance. A score below 0 is divided by them: trust makes no answer worse."""
    confidence = CONFIDENCE_BASE + CONFIDENCE_GAIN * match.confidence
    importance = IMPORTANCE_BASE + IMPORTANCE_GAIN * match.importance
    return (confidence, importance) if score >= 0 else (1 / confidence, 1 / importance)


def _weigh(score: float, match: Match) -> float:
    confidence, importance = factors(score, match)
    return score * confidence * importance


def sort_key(each: Ranked) -> tuple[float, int, int]:
    """The sort key. Scores that differ by less than engines differ in computing them are equal; the newer is first."""
    score, time, chunk, _ = each  # unpacked: this is called for each match
    return round(score, 4), time, chunk


def order_matches(scores: Iterable[tuple[float, Match]]) -> list[Ranked]:
    """Order matches by their weighed scores, best first, one for each owner."""
    ranked = [Ranked(_weigh(score, match), match.time, match.chunk, match) for score, match in scores]
    ranked.sort(key=sort_key, reverse=True)
    best: dict[tuple[str, str, str], Ranked] = {}
    for each in ranked:
        match = each.match
        best.setdefault((match.namespace, match.type, match.owner), each)
    return [*best.values()]


@dataclass(frozen=True, slots=True)
class RankedMatches:
    """The candidates in their order, with what explains their scores: the matches of both searches and the shares."""

    keyword_matches: Sequence[Match]
    vector_matches: Sequence[Match]
    ranked: Sequence[Ranked]
    shares: Callable[[int], Mapping[str, float]]
    """The shares of a chunk's score, by name."""
    weight: float
    """The weight of vector search; keyword search has the rest."""
    two_searches_only: bool = False
    """Whether the scores have no other signals (`fuse.py`)."""

    def measure_nearness(self) -> dict[int, float]:
        """How near each chunk is to the question by the searches' own scores; the best of both has 1."""
        near: dict[int, float] = {}
        for matches, weight in ((self.keyword_matches, 1 - self.weight), (self.vector_matches, self.weight)):
            if not matches or matches[0].score <= 0:
                continue
            highest = matches[0].score
            for match in matches:
                near[match.chunk] = near.get(match.chunk, 0.0) + weight * max(match.score / highest, 0.0)
        return near


class Explainer:
    """Explains the scores of hits of one ranking."""

    def __init__(self, ranking: RankedMatches, tier: Tier) -> None:
        self._ranking, self._tier = ranking, tier
        self._text_places = {match[0]: place for place, match in enumerate(ranking.keyword_matches)}
        self._vector_places = {match[0]: place for place, match in enumerate(ranking.vector_matches)}

    def explain(self, match: Match, timing: TimeMatch | None) -> Why:
        """Explain the score of one match."""
        ranking = self._ranking
        shares = ranking.shares(match.chunk)
        text = vector = None
        text_place = self._text_places.get(match.chunk)
        if text_place is not None:
            matches, share = ranking.keyword_matches, shares.get("text", 0.0)
            text = self._explain_part(matches, text_place, share, 1 - ranking.weight, matches[0].score)
        vector_place = self._vector_places.get(match.chunk)
        if vector_place is not None:
            matches, share = ranking.vector_matches, shares.get("vector", 0.0)
            vector = self._explain_part(matches, vector_place, share, ranking.weight, 1.0)
        return Why(self._tier, text, vector, *factors(sum(shares.values()), match), timing, shares)

    def _explain_part(
        self, matches: Sequence[Match], place: int, share: float, weight: float, highest: float
    ) -> RetrieverScore:
        """The score by one search. Its normal score is BM25 as a part of the best, or the cosine as it is."""
        score = matches[place].score
        if self._ranking.two_searches_only:
            return RetrieverScore(place + 1, score, share / weight if weight else 0.0, weight)
        normal = score / highest if highest else 0.0
        return RetrieverScore(place + 1, score, normal, share / normal if normal else 0.0)
