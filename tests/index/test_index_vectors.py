import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from retentive.index import image, open_images, quantized
from retentive.index.hnsw import Hnsw
from retentive.index.quantized import Codes
from retentive.model import Filter, Match, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from retentive.index import Images
    from tests.index.conftest import Store

HERE = Scope(("home",), None, 100)
NUMBERS = st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any)
FACETS = st.fixed_dictionaries(
    {},
    optional={
        "session": st.sampled_from(["s", "t"]),
        "kind": st.sampled_from(["fact", "note"]),
        "tags": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "importance": st.integers(1, 10),
        "expires": st.integers(90, 110),
        "time": st.integers(0, 9),
        "vector": NUMBERS,
    },
)
FILTERS = st.builds(
    Filter,
    kinds=st.sampled_from([(), ("fact",), ("note", "fact")]),
    tags=st.sampled_from([(), ("a",), ("a", "b")]),
    min_importance=st.none() | st.integers(1, 10),
    since=st.none() | st.integers(0, 9),
    until=st.none() | st.integers(0, 9),
)
SCOPES = st.builds(Scope, st.just(("home",)), st.sampled_from([None, "s"]), st.just(100), FILTERS)


def unit(values: Any) -> "NDArray[np.float32]":
    vector = np.asarray(values, np.float32)
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True), np.float32)


def random_vectors(count: int, dimension: int) -> "NDArray[np.float32]":
    return unit(np.random.default_rng(3).standard_normal((count, dimension)))


