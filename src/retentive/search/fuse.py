"""Scores matches by keyword search and vector search alone: the fusions `minmax` and `rrf`. The default: `signals.py`.

BM25 and cosine have no common scale. `minmax` maps the scores of each search to 0..1 and adds them by weight; it beat
reciprocal ranks in every comparison on real conversations (R@10 .647 against .577 with the same two searches), because
ranks throw away how much better the first is than the second. `rrf` is there for those who want it.
"""

from collections.abc import Mapping, Sequence

from retentive.frozen_dataclass import dataclass
from retentive.model import Fusion, Match


@dataclass(frozen=True, slots=True)
class ScaledMatches:
    """The matches of one search, best first, their scores on the common scale by chunk, and its weight."""

    matches: Sequence[Match]
    normals: Mapping[int, float]
    weight: float


@dataclass(frozen=True, slots=True)
class FusedMatches:
    """The matches of both searches on one scale."""

    text: ScaledMatches
    vector: ScaledMatches

    def shares(self, chunk: int) -> dict[str, float]:
        """The share of each search in a chunk's score."""
        return {
            name: part.weight * part.normals[chunk]
            for name, part in (("text", self.text), ("vector", self.vector))
            if chunk in part.normals
        }

    def scores(self) -> list[tuple[float, Match]]:
        """The weighted sum of every chunk of either search, in no order."""
        sums: dict[int, float] = {}
        found: dict[int, Match] = {}
        for part in (self.text, self.vector):
            for match in part.matches:
                chunk = match[0]
                sums[chunk] = sums.get(chunk, 0.0) + part.weight * part.normals[chunk]
                found[chunk] = match
        return [(sums[chunk], match) for chunk, match in found.items()]


RRF_K = 60  # the constant of the paper (Cormack 2009); larger flattens the ranks


def fuse(
    keyword_matches: Sequence[Match],
    vector_matches: Sequence[Match],
    fusion: Fusion,
    vector_weight: float,
    rrf_k: int = RRF_K,
) -> FusedMatches:
    """Bring both searches to a common scale, with their weights."""
    weight = choose_vector_weight(keyword_matches, vector_matches, vector_weight)
    text = _scale(keyword_matches, fusion, 1 - weight, rrf_k)
    return FusedMatches(text, _scale(vector_matches, fusion, weight, rrf_k))


def choose_vector_weight(
    keyword_matches: Sequence[Match], vector_matches: Sequence[Match], vector_weight: float
) -> float:
    """The weight of vector search. A search that found nothing gives its weight to the other."""
    if not keyword_matches:
        return 1.0
    return vector_weight if vector_matches else 0.0


def _scale(matches: Sequence[Match], fusion: Fusion, weight: float, rrf_k: int) -> ScaledMatches:
    normals = _reciprocals(matches, rrf_k) if fusion is Fusion.RRF else _minmax(matches)
    return ScaledMatches(matches, {match[0]: normal for match, normal in zip(matches, normals, strict=True)}, weight)


def _minmax(matches: Sequence[Match]) -> Sequence[float]:
    if not matches:
        return ()
    high, low = matches[0].score, matches[-1].score
    if high == low:
        return [1.0] * len(matches)
    scale = 1 / (high - low)
    return [(match[1] - low) * scale for match in matches]


def _reciprocals(matches: Sequence[Match], rrf_k: int) -> Sequence[float]:
    """Reciprocal ranks, scaled so that the first of a search has 1, as with `minmax`."""
    return [(rrf_k + 1) / (rrf_k + rank) for rank in range(1, len(matches) + 1)]
