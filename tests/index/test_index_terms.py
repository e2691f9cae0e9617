from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.index import MAX_TOKENIZED_ROWS
from retentive.index import terms as module
from retentive.index.image import _MAX_CHANGED_TEXTS
from retentive.model import Filter, Match, Scope

if TYPE_CHECKING:
    from retentive.index import Images
    from tests.index.conftest import Store

HERE = Scope(("home",), None, 100)
WORDS = ["run", "running", "dog", "cat", "the", "house", "Δx", "blue"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
STEP = st.one_of(
    st.tuples(st.just("add"), TEXT, TEXT),
    st.tuples(st.just("edit"), st.integers(0, 9), TEXT),
    st.tuples(st.just("forget"), st.integers(0, 9), st.just("")),
    st.tuples(st.just("load"), st.just(0), st.just("")),
    st.tuples(st.just("merge"), st.just(0), st.just("")),
)


class Life:
    """A store and its images, taken through steps."""

    def __init__(self, store: "Store", images: "Images") -> None:
        self.store, self.images, self.chunks = store, images, [store.add("a first house")]

    def do(self, step: str, first: str | int, second: str) -> None:
        if isinstance(first, str):
            self.chunks.append(self.store.add(first, second))
        elif step == "load":
            self.images.drop()
        elif step == "merge":
            terms = self.images._images["home"]._terms if self.images._images else None
            if terms is not None:
                terms._merge()
        elif self.chunks:
            chunk = self.chunks[first % len(self.chunks)]
            if step == "edit":
                self.store.edit(chunk, second)
            else:
                self.store.forget(chunk)
                self.chunks.remove(chunk)


@settings(max_examples=40, deadline=None)
@given(st.lists(STEP, max_size=12), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_any_life_scores_as_plain_bm25(
    new_store: Callable[..., "Store"],
    open_all: Callable[..., "Images"],
    ask: Callable[..., list[Match]],
    right: Callable[..., None],
    steps: list[tuple[str, str | int, str]],
    question: list[str],
) -> None:
    """After any additions, edits, removals, reloads and merges, scores are those of plain BM25 over what is there."""
    store = new_store()
    life = Life(store, open_all(store))
    terms = store.tokens(" ".join(question))
    for step in steps:
        right(ask(life.images, terms, HERE), store.bm25(terms, HERE), 100)
        life.do(*step)
    right(ask(life.images, terms, HERE), store.bm25(terms, HERE), 100)
    life.images.close()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=12),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    st.sampled_from([0, MAX_TOKENIZED_ROWS]),
)
def test_scores_are_those_of_fts5(
    new_store: Callable[..., "Store"],
    open_all: Callable[..., "Images"],
    ask: Callable[..., list[Match]],
    right: Callable[..., None],
    texts: list[tuple[str, str]],
    question: list[str],
    few: int,
) -> None:
    """On a store with one namespace, scores are FTS5's own bm25() with the same weights, however they were loaded."""
    store = new_store()
    for text, context in texts:
        store.add(text, context)
    images, terms = open_all(store, max_tokenized_rows=few), store.tokens(" ".join(question))
    sql = "SELECT rowid, -bm25(texts, 1.0, 0.25) FROM texts WHERE texts MATCH ?"
    theirs = dict(store.run(sql, " OR ".join(f'"{word}"' for word in question)))
    right(ask(images, terms, HERE), theirs, 100)
    images.close()


def test_a_filter_leaves_the_statistics(
    store: "Store", images: "Images", ask: Callable[..., list[Match]], right: Callable[..., None]
) -> None:
    """What a question may not see, or has expired, still counts for how rare a word is."""
    for i in range(9):
        store.add("dog house" if i % 3 else "cat", kind="note" if i % 2 else "fact", expires=50 if i == 4 else None)
    notes = Scope(("home",), None, 100, Filter(kinds=("fact",)))
    found = ask(images, ["dog"], notes)
    right(found, store.bm25(["dog"], notes), 100)
    assert {match.chunk for match in found} == {3, 9}


def test_namespaces_have_their_own_statistics(
    store: "Store", images: "Images", ask: Callable[..., list[Match]]
) -> None:
    """A word common elsewhere is not common here."""
    store.add("dog")
    store.add("cat")
    store.add("cat")
    before = ask(images, ["dog"], HERE)
    for _ in range(9):
        store.add("dog dog", namespace="away")
    assert ask(images, ["dog"], HERE) == before
    assert len(ask(images, ["dog"], Scope(("home", "away"), None, 100))) == 10


def test_a_row_without_words_counts(
    store: "Store", images: "Images", ask: Callable[..., list[Match]], right: Callable[..., None]
) -> None:
    """An empty text is a document: it makes the others longer than the average."""
    for text in ("dog", "cat cat", "", "", ""):
        store.add(text)
    right(ask(images, ["dog"], HERE), store.bm25(["dog"], HERE), 100)


def test_many_changes_are_merged(
    store: "Store",
    images: "Images",
    ask: Callable[..., list[Match]],
    right: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fresh and dead documents are merged away once there are enough, and nothing else changes."""
    monkeypatch.setattr(module, "_MERGE_FROM", 8)
    chunks = [store.add(f"dog {word}") for word in WORDS]
    ask(images, ["dog"], HERE)
    for i, chunk in enumerate(chunks):
        store.forget(chunk) if i % 2 else store.edit(chunk, f"cat {i} dog")
        store.add(f"cat dog {i}")
    right(ask(images, ["dog", "cat"], HERE), store.bm25(["dog", "cat"], HERE), 100)
    terms = images._images["home"]._terms
    assert terms is not None
    assert not terms._fresh


def test_far_behind_means_loading_again(store: "Store", images: "Images", ask: Callable[..., list[Match]]) -> None:
    """A question never waits for thousands of texts to be tokenised: the database answers while they load."""
    with store.db:
        chunks = [store.add("dog") for _ in range(_MAX_CHANGED_TEXTS + 1)]
    ask(images, ["dog"], HERE)
    with store.db:
        for chunk in chunks:
            store.edit(chunk, "dog house")
    assert images.search_text(["dog"], HERE, 5) is None
    assert images.wait(10)
    assert len(images.search_text(["dog"], HERE, 5) or []) == 5


def test_a_small_namespace_is_left_to_the_database(store: "Store", open_all: Callable[..., "Images"]) -> None:
    """Below `terms_from` rows nothing is loaded, and one small namespace in a scope is enough for None."""
    store.add("dog")
    for _ in range(3):
        store.add("dog", namespace="away")
    images = open_all(store, terms_from=2)
    both = Scope(("home", "away"), None, 100)
    assert images.search_text(["dog"], both, 5) is None
    assert images.wait(10)
    assert images.search_text(["dog"], both, 5) is None
    assert len(images.search_text(["dog"], Scope(("away",), None, 100), 5) or []) == 3
    images.close()
