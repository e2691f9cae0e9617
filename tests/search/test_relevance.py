"""Relevance means the same in every search: it does not hang on the limit, the threshold or what else is found."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive import Retentive
from tests.support import Open

pytestmark = pytest.mark.engines

SUBJECTS = ("Anna", "the user", "the billing service", "Max", "the cabin", "the choir")
VERBS = ("likes", "moved", "repairs", "needs", "stores", "sings", "forgot")
OBJECTS = ("green tea", "old radios", "invoices on Friday", "a blue bicycle", "the harbour", "two keys", "winter tyres")
TEXTS = [f"{subject} {verb} {what}" for subject in SUBJECTS for verb in VERBS for what in OBJECTS][::3]
WORDS = sorted({word for text in TEXTS for word in text.split()})
QUESTIONS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5, unique=True).map(" ".join)
CLOSE = 2e-3  # a server computes a cosine from sixteen bits


@pytest.fixture
def memory(open_store: Open) -> Retentive:
    store = open_store(embedder="hashing")
    store.add_many([{"text": text} for text in TEXTS])
    return store


def read_relevances(
    memory: Retentive, question: str, limit: int | None, least: float | None = None
) -> dict[str, float]:
    hits = memory.search(question, limit, min_relevance=least)
    return {hit.id: hit.relevance for hit in hits}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=QUESTIONS, low=st.floats(0.05, 0.5), step=st.floats(0.02, 0.4))
def test_a_higher_threshold_never_adds_a_hit(memory: Retentive, question: str, low: float, step: float) -> None:
    loose = read_relevances(memory, question, None, low)
    strict = read_relevances(memory, question, None, low + step)
    assert strict.keys() <= loose.keys()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=QUESTIONS, limit=st.integers(1, 60), least=st.floats(0.05, 0.9))
def test_what_a_hit_is_worth_does_not_hang_on_the_search(
    memory: Retentive, question: str, limit: int, least: float
) -> None:
    few = read_relevances(memory, question, limit)
    some = read_relevances(memory, question, None, least)
    many = read_relevances(memory, question, 60)
    for found in (few, some):
        assert all(abs(found[id] - many[id]) <= CLOSE for id in found.keys() & many.keys())
