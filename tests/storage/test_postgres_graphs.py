"""The HNSW indexes of PostgreSQL: what they find, when they are made, and what becomes of those that could not be."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from retentive.model import Filter, Scope
from retentive.storage import Step
from retentive.storage.engines.postgres import PostgresEngine, graphs
from retentive.storage.tables.spaces import insert_step
from tests.storage.postgres_rows import SPACE, chunk, run


@pytest.fixture
def engine(postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresEngine]:
    """Which goes by the graph, where there is one, whatever the size."""
    monkeypatch.setattr(graphs, "SKIP_COST", 0)
    opened = PostgresEngine(postgres)
    yield opened
    opened.close()


def loaded(engine: PostgresEngine, sizes: Sequence[int]) -> None:
    """Namespaces n0, n1 ... of these sizes, mixed; a tenth of the rows is of kind `rare`."""
    random = np.random.default_rng(5)
    engine.apply([insert_step(SPACE)])
    places = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    vectors = random.standard_normal((len(places), SPACE.dimension))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    made = [
        chunk(f"m{n}", "word", f"n{place}", vector=vector.tobytes(), kind="rare" if n % 10 == 0 else "fact")
        for n, (place, vector) in enumerate(zip(places, vectors.astype("<f2"), strict=True))
    ]
    engine.apply([Step("chunk_insert_embedded", made)])


@pytest.mark.parametrize("small", [True, False])
def test_the_graph_finds_what_a_scan_finds_in_every_namespace(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch, small: bool
) -> None:
    """Recall@10 of 0.95 at least in each, also in one of a hundredth of the rows, with filters and without."""
    loaded(engine, [6000, 60, 600])
    monkeypatch.setattr(graphs, "MIN_GRAPH_ROWS", 1000 if small else 0)
    if small:
        monkeypatch.setattr(graphs, "SKIP_COST", 40)
    engine._graphs.build_missing()
    engine._link.read(lambda connection: connection.execute("ANALYZE vectors"))
    random = np.random.default_rng(6)
    for namespace, kinds in product(("n0", "n1", "n2"), ((), ("rare",))):
        scope = Scope((namespace,), None, 100, Filter(kinds=kinds))
        hits = wanted = 0
        for _ in range(10):
            question = random.standard_normal(SPACE.dimension).astype(np.float32)
            question /= np.linalg.norm(question)
            exact = engine.search_vectors(question, SPACE, scope, None, -1.0)[:10]
            found = engine.search_vectors(question, SPACE, scope, 10, None)
            assert len(found) == min(10, len(exact))
            hits += len({match.chunk for match in exact} & {match.chunk for match in found})
            wanted += len(exact)
            both = engine.search_both(["word"], question, SPACE, scope, 10, None)
            assert both[:2] == (engine.search_text(["word"], scope, 10), found)
            assert both.cosines.keys() == {match.chunk for match in both.text}
        assert hits >= 0.95 * wanted, (namespace, kinds)
    assert engine._graphs.max_scanned_rows(engine._find_space(SPACE.name)[0], 10) is not None


def test_a_namespace_that_grew_gets_its_graph_by_being_asked(
    engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(engine, [300])
    monkeypatch.setattr(graphs, "MIN_GRAPH_ROWS", 200)
    monkeypatch.setattr(graphs, "SKIP_COST", 0)
    monkeypatch.setattr(graphs, "LOOK_EVERY", 3)
    question = np.eye(1, SPACE.dimension, dtype=np.float32)[0]
    scope = Scope(("n0",), None, 100)
    before = [engine.search_vectors(question, SPACE, scope, 5, None) for _ in range(3)][-1]
    assert engine._graphs._thread is not None
    engine._graphs._thread.join(20)
    assert engine.search_vectors(question, SPACE, scope, 5, None) == before
    assert engine._graphs._known
    assert next(finding for finding in engine.check() if finding.name == "indexes").ok


def test_no_graph_is_made_that_would_not_be_used(engine: PostgresEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be over all namespaces, and every write of each would pay for it."""
    loaded(engine, [300, 3000])
    monkeypatch.setattr(graphs, "MIN_GRAPH_ROWS", 200)
    monkeypatch.setattr(graphs, "SKIP_COST", 3000)
    engine._link.read(lambda connection: connection.execute("ANALYZE vectors"))
    engine._graphs.build_missing()
    assert engine._graphs.max_scanned_rows(1, 10) is None


def test_an_index_that_was_not_finished_is_found_and_made_again(
    engine: PostgresEngine, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(engine, [300])
    monkeypatch.setattr(graphs, "MIN_GRAPH_ROWS", 200)
    engine._graphs.build_missing()
    run(postgres, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'vectors_graph_1'::regclass")
    assert [finding.ok for finding in engine.check() if finding.name == "indexes"] == [False]
    assert engine._graphs.max_scanned_rows(1, 10) is None
    engine._graphs.build_missing()
    assert [finding.ok for finding in engine.check() if finding.name == "indexes"] == [True]
    assert engine._graphs.max_scanned_rows(1, 10) is not None


REFUSING = """
    CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
      IF {} THEN RAISE 'could not resize shared memory segment' USING ERRCODE = 'disk_full'; END IF;
    END $$;
    CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse()
"""


def test_where_workers_have_too_little_memory_to_share_a_graph_is_made_without_them(
    engine: PostgresEngine, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(engine, [300])
    monkeypatch.setattr(graphs, "MIN_GRAPH_ROWS", 200)
    run(postgres, REFUSING.format("current_setting('max_parallel_maintenance_workers') <> '0'"))
    engine._graphs.build_missing()
    assert engine._graphs.max_scanned_rows(1, 10) is not None


def test_a_graph_that_cannot_be_made_is_left_alone_for_a_while(
    engine: PostgresEngine, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions are answered meanwhile; not each of them begins what takes minutes to fail."""
    loaded(engine, [300])
    monkeypatch.setattr(graphs, "MIN_GRAPH_ROWS", 200)
    monkeypatch.setattr(graphs, "LOOK_EVERY", 1)
    run(postgres, REFUSING.format("true"))
    question = np.eye(1, SPACE.dimension, dtype=np.float32)[0]

    def ask() -> Any:
        assert len(engine.search_vectors(question, SPACE, Scope(("n0",), None, 100), 5, None)) == 5
        assert engine._graphs._thread is not None
        engine._graphs._thread.join(20)
        return engine._graphs._thread

    assert ask() is ask()
