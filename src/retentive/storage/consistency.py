"""The check-up of engines that speak SQLite: do memories, chunks, full text and vectors agree?"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from retentive.errors import Closed, StorageError
from retentive.storage import Engine, Finding, step

REPAIR = "Run `retentive doctor --repair`."
_OF_VALUES = re.compile(r"(?i:fts5)|\b(?:NULL|TEXT|NUMERIC|BLOB|non-\w+) value in\b")
_NONE = (
    ("memories and chunks", "chunk_broken"),
    ("chunks and full text", "text_strays"),
    ("chunks and vectors", "vector_strays"),
    ("change log", "change_strays"),
)


def whole(integrity: Sequence[str], remedy: str = REPAIR) -> Finding:
    """What SQLite says of the file's pages."""
    damage = [row for row in integrity if row != "ok"]
    return Finding("file", not damage, "; ".join(damage) or "every page is whole", remedy if damage else "")


def find_page_damage(integrity: Sequence[str]) -> list[str]:
    """What SQLite says of pages and indexes, without what it says of values and of the content of the full text."""
    return [row for row in integrity if row != "ok" and not _OF_VALUES.search(row)]


def agreement(engine: Engine) -> list[Finding]:
    return [_text(engine), *disagreements(engine.read)]


def disagreements(read: Callable[[str], Sequence[Any]]) -> list[Finding]:
    """`read` gives the rows of a named query."""
    return [_none(read, name, query) for name, query in _NONE]


def _text(engine: Engine) -> Finding:
    try:
        engine.apply([step("text_check")])
    except Closed:
        raise
    except StorageError as error:
        return Finding("full text", ok=False, detail=str(error), remedy=REPAIR)
    return Finding("full text", ok=True, detail="the index matches its rows")


def _none(read: Callable[[str], Sequence[Any]], name: str, query: str) -> Finding:
    """A row of each that disagrees is one."""
    try:
        count = len(read(query))
    except Closed:
        raise
    except StorageError as error:
        return Finding(name, ok=False, detail=str(error), remedy=REPAIR)
    return Finding(name, not count, f"{count} disagree" if count else "agree", REPAIR if count else "")
