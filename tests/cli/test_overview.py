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


def test_an_empty_namespace_names_the_others(run: Run, db: Path) -> None:
    run("add", "Elsewhere", "--namespace", "alice")
    assert "retentive -n alice list" in show(db)


def test_the_dashboard_is_json_when_asked_for(run: Run) -> None:
    run("add", "Counted")
    answer = json.loads(run("dashboard", "--json"))
    assert set(answer) == {"stats", "newest", "days", "proposals"}
    assert answer["newest"][0]["content"] == "Counted"


def test_in_a_pipe_the_program_alone_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "retentive VERB" in capsys.readouterr().out


def test_people_get_ten_lines_of_statistics(run: Run, db: Path) -> None:
    run("add", "Counted")
    lines = show(db, "stats").splitlines()
    assert len(lines) == 10
    assert lines[0].split()[:3] == ["memories", "1", "active;"]


@pytest.mark.parametrize("words", [("stats", "--all"), ("stats",)])
def test_all_statistics_are_shown_on_request_and_in_a_pipe(run: Run, db: Path, words: tuple[str, ...]) -> None:
    run("add", "Counted")
    assert "by_kind.fact" in (show(db, *words) if "--all" in words else run(*words))


def test_the_timeline_has_a_row_for_a_day_with_something(run: Run, db: Path) -> None:
    run("add", "Counted")
    day, made = run("timeline").split()[:2]
    assert made == "1"
    assert day in show(db, "timeline")
    assert [each["made"] for each in json.loads(run("timeline", "--days", "2", "--json"))["days"]] == [1, 0]
    assert run("timeline", "--kind", "preference") == ""
    assert "nothing happened in 14 days" in show(db, "timeline", "--kind", "preference")


def test_a_search_in_an_empty_namespace_names_those_that_are_not(run: Run, db: Path) -> None:
    """The name may be misspelt, or `-n 5` was meant as a number of hits."""
    run("add", "Rex likes the garden")
    assert "there are memories in: default" in show(db, "search", "garden", "-n", "5")
    assert "there are memories in: default" in show(db, "list", "-n", "5")
