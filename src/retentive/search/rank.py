"""Candidates in their final order."""

from collections.abc import Iterable

from retentive.model import Match

# Gentle by design: they decide between answers of like relevance, they do not lift what is off the question.
# From the least to the most trusted, 0.8 to 1; from importance 1 to 10, 0.92 to 1.1, with 1 for the default 5.
CONFIDENCE_BASE, CONFIDENCE_GAIN = 0.8, 0.2
IMPORTANCE_BASE, IMPORTANCE_GAIN = 0.9, 0.02

Ranked = tuple[float, int, int, Match]
"""Score, time, chunk, match: of two, the larger is the better, so that ties go to the newer."""


def factors(score: float, match: Match) -> tuple[float, float]:
    """By confidence and by importance. A score below nothing is divided: trust makes no answer worse."""
    confidence = CONFIDENCE_BASE + CONFIDENCE_GAIN * match.confidence
    importance = IMPORTANCE_BASE + IMPORTANCE_GAIN * match.importance
    return (confidence, importance) if score >= 0 else (1 / confidence, 1 / importance)


def _weighed(score: float, match: Match) -> float:
    confidence, importance = factors(score, match)
    return score * confidence * importance


def order(each: Ranked) -> tuple[float, int, int]:
    """What differs by less than engines do in computing it is alike, and goes by its time."""
    score, time, chunk, _ = each
    return round(score, 4), time, chunk


def rank(scores: Iterable[tuple[float, Match]]) -> list[Ranked]:
    """Best first, one for each owner."""
    ranked = [(_weighed(fused, match), match.time, match.chunk, match) for fused, match in scores]
    ranked.sort(key=order, reverse=True)
    best: dict[tuple[str, str, str], Ranked] = {}
    for each in ranked:
        _, _, owner, type, _, _, _, namespace = each[3]
        best.setdefault((namespace, type, owner), each)
    return [*best.values()]
