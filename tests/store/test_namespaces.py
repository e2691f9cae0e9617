"""Many namespaces in one open store: each answers as if it were alone."""

import numpy as np
import pytest

from retentive import Retentive
from retentive.errors import Invalid
from tests.support import Open

pytestmark = pytest.mark.engines


def test_one_open_store_serves_many_namespaces(store: Retentive) -> None:
    """Each sees its own and nothing of the others; the store behind them is one."""
    alice, bob = store.in_namespace("alice"), store.in_namespace("bob")
    alice.add("The tide turns at noon")
    bob.sessions.append("talk", "user", "The tide turns at six")
    assert [hit.content for hit in alice.search("tide")] == ["The tide turns at noon"]
    assert [hit.content for hit in bob.search("tide")] == ["The tide turns at six"]
    assert not store.search("tide")
    assert (alice.namespace, store.namespace) == ("alice", "default")
    assert {"alice", "bob"} <= {*store.namespaces()}


def test_a_namespace_is_asked_for_by_a_name_that_can_be_one(store: Retentive) -> None:
    with pytest.raises(Invalid):
        store.in_namespace("/")


def test_the_nearest_are_found_in_every_namespace(open_store: Open) -> None:
    """Recall@10 of 0.95 at least in each, however small it is beside the others."""
    store, random = open_store(embedder="none"), np.random.default_rng(7)
    given = {}
    for name, size in {"large": 1500, "middling": 150, "small": 15}.items():
        vectors = random.standard_normal((size, 32)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        loaded = store.in_namespace(name).add_many([f"{name} {n}" for n in range(size)], vectors=vectors)
        given[name] = vectors, np.array(loaded.ids)
    questions = random.standard_normal((10, 32)).astype(np.float32)
    for name, (vectors, ids) in given.items():
        hits = 0
        for question in questions:
            nearest = {*ids[np.argsort(-(vectors @ question))[:10]].tolist()}
            hits += len(nearest & {hit.id for hit in store.in_namespace(name).search(vector=question)})
        assert hits >= 0.95 * 10 * len(questions), name
