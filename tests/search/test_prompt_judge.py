"""What belongs in front of a model with a prompt: rare words that are shared count, names that all share do not."""

import pytest

from retentive import Retentive
from retentive.errors import Invalid
from retentive.search.prompt_judge import (
    CANDIDATES,
    MIN_HELP,
    MIN_TEXTS,
    NEAR_IN_MEANING,
    Features,
    WordRarity,
    is_near_in_meaning,
    judge,
)
from tests.support import Open

USUAL = Features(gap=0.0, cosine=0.4, contrast=1.5, rarest=0.8, known=0.6, outdated=0.0, importance=0.0)
PROJECTS = ("invoices", "addresses", "parcels", "refunds", "routes", "drivers", "depots", "labels", "claims", "pallets")


@pytest.mark.parametrize(
    "change",
    [
        {"gap": -2.0},
        {"cosine": 0.1},
        {"contrast": -1.0},
        {"rarest": 0.2},
        {"known": 0.0},
        {"outdated": 1.0},
        {"importance": -0.8},
    ],
)
def test_each_feature_counts(change: dict[str, float]) -> None:
    assert judge(USUAL._replace(**change)) < judge(USUAL)


def test_a_memory_that_shares_no_word_must_be_near_in_meaning() -> None:
    far = USUAL._replace(rarest=0.0, cosine=NEAR_IN_MEANING - 0.01)
    assert judge(far) < MIN_HELP
    near = far._replace(cosine=NEAR_IN_MEANING)
    assert is_near_in_meaning(near, 0.6)
    assert not is_near_in_meaning(far, 0.6)
    assert not is_near_in_meaning(near, 0.4)
    assert not is_near_in_meaning(near._replace(outdated=1.0), 0.6)


@pytest.mark.parametrize(
    ("count", "texts", "rarity"),
    [(1, 1000, 0.94), (500, 1000, 0.10), (1000, 1000, 0.0), (1, 3, 0.92)],  # a small store counts as one of 200
)
def test_rarity_is_1_for_a_word_of_one_text_and_0_for_a_word_of_all(count: int, texts: int, rarity: float) -> None:
    found = WordRarity(["harbour"], {"harbour": count}, texts).measure_rarest(["the", "harbour"])
    assert found == pytest.approx(rarity, abs=0.01)


def test_the_rarest_shared_word_counts() -> None:
    rarity = WordRarity(["billing", "lock", "gate"], {"billing": 90, "lock": 1, "gate": 9}, MIN_TEXTS)
    assert rarity.measure_rarest(["billing", "gate"]) > rarity.measure_rarest(["billing"])
    assert rarity.measure_rarest(["unrelated"]) == 0
    assert rarity.known_share == 1


@pytest.fixture
def memory(open_store: Open) -> Retentive:
    """A store where each memory has the name of the project."""
    store = open_store(embedder="hashing")
    store.add_many([{"text": f"Palletline counts {what} at night in table {what}_log"} for what in PROJECTS])
    store.add_many([{"text": f"Palletline has a service for {what}"} for what in PROJECTS])
    store.add("Palletline deploys on Thursdays after the ledger closes")
    return store


@pytest.mark.engines
def test_a_shared_rare_word_is_found(memory: Retentive) -> None:
    (hit,) = memory.search_for_prompt("When may Palletline deploy, before the ledger closes?")
    assert "ledger" in hit.content


@pytest.mark.engines
@pytest.mark.parametrize(
    "prompt", ["Palletline is a nice name", "thanks, Palletline!", "Explain promises in JavaScript", "do it again"]
)
def test_a_name_that_all_memories_have_is_no_reason(memory: Retentive, prompt: str) -> None:
    assert [*memory.search_for_prompt(prompt)] == []


def test_the_limit_is_kept_and_the_likeliest_is_first(memory: Retentive) -> None:
    first, *_ = memory.search_for_prompt("Which table has the parcels?", 3)
    assert "parcels" in first.content
    assert len(memory.search_for_prompt("Which table has the parcels?", 1).hits) == 1


def test_without_vectors_what_is_about_as_relevant_as_the_best_is_found(memory: Retentive) -> None:
    hits = memory.search_for_prompt("When may Palletline deploy, before the ledger closes?", CANDIDATES, mode="text")
    assert "ledger" in hits[0].content
    assert all(hit.relevance >= 0.85 * hits[0].relevance for hit in hits)


def test_it_logs_nothing_by_itself(memory: Retentive) -> None:
    memory.search_for_prompt("When may Palletline deploy?")
    assert memory.accesses() == []


def test_an_empty_prompt_is_refused(memory: Retentive) -> None:
    with pytest.raises(Invalid):
        memory.search_for_prompt(" ")
