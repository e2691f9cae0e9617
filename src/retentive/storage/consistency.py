"""Checks of engines with SQLite's dialect: are the pages undamaged, and do memories, chunks and indexes agree?"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from retentive.errors import Closed, StorageError
from retentive.storage import Engine, Finding, step

REPAIR = "Run `repair()`."
_ABOUT_VALUES = re.compile(r"(?i:fts5)|\b(?:NULL|TEXT|NUMERIC|BLOB|non-\w+) value in\b")
_MUST_BE_EMPTY = (
    ("memories and chunks", "memory_broken_chunks"),
    ("chunks and full text", "text_list_strays"),
    ("chunks and vectors", "vector_list_strays"),
    ("change log", "change_list_strays"),
)


def check_pages(integrity: Sequence[str], remedy: str = REPAIR) -> Finding:
    """The finding about the file's pages, from the rows of SQLite's integrity check."""
    damage = [row for row in integrity if row != "ok"]
    return Finding("file", not damage, "; ".join(damage) or "every page is whole", remedy if damage else "")


def find_page_damage(integrity: Sequence[str]) -> list[str]:
    """The rows of SQLite's integrity check about pages and indexes, without those about values and the full text."""
    return [row for row in integrity if row != "ok" and not _ABOUT_VALUES.search(row)]


def check_agreement(engine: Engine) -> list[Finding]:
    return [_check_full_text(engine), *find_disagreements(engine.read)]


def find_disagreements(read: Callable[[str], Sequence[Any]]) -> list[Finding]:
    """Findings about tables that disagree. `read` returns the rows of a named query."""
    return [_check_empty(read, name, query) for name, query in _MUST_BE_EMPTY]


def _check_full_text(engine: Engine) -> Finding:
    try:
        engine.apply([step("text_check")])
    except Closed:
        raise
    except StorageError as error:
        return Finding("full text", ok=False, detail=str(error), remedy=REPAIR)
    return Finding("full text", ok=True, detail="the index matches its rows")


def _check_empty(read: Callable[[str], Sequence[Any]], name: str, query: str) -> Finding:
    """The finding about a query that has a row for each disagreement."""
    try:
        count = len(read(query))
    except Closed:
        raise
    except StorageError as error:
        return Finding(name, ok=False, detail=str(error), remedy=REPAIR)
    return Finding(name, not count, f"{count} disagree" if count else "agree", REPAIR if count else "")
