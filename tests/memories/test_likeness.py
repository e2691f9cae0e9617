"""What a process that only writes asks the database, to find what a new memory resembles."""

from collections.abc import Sequence
from typing import Any

import pytest

from retentive import Retentive
from retentive.judgement import likeness
from retentive.search import retrievers
from retentive.store.scope import make_scope
from retentive.testing import parts_of
from tests.engines import SQLITE

pytestmark = pytest.mark.engines(*SQLITE)

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


@pytest.mark.engines("postgres")
@pytest.mark.parametrize(
    ("words", "most", "max_words", "found"),
    [
        (["quarterly", "zebras"], 20, 8, {"zebra"}),  # the next rarest are too many together
        (["quarterly", "zebras"], 100, 8, {"zebra", "item"}),
        (["quarterly", "zebras"], 100, 1, {"zebra"}),
        (["quarterly"], 20, 8, {"zebra", "item"}),  # one word at least
        (["unheard", "zebras"], 20, 8, {"zebra"}),
        (["unheard"], 20, 8, set()),
    ],
)
def test_a_server_chooses_the_rarest_words_itself(
    store: Retentive, words: list[str], most: int, max_words: int, found: set[str]
) -> None:
    store.add_many([f"the quarterly presentation about item {n}" for n in range(60)])
    store.add("a quarterly zebra")
    parts = parts_of(store)
    terms = {number: parts.engine.tokens(word) for number, word in enumerate(words)}
    like = parts.tables.memories.list_like(terms, make_scope(["default"], include="memories"), 100, max_words, most)
    assert {"zebra" if "zebra" in memory.content else "item" for memory in like} == found
    assert not like or "zebra" in like[0].content or "zebras" not in words


@pytest.mark.engines("postgres")
def test_what_resembles_a_memory_is_found_by_a_server(store: Retentive) -> None:
    store.add_many([f"the quarterly presentation about item {n}" for n in range(60)])
    known = store.add("the quarterly presentation about zebras").memory
    added = store.add("the quarterly presentation about zebras, again")
    assert [each.id for each in added.similar] == [known.id]


def test_terms_are_counted_in_the_namespaces_that_are_named(store: Retentive) -> None:
    store.add_many([f"the quarterly presentation about item {n}" for n in range(60)])
    store.add("a zebra")
    terms = parts_of(store).engine.tokens("quarterly zebra unheard")
    counted = parts_of(store).tables.chunks.count_terms(["default"], terms, MOST)
    assert {term: round(rows) for term, rows in counted.items()} == dict(zip(terms, (MOST, 1), strict=False))
