"""Two writers of the same rows of PostgreSQL at once: one waits for the other, and nothing is left behind."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import Pipeline

from retentive import Retentive
from retentive.storage import Step, step
from retentive.storage.engines.postgres import PostgresEngine
from retentive.storage.engines.postgres.connections import Connection
from retentive.storage.tables.memories import require_unchanged_step
from retentive.testing import parts_of
from tests.server import Server, doing

Verb = Callable[[Retentive, str], object]


@contextmanager
def not_yet_committed(engine: PostgresEngine, steps: Sequence[Step]) -> Iterator[None]:
    """All of a write is done but its commit, which waits for the end of the block."""
    done, end = threading.Event(), threading.Event()
    batch = [engine._bind_step(each) for each in steps]

    def work(connection: Connection, pipeline: Pipeline) -> None:
        engine._run(connection, pipeline, batch)
        done.set()
        end.wait(20)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(engine._link.write, work)
        assert done.wait(20)
        try:
            yield
        finally:
            end.set()
        writing.result()


def await_waiting(server: Server) -> None:
    waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'retentive'"
    deadline = time.monotonic() + 20
    while not server.execute(waiting) and time.monotonic() < deadline:
        time.sleep(0.01)


def embedded(store: Retentive, chunk: int) -> list[Step]:
    space = parts_of(store).space
    assert space
    vector = b"\x00\x3c" + bytes(2 * space.dimension - 2)
    return [step("vector_upsert", namespace="default", chunk=chunk, space=space.name, vector=vector)]


def refreshed(store: Retentive, _: int) -> list[Step]:
    memory = store.list(session="s")[0]
    facets: dict[str, Any] = {"kind": "fact", "tags": None, "confidence": 0.9, "importance": 5, "valid_from": 1}
    facets |= {"namespace": "default", "owner": memory.id, "owner_type": "memory", "expires": None}
    return [
        require_unchanged_step(memory),
        step("chunk_refresh", **facets, f_context="words that are new", f_tags=None),
    ]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (embedded, lambda store, id: store.update(id, content="The stork on the roof")),
        (embedded, lambda store, _: store.sessions.delete("s")),
        (refreshed, lambda store, _: store.sessions.delete("s")),
    ],
)
def test_what_another_writer_just_added_goes_with_its_chunk(
    server: Server, postgres: str, first: Callable[[Retentive, int], list[Step]], then: Verb
) -> None:
    """Vectors that backfill brings, postings of other words: no row of theirs stays without its chunk."""
    with Retentive.open(postgres, embedder="hashing") as store, ThreadPoolExecutor(1) as pool:
        engine = parts_of(store).engine
        assert isinstance(engine, PostgresEngine)
        id = store.add("The heron by the river", session="s").id
        chunk = parts_of(store).tables.chunks.read_last_number()
        engine._link.write(doing("DELETE FROM vectors"))
        with not_yet_committed(engine, first(store, chunk)):
            ending = pool.submit(then, store, id)
            await_waiting(server)
        ending.result()
        assert [finding for finding in store.doctor() if not finding.ok] == []
