"""Compute figures of how well questions were answered: recall, mean reciprocal rank, latency, AUC."""

from collections.abc import Iterable, Sequence
from statistics import fmean, median

from retentive.evaluation import EvaluationQuestion
from retentive.frozen_dataclass import dataclass

RECALL_DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """The outcome of a question: the place of each of its answers, from 1 on; None if it is not among the hits."""

    question: EvaluationQuestion
    ranks: tuple[int | None, ...]
    seconds: float = 0.0
    embedding: float = 0.0
    """The part of these seconds that the question's vector took."""
    relevance: float = 0.0
    """The relevance of the most relevant hit."""

    def within(self, depth: int) -> int:
        """The number of answers among the first hits."""
        return sum(rank is not None and rank <= depth for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of all answerable questions; recall, any and all at the depths 1, 5 and 10."""

    questions: int
    recall: tuple[float, ...]
    """The share of a question's answers that was found."""
    any: tuple[float, ...]
    """The share of questions with at least one answer found."""
    all: tuple[float, ...]
    mrr: float
    """The mean reciprocal rank: one divided by the rank of the first answer, averaged."""


def compute_figures(outcomes: Iterable[QuestionOutcome]) -> Figures:
    asked = [outcome for outcome in outcomes if outcome.question.expected]
    if not asked:
        nothing = (0.0,) * len(RECALL_DEPTHS)
        return Figures(0, nothing, nothing, nothing, 0.0)
    return Figures(
        len(asked),
        tuple(fmean(each.within(depth) / len(each.ranks) for each in asked) for depth in RECALL_DEPTHS),
        tuple(fmean(each.within(depth) > 0 for each in asked) for depth in RECALL_DEPTHS),
        tuple(fmean(each.within(depth) == len(each.ranks) for each in asked) for depth in RECALL_DEPTHS),
        fmean(max((1 / rank for rank in each.ranks if rank), default=0.0) for each in asked),
    )


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency in seconds. `embedding` is the median time of embedding a question."""

    p50: float
    p95: float
    embedding: float


def compute_latency(outcomes: Sequence[QuestionOutcome]) -> Latency:
    times = sorted(each.seconds for each in outcomes)
    if not times:
        return Latency(0.0, 0.0, 0.0)
    return Latency(median(times), times[int(0.95 * (len(times) - 1))], median(each.embedding for each in outcomes))


def compute_auc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float | None:
    """Compute how often an answerable question has the larger value; ties count half. 1 is perfect, 0.5 is chance."""
    if not answerable or not unanswerable:
        return None
    ranked = sorted([(value, 1) for value in answerable] + [(value, 0) for value in unanswerable])
    wins, below, at = 0.0, 0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        positive = sum(label for _, label in ranked[at:end])
        negative = end - at - positive
        wins += positive * (below + negative / 2)
        below, at = below + negative, end
    return wins / (len(answerable) * len(unanswerable))


@dataclass(frozen=True, slots=True)
class Point:
    """The precision and recall of a threshold that says whether a question can be answered."""

    threshold: float
    precision: float
    """The share of the questions above the threshold that can be answered."""
    recall: float
    """The share of the answerable questions that are above the threshold."""


def compute_curve(
    answerable: Sequence[float], unanswerable: Sequence[float], thresholds: Iterable[float]
) -> list[Point]:
    """Compute the precision and recall of each threshold, from the relevance of both kinds of question."""
    points = []
    for threshold in thresholds:
        right, wrong = (sum(value >= threshold for value in values) for values in (answerable, unanswerable))
        points.append(Point(threshold, right / max(1, right + wrong), right / max(1, len(answerable))))
    return points
