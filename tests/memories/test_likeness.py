"""What a process that only writes asks the database, to find what a new memory resembles."""

from collections.abc import Sequence
from typing import Any

import pytest

from retentive import Retentive
from retentive.judgement import likeness
from retentive.search import retrievers
from retentive.testing import parts_of

pytestmark = pytest.mark.engines

MOST = 20


@pytest.fixture
def asked(store: Retentive, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words of each text search of the database. Up to twenty rows may be scored."""
    monkeypatch.setattr(likeness, "MAX_ROWS", MOST)
    monkeypatch.setattr(retrievers, "MAX_ROWS", MOST)
    found: list[list[str]] = []
    engine = type(parts_of(store).engine)
    search: Any = engine.search_text

    def search_text(self: Any, words: Sequence[str], *rest: Any) -> Any:
        found.append([*words])
        return search(self, words, *rest)

    monkeypatch.setattr(engine, "search_text", search_text)
    return found


def test_what_resembles_a_memory_is_looked_for_by_its_rarest_words(store: Retentive, asked: list[list[str]]) -> None:
    store.add_many([f"the quarterly presentation about item {n}" for n in range(60)])
    known = store.add("the quarterly presentation about zebras").memory
    asked.clear()
    added = store.add("the quarterly presentation about zebras, again")
    assert asked == [["zebras"]]
    assert [each.id for each in added.similar] == [known.id]


def test_words_that_no_memory_has_are_not_looked_for(store: Retentive, asked: list[list[str]]) -> None:
    store.add_many([f"item {n}" for n in range(60)])
    store.add("zebras graze")
    assert asked == []


def test_words_that_are_common_in_other_namespaces_are_looked_for(store: Retentive, asked: list[list[str]]) -> None:
    store.add_many([f"the quarterly presentation about item {n}" for n in range(200)])
    mine = store.in_namespace("mine")
    known = mine.add("the quarterly presentation").memory
    asked.clear()
    added = mine.add("the quarterly presentation, now")
    assert [sorted(words) for words in asked] == [["presentation", "quarterly"]]
    assert [each.id for each in added.similar] == [known.id]


def test_terms_are_counted_in_the_namespaces_that_are_named(store: Retentive) -> None:
    store.add_many([f"the quarterly presentation about item {n}" for n in range(60)])
    store.add("a zebra")
    terms = parts_of(store).engine.tokens("quarterly zebra unheard")
    counted = parts_of(store).tables.chunks.count_terms(["default"], terms, MOST)
    assert {term: round(rows) for term, rows in counted.items()} == dict(zip(terms, (MOST, 1), strict=False))
