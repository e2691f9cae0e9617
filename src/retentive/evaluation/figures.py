"""Figures of how questions were answered. Pure: outcomes in, numbers out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from retentive.evaluation import Question

DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question: where each of its answers was found, from 1 on; None: not among the hits."""

    question: Question
    places: tuple[int | None, ...]
    seconds: float = 0.0
    embedding: float = 0.0
    """Seconds of these that the question's vector took."""
    relevance: float = 0.0
    """Of the hit that has most of it."""

    def within(self, depth: int) -> int:
        """How many of the answers are among the first hits."""
        return sum(place is not None and place <= depth for place in self.places)


@dataclass(frozen=True, slots=True)
class Figures:
    """Each at the depths 1, 5 and 10, over all questions that can be answered."""

    questions: int
    recall: tuple[float, ...]
    """Of a question's answers, the share that was found."""
    any: tuple[float, ...]
    """Questions of whose answers at least one was found."""
    all: tuple[float, ...]
    mrr: float
    """One divided by the place of the first answer, on average."""


def figures(outcomes: Iterable[Outcome]) -> Figures:
    asked = [outcome for outcome in outcomes if outcome.question.expected]
    if not asked:
        nothing = (0.0,) * len(DEPTHS)
        return Figures(0, nothing, nothing, nothing, 0.0)
    return Figures(
        len(asked),
        tuple(fmean(each.within(depth) / len(each.places) for each in asked) for depth in DEPTHS),
        tuple(fmean(each.within(depth) > 0 for each in asked) for depth in DEPTHS),
        tuple(fmean(each.within(depth) == len(each.places) for each in asked) for depth in DEPTHS),
        fmean(max((1 / place for place in each.places if place), default=0.0) for each in asked),
    )


@dataclass(frozen=True, slots=True)
class Latency:
    """In seconds; `embedding` is the median of what the questions' vectors took."""

    p50: float
    p95: float
    embedding: float


def latency(outcomes: Sequence[Outcome]) -> Latency:
    times = sorted(each.seconds for each in outcomes)
    if not times:
        return Latency(0.0, 0.0, 0.0)
    return Latency(median(times), times[int(0.95 * (len(times) - 1))], median(each.embedding for each in outcomes))


def auc(known: Sequence[float], unknown: Sequence[float]) -> float | None:
    """How often one of the first is above one of the second, ties by half: 1 separates them, 0.5 is chance."""
    if not known or not unknown:
        return None
    ranked = sorted([(value, 1) for value in known] + [(value, 0) for value in unknown])
    wins, below, at = 0.0, 0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        positive = sum(label for _, label in ranked[at:end])
        negative = end - at - positive
        wins += positive * (below + negative / 2)
        below, at = below + negative, end
    return wins / (len(known) * len(unknown))


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold does: of what is above it, the share that can be answered; of what can be, the share above."""

    threshold: float
    precision: float
    recall: float


def curve(known: Sequence[float], unknown: Sequence[float], thresholds: Iterable[float]) -> list[Point]:
    points = []
    for threshold in thresholds:
        right, wrong = (sum(value >= threshold for value in values) for values in (known, unknown))
        points.append(Point(threshold, right / max(1, right + wrong), right / max(1, len(known))))
    return points
