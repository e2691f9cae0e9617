"""Models that a program brings."""

import asyncio
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retentive import EmbedderFunction, Retentive
from retentive.embed.hashing_embedder import HashingEmbedder
from retentive.errors import BadConfig, EmbedError


def embed(texts: list[str]) -> Any:
    """A function as people have it: lists of numbers, not of length one."""
    return (HashingEmbedder().embed(texts) * 3).tolist()


async def embed_later(texts: list[str]) -> Any:
    return embed(texts)


class Later:
    async def __call__(self, texts: list[str]) -> Any:
        return embed(texts)


def test_a_function_is_an_embedder(db: Path) -> None:
    with Retentive.open(db, embedder=embed) as store:
        added = store.add("The tide turns at noon")
        assert not added.pending
        found = store.search("when does the tide turn?")
        assert [hit.id for hit in found] == [added.id]
        assert found.notes == ()
        (space,) = store.stats()["spaces"]
        assert (space["name"], space["dimension"], space["vectors"]) == (f"function:{__name__}.embed", 384, 1)


def test_a_function_brings_its_own_name_and_dimension(db: Path) -> None:
    given = EmbedderFunction(partial(embed), name="my-model", dimension=384)
    with Retentive.open(db, embedder=given) as store:
        store.add("The tide turns at noon")
        assert store.stats()["embedder"]["space"] == "function:my-model"


def test_a_function_of_another_dimension_than_it_says_spoils_nothing(db: Path) -> None:
    with Retentive.open(db, embedder=EmbedderFunction(embed, name="other", dimension=100)) as store:
        assert store.add("The tide turns at noon").pending
        assert "384 numbers" in store.stats()["failures"]["embed"]
        assert store.stats()["spaces"] == []


@pytest.mark.parametrize("given", [lambda texts: texts, partial(embed)])
def test_a_function_without_a_name_is_asked_for_one(db: Path, given: Any) -> None:
    """Two of them could not be told apart, and their vectors would be mixed."""
    with pytest.raises(BadConfig) as caught:
        Retentive.open(db, embedder=given)
    assert "name=" in caught.value.hint


@pytest.mark.parametrize("given", [embed_later, Later()])
def test_an_async_function_is_refused_with_what_to_do(db: Path, given: Any) -> None:
    with pytest.raises(BadConfig, match="async") as caught:
        Retentive.open(db, embedder=given)
    assert "asyncio.run" in caught.value.hint


def test_a_function_that_turns_out_to_be_async_is_told_so(db: Path) -> None:
    given = EmbedderFunction(lambda texts: embed_later(texts[:1]), name="later")
    with Retentive.open(db, embedder=given) as store:
        assert store.add("The tide turns at noon").pending
        assert "is async" in store.stats()["failures"]["embed"]


@pytest.mark.parametrize("given", [3, ["minilm"], object()])
def test_what_is_no_embedder_is_refused(db: Path, given: Any) -> None:
    with pytest.raises(BadConfig):
        Retentive.open(db, embedder=given)


def test_an_object_that_keeps_to_the_protocol_is_used_as_it_is(db: Path) -> None:
    class Own(HashingEmbedder):
        calls = 0

        def embed(self, texts: Sequence[str]) -> Any:
            Own.calls += 1
            return super().embed(texts)

    with Retentive.open(db, embedder=Own()) as store:
        assert not store.add("The tide turns at noon").pending
        assert store.stats()["spaces"][0]["name"] == "hashing-384"
    assert Own.calls


def test_an_object_that_lacks_a_method_is_named(db: Path) -> None:
    class Half:
        space = HashingEmbedder.space

        def embed(self, texts: Sequence[str]) -> Any: ...

    with pytest.raises(BadConfig, match="has no embed_query"):
        Retentive.open(db, embedder=Half())


def fail(texts: list[str]) -> Any:
    raise RuntimeError(f"out of order: {len(texts)}")


def test_a_function_that_fails_keeps_no_memory_from_being_kept(db: Path) -> None:
    with Retentive.open(db, embedder=fail) as store:
        assert store.add("The tide turns at noon").pending
        assert "RuntimeError: out of order" in store.stats()["failures"]["embed"]
        with pytest.raises(EmbedError):
            store.backfill()


def test_a_function_is_called_by_one_thread_at_a_time(db: Path) -> None:
    inside, most = [0], [0]

    def count(texts: list[str]) -> Any:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        vectors = HashingEmbedder().embed(texts)
        inside[0] -= 1
        return vectors

    with Retentive.open(db, embedder=EmbedderFunction(count, name="counted")) as store:
        threads = [threading.Thread(target=store.add, args=(f"fact {number}",)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store.stats()["vectors_pending"] == 0
    assert most == [1]


def test_async_code_may_use_a_store_with_a_function(db: Path) -> None:
    async def use() -> bool:
        with Retentive.open(db, embedder=embed) as store:
            return store.add("The tide turns at noon").pending

    assert asyncio.run(use()) is False


def test_vectors_are_of_length_one(tmp_path: Path) -> None:
    from retentive.embed import wrap_embedder

    vectors = wrap_embedder(embed, tmp_path).embed(["tide", "sea"])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_a_function_of_several_dimensions_costs_no_memory(db: Path) -> None:
    calls: list[int] = []

    def vary(texts: list[str]) -> Any:
        calls.append(len(texts))
        return [[1.0] * (2 + len(calls)) for _ in texts]

    with Retentive.open(db, embedder=EmbedderFunction(vary, name="varies")) as store:
        assert store.add("The tide turns at noon").pending
        assert any("varies gave vectors of" in note for note in store.search("tide").notes)


def test_what_to_do_does_not_name_a_function_as_a_setting(db: Path) -> None:
    with Retentive.open(db, embedder=embed) as store:
        store.add("The tide turns at noon")
    with Retentive.open(db, embedder="hashing") as store:
        notes = " ".join(store.search("tide").notes)
    assert "or open it with that model" in notes
    assert "embedder = 'function" not in notes
