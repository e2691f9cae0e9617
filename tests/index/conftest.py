"""A small real store for the images to look at: SQLite with FTS5, and plain Python that says what is right."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import log
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from retentive.index import MAX_TOKENIZED_ROWS, Images, IndexRow, hnsw, image, open_images
from retentive.index.worker import IndexWorker
from retentive.model import ChangedChunks, Match, Scope, Space

WEIGHTS = (1.0, 0.25)

SCHEMA = """
CREATE TABLE IF NOT EXISTS chunks (
  n INTEGER PRIMARY KEY, namespace TEXT, owner TEXT, type TEXT, session TEXT, kind TEXT, source TEXT,
  importance INTEGER, confidence REAL, tags TEXT, time INTEGER, expires INTEGER, active INTEGER);
CREATE TABLE IF NOT EXISTS vectors (chunk INTEGER, space TEXT, vector BLOB, PRIMARY KEY (chunk, space));
CREATE TABLE IF NOT EXISTS changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT, chunk INTEGER);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(content, context, tokenize='porter unicode61');
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5vocab(texts, instance);
CREATE INDEX IF NOT EXISTS by_namespace ON chunks (namespace, active);
"""
COLUMNS = "n, owner, type, session, kind, source, importance, confidence, tags, time, expires"
DEFAULTS = {
    "type": "memory",
    "session": None,
    "kind": "fact",
    "source": "explicit",
    "importance": 5,
    "confidence": 0.9,
    "expires": None,
}

Vector = NDArray[np.float32]


def unit(values: Any) -> Vector:
    vector = np.asarray(values, np.float32)
    return vector / np.float32(max(float(np.linalg.norm(vector)), 1e-9))


class Store:
    """The `Source` of the tests."""

    def __init__(self, path: Path, dimension: int) -> None:
        self.space = Space("tiny", dimension, 0.3)
        self.broken: Exception | None = None
        """What reading postings and rows raises, if anything."""
        self.pruned = 0
        self._path = str(path)
        self._local = threading.local()
        self.run(SCHEMA)

    @property
    def db(self) -> apsw.Connection:
        if not hasattr(self._local, "db"):
            self._local.db = db = apsw.Connection(self._path)
            db.set_busy_timeout(5000)
            db.pragma("journal_mode", "wal")
            db.pragma("synchronous", "off")
        connection: apsw.Connection = self._local.db
        return connection

    def run(self, sql: str, *values: Any) -> list[Any]:
        return list(self.db.execute(sql, values or None))

    def add(
        self,
        text: str = "",
        context: str = "",
        vector: Any = None,
        namespace: str = "home",
        tags: Any = (),
        **facets: Any,
    ) -> int:
        row = DEFAULTS | facets
        with self.db:
            (n,) = self.run("SELECT coalesce(max(n), 0) + 1 FROM chunks")[0]
            values = {"n": n, "owner": f"m{n}", "tags": json.dumps(tags) if tags else None, "time": n} | row
            names = COLUMNS.split(", ")
            self.run(
                f"INSERT INTO chunks ({COLUMNS}, namespace, active) VALUES ({'?, ' * len(names)} ?, 1)",
                *(values[name] for name in names),
                namespace,
            )
            self.run("INSERT INTO texts (rowid, content, context) VALUES (?, ?, ?)", n, text, context)
            self._changed(n)
            if vector is not None:
                self.embed(n, vector)
        return int(n)

    def embed(self, chunk: int, vector: Any) -> None:
        data = unit(vector).astype("<f2").tobytes()
        self.run("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", chunk, self.space.name, data)
        self._changed(chunk)

    def load(self, vectors: Vector, **facets: Sequence[Any]) -> None:
        with self.db:
            for i, vector in enumerate(vectors):
                self.add(vector=vector, **{name: values[i] for name, values in facets.items()})

    def set(self, chunk: int, **facets: Any) -> None:
        for name, value in facets.items():
            self.run(f"UPDATE chunks SET {name} = ? WHERE n = ?", value, chunk)
        self._changed(chunk)

    def edit(self, chunk: int, text: str) -> None:
        self.run("UPDATE texts SET content = ? WHERE rowid = ?", text, chunk)
        self._changed(chunk)

    def forget(self, chunk: int) -> None:
        self.run("DELETE FROM texts WHERE rowid = ?", chunk)
        self.set(chunk, active=0)

    def restore(self, chunk: int, text: str = "") -> None:
        self.run("INSERT OR REPLACE INTO texts (rowid, content, context) VALUES (?, ?, '')", chunk, text)
        self.set(chunk, active=1)

    def prune(self) -> None:
        self.pruned = self.head()
        self.run("DELETE FROM changes WHERE seq <= ?", self.pruned)

    def _changed(self, chunk: int) -> None:
        self.run("INSERT INTO changes (namespace, chunk) SELECT namespace, n FROM chunks WHERE n = ?", chunk)

    def head(self) -> int:
        return int(self.run("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'changes'")[0][0])

    def floor(self) -> int:
        return self.pruned

    def count(self, namespace: str) -> int:
        return int(self.run("SELECT count(*) FROM chunks WHERE namespace = ? AND active", namespace)[0][0])

    def rows(self, namespace: str, space: str | None) -> Iterator[tuple[Any, ...]]:
        if self.broken:
            raise self.broken
        yield from self._rows(namespace, space, "1")

    def rows_of(self, namespace: str, space: str | None, chunks: Sequence[int]) -> list[tuple[Any, ...]]:
        return list(self._rows(namespace, space, f"n IN ({', '.join(map(str, chunks))})"))

    def _rows(self, namespace: str, space: str | None, where: str) -> Iterator[tuple[Any, ...]]:
        return iter(
            self.run(
                f"SELECT {COLUMNS}, vector FROM chunks LEFT JOIN vectors ON chunk = n AND space = ? "
                f"WHERE namespace = ? AND active AND {where} ORDER BY n",
                space,
                namespace,
            )
        )

    def list_changed(self, namespace: str, after: int, upto: int) -> ChangedChunks:
        sql = "SELECT DISTINCT chunk FROM changes WHERE namespace = ? AND seq > ? AND seq <= ?"
        return ChangedChunks([row[0] for row in self.run(sql, namespace, after, upto)], after >= self.floor())

    def postings(self, namespace: str) -> list[tuple[str, str, str]]:
        if self.broken:
            raise self.broken
        return self.run(
            "SELECT term, group_concat(doc), group_concat(col = 'context') FROM words "
            "JOIN chunks ON n = doc WHERE namespace = ? GROUP BY term",
            namespace,
        )

    def fields(self, chunks: Sequence[int]) -> list[tuple[int, list[list[str]]]]:
        sql = f"SELECT rowid, content, context FROM texts WHERE rowid IN ({', '.join(map(str, chunks))})"
        return [(n, [self.tokens(content), self.tokens(context)]) for n, content, context in self.run(sql)]

    def tokens(self, text: str) -> list[str]:
        tokenizer = self.db.fts5_tokenizer("porter", ["unicode61"])
        flags = {"include_offsets": False, "include_colocated": False}
        return list(tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, **flags))  # type: ignore[arg-type]

    def visible(self, scope: Scope) -> list[IndexRow]:
        rows = ((name, IndexRow(*row)) for name in scope.namespaces for row in self._rows(name, self.space.name, "1"))
        return [row for name, row in rows if self._sees(scope, row, own=name == scope.namespaces[0])]

    @staticmethod
    def _sees(scope: Scope, row: IndexRow, *, own: bool) -> bool:
        f = scope.filter
        asked = row.session if own else ""
        return (
            row.type in scope.types
            and (
                row.session is None or asked == scope.session
                if row.type == "memory"
                else scope.events_of_session is None or asked == scope.events_of_session
            )
            and (row.expires is None or row.expires > scope.now)
            and (not f.kinds or row.kind in f.kinds)
            and (not f.sources or row.source in f.sources)
            and {*f.tags} <= {*json.loads(row.tags or "[]")}
            and (f.min_importance is None or row.importance >= f.min_importance)
            and (f.min_confidence is None or row.confidence >= f.min_confidence)
            and (f.since is None or row.time >= f.since)
            and (f.until is None or row.time < f.until)
        )

    def cosines(self, query: Vector, scope: Scope) -> dict[int, float]:
        held = [row for row in self.visible(scope) if row.vector is not None]
        vectors = {row.chunk: np.frombuffer(row.vector or b"", "<f2").astype(np.float32) for row in held}
        return {chunk: min(1.0, max(-1.0, float(vector @ query))) for chunk, vector in vectors.items()}

    def bm25(self, terms: Sequence[str], scope: Scope) -> dict[int, float]:
        """As the documentation of FTS5 has it, over the one namespace of the scope."""
        everyone = [row[0] for row in self._rows(scope.namespaces[0], None, "1")]
        docs = dict(self.fields(everyone))
        average = sum(len(field) for doc in docs.values() for field in doc) / max(len(docs), 1)
        scores = dict.fromkeys(docs, 0.0)
        for term in terms:
            n = sum(any(term in field for field in doc) for doc in docs.values())
            idf = max(log((len(docs) - n + 0.5) / (n + 0.5)), 1e-6)
            for chunk, doc in docs.items():
                f = sum(weight * field.count(term) for weight, field in zip(WEIGHTS, doc, strict=True))
                size = sum(map(len, doc))
                scores[chunk] += idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * size / average)) if f else 0.0
        seen = {row.chunk for row in self.visible(scope)}
        return {chunk: score for chunk, score in scores.items() if score > 0 and chunk in seen}


def check(found: list[Match] | None, right: dict[int, float], limit: int | None) -> None:
    """These matches are the best of the right scores; which of two equals is last is not asked."""
    assert found is not None
    assert [match.score for match in found] == pytest.approx(sorted(right.values(), reverse=True)[:limit], abs=3e-6)
    assert {match.chunk: match.score for match in found} == pytest.approx(
        {match.chunk: right[match.chunk] for match in found}, abs=3e-6
    )
    assert len({match.chunk for match in found}) == len(found)


@pytest.fixture(scope="session")
def new_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Store]:
    folder, numbers = tmp_path_factory.mktemp("stores"), count()
    return lambda dimension=4: Store(folder / f"{next(numbers)}.db", dimension)


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """A graph built by one thread is the same each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hnsw, "_THREADS", 1)
        yield


