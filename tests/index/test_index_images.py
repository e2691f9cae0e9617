import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.errors import Corrupt, Invalid
from retentive.index import MAX_TOKENIZED_ROWS, open_images
from retentive.index import columns as rows_module
from retentive.index import image as module
from retentive.index.graph_build import GraphBuilder
from retentive.index.hnsw import Hnsw
from retentive.index.worker import IndexWorker
from retentive.model import Filter, Match, Scope

if TYPE_CHECKING:
    from retentive.index import Images
    from tests.index.conftest import Store

HERE = Scope(("home",), None, 100)
EAST = np.array([1, 0, 0, 0], np.float32)

STEP = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 9)),
    st.tuples(st.just("pend"), st.integers(0, 9)),
    st.tuples(st.just("embed"), st.integers(0, 9)),
    st.tuples(st.just("edit"), st.integers(0, 9)),
    st.tuples(st.just("forget"), st.integers(0, 9)),
    st.tuples(st.just("restore"), st.integers(0, 9)),
    st.tuples(st.just("prune"), st.just(0)),
    st.tuples(st.just("look"), st.just(0)),
)


def by_chunk(found: list[Match]) -> dict[int, float]:
    return {match.chunk: match.score for match in found}


def do(store: "Store", chunks: list[int], step: str, number: int) -> None:
    chunk = chunks[number % len(chunks)]
    vector = [number - 4, 1, number % 3, 2]
    match step:
        case "add":
            chunks.append(store.add(f"dog {number}", vector=vector, tags=["a"] if number % 2 else []))
        case "pend":
            chunks.append(store.add(f"cat {number}", session="s" if number % 2 else None))
        case "embed":
            store.embed(chunk, vector)
        case "edit":
            store.edit(chunk, f"house {number} dog")
        case "forget":
            store.forget(chunk)
        case "restore":
            store.restore(chunk, "dog again")
        case "prune":
            store.prune()


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_an_image_that_followed_is_one_freshly_loaded(
    new_store: Callable[..., "Store"],
    open_all: Callable[..., "Images"],
    ask: Callable[..., list[Match]],
    steps: list[tuple[str, int]],
) -> None:
    """However the rows came to be as they are, and whenever the image looked, it answers like a new one."""
    store = new_store()
    chunks = [store.add("dog house", vector=[1, 2, 3, 4])]
    images = open_all(store)
    for step, number in [("look", 0), *steps]:
        do(store, chunks, step, number)
        if step == "look":
            ask(images, ["dog"], HERE)
            images.search_vectors(EAST, store.space, HERE, 5)
    fresh = open_all(store)
    for scope in (HERE, Scope(("home",), "s", 100, Filter(tags=("a",))), Scope(("home",), "s", 100)):
        mine, new = (by_chunk(ask(these, ["dog", "hous"], scope)) for these in (images, fresh))
        assert mine == pytest.approx(new, rel=1e-5)
        mine, new = (by_chunk(these.search_vectors(EAST, store.space, scope, None)) for these in (images, fresh))
        assert mine == pytest.approx(new, abs=3e-6)
    images.close()
    fresh.close()


def test_another_process_is_seen(store: "Store", images: "Images") -> None:
    """A commit made through another connection is in the next answer."""
    store.add(vector=EAST)
    assert len(images.search_vectors(EAST, store.space, HERE, 9)) == 1
    writer = threading.Thread(target=lambda: store.add(vector=EAST))
    writer.start()
    writer.join()
    assert len(images.search_vectors(EAST, store.space, HERE, 9)) == 2


