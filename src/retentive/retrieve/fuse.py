"""The two legs of a search joined into one ranking.

BM25 and cosine have no common scale. `minmax` maps each leg's matches to 0..1 and adds them by weight; it beat
reciprocal ranks in every comparison on real conversations (R@10 .647 against .577 with the same two legs), because
ranks throw away how much better the first is than the second. `rrf` is there for those who want it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retentive.model import Fusion, Leg, Match

RRF_K = 60  # the constant of the paper (Cormack 2009); larger flattens the ranks


@dataclass(frozen=True, slots=True)
class Scaled:
    """A leg's matches, best first, each with its score on the common scale, and the leg's weight."""

    matches: Sequence[Match]
    normals: Sequence[float]
    weight: float
    places: Mapping[int, int]
    """Of each chunk among the matches."""

    def leg(self, chunk: int) -> Leg | None:
        """How this leg saw a chunk."""
        place = self.places.get(chunk)
        return None if place is None else Leg(place + 1, self.matches[place].score, self.normals[place], self.weight)


@dataclass(frozen=True, slots=True)
class Fused:
    """Both legs together."""

    text: Scaled
    vector: Scaled

    def scores(self) -> list[tuple[float, Match]]:
        """Every chunk of either leg with its weighted sum, in no order."""
        sums: dict[int, float] = {}
        found: dict[int, Match] = {}
        for leg in (self.text, self.vector):
            for match, normal in zip(leg.matches, leg.normals, strict=True):
                chunk = match[0]
                sums[chunk] = sums.get(chunk, 0.0) + leg.weight * normal
                found[chunk] = match
        return [(sums[chunk], match) for chunk, match in found.items()]


def fuse(text: Sequence[Match], vector: Sequence[Match], fusion: Fusion, vector_weight: float) -> Fused:
    """A leg that found nothing gives its weight to the other."""
    text_weight = 0.0 if not text else 1.0 if not vector else 1 - vector_weight
    return Fused(_scaled(text, fusion, text_weight), _scaled(vector, fusion, 1 - text_weight))


def _scaled(matches: Sequence[Match], fusion: Fusion, weight: float) -> Scaled:
    normals = _reciprocals(matches) if fusion is Fusion.RRF else _minmax(matches)
    return Scaled(matches, normals, weight, {match[0]: place for place, match in enumerate(matches)})


def _minmax(matches: Sequence[Match]) -> Sequence[float]:
    if not matches:
        return ()
    high, low = matches[0].score, matches[-1].score
    if high == low:
        return [1.0] * len(matches)
    scale = 1 / (high - low)
    return [(match[1] - low) * scale for match in matches]


def _reciprocals(matches: Sequence[Match]) -> Sequence[float]:
    """Scaled so that the first of a leg has 1, as with `minmax`."""
    return [(RRF_K + 1) / (RRF_K + rank) for rank in range(1, len(matches) + 1)]
