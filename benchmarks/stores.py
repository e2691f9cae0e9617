"""The stores that are measured, built side by side from one corpus; and the bare inserts that both amount to."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from benchmarks.corpus import Corpus
from benchmarks.diy import Diy
from benchmarks.ours import open_ours, path_of, settle
from retentive import Retentive

BATCH = 1000  # memories in one transaction, of every build
WARM_UP = 20  # questions before the first that counts

# The rows of one batch, by the numbers that grow with each row.
TABLES = {
    "namespaces": "SELECT * FROM namespaces WHERE :first = 0",
    "spaces": "SELECT * FROM spaces WHERE :first = 0",
    "memories": "SELECT * FROM memories WHERE rowid > :first",
    "chunks": "SELECT * FROM chunks WHERE n > :first",
    "chunks_fts": "SELECT rowid, * FROM chunks_fts WHERE rowid > :first",
    "vectors": "SELECT * FROM vectors WHERE space = (SELECT id FROM spaces) AND chunk > :first",
    "changes": "SELECT * FROM changes WHERE seq > :first",
}
FULL_TEXT_COLUMNS = "rowid, content, context, tags, before, after, speaker, date"


class Bare:
    """Into an empty store with Retentive's schema and pragmas: its own rows again, one `executemany` a table."""

    def __init__(self, folder: Path) -> None:
        path = folder / "bare.db"
        Retentive.open(path, cache=str(folder / "cache")).close()
        self._connection = apsw.Connection(str(path))
        self._connection.execute("PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY").fetchall()
        self._connection.execute(f"PRAGMA journal_size_limit = {64 << 20}").fetchall()

    def insert(self, rows: dict[str, list[tuple[Any, ...]]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for table, values in rows.items():
            if values:
                columns = f" ({FULL_TEXT_COLUMNS})" if table == "chunks_fts" else ""
                places = ", ".join("?" * len(values[0]))
                self._connection.executemany(f"INSERT INTO {table}{columns} VALUES ({places})", values)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


@dataclass(frozen=True, slots=True)
class Pair:
    """Both builds, open, with the same memories."""

    corpus: Corpus
    folder: Path
    ours: Retentive
    diy: Diy
    ids: list[str] = field(default_factory=list)
    """Of Retentive's memories, in the corpus's order. The other's are 1, 2, 3 …"""

    def close(self) -> None:
        self.ours.close()
        self.diy.close()


@dataclass(slots=True)
class Seconds:
    ours: float = 0.0
    bare: float = 0.0
    diy: float = 0.0


def diy_path(folder: Path) -> Path:
    return folder / "diy.db"


def build(corpus: Corpus, folder: Path) -> tuple[Pair, Seconds]:
    """Batch by batch in turn, so that whatever else the machine does hits all alike."""
    folder.mkdir()
    pair = Pair(corpus, folder, open_ours(folder), Diy(diy_path(folder)))
    bare, seconds = Bare(folder), Seconds()
    for start in range(0, len(corpus.texts), BATCH):
        texts, vectors = corpus.texts[start : start + BATCH], corpus.vectors[start : start + BATCH]
        begun = time.perf_counter()
        pair.ids.extend(pair.ours.add_many(texts, vectors=vectors).ids)
        seconds.ours += time.perf_counter() - begun
        rows = _written(path_of(folder), start)
        begun = time.perf_counter()
        bare.insert(rows)
        seconds.bare += time.perf_counter() - begun
        begun = time.perf_counter()
        pair.diy.add_many(texts, vectors)
        seconds.diy += time.perf_counter() - begun
    bare.close()
    return pair, seconds


def _written(path: Path, first: int) -> dict[str, list[tuple[Any, ...]]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = {table: connection.execute(sql, {"first": first}).fetchall() for table, sql in TABLES.items()}
    connection.close()
    return rows


def warm(pair: Pair) -> dict[str, Any]:
    """Both as in a process that has been at it for a while. Returns what Retentive answers from."""
    asked = pair.corpus.questions[-WARM_UP:]
    settle(pair.ours, asked)
    for question in asked:
        pair.diy.search(question.text, question.vector)
    return dict(pair.ours.stats()["index"])