def test_compaction_changes_no_answer(
    store: "Store", images: "Images", ask: Callable[..., list[Match]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slots of rows that are gone are given back, and every retriever finds its rows again."""
    monkeypatch.setattr(rows_module, "_UNTIDY_FROM", 5)
    for i in range(20):
        store.add(f"dog {i % 3}", vector=[i, 1, 0, 0], tags=["even"] if i % 2 == 0 else [])
    ask(images, ["dog"], HERE)
    images.search_vectors(EAST, store.space, HERE, 5)
    for chunk in range(3, 12):
        store.forget(chunk)
    even = Scope(("home",), None, 100, Filter(tags=("even",)))
    found = [ask(images, ["dog"], even), images.search_vectors(EAST, store.space, even, None)]
    rows = images._images["home"]._rows
    assert rows is not None
    assert rows.used == rows.live == 11
    images.drop("home")
    assert found == [ask(images, ["dog"], even), images.search_vectors(EAST, store.space, even, None)]


def test_a_pruned_log_means_loading_again(store: "Store", images: "Images") -> None:
    """An image that cannot know what it missed does not guess."""
    first = store.add(vector=EAST)
    images.search_vectors(EAST, store.space, HERE, 9)
    store.forget(first)
    second = store.add(vector=EAST)
    store.prune()
    assert [match.chunk for match in images.search_vectors(EAST, store.space, HERE, 9)] == [second]


def test_a_store_put_back_is_loaded_again(store: "Store", images: "Images") -> None:
    """A head before the image's own is another history."""
    store.add(vector=EAST)
    images.search_vectors(EAST, store.space, HERE, 9)
    store.run("DELETE FROM chunks")
    store.run("UPDATE sqlite_sequence SET seq = 0")
    assert images.search_vectors(EAST, store.space, HERE, 9) == []


def test_namespaces_merge_best_first(store: "Store", images: "Images", ask: Callable[..., list[Match]]) -> None:
    """One list over all namespaces of a scope, cut at the limit; a namespace named twice counts once."""
    for i, name in enumerate(["home", "away", "home", "away"]):
        store.add("dog", vector=[4 - i, 1, 0, 0], namespace=name)
    both = Scope(("home", "away", "home"), None, 100)
    found = images.search_vectors(EAST, store.space, both, 3)
    assert [match.chunk for match in found] == [1, 2, 3]
    assert [match.chunk for match in ask(images, ["dog"], both, 3)] == [4, 3, 2]


def test_images_hold_active_rows_only(images: "Images") -> None:
    """Other statuses and other times are the database's to answer."""
    forgotten = Scope(("home",), None, 100, Filter(statuses=("active", "forgotten")))
    assert images.answers(HERE)
    assert not images.answers(forgotten)
    assert not images.answers(Scope(("home",), None, 100, Filter(as_of=50)))
    assert not images.answers(Scope(("home",), None, 100, Filter(known_at=50)))
    with pytest.raises(Invalid):
        images.search_text(["dog"], forgotten, 5)


def test_rows_are_counted_again_only_when_enough_has_changed(
    store: "Store", open_all: Callable[..., "Images"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting a large namespace takes as long as a question."""
    monkeypatch.setattr(IndexWorker, "submit", lambda *_, **__: None)  # the postings are never there
    counted: list[str] = []
    count = store.count

    def note_count(namespace: str) -> int:
        counted.append(namespace)
        return count(namespace)

    monkeypatch.setattr(store, "count", note_count)
    images = open_all(store, terms_from=5)
    found = []
    for _ in range(12):
        store.add("dog")
        assert images.search_text(["dog"], HERE, 5) is None
        found.append(len(counted))
    assert found == [1, 1, 1, 1, 2, 3, 4, 4, 5, 5, 5, 5]
    images.close()


def test_the_least_recently_asked_is_given_up(store: "Store", open_all: Callable[..., "Images"]) -> None:
    """No more images than there is room for, but one question is never torn apart."""
    images = open_all(store, min_images=2, max_rows=0)
    for name in "abac":
        images.search_vectors(EAST, store.space, Scope((name,), None, 100), 1)
    assert sorted(images.stats()) == ["a", "c"]
    images.search_vectors(EAST, store.space, Scope(tuple("abcd"), None, 100), 1)
    assert sorted(images.stats()) == ["a", "b", "c", "d"]
    images.close()


def test_of_small_namespaces_more_are_kept(store: "Store", open_all: Callable[..., "Images"]) -> None:
    """As many as have room together, so that a store of many users does not load them again with each question."""
    images = open_all(store, min_images=2, max_rows=90)
    for name in "abcdefgh":
        images.search_vectors(EAST, store.space, Scope((name,), None, 100), 1)
    assert sorted(images.stats()) == [*"cdefgh"]
    images.close()


def test_text_alone_loads_no_vectors(store: "Store", images: "Images", ask: Callable[..., list[Match]]) -> None:
    """A vector is a thousand bytes; a text question does not need it."""
    store.add("dog", vector=EAST)
    ask(images, ["dog"], HERE)
    assert images.stats()["home"] | {"bytes": 0} == {
        "rows": 1,
        "vectors": 0,
        "tier": None,
        "terms": True,
        "bytes": 0,
        "errors": {},
    }


def test_an_error_in_the_background_is_told_and_tried_again(
    store: "Store", images: "Images", ask: Callable[..., list[Match]]
) -> None:
    """The database answers meanwhile; when it is healthy again, so is the image."""
    store.add("dog")
    store.broken = Corrupt("the postings are damaged")
    for _ in range(2):
        assert images.search_text(["dog"], HERE, 5) is None
        assert images.wait(10)
        assert images.stats()["home"]["errors"] == {"terms": "the postings are damaged"}
    store.broken = None
    assert len(ask(images, ["dog"], HERE)) == 1
    assert images.stats()["home"]["errors"] == {}


def test_an_error_at_the_end_of_loading_leaves_nothing_half_done(
    store: "Store",
    open_all: Callable[..., "Images"],
    ask: Callable[..., list[Match]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was written while the postings were read is in the image, or there is no image yet."""
    monkeypatch.setattr(IndexWorker, "pause", 0.0)
    images = open_all(store)
    store.add("dog")
    postings, failures = store.postings, [Corrupt("fields are damaged")]
    fields = store.fields

    def while_reading(namespace: str) -> list[tuple[str, str, str]]:
        read = postings(namespace)
        store.add("dog, late")
        return read

    def failing(chunks: Any) -> Any:
        if failures:
            raise failures.pop()
        return fields(chunks)

    monkeypatch.setattr(store, "postings", while_reading)
    monkeypatch.setattr(store, "fields", failing)
    assert images.search_text(["dog"], HERE, 9) is None
    assert images.wait(10)
    assert images.stats()["home"]["terms"] is False
    assert len(ask(images, ["dog"], HERE)) == 3
    images.close()


def test_what_is_written_while_texts_are_read_is_found(
    store: "Store",
    open_all: Callable[..., "Images"],
    ask: Callable[..., list[Match]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text that changed, one that came and one that went."""
    changed, gone = store.add("cat"), store.add("dog")
    fields, late = store.fields, [True]

    def while_reading(chunks: Any) -> Any:
        read = fields(chunks)
        if late.pop() if late else False:
            store.edit(changed, "dog")
            store.add("dog")
            store.forget(gone)
        return read

    monkeypatch.setattr(store, "fields", while_reading)
    images = open_all(store, max_tokenized_rows=MAX_TOKENIZED_ROWS)
    assert [match.chunk for match in ask(images, ["dog"], HERE)] == [gone + 1, changed]
    assert ask(images, ["cat"], HERE) == []
    images.close()


def test_an_error_in_the_foreground_goes_through(store: "Store", images: "Images") -> None:
    """Whoever searches is told, and the next search starts from where things were."""
    store.add(vector=EAST)
    store.broken = Corrupt("rows are damaged")
    with pytest.raises(Corrupt):
        images.search_vectors(EAST, store.space, HERE, 5)
    store.broken = None
    assert len(images.search_vectors(EAST, store.space, HERE, 5)) == 1


def test_after_a_failure_there_is_a_pause(store: "Store", open_all: Callable[..., "Images"]) -> None:
    """A load that always fails does not run at every question."""
    images = open_all(store)
    store.broken = Corrupt("damaged")
    calls: list[str] = []
    rows = store.rows

    def counted(namespace: str, space: str | None) -> Any:
        calls.append(namespace)
        return rows(namespace, space)

    store.rows = counted  # type: ignore[method-assign]
    for _ in range(3):
        assert images.search_text(["dog"], HERE, 5) is None
        assert images.wait(10)
    assert len(calls) == 1
    images.close()


def test_a_program_that_asks_once_builds_nothing(
    new_store: Callable[..., "Store"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would keep both cores busy for a graph that nobody asks."""
    monkeypatch.setattr(module, "_BUILD_DELAY", 60.0)
    begun: list[int] = []
    monkeypatch.setattr(GraphBuilder, "add", lambda _, chunks, __: begun.append(len(chunks)))
    store = new_store(16)
    store.load(np.random.default_rng(0).standard_normal((100, 16)).astype(np.float32))
    images = open_images(store, weights=[1, 1], hnsw_from=50)
    images.search_vectors(np.full(16, 0.25, np.float32), store.space, HERE, 1)
    images.close()
    assert begun == []


def test_postings_are_loaded_before_a_graph_is_built(
    new_store: Callable[..., "Store"], open_all: Callable[..., "Images"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are asked for while the graph is being built, and need not wait for its end."""
    monkeypatch.setattr(module, "_BUILD_BATCH", 100)
    store = new_store(16)
    store.load(np.random.default_rng(0).standard_normal((500, 16)).astype(np.float32))
    images = open_all(store, hnsw_from=300)
    has_terms: list[bool] = []
    add = Hnsw.add

    def ask_meanwhile(self: Hnsw, *given: Any, **options: Any) -> None:
        has_terms.append(images.search_text(["dog"], HERE, 5) is not None)
        add(self, *given, **options)

    monkeypatch.setattr(Hnsw, "add", ask_meanwhile)
    images.search_vectors(np.full(16, 0.25, np.float32), store.space, HERE, 1)
    assert images.wait(30)
    assert has_terms == [False, True, True, True, True]
    images.close()


def test_closing_does_not_wait_for_a_build(new_store: Callable[..., "Store"]) -> None:
    """Background work stops soon when the images close."""
    store = new_store(64)
    store.load(np.random.default_rng(0).standard_normal((4000, 64)).astype(np.float32))
    images = open_images(store, weights=[1, 1], hnsw_from=1000)
    images.search_vectors(np.full(64, 0.125, np.float32), store.space, HERE, 1)
    began = time.monotonic()
    images.close()
    assert time.monotonic() - began < 1
    assert not [thread for thread in threading.enumerate() if thread.name == "retentive-index"]


def test_many_threads_at_once(
    new_store: Callable[..., "Store"], monkeypatch: pytest.MonkeyPatch, right: Callable[..., None]
) -> None:
    """Searches on many threads, a writer, and a graph being built and folded: no error, and all is there at the end."""
    monkeypatch.setattr(module, "_FOLD_FROM", 10)
    store = new_store(16)
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((10, 16))
    store.load((centres[rng.integers(0, 10, 700)] + 0.3 * rng.standard_normal((700, 16))).astype(np.float32))
    images = open_images(store, weights=[1, 1], hnsw_from=500, terms_from=0)
    query = (centres[0] / np.linalg.norm(centres[0])).astype(np.float32)
    errors: list[Exception] = []

    def search() -> None:
        try:
            for _ in range(60):
                assert len(images.search_vectors(query, store.space, HERE, 10)) == 10
                images.search_text(["dog"], HERE, 10)
        except Exception as error:  # noqa: BLE001 - it is told below, in the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(60):
        store.add("dog", vector=centres[i % 10] + 0.1 * i)
        store.forget(i + 1)
    for thread in threads:
        thread.join()
    assert not errors
    assert images.wait(30)
    right(images.search_vectors(query, store.space, HERE, None), store.cosines(query, HERE), None)
    assert len(images.search_text(["dog"], HERE, 100) or []) == 60
    images.close()
