"""The two legs of a search joined into one ranking.

BM25 and cosine have no common scale. `minmax` maps each leg's matches to 0..1 and adds them by weight; it beat
reciprocal ranks in every comparison on real conversations (R@10 .647 against .577 with the same two legs), because
ranks throw away how much better the first is than the second. `rrf` is there for those who want it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from retentive.model import Fusion, Leg, Match

RRF_K = 60  # the constant of the paper (Cormack 2009); larger flattens the ranks


class Candidate(NamedTuple):
    match: Match
    fused: float
    text: Leg | None
    vector: Leg | None


def fuse(text: Sequence[Match], vector: Sequence[Match], fusion: Fusion, vector_weight: float) -> list[Candidate]:
    """Every chunk of either leg, in no order. A leg that found nothing gives its weight to the other."""
    text_weight = 0.0 if not text else 1.0 if not vector else 1 - vector_weight
    text_legs = _legs(text, fusion, text_weight)
    vector_legs = _legs(vector, fusion, 1 - text_weight)
    return [
        _candidate(match, text_legs.get(match.chunk), vector_legs.get(match.chunk))
        for match in {match.chunk: match for match in (*text, *vector)}.values()
    ]


def _candidate(match: Match, text: Leg | None, vector: Leg | None) -> Candidate:
    fused = (text.normal * text.weight if text else 0.0) + (vector.normal * vector.weight if vector else 0.0)
    return Candidate(match, fused, text, vector)


def _legs(matches: Sequence[Match], fusion: Fusion, weight: float) -> dict[int, Leg]:
    normals = _reciprocals(len(matches)) if fusion is Fusion.RRF else _minmax([match.score for match in matches])
    return {
        match.chunk: Leg(rank, match.score, normal, weight)
        for rank, (match, normal) in enumerate(zip(matches, normals, strict=True), start=1)
    }


def _minmax(scores: Sequence[float]) -> Iterable[float]:
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if high == low:
        return [1.0] * len(scores)
    scale = 1 / (high - low)
    return [(score - low) * scale for score in scores]


def _reciprocals(count: int) -> Iterable[float]:
    """Scaled so that the first of a leg has 1, as with `minmax`."""
    return [(RRF_K + 1) / (RRF_K + rank) for rank in range(1, count + 1)]
