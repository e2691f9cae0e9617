"""Score how likely a newer statement replaces older ones, by a judge that was trained on pairs (`judges.py`)."""

from collections.abc import Sequence
from typing import Any

from retentive.judgement import judges
from retentive.judgement.corrections.compare import is_restatement
from retentive.judgement.corrections.pair_features import (
    Nearness,
    compute_pair_features,
    join_vectors,
    rank_similarities,
)
from retentive.judgement.corrections.statement import Statement


def score_replacements(
    older: Sequence[Statement], newer: Statement, older_vectors: Sequence[Any], newer_vector: Any
) -> list[float]:
    """Return the probability that each older statement is replaced, 0 if one of the two vectors is missing.

    Without vectors the judge was right in half of the pairs that it chose: too few to propose anything.
    """
    scores = [0.0] * len(older)
    if newer_vector is None:
        return scores
    known = [index for index, vector in enumerate(older_vectors) if vector is not None]
    nearness = rank_similarities([float(older_vectors[index] @ newer_vector) for index in known])
    for index, near in zip(known, nearness, strict=True):
        scores[index] = _score(older[index], newer, near, join_vectors(older_vectors[index], newer_vector))
    return scores


def _score(older: Statement, newer: Statement, nearness: Nearness, vector: Any) -> float:
    """Score a pair. A restatement, a wish, a plan or another item (item 4, not item 3) replaces nothing."""
    if older.is_doubtful or newer.is_doubtful or _is_other_item(older, newer) or is_restatement(older, newer):
        return 0.0
    return judges.score("replace", compute_pair_features(older, newer, nearness), vector)


def _is_other_item(older: Statement, newer: Statement) -> bool:
    """Whether both say the same about two things that differ by a value: "box 3 is blue", "box 4 is blue"."""
    is_named = older.is_named_by_value and newer.is_named_by_value
    return is_named and older.topic == newer.topic and older.values != newer.values
