"""Consolidation on the terminal: shown, done and undone."""

import json
from pathlib import Path

import pytest

from retentive import Retentive
from tests.support import Run

SHORT, FULL = "The user lives in Oslo.", "I live in Oslo, Norway"


@pytest.fixture
def ids(db: Path) -> list[str]:
    """Two memories that say the same."""
    with Retentive.open(db, embedder="hashing", corrections=False) as store:
        return [store.add(text).id for text in (SHORT, FULL)]


def test_a_dry_run_shows_the_texts_and_changes_nothing(run: Run, ids: list[str]) -> None:
    shown = run("consolidate", "--older-than", "0", "--dry-run")
    assert f"  = {FULL}\n" in shown
    assert all(id in shown for id in ids)
    assert "2 memories would become 1" in shown
    assert len(run("list").splitlines()) == 2


def test_a_run_is_done_and_undone(run: Run, ids: list[str]) -> None:
    done = json.loads(run("consolidate", "--older-than", "0", "--json"))
    (group,) = done["groups"]
    assert (group["rule"], group["text"], [each["id"] for each in group["cited"]]) == ("refinement", FULL, ids)
    assert run("why", group["id"]).count("replaced\t") == 2
    undone = json.loads(run("consolidate", "--undo", done["run"], "--json"))
    assert (undone["restored"], undone["forgotten"], undone["left"]) == (ids, [group["id"]], [])


def test_a_run_prints_how_to_undo_it(run: Run, ids: list[str]) -> None:
    last = run("consolidate", "--older-than", "0").splitlines()[-1]
    assert last.startswith("undo: retentive consolidate --undo ")
    assert "2 memories active again" in run(*last.split()[2:])
    assert len(run("list").splitlines()) == len(ids)


def test_what_is_left_by_an_undo_is_named(run: Run, ids: list[str]) -> None:
    done = json.loads(run("consolidate", "--older-than", "0", "--json"))
    made = done["groups"][0]["id"]
    run("forget", made)
    shown = run("consolidate", "--undo", done["run"])
    assert f"left as it is: {made} is forgotten since" in shown
    assert len(ids) == 2


def test_young_memories_are_left(run: Run, ids: list[str]) -> None:
    assert run("consolidate") == "nothing to consolidate in 0 memories old enough\n"
    assert len(ids) == 2


def test_undo_has_no_dry_run(refused: Run, ids: list[str]) -> None:
    assert "--undo has no dry run" in refused("consolidate", "--undo", ids[0], "--dry-run", code=2)


def test_the_history_of_a_merged_memory_names_the_command_that_undoes_it(run: Run, ids: list[str]) -> None:
    done = json.loads(run("consolidate", "--older-than", "0", "--json"))["run"]
    assert f"undo: `retentive consolidate --undo {done}`" in run("history", ids[0])
