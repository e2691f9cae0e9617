"""The dashboard, the statistics and the timeline on the terminal."""

import json
from pathlib import Path

import pytest

from retentive.cli import main
from retentive.surface.memory import KINDS
from tests.support import Run
from tests.terminal import terminal

MAX_LINES = 24
COLUMNS = 80


def show(db: Path, *words: str) -> str:
    return terminal("--db", str(db), "--embedder", "hashing", *words, NO_COLOR="1", COLUMNS=str(COLUMNS))


def fill(run: Run) -> None:
    for number, kind in enumerate(KINDS):
        run(
            "add", f"Statement number {number} of this kind, with a text that goes on " + "and on " * 20, "--kind", kind
        )


def test_the_dashboard_is_one_screen(run: Run, db: Path) -> None:
    """Of a store with every kind of memory, on a small terminal."""
    fill(run)
    lines = show(db).splitlines()
    assert len(lines) < MAX_LINES
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize(
    "part",
    [
        "12 memories",
        "8 others",
        "in 14 days",
        "none waiting",
        "  good\n",
        "retentive search",
        "memory.db",
        "Statement number 11",
    ],
)
def test_the_dashboard_says_what_there_is(run: Run, db: Path, part: str) -> None:
    fill(run)
    assert part in show(db)


def test_a_store_that_is_not_there_is_not_made_by_looking(db: Path) -> None:
    """The first screen says how to begin."""
    shown = show(db)
    assert 'retentive add "My dog is called Rex"' in shown
    assert str(db) in shown.replace("\n", "").replace(" ", "")
    assert not db.exists()


def test_an_empty_namespace_names_those_that_are_not(run: Run, db: Path) -> None:
    """It may be misspelt, or `-n 5` was meant as a number of hits."""
    run("add", "Rex likes the garden")
    assert "there are memories in: default" in show(db, "search", "garden", "-n", "5")
    assert "there are memories in: default" in show(db, "list", "-n", "5")
