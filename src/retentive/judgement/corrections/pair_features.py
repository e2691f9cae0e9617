"""Turn a pair of statements into numbers: the features of the judge of replacement."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from retentive.judgement import MAX_COMPARED_MEMORIES
from retentive.judgement.corrections.compare import compare
from retentive.judgement.corrections.statement import Statement
from retentive.judgement.corrections.stems import are_alike, find_shared_stems, stem


class Nearness(NamedTuple):
    """How near an older statement is to the newer one, alone and among the others that are compared with it."""

    similarity: float
    """The cosine of the two vectors."""
    rank: int
    """0 is the nearest of all."""
    lead: float
    """The distance of the nearest to the second; for the others the distance to the nearest, below 0."""
    crowd: float
    """How many are compared, as a share of `MAX_COMPARED_MEMORIES`, 1 at most: among many, more are near by chance."""


def rank_similarities(similarities: Sequence[float]) -> list[Nearness]:
    """Compute the nearness of each older statement from its cosine with the newer one."""
    order = sorted(range(len(similarities)), key=lambda index: -similarities[index])
    rank_of = {index: rank for rank, index in enumerate(order)}
    best = similarities[order[0]] if order else 0.0
    second = similarities[order[1]] if len(order) > 1 else best
    crowd = min(1.0, len(similarities) / MAX_COMPARED_MEMORIES)
    return [
        Nearness(similarity, rank_of[index], similarity - (best if rank_of[index] else second), crowd)
        for index, similarity in enumerate(similarities)
    ]


def compute_pair_features(older: Statement, newer: Statement, nearness: Nearness | None) -> Mapping[str, float]:
    """Each feature by its name. `nearness` is known if both statements have vectors."""
    first = older.topic | {stem(name) for name in older.names}
    second = newer.topic | {stem(name) for name in newer.names}
    shared = find_shared_stems(first, second)
    is_other_subject = bool(older.subjects and newer.subjects and not older.subjects & newer.subjects)
    features = {
        "shared_of_all": len(shared) / max(1, len(first | second)),
        "shared_of_shorter": len(shared) / max(1, min(len(first), len(second))),
        "shared_nothing": not shared,
        "shared_count": min(len(shared), 4) / 4,
        "same_subject": older.subjects == newer.subjects,
        "other_subject": is_other_subject,
        "both_of_user": "user" in older.subjects and "user" in newer.subjects,
        "same_attribute": _is_same_attribute(older, newer),
        "other_value": _has_other_value(older, newer),
        "same_value": bool({*older.values} & {*newer.values}),
        "values_on_one_side": bool(older.values) != bool(newer.values),
        "newer_names": bool(newer.names - older.names),
        "older_names": bool(older.names - newer.names),
        "shared_names": bool(newer.names & older.names),
        "other_names": bool(older.names and newer.names and not newer.names & older.names),
        "says_change": newer.says_change,
        "says_over": newer.ending is not None,
        "over_is_known": _compute_known_ending_share(older, newer),
        "older_event": older.is_event,
        "newer_event": newer.is_event,
        "older_doubtful": older.is_doubtful,
        "newer_doubtful": newer.is_doubtful,
        "newer_addition": newer.is_addition,
        "other_polarity": newer.is_negated != older.is_negated,
        "newer_negated": newer.is_negated,
        "older_negated": older.is_negated,
        "newer_indefinite": newer.has_indefinite,
        "older_indefinite": older.has_indefinite,
        "newer_length": min(len(newer.text), 200) / 100,
        "older_length": min(len(older.text), 200) / 100,
        "sure": compare(older, newer) is not None,
    }
    found = {name: float(value) for name, value in features.items()}
    return found if nearness is None else found | _describe_nearness(found, nearness)


PRODUCT_SCALE = 12.0  # brings the products of two unit vectors' numbers to the size of their distances


def join_vectors(older: Any, newer: Any) -> Any:
    """Join the products and the distances of two vectors' numbers. Rows of vectors are joined row by row."""
    import numpy as np

    return np.concatenate([older * newer * PRODUCT_SCALE, np.abs(older - newer)], axis=-1)


def _describe_nearness(features: Mapping[str, float], nearness: Nearness) -> dict[str, float]:
    """Features of the cosine: alone, multiplied with other features, and compared with those of the others."""
    together = ("other_polarity", "says_change", "other_value", "newer_addition", "newer_event", "other_subject")
    similarity = nearness.similarity
    found = {
        "similarity": similarity,
        "similarity_squared": similarity * similarity,
        "nearest": float(nearness.rank == 0),
        "nearness_rank": 1 / (1 + nearness.rank),
        "nearness_lead": nearness.lead * 3,
        "crowd": nearness.crowd,
    }
    return found | {f"similarity_{name}": similarity * features[name] for name in together}


def _is_same_attribute(older: Statement, newer: Statement) -> bool:
    return bool(older.attribute and newer.attribute and older.attribute.name == newer.attribute.name)


def _has_other_value(older: Statement, newer: Statement) -> bool:
    """Whether both have values of one kind that differ."""
    for kind in {value.kind for value in older.values} & {value.kind for value in newer.values}:
        before = {value.text for value in older.values if value.kind == kind}
        after = {value.text for value in newer.values if value.kind == kind}
        if before != after:
            return True
    return False


def _compute_known_ending_share(older: Statement, newer: Statement) -> float:
    if newer.ending is None:
        return 0.0
    own = older.topic | {stem(name) for name in older.names}
    known = sum(any(are_alike(word, gone) for word in own) for gone in newer.ending.stems)
    return known / len(newer.ending.stems)
