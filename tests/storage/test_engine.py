"""What every engine promises (`retentive.storage.Engine`). One suite; an engine is added in `tests/engines.py`."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from retentive.config import load
from retentive.errors import Stale, StorageError
from retentive.model import Filter, Scope, Space
from retentive.storage import Engine, Step, open_engine, step
from retentive.storage.tables.chunks import Chunks
from retentive.storage.tables.spaces import insert_step
from tests.engines import ENGINES

MAKERS: dict[str, Callable[[pytest.FixtureRequest], str]] = {**ENGINES, "sqlite-memory": lambda _: ":memory:"}
SPACE = Space("test-2", 2, 0.3)


@pytest.fixture(params=MAKERS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    opened = open_engine(load(db=MAKERS[request.param](request)))
    yield opened
    opened.close()


def meta(key: str, value: str = "1") -> Step:
    return step("meta_set", key=key, value=value)


def value(engine: Engine, key: str) -> list[tuple[Any, ...]]:
    return engine.read("meta_get", {"key": key})


def chunk(owner: str, text: str, vector: list[float] | None = None, **facets: Any) -> Step:
    fields: dict[str, Any] = dict.fromkeys(["f_context", "f_tags", "f_before", "f_after", "f_speaker", "f_date"])
    row: dict[str, Any] = {"namespace": "n", "session": None, "kind": "fact", "source": "explicit", "tags": None}
    row |= {"confidence": 0.9, "importance": 5, "valid_from": 1, "expires": None, **facets}
    packed = None if vector is None else np.array(vector, dtype="<f2").tobytes()
    part: dict[str, Any] = {
        "owner_type": "memory",
        "owner": owner,
        "ordinal": 0,
        "text": text,
        "space": SPACE.name,
        "vector": packed,
    }
    return step("chunk_insert_embedded" if packed else "chunk_insert", **row, **part, **fields, f_content=text)


def scope(**wanted: Any) -> Scope:
    return Scope(("n",), wanted.pop("session", None), wanted.pop("now", 100), Filter(**wanted))


def fill(engine: Engine, *steps: Step) -> None:
    engine.apply([insert_step(SPACE), *steps])


def test_a_batch_is_applied_whole(engine: Engine) -> None:
    engine.apply([meta("a"), meta("b")])
    assert value(engine, "a") == value(engine, "b") == [("1",)]


def test_a_batch_whose_guard_fails_leaves_nothing(engine: Engine) -> None:
    touch = step("memory_restate", expect=1, namespace="n", id="none", now=1)
    with pytest.raises(Stale):
        engine.apply([meta("a"), touch, meta("b")])
    assert value(engine, "a") == value(engine, "b") == []


def test_a_broken_key_is_stale_and_leaves_nothing(engine: Engine) -> None:
    with pytest.raises(Stale):
        fill(engine, meta("a"), chunk("one", "x"), chunk("one", "y"))
    assert value(engine, "a") == []
    assert engine.search_text(["x"], scope(), 10) == []


def test_an_interrupted_batch_leaves_nothing(engine: Engine) -> None:
    def steps() -> Iterator[Step]:
        yield meta("a")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.apply(steps())
    assert value(engine, "a") == []
    engine.apply([meta("a", "2")])
    assert value(engine, "a") == [("2",)]


def test_text_is_found_by_any_of_the_words_best_first(engine: Engine) -> None:
    fill(engine, chunk("one", "red apple pie"), chunk("two", "red car"), chunk("three", "blue sea"))
    found = engine.search_text(["apple", "red"], scope(), 10)
    assert [match.owner for match in found] == ["one", "two"]
    assert found[0].score > found[1].score > 0


def test_vectors_are_found_by_cosine_exactly(engine: Engine) -> None:
    fill(engine, chunk("one", "x", [1, 0]), chunk("two", "x", [0.6, 0.8]), chunk("three", "x"))
    found = engine.search_vectors(np.array([0, 1], dtype=np.float32), SPACE, scope(), None, None)
    assert [(match.owner, round(match.score, 3)) for match in found] == [("two", 0.8), ("one", 0.0)]
    assert len(engine.search_vectors(np.array([0, 1], dtype=np.float32), SPACE, scope(), 1, None)) == 1
    assert len(engine.search_vectors(np.array([0, 1], dtype=np.float32), SPACE, scope(), None, 0.5)) == 1


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, {"plain", "tagged"}),
        ({"session": "s"}, {"plain", "tagged", "session"}),
        ({"kinds": ("note",)}, {"tagged"}),
        ({"tags": ("a", "b")}, {"tagged"}),
        ({"tags": ("a", "c")}, set()),
        ({"min_importance": 6}, {"tagged"}),
        ({"since": 5}, {"tagged"}),
        ({"until": 5}, {"plain"}),
        ({"now": 40}, {"plain", "tagged", "ending"}),
        ({"now": 50}, {"plain", "tagged"}),
        ({"statuses": ("expired",)}, {"ending"}),
        ({"statuses": ()}, {"plain", "tagged", "ending"}),
    ],
)
def test_both_searches_stay_inside_the_scope(engine: Engine, wanted: dict[str, Any], expected: set[str]) -> None:
    fill(
        engine,
        chunk("plain", "word", [1, 0]),
        chunk("tagged", "word", [1, 0], kind="note", tags='["a", "b"]', importance=9, valid_from=9),
        chunk("session", "word", [1, 0], session="s"),
        chunk("ending", "word", [1, 0], expires=50),
        chunk("foreign", "word", [1, 0], namespace="other"),
    )
    text = engine.search_text(["word"], scope(**wanted), 10)
    vectors = engine.search_vectors(np.array([1, 0], dtype=np.float32), SPACE, scope(**wanted), None, None)
    assert {match.owner for match in text} == expected
    assert {match.owner for match in vectors} == expected


def test_changes_are_logged_in_the_order_of_commits(engine: Engine) -> None:
    if not engine.uses_local_index:
        pytest.skip("only indexes in the process follow changes")
    fill(engine, chunk("one", "x"), chunk("two", "x"))
    engine.apply([step("chunk_set_status", namespace="n", owner="one", owner_type="memory", status="forgotten")])
    chunks = Chunks(engine)
    assert chunks.list_changed("n", 0, 99) == ([1, 2], True)
    assert chunks.list_changed("n", 2, 99) == ([1], True)
    engine.apply([step("meta_set", key="changes_floor", value="1")])
    assert chunks.list_changed("n", 0, 99) == ([1, 2], False)
    assert chunks.list_changed("n", 1, 99) == ([1, 2], True)


def test_many_threads_write_and_read_at_once(engine: Engine) -> None:
    def work(number: int) -> None:
        engine.apply([meta(f"k{number}")])
        assert value(engine, f"k{number}") == [("1",)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(80)))
    assert all(value(engine, f"k{number}") for number in range(80))


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    fill(engine, chunk("one", "still here"))
    engine.migrate()
    assert engine.search_text(["here"], scope(), 10)


def test_rebuilding_drops_what_belongs_to_nothing(engine: Engine) -> None:
    fill(engine, chunk("no such memory", "red apple", [1, 0]))
    engine.rebuild()
    assert engine.search_text(["red"], scope(), 10) == []
    assert all(finding.ok for finding in engine.check())


def test_tokens_are_stemmed_and_folded(engine: Engine) -> None:
    assert engine.tokens("Running CAFÉS") == ["run", "cafe"]


def test_a_word_of_any_length_is_kept_and_found(engine: Engine) -> None:
    """Keys and encoded files are pasted too."""
    word = "4pX9\u0439" * 5000
    fill(engine, chunk("one", f"key {word}"), chunk("two", "key"))
    assert [match.owner for match in engine.search_text([word], scope(), 10)] == ["one"]


def test_facts_name_the_store_and_its_size(engine: Engine) -> None:
    assert engine.facts()["bytes"] > 0
    assert engine.facts()["schema"] >= 1


def test_a_closed_engine_says_so(engine: Engine) -> None:
    engine.read("meta_get", {"key": "a"})
    engine.close()
    with pytest.raises(StorageError, match="closed"):
        engine.read("meta_get", {"key": "a"})
    with pytest.raises(StorageError, match="closed"):
        engine.apply([meta("a")])