def clustered_vectors(count: int, dimension: int) -> "NDArray[np.float32]":
    rng = np.random.default_rng(4)
    centres = unit(rng.standard_normal((count // 50, dimension)))
    return unit(centres[rng.integers(0, len(centres), count)] + 0.9 * unit(rng.standard_normal((count, dimension))))


def questions(vectors: "NDArray[np.float32]", count: int = 60) -> "NDArray[np.float32]":
    rng = np.random.default_rng(5)
    return unit(
        vectors[rng.integers(0, len(vectors), count)] + 0.7 * unit(rng.standard_normal((count, vectors.shape[1])))
    )


@settings(max_examples=120, deadline=None)
@given(
    st.lists(FACETS, max_size=15),
    SCOPES,
    NUMBERS,
    st.none() | st.integers(0, 6),
    st.none() | st.sampled_from([0.0, 0.5]),
)
def test_a_filtered_search_is_a_scan_of_the_filtered_rows(
    new_store: Callable[..., "Store"],
    open_all: Callable[..., "Images"],
    right: Callable[..., None],
    rows: list[dict[str, Any]],
    scope: Scope,
    numbers: list[int],
    limit: int | None,
    floor: float | None,
) -> None:
    """Whatever the rows, filter, limit and floor: what brute force finds, no more and no less."""
    store = new_store()
    with store.db:
        for row in rows:
            store.add(**row)
    images, query = open_all(store), unit(numbers)
    found = images.search_vectors(query, store.space, scope, limit, floor)
    scores = {c: s for c, s in store.cosines(query, scope).items() if floor is None or s >= floor - 1e-6}
    right(found, scores, limit)
    images.close()


def test_equal_vectors_tie_and_the_newer_wins(store: "Store", images: "Images") -> None:
    """The same vector scores the same wherever it lies in the matrix."""
    store.load(unit(np.tile([[1, 2, 3, 4]], (41, 1))))
    found = images.search_vectors(unit([1, 2, 3, 5]), store.space, HERE, 41, None)
    assert [match.chunk for match in found] == list(range(41, 0, -1))


def test_expiry_is_at_its_instant(store: "Store", images: "Images") -> None:
    """A row is seen until the moment it expires, though nothing is written then."""
    store.add(vector=[1, 0, 0, 0], expires=100)
    query = unit([1, 0, 0, 0])
    seen = [len(images.search_vectors(query, store.space, Scope(("home",), None, now), 5)) for now in (99, 100, 99)]
    assert seen == [1, 0, 1]


def test_a_pending_vector_is_not_near_anything(store: "Store", images: "Images") -> None:
    """A row without a vector is left out until it has one."""
    chunk = store.add("text first")
    query = unit([1, 0, 0, 0])
    assert images.search_vectors(query, store.space, HERE, 5) == []
    store.embed(chunk, [1, 0, 0, 0])
    assert [match.chunk for match in images.search_vectors(query, store.space, HERE, 5)] == [chunk]


@pytest.mark.parametrize(
    "damaged",
    [
        b"\0" * 6,  # another dimension
        np.full(4, np.nan, "<f2").tobytes(),  # would be near nothing and hide the others
        np.full(4, np.inf, "<f2").tobytes(),  # would be nearest to everything
    ],
)
def test_a_damaged_vector_harms_only_its_row(store: "Store", images: "Images", damaged: bytes) -> None:
    """What is no unit vector of the space is taken as pending."""
    store.load(unit(np.eye(4)))
    store.run("UPDATE vectors SET vector = ? WHERE chunk = 2", damaged)
    found = images.search_vectors(unit([0, 1, 0.5, 0]), store.space, HERE, 9)
    assert {match.chunk for match in found} == {1, 3, 4}


def test_another_space_is_another_matrix(store: "Store", images: "Images") -> None:
    """Vectors of two spaces are never compared."""
    store.add(vector=[1, 0, 0, 0])
    query = unit([1, 0, 0, 0])
    assert len(images.search_vectors(query, store.space, HERE, 5)) == 1
    other = type(store.space)("other", 3, 0.3)
    assert images.search_vectors(unit([1, 0, 0]), other, HERE, 5) == []


@pytest.fixture(scope="module", params=[clustered_vectors, random_vectors])
def large(request: pytest.FixtureRequest, new_store: Callable[..., "Store"]) -> Iterator[tuple["Store", "Images", Any]]:
    """5000 rows, a tenth of them notes, half of them old, with a graph if it is worth it."""
    dimension = 96
    store, vectors = new_store(dimension), request.param(5000, dimension)
    kinds = ["fact" if i % 10 else "note" for i in range(5000)]
    store.load(vectors, kind=kinds, session=["s" if i % 500 == 3 else None for i in range(5000)])
    images = open_images(store, weights=[1, 1], hnsw_from=4000)
    images.search_vectors(vectors[0], store.space, HERE, 1)
    assert images.wait(60)
    assert images.stats()["home"]["tier"] == ("hnsw" if request.param is clustered_vectors else "flat")
    yield store, images, questions(vectors)
    images.close()


@pytest.mark.parametrize(
    "scope",
    [
        HERE,  # all but the session's
        Scope(("home",), "s", 100),
        Scope(("home",), None, 100, Filter(kinds=("note",))),  # one in ten
        Scope(("home",), None, 100, Filter(since=2500)),  # half
        Scope(("home",), None, 100, Filter(since=4950)),  # one in a hundred
    ],
)
def test_recall_is_kept(large: tuple["Store", "Images", Any], scope: Scope) -> None:
    """Of the ten nearest at least 98 in 100 are found, clustered or not, filtered or not, with exact scores."""
    store, images, asked = large
    chunks, matrix = visible_matrix(store, scope)
    found = 0
    for query in asked:
        scores = matrix @ query
        matches = images.search_vectors(query, store.space, scope, 20)
        best = set(chunks[np.argsort(-scores)[:10]].tolist())
        found += len(best & {match.chunk for match in matches[:10]})
        places = np.searchsorted(chunks, [match.chunk for match in matches])
        assert np.allclose([match.score for match in matches], scores[places], atol=2e-6)
        assert len(matches) == 20
    assert found >= 0.98 * 10 * len(asked)


def visible_matrix(store: "Store", scope: Scope) -> tuple["NDArray[np.int64]", "NDArray[np.float32]"]:
    rows = store.visible(scope)
    matrix = np.stack([np.frombuffer(row.vector or b"", "<f2") for row in rows]).astype(np.float32)
    return np.array([row.chunk for row in rows]), matrix


def test_everything_above_a_floor(large: tuple["Store", "Images", Any]) -> None:
    """Without a limit, all rows of at least the floor are found."""
    store, images, asked = large
    _, matrix = visible_matrix(store, HERE)
    for query in asked[:10]:
        scores = matrix @ query
        floor = float(np.sort(scores)[-150])
        found = images.search_vectors(query, store.space, HERE, None, floor)
        assert 0.98 * 150 <= len(found) <= 151
        assert min(match.score for match in found) >= floor - 2e-6


def test_no_bounds_at_all(large: tuple["Store", "Images", Any]) -> None:
    """Without limit and floor every row is told."""
    store, images, asked = large
    assert len(images.search_vectors(asked[0], store.space, HERE, None, None)) == len(store.visible(HERE))


@pytest.fixture
def graphed(new_store: Callable[..., "Store"]) -> Iterator[tuple["Store", "Images"]]:
    store = new_store(8)
    store.load(random_vectors(1200, 8))
    images = open_images(store, weights=[1, 1], hnsw_from=500)
    images.search_vectors(unit(np.ones(8)), store.space, HERE, 1)
    assert images.wait(30)
    assert images.stats()["home"]["tier"] == "hnsw"
    yield store, images
    images.close()


def top(images: "Images", store: "Store", query: "NDArray[np.float32]", limit: int = 10) -> list[Match]:
    return images.search_vectors(query, store.space, HERE, limit)


def test_a_graph_follows(graphed: tuple["Store", "Images"], right: Callable[..., None]) -> None:
    """Rows added, changed and removed after the graph was built are there, changed and gone in the next answer."""
    store, images = graphed
    query = unit(np.arange(8) - 3.5)
    new = store.add(vector=query)
    store.embed(7, query + 0.01)
    assert [match.chunk for match in top(images, store, query, 2)] == [new, 7]
    store.forget(new)
    store.set(7, kind="note")
    assert top(images, store, query, 1)[0].chunk == 7
    right(images.search_vectors(query, store.space, HERE, None), store.cosines(query, HERE), None)


def test_changes_during_a_build_are_kept(
    new_store: Callable[..., "Store"], monkeypatch: pytest.MonkeyPatch, right: Callable[..., None]
) -> None:
    """What is written while a graph grows is in it, or beside it, when it takes over."""
    store, query = new_store(8), unit(np.ones(8))
    store.load(random_vectors(800, 8))
    images = open_images(store, weights=[1, 1], hnsw_from=500)
    add, late = Hnsw.add, [True]

    def meanwhile(self: Hnsw, *values: Any, **options: Any) -> None:
        if late:
            late.clear()
            store.forget(7)
            store.embed(5, query)
            store.add(vector=query)
        images.search_vectors(query, store.space, HERE, 1)
        add(self, *values, **options)

    monkeypatch.setattr(Hnsw, "add", meanwhile)
    images.search_vectors(query, store.space, HERE, 1)
    assert images.wait(30)
    assert images.stats()["home"] | {"bytes": 0} == {
        "rows": 800,
        "vectors": 800,
        "tier": "hnsw",
        "terms": False,
        "bytes": 0,
        "errors": {},
    }
    assert [match.chunk for match in images.search_vectors(query, store.space, HERE, 2)] == [801, 5]
    right(images.search_vectors(query, store.space, HERE, None), store.cosines(query, HERE), None)
    images.close()


@given(
    arrays(np.float32, st.tuples(st.integers(1, 30), st.just(16)), elements=st.floats(-1, 1, width=16)),
    arrays(np.float32, 16, elements=st.floats(-1, 1, width=16)),
)
def test_codes_are_as_near_as_they_say(rows: "NDArray[np.float32]", query: "NDArray[np.float32]") -> None:
    """Whatever the vectors, the true cosine is within the margin: the first look loses nothing."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-3)
    query = query / max(float(np.linalg.norm(query)), 1e-3)
    codes = Codes(16)
    codes.reserve(len(rows), 0)
    codes.put(np.arange(len(rows)), rows)
    rough, margin = codes.scan(query, len(rows))
    assert np.abs(rough - rows @ query).max() <= margin + 1e-5


def test_codes_of_many_numbers_are_nearer_than_that() -> None:
    """With 384 numbers the margin is a matter of chance: it must hold, with room, for a million pairs."""
    rows, codes = random_vectors(1000, 384), Codes(384)
    codes.reserve(1000, 0)
    codes.put(np.arange(1000), rows)
    for query in random_vectors(2000, 384)[1000:]:
        rough, margin = codes.scan(query, 1000)
        assert np.abs(rough - rows @ query).max() < 0.8 * margin


def test_new_rows_are_folded_into_the_graph(
    graphed: tuple["Store", "Images"], monkeypatch: pytest.MonkeyPatch, right: Callable[..., None]
) -> None:
    """Once there are enough, the background moves them, and answers stay the same."""
    store, images = graphed
    monkeypatch.setattr(image, "_FOLD_FROM", 20)
    store.load(random_vectors(30, 8)[:, ::-1])
    query = random_vectors(30, 8)[:, ::-1][3]
    before = top(images, store, query)
    assert images.wait(10)
    vectors = images._images["home"]._vectors
    assert vectors is not None
    assert len(vectors.flat) == 0
    assert [match.chunk for match in top(images, store, query)] == [match.chunk for match in before]
    right(images.search_vectors(query, store.space, HERE, None), store.cosines(query, HERE), None)


def test_a_worn_graph_is_built_anew_or_given_up(graphed: tuple["Store", "Images"], right: Callable[..., None]) -> None:
    """When most rows are gone, what is left is compacted, and flat again if it is small."""
    store, images = graphed
    with store.db:
        for chunk in range(1, 1101):
            store.forget(chunk)
    query = unit(np.ones(8))
    top(images, store, query)
    assert images.wait(30)
    assert images.stats()["home"]["tier"] == "flat"
    image = images._images["home"]
    assert image._rows is not None
    assert image._rows.used == image._rows.live == 100
    right(images.search_vectors(query, store.space, HERE, None), store.cosines(query, HERE), None)


def test_unclustered_rows_stay_exact(new_store: Callable[..., "Store"]) -> None:
    """Where a graph cannot keep recall for less than a scan costs, there is none, and it is not tried each time."""
    store = new_store(96)
    store.load(random_vectors(1500, 96))
    images = open_images(store, weights=[1, 1], hnsw_from=1000)
    for _ in range(2):
        images.search_vectors(random_vectors(1, 96)[0], store.space, HERE, 1)
        assert images.wait(30)
    assert images.stats()["home"]["tier"] == "flat"
    assert images._images["home"].choose_job() is None
    images.close()


def test_a_graph_before_the_model_is_no_crash() -> None:
    """The two libraries bring a C++ runtime each; whoever is loaded second must not die of it."""
    code = "from retentive.index.hnsw import Hnsw; Hnsw(8); import onnxruntime; print(onnxruntime.get_device())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "CPU"), run.stderr


@given(st.integers(1, 600), st.integers(1, 2000), st.integers(0, 9))
@settings(max_examples=30)
def test_products_are_the_same_without_the_extra_kernels(count: int, dimension: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-127, 128, (count, dimension), dtype=np.int8)
    query = rng.integers(-127, 128, dimension, dtype=np.int8)
    plain, extra = quantized._multiply_in_blocks(rows, query), quantized.multiply_codes(rows, query)
    assert np.allclose(plain, extra, rtol=1e-6, atol=1)


def test_without_the_extra_packages_large_namespaces_are_answered_exactly(
    new_store: Callable[..., "Store"], right: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "usearch", None)
    monkeypatch.setattr(quantized, "_kernels", None)
    store = new_store(96)
    vectors = clustered_vectors(1500, 96)
    store.load(vectors)
    images = open_images(store, weights=[1, 1], hnsw_from=500)
    for query in questions(vectors, 20):
        right(images.search_vectors(query, store.space, HERE, 10), store.cosines(query, HERE), 10)
    assert images.wait(30)
    assert images.stats()["home"]["tier"] == "flat"
    images.close()
