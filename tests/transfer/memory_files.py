"""Memory files of other products, written by hand in their formats."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from retentive.transfer.memories import READERS, MemoryFormat, ReadResult, open_memories

MEM0 = """\
{"count": 3, "next": null, "results": [
  {"id": "5f1c", "memory": "Dana prefers window seats", "hash": "0c1d2e", "metadata": {"trip": "lisbon"},
   "categories": ["travel", "user_preferences"], "created_at": "2025-03-02T09:00:00-07:00",
   "updated_at": "2025-04-01T08:00:00Z", "user_id": "dana", "agent_id": null},
  {"id": "5f1d", "memory": "Dana is training for a half marathon", "metadata": null, "categories": null,
   "created_at": "2025-03-03T10:00:00Z", "user_id": "dana", "expiration_date": "2099-10-01"}],
 "relations": [{"source": "dana", "relationship": "works_at", "target": "acme"}]}
"""
OURS = """\
{"type":"header","format":"retentive","version":1,"product":"0.1.0","vectors":false,"without":[]}
{"type":"end","lines":{}}
"""
GRAPH = """\
{"type":"entity","name":"Anna_Berg","entityType":"person","observations":["Speaks Spanish","Anna Berg plays the oboe"]}
{"type":"entity","name":"Bo","entityType":"person","observations":["Speaks Spanish"]}
{"type":"entity","name":"Acme","entityType":"organization","observations":[]}
{"type":"relation","from":"Anna_Berg","to":"Acme","relationType":"worksAt"}
"""
NOTE = """\
---
title: Sourdough
type: note
permalink: kitchen/sourdough
tags: [bread, 'slow food']
created: 2025-01-05T07:30:00Z
---

# Sourdough

The starter lives in the fridge,
next to the [[Miso]].

## Observations
- [technique] Fold four times #folding #dough (from the course)
- [preference] Dark crust
- [ ] buy rye flour
- [00:12] let us begin

## Relations
- pairs_with [[Salted Butter]]
- "is better than" [[Toast|plain toast]] (always)
- [[Flour]]
"""
CLAUDE = """\
# Billing

@docs/architecture.md
See @README.md for the rest; ask @anna.

## Code style
- Use two spaces
- Before a commit:
  - run the tests,
    all of them
  - lint

## Commands
Build it with

```sh
make all
- no bullet
```

<!-- nobody reads
- this -->
Decisions
---------
1. PostgreSQL, not MySQL
2. Use two spaces
"""
GUIDE = """\
<guidelines version="2">
  <tone>Be kind &amp; brief</tone>
  <refund_policy>
  - Refund within 30 days
  - Ask < 2 questions
  </refund_policy>
</guidelines>
"""
CSV = """\
text;kind;tags;importance;confidence;created;slot;colour
"He said ""no"",
and left";fact;work,people;7;0.8;2024-05-01;;red
Likes tea;user_preference;;high;;;;
Lives in Bonn;;;;;;home;
"""
SCHEMA = """
CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL,
  tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT,
  updated_at_iso TEXT, deleted_at REAL DEFAULT NULL, superseded_by TEXT DEFAULT NULL, confidence REAL DEFAULT 1.0);
CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA writable_schema = ON;
INSERT INTO sqlite_master VALUES ('table', 'memory_embeddings', 'memory_embeddings', 0,
  'CREATE VIRTUAL TABLE memory_embeddings USING vec0(content_embedding FLOAT[384] distance_metric=cosine)');
PRAGMA writable_schema = OFF;
"""
ROWS: Sequence[tuple[Any, ...]] = (
    (
        "aa11",
        "Deploys go out on Tuesdays",
        "ops, deploy",
        "decision",
        '{"host": "pc"}',
        1735689600.5,
        None,
        None,
        1.0,
    ),
    ("bb22", "The staging key rotates weekly", None, "note", None, 1735776000.0, None, None, 0.4),
    ("cc33", "This was deleted", "", "note", "{}", 1735776000.0, 1735776001.0, None, 1.0),
    ("dd44", "This has a successor", "", "note", "{}", 1735776000.0, None, "bb22", 1.0),
)


def write_service_database(path: Path, rows: Sequence[tuple[Any, ...]] = ROWS) -> sqlite3.Connection:
    """Left open: whoever wants what a live service leaves beside its file keeps it so."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(SCHEMA)
    database.executemany(
        "INSERT INTO memories (content_hash, content, tags, memory_type, metadata, created_at, deleted_at,"
        " superseded_by, confidence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    return database


def write_all_formats(folder: Path) -> dict[str, Path]:
    """One of each format, by its name."""
    texts = {
        "mem0": ("mem0.json", MEM0),
        "mcp-memory": ("memory.jsonl", GRAPH),
        "basic-memory": ("vault/kitchen/sourdough.md", NOTE),
        "claude-memory": ("memories/guide.xml", GUIDE),
        "markdown": ("CLAUDE.md", CLAUDE),
        "csv": ("table.csv", CSV),
        "retentive": ("all.jsonl", OURS),
    }
    for name, text in texts.values():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    write_service_database(folder / "sqlite_vec.db").close()
    given = {format: folder / name.partition("/")[0] for format, (name, _) in texts.items()}
    return {**given, "mcp-memory-service": folder / "sqlite_vec.db"}


@contextmanager
def open_results(
    source: Path | IO[bytes], format: MemoryFormat | None
) -> Iterator[tuple[MemoryFormat, Iterator[ReadResult]]]:
    """The format of a source, and what is read from it."""
    with open_memories(source, format) as (found, opened):
        yield found, READERS[found].read(opened)
