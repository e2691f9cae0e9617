"""Candidates in their final order."""

from collections.abc import Iterable
from typing import NamedTuple

from retentive.retrieve.fuse import Candidate

# Gentle by design: they decide between answers of like relevance, they do not lift what is off the question.
# From the least to the most trusted, 0.8 to 1; from importance 1 to 10, 0.92 to 1.1, with 1 for the default 5.
CONFIDENCE_BASE, CONFIDENCE_GAIN = 0.8, 0.2
IMPORTANCE_BASE, IMPORTANCE_GAIN = 0.9, 0.02


class Ranked(NamedTuple):
    score: float
    candidate: Candidate
    confidence_factor: float
    importance_factor: float


def rank(candidates: Iterable[Candidate]) -> list[Ranked]:
    """Best first, one for each owner; ties go to the newer."""
    ranked = sorted(map(_weigh, candidates), key=_order)
    return list({each.candidate.match.owner: each for each in reversed(ranked)}.values())[::-1]


def _weigh(candidate: Candidate) -> Ranked:
    confidence = CONFIDENCE_BASE + CONFIDENCE_GAIN * candidate.match.confidence
    importance = IMPORTANCE_BASE + IMPORTANCE_GAIN * candidate.match.importance
    return Ranked(candidate.fused * confidence * importance, candidate, confidence, importance)


def _order(ranked: Ranked) -> tuple[float, int, int]:
    match = ranked.candidate.match
    return -ranked.score, -match.time, -match.chunk
