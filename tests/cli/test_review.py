"""Proposals on the terminal: shown, and decided by a person or a script."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.memories.add import make_draft
from retentive.memories.write import write_memories
from retentive.model import Replacement
from retentive.testing import parts_of
from tests.support import Run

Propose = Callable[..., list[str]]


class Person(io.StringIO):
    """Someone at a terminal, who types this; and the terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def propose(db: Path) -> Propose:
    """Make proposals, one for each text, that it replaces `Tea at noon`; their ids, the newest first."""

    def make(*texts: str) -> list[str]:
        with Retentive.open(db, embedder="hashing") as store:
            tea = store.add("Tea at noon").id
            for text in texts:
                why = Replacement(tea, "same drink", f"tea, {text}")
                write_memories(parts_of(store), [make_draft(parts_of(store), text, {})._replace(proposes=(why,))])
            return [each.id for each in store.proposals.list()]

    return make


def contents(run: Run) -> set[str]:
    return {line.split("\t")[-1] for line in run("list").splitlines()}


def test_a_pipe_gets_a_row_each(run: Run, propose: Propose) -> None:
    """Id, newer, older and reason, with tabs between."""
    (id,) = propose("Coffee at noon")
    assert run("review") == f"{id}\tCoffee at noon\tTea at noon\tsame drink: tea, Coffee at noon\n"


def test_pages_follow_one_another(run: Run, propose: Propose) -> None:
    """`--limit` and `--after` cut the list."""
    first, second = propose("Coffee", "Water")
    assert run("review", "--limit", "1").startswith(first)
    assert run("review", "list", "--after", first).startswith(second)


def test_json_has_every_field(run: Run, propose: Propose) -> None:
    """The same value in the list, when accepted and when rejected."""
    first, second = propose("Coffee", "Water")
    listed = json.loads(run("review", "--json"))["proposals"]
    assert [each["id"] for each in listed] == [first, second]
    assert json.loads(run("review", "reject", first, "--json")) == {"rejected": listed[:1]}
    assert json.loads(run("review", "accept", second, "--json")) == {"accepted": listed[1:]}


def test_a_script_accepts_and_rejects(run: Run, propose: Propose) -> None:
    """What ended is told with the way back."""
    coffee, water = propose("Water", "Coffee")
    assert run("review", "reject", water) == "kept both: Water / Tea at noon\n"
    told = run("review", "accept", coffee)
    assert told.startswith("replaced: Tea at noon  (undo: retentive restore ")
    assert told.endswith("because: same drink: tea, Coffee\n")
    assert contents(run) == {"Water", "Coffee"}
    run("restore", told.partition("restore ")[2].partition(")")[0])
    assert contents(run) == {"Water", "Coffee", "Tea at noon"}


def test_one_wrong_id_and_nothing_is_decided(run: Run, refused: Run, propose: Propose) -> None:
    """All ids are looked up before the first is decided."""
    (id,) = propose("Coffee")
    assert "no proposal 'nothing'" in refused("review", "accept", id, "nothing", code=3)
    assert run("review").startswith(id)


@pytest.mark.parametrize(
    ("typed", "left", "still_open"),
    [
        ("y\n", {"Coffee", "Water"}, 0),  # the older one ended, and with it the other proposal
        ("n\nr\n", {"Coffee", "Water", "Tea at noon"}, 0),
        ("s\na\n", {"Coffee", "Water"}, 0),
        ("q\n", {"Coffee", "Water", "Tea at noon"}, 2),
        ("what?\n\nR\nq\n", {"Coffee", "Water", "Tea at noon"}, 1),
        ("", {"Coffee", "Water", "Tea at noon"}, 2),  # the end of the input
    ],
)
def test_a_person_is_asked_about_each(
    run: Run, propose: Propose, monkeypatch: pytest.MonkeyPatch, typed: str, left: set[str], still_open: int
) -> None:
    """Y or a accepts, n or r rejects, s skips, q quits; anything else is asked again."""
    propose("Coffee", "Water")
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Person()
    with monkeypatch.context() as terminal:
        terminal.setattr("sys.stdin", Person(typed))
        terminal.setattr("sys.stdout", screen)
        run("review")
    assert re.search(r"newer +\d{4}-\d\d-\d\d +Water\n +older +\d{4}-\d\d-\d\d +Tea at noon", screen.getvalue())
    assert contents(run) == left
    assert run("review").count("\n") == still_open


def test_what_a_terminal_would_obey_is_not_shown(run: Run, propose: Propose, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and reasons are shown without control characters."""
    propose("Coffee \033[2J")
    screen = Person()
    with monkeypatch.context() as terminal:
        terminal.setattr("sys.stdout", screen)
        run("review")
    assert "Coffee" in screen.getvalue()
    assert "\033[2J" not in screen.getvalue()


def test_add_replaces_what_is_named(run: Run, refused: Run) -> None:
    """`--replaces` may be given several times; a wrong id keeps nothing."""
    tea, milk = (run("add", text).split()[1] for text in ("Tea at noon", "Milk at dawn"))
    assert "no memory" in refused("add", "Water", "--replaces", tea, "--replaces", "nothing", code=3)
    told = run("add", "Water", "--replaces", tea, "--replaces", milk)
    assert f"replaced: Milk at dawn  (undo: retentive restore {milk})\n  because: named by the caller" in told
    assert "is superseded" in refused("add", "Juice", "--replaces", tea, code=4)
    assert contents(run) == {"Water"}
    assert json.loads(run("add", "Water", "--json"))["replaced"] == []


def test_a_search_shows_what_may_be_outdated(run: Run, propose: Propose) -> None:
    """In a pipe the older memory has one column more: the mark with the id of the newer one."""
    propose("Coffee at noon")
    newer, older = (line.split("\t") for line in run("search", "tea at noon").splitlines())
    assert (newer[3:], older[3]) == (["Coffee at noon"], "Tea at noon")
    assert older[4].startswith("possibly outdated since ")
    assert older[4].endswith(f", see [{newer[0]}]")


def test_the_explanation_says_what_a_pair_added(run: Run, propose: Propose) -> None:
    """`--why` adds up, also for a memory that was moved up."""
    propose("Coffee at noon")
    assert " [pair]; relevance " in run("search", "tea at noon", "--why")
