"""The check-up of engines that speak SQLite: do memories, chunks, full text and vectors agree?"""

from collections.abc import Callable, Sequence
from typing import Any

from retentive.errors import Corrupt
from retentive.storage import Engine, Finding, step

REPAIR = "Run `retentive doctor --repair`."
_NONE = (
    ("memories and chunks", "chunk_broken"),
    ("chunks and full text", "text_strays"),
    ("chunks and vectors", "vector_strays"),
)


def whole(integrity: Sequence[str]) -> Finding:
    """What SQLite says of the file's pages."""
    damage = [row for row in integrity if row != "ok"]
    return Finding("file", not damage, "; ".join(damage) or "every page is whole", "Restore a backup." * bool(damage))


def agreement(engine: Engine) -> list[Finding]:
    return [_text(engine), *disagreements(engine.read)]


def disagreements(read: Callable[[str], Sequence[Any]]) -> list[Finding]:
    """`read` gives the rows of a named query."""
    return [_none(read, name, query) for name, query in _NONE]


def _text(engine: Engine) -> Finding:
    try:
        engine.apply([step("text_check")])
    except Corrupt as error:
        return Finding("full text", ok=False, detail=str(error), remedy=REPAIR)
    return Finding("full text", ok=True, detail="the index matches its rows")


def _none(read: Callable[[str], Sequence[Any]], name: str, query: str) -> Finding:
    """A row of each that disagrees is one."""
    try:
        count = len(read(query))
    except Corrupt as error:
        return Finding(name, ok=False, detail=str(error), remedy="Restore a backup.")
    return Finding(name, not count, f"{count} disagree" if count else "agree", REPAIR if count else "")
