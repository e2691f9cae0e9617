"""Retentive as the measurements open it. Imports nothing else: fresh processes come through here."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from retentive import Retentive

LOADING = 600.0  # seconds that background loading may take: a graph of 100,000 is built within it on one slow core


def path_of(folder: Path) -> Path:
    return folder / "retentive.db"


def open_ours(folder: Path, **settings: Any) -> Retentive:
    """All sizes of a run share one cache: the rebuilt model is in it."""
    return Retentive.open(path_of(folder), cache=str(folder.parent / "cache"), **settings)


def settle(memory: Retentive, questions: Iterable[tuple[str, Any]]) -> None:
    """Ask until everything that is loaded in the background is there."""
    for text, vector in questions:
        memory.search(text, vector=vector)
        memory._store.images().wait(LOADING)  # noqa: SLF001 - the only way to know; users need not
