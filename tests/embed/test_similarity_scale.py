"""The scale of a model that nobody measured."""

import numpy as np
import pytest

from retentive.embed.hashing_embedder import HashingEmbedder
from retentive.embed.minilm_embedder import MiniLMEmbedder
from retentive.embed.similarity_scale import SAMPLE_QUESTIONS, SAMPLE_TEXTS, estimate_scale


def test_the_estimate_for_minilm_is_near_what_was_measured(minilm: MiniLMEmbedder) -> None:
    """Measured in searches: a spread of .11, and .35 as the cosine of related texts."""
    scale = estimate_scale(minilm.embed(SAMPLE_QUESTIONS), minilm.embed(SAMPLE_TEXTS))
    assert scale.spread == pytest.approx(0.11, abs=0.01)
    assert scale.min_similarity == pytest.approx(0.35, abs=0.03)


def test_a_model_whose_cosines_lie_closer_together_has_a_smaller_spread(minilm: MiniLMEmbedder) -> None:
    """Half of each vector is the same direction: all cosines move up to between .5 and 1, half as far apart."""
    questions, texts = (
        np.hstack([vectors, np.ones((len(vectors), 1), np.float32)]) / np.sqrt(2)
        for vectors in (minilm.embed(SAMPLE_QUESTIONS), minilm.embed(SAMPLE_TEXTS))
    )
    plain = estimate_scale(minilm.embed(SAMPLE_QUESTIONS), minilm.embed(SAMPLE_TEXTS))
    moved = estimate_scale(questions, texts)
    assert moved.spread == pytest.approx(plain.spread / 2, abs=0.002)
    assert moved.min_similarity == pytest.approx(0.5 + plain.min_similarity / 2, abs=0.002)


def test_a_threshold_is_a_cosine_and_a_spread_is_never_zero() -> None:
    """Also for a model that gives every text one vector."""
    same = np.repeat(HashingEmbedder().embed(["one"]), 30, axis=0)
    assert estimate_scale(same, same) == (0.95, 0.01)
