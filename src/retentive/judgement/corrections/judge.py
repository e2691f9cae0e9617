"""How likely is it that a newer statement replaces older ones? By what was learned from pairs (`judges.py`)."""

from collections.abc import Sequence
from typing import Any

from retentive.judgement import judges
from retentive.judgement.corrections.compare import is_restatement
from retentive.judgement.corrections.pair_features import Nearness, describe_pair, join_vectors, rank_similarities
from retentive.judgement.corrections.statement import Statement


def score_replacements(
    older: Sequence[Statement], newer: Statement, older_vectors: Sequence[Any], newer_vector: Any
) -> list[float]:
    """The probability that each older statement is replaced; 0 where the vector of one of the two is missing.

    Without vectors the judge was right in half of the pairs that it chose: too little to propose anything.
    """
    scores = [0.0] * len(older)
    if newer_vector is None:
        return scores
    known = [place for place, vector in enumerate(older_vectors) if vector is not None]
    nearness = rank_similarities([float(older_vectors[place] @ newer_vector) for place in known])
    for place, near in zip(known, nearness, strict=True):
        scores[place] = _score(older[place], newer, near, join_vectors(older_vectors[place], newer_vector))
    return scores


def _score(older: Statement, newer: Statement, nearness: Nearness, vector: Any) -> float:
    """Saying the same again replaces nothing, nor does a wish or a plan; and item 4 is not item 3."""
    if older.is_doubtful or newer.is_doubtful or _is_other_item(older, newer) or is_restatement(older, newer):
        return 0.0
    return judges.score("replace", describe_pair(older, newer, nearness), vector)


def _is_other_item(older: Statement, newer: Statement) -> bool:
    """Whether both say the same of two things that a value tells apart: "box 3 is blue", "box 4 is blue"."""
    is_named = older.is_named_by_value and newer.is_named_by_value
    return is_named and older.topic == newer.topic and older.values != newer.values
