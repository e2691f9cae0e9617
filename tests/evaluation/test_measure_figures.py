"""Figures are computed by hand here, and compared."""

import pytest

from retentive.evaluation import EvaluationQuestion
from retentive.evaluation.figures import QuestionOutcome, compute_auc, compute_curve, compute_figures, compute_latency


def outcome(*places: int | None, seconds: float = 0.0) -> QuestionOutcome:
    return QuestionOutcome(
        EvaluationQuestion("q", tuple(str(each) for each in range(len(places)))), places, seconds, seconds / 2
    )


def test_recall_any_all_and_mrr_at_each_depth() -> None:
    found = compute_figures([outcome(1, 6), outcome(None), outcome(2)])
    assert found.questions == 3
    assert found.recall == pytest.approx((0.5 / 3, 1.5 / 3, 2 / 3))
    assert found.any == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert found.all == pytest.approx((0, 1 / 3, 2 / 3))
    assert found.mrr == pytest.approx((1 + 0 + 0.5) / 3)


def test_what_cannot_be_answered_is_not_counted() -> None:
    assert compute_figures([outcome(), outcome(1)]).questions == 1
    assert compute_figures([]).recall == (0, 0, 0)


def test_latency_has_the_median_the_tail_and_the_embedding() -> None:
    found = compute_latency([outcome(1, seconds=each) for each in (3, 1, 2)])
    assert (found.p50, found.p95, found.embedding) == (2, 2, 1)


@pytest.mark.parametrize(
    ("known", "unknown", "expected"),
    [
        ([3, 4], [1, 2], 1.0),
        ([1, 2], [3, 4], 0.0),
        ([1], [1], 0.5),
        ([1, 3], [2], 0.5),
        ([], [1], None),
    ],
)
def test_auc_counts_pairs(known: list[float], unknown: list[float], expected: float | None) -> None:
    assert compute_auc(known, unknown) == expected


def test_a_threshold_has_its_precision_and_recall() -> None:
    (point,) = compute_curve([0.9, 0.4], [0.6, 0.1], [0.5])
    assert (point.precision, point.recall) == (0.5, 0.5)