@pytest.fixture(autouse=True)
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are built at once."""
    monkeypatch.setattr(image, "_BUILD_DELAY", 0.0)


@pytest.fixture(scope="session")
def right() -> Callable[[list[Match] | None, dict[int, float], int | None], None]:
    return check


@pytest.fixture
def store(new_store: Callable[..., Store]) -> Store:
    return new_store()


@pytest.fixture(scope="session")
def open_all() -> Callable[..., Images]:
    """Images with terms from the first row on."""

    def opened(store: Store, **options: Any) -> Images:
        defaults: dict[str, Any] = {"weights": WEIGHTS, "terms_from": 0, "max_tokenized_rows": 0}
        return open_images(store, **defaults | options)

    return opened


@pytest.fixture(params=[0, MAX_TOKENIZED_ROWS], ids=["by the index", "by texts"])
def images(
    request: pytest.FixtureRequest, store: Store, open_all: Callable[..., Images], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Images]:
    """By either way of loading terms."""
    monkeypatch.setattr(IndexWorker, "pause", 0.0)
    opened = open_all(store, max_tokenized_rows=request.param)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def ask() -> Callable[..., list[Match]]:
    """Text search once the terms are loaded."""

    def asked(images: Images, terms: Sequence[str], scope: Scope, limit: int = 100) -> list[Match]:
        found = images.search_text(terms, scope, limit)
        if found is None:
            assert images.wait(10)
            found = images.search_text(terms, scope, limit)
        assert found is not None, images.stats()
        return found

    return asked
