"""Drawings for people: what a terminal shows, and what it must not."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.text import Text

from retentive.cli.draw.matched_words import highlight_words
from retentive.cli.draw.proposals import mark_differences
from retentive.cli.draw.signs import format_age, format_size, make_bar, make_spark_line
from retentive.cli.draw.stories import make_word_difference
from retentive.cli.draw.tables import fit_widths
from retentive.ids import shorten_id
from tests.support import Run
from tests.terminal import terminal

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SEQUENCE = re.compile("\033\\[[0-9;]*m")


def show(db: Path, *words: str, **environment: str) -> str:
    """What a terminal without colours shows."""
    return terminal("--db", str(db), "--embedder", "none", *words, **{"NO_COLOR": "1", **environment})


@pytest.mark.parametrize(
    ("share", "bar"),
    [(0, "    "), (1, "━━━━"), (0.5, "━━  "), (0.4, "━╸  "), (0.001, "╸   "), (2, "━━━━"), (-1, "    ")],
)
def test_a_bar_has_the_length_of_its_share(share: float, bar: str) -> None:
    assert make_bar(share, 4) == bar


def test_a_bar_is_of_plain_letters_where_there_are_no_blocks() -> None:
    assert make_bar(0.5, 4, blocks=False) == "##  "


@pytest.mark.parametrize(
    ("counts", "line"), [([0, 1, 8], "·▁█"), ([5], "█"), ([], ""), ([0, 0], "··"), ([1, 1000], "▁█")]
)
def test_a_spark_line_shows_nothing_apart_from_a_little(counts: list[int], line: str) -> None:
    assert make_spark_line(counts) == line


@pytest.mark.parametrize(
    ("span", "age"),
    [
        (timedelta(seconds=5), "now"),
        (timedelta(minutes=5), "5 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(days=3), "3 d"),
        (timedelta(days=59), "59 d"),
        (timedelta(days=92), "3 mo"),
        (timedelta(days=800), "2 y"),
        (timedelta(days=-2), "2026-03-03"),  # it becomes true later
    ],
)
def test_an_age_has_one_unit(span: timedelta, age: str) -> None:
    assert format_age(NOW - span, NOW) == age


@pytest.mark.parametrize(
    ("size", "text"), [(820, "820 B"), (12_400, "12 kB"), (3_400_000, "3.4 MB"), (5e12, "5.0 TB"), (1e16, "10000.0 TB")]
)
def test_a_size_has_one_unit(size: float, text: str) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("natural", "flexible", "room", "widths"),
    [
        ([10, 10], [False, True], 40, [10, 10]),  # all fits
        ([10, 50], [False, True], 40, [10, 28]),  # the flexible one gives way
        ([40, 10], [False, True], 40, [30, 8]),  # then the widest, as far as need be
        ([90, 90], [False, False], 20, [9, 9]),
        ([90, 90], [False, True], 10, [8, 8]),  # never below what a short id needs
    ],
)
def test_the_widths_of_a_table_fit_the_screen(
    natural: list[int], flexible: list[bool], room: int, widths: list[int]
) -> None:
    assert fit_widths(natural, flexible, room) == widths


@pytest.mark.parametrize(
    ("question", "content", "words"),
    [
        ("what are my pets called?", "The pet is called Rex", ["pet", "called"]),
        ("deploy", "Deploys: deployed on Monday, redeployed on Tuesday", ["Deploys", "deployed"]),
        ("绿茶", "用户喜欢喝绿茶", ["绿茶"]),
        ("dog", "A dogma of hotdogs", ["dogma"]),  # an ending of up to four letters
        ("the", "the end", ["the"]),
        ("", "nothing", []),
        ("[bold]", "a [bold] word", ["bold"]),
    ],
)
def test_the_words_of_the_question_are_highlighted(question: str, content: str, words: list[str]) -> None:
    marked = highlight_words(Text(content), question)
    assert [content[each.start : each.end] for each in marked.spans] == words


def test_a_difference_shows_words_removed_and_added() -> None:
    """Without colours between brackets, so that nothing is lost."""
    shown = make_word_difference("Deploys happen on Tuesdays", "Deploys happen on Fridays at noon", has_colour=False)
    assert shown.plain == "Deploys happen on [-Tuesdays-]{+Fridays at noon+}"


def test_of_two_texts_what_differs_is_marked() -> None:
    newer, older = mark_differences("Tea at dawn", "Tea at noon")
    assert [newer.plain[each.start : each.end] for each in newer.spans] == ["dawn"]
    assert [older.plain[each.start : each.end] for each in older.spans] == ["noon"]


def test_a_list_shows_text_kind_age_and_short_id(run: Run, db: Path) -> None:
    id = run("add", "The bridge is closed", "--tag", "traffic").split()[-1]
    assert re.search(rf"The bridge is closed +fact +now +{shorten_id(id)}\n", show(db, "list", COLUMNS="80"))
    assert re.search(rf"The bridge is closed +fact +#traffic +now +{shorten_id(id)}\n", show(db, "list", COLUMNS="140"))


def test_a_list_has_the_status_where_one_has_ended(run: Run, db: Path) -> None:
    run("forget", run("add", "The bridge is closed").split()[-1])
    assert re.search(r"closed +fact +forgotten +now", show(db, "list", "--status", "forgotten"))


@pytest.mark.parametrize("text", ["[red]not markup[/red]", ":smile:", "[/]", "\\[bold]"])
@pytest.mark.parametrize("verb", [["list"], ["search", "markup"], ["dashboard"]])
def test_markup_in_a_text_is_text(run: Run, db: Path, text: str, verb: list[str]) -> None:
    run("add", f"{text} markup")
    assert f"{text} markup" in show(db, *verb)


def test_a_search_shows_relevance_as_a_bar_and_no_score(run: Run, db: Path) -> None:
    run("add", "The bridge is closed")
    shown = show(db, "search", "bridge")
    (hit,) = json.loads(run("search", "bridge", "--json"))["hits"]
    assert re.search(r"1 +━+╸? +0\.\d\d  The bridge is closed", shown)
    assert f"{hit['score']:.4f}" not in shown
    assert "score" not in shown


def test_the_tree_of_a_score_adds_up(run: Run, db: Path) -> None:
    """The shares make the sum, and the sum times the factors makes the score."""
    run("add", "The bridge is closed", "--importance", "7")
    shown = show(db, "search", "bridge closed", "--why")
    shares = [float(each) for each in re.findall(r"── ([+-]\d\.\d+)  \w+", shown)]
    factors = [float(each) for each in re.findall(r"── x +(\d\.\d+)", shown)]
    total = float(re.search(r"(\d\.\d+)  sum of the signals", shown)[1])  # type: ignore[index]
    score = float(re.search(r"score (\d\.\d+)", shown)[1])  # type: ignore[index]
    assert sum(shares) == pytest.approx(total, abs=0.001)
    assert total * factors[0] * factors[1] == pytest.approx(score, abs=0.001)


def test_words_are_highlighted_in_colours_alone(run: Run, db: Path) -> None:
    run("add", "The bridge is closed")
    common = ("--db", str(db), "--embedder", "none")
    assert "\033[1;33mbridge\033[0m" in terminal(*common, "search", "bridge")
    assert not SEQUENCE.search(show(db, "search", "bridge"))
    assert not SEQUENCE.search(terminal(*common, "search", "bridge", TERM="dumb"))


def test_a_history_shows_what_changed(run: Run, db: Path) -> None:
    id = run("add", "Deploys happen on Tuesdays").split()[-1]
    run("update", id, "--content", "Deploys happen on Fridays", "--importance", "8", "--reason", "asked")
    shown = show(db, "history", id)
    assert "updated by user: asked" in shown
    assert "Deploys happen on [-Tuesdays-]{+Fridays+}" in shown
    assert "importance: 5 → 8" in shown


def test_where_a_memory_came_from_is_a_tree(run: Run, db: Path) -> None:
    run("add", "The dog is Rex", "--slot", "dog")
    id = run("add", "The dog is Max", "--slot", "dog").split()[1]
    tree = r"The dog is Max.*\n.*said by the user\n.*replaced\n +└── The dog is Rex.*superseded"
    assert re.search(tree, show(db, "why", id))


def test_a_doctor_does_not_call_a_pending_vector_bad(run: Run, db: Path) -> None:
    run("add", "Waits for a vector", "--embedder", "none")
    shown = terminal("--db", str(db), "--embedder", "hashing", "doctor", NO_COLOR="1")
    assert re.search(r"vectors +1 pending", shown)
    assert "BAD" not in shown


def test_an_error_is_wrapped_between_words(db: Path) -> None:
    shown = show(db, "get", "nothing", COLUMNS="40")
    assert all(len(line) <= 40 for line in shown.splitlines())
    assert "error: no memory 'nothing'" in shown


def test_refused_lines_end_an_import_with_a_code(run: Run, tmp_path: Path) -> None:
    """The others are kept."""
    file = tmp_path / "memories.json"
    texts = ("Tea at noon", "x" * 100_001)  # longer than a memory may be
    file.write_text(json.dumps([{"id": text[:3], "memory": text} for text in texts]))
    run("import", str(file), "--from", "mem0", code=4)
    assert "Tea at noon" in run("list")


@pytest.mark.parametrize("words", [["list"], ["search", "bridge"], ["stats"], ["config"]])
def test_a_pipe_loads_nothing_to_draw_with(run: Run, db: Path, words: list[str]) -> None:
    run("add", "The bridge is closed")
    code = "import sys; from retentive.cli import main; main(sys.argv[1:]); sys.exit('rich' in sys.modules)"
    subprocess.run(
        [sys.executable, "-c", code, "--db", str(db), "--embedder", "hashing", *words], check=True, capture_output=True
    )
