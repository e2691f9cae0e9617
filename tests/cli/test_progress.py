"""Progress on standard error, for people alone."""

import json
from pathlib import Path

import pytest

from retentive.cli.draw.progress import format_seconds
from tests.support import Run
from tests.terminal import terminal


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (27.9, "27 s"), (185, "3:05 min"), (3720, "1:02 h")])
def test_a_span_is_short(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_indexing_shows_what_is_done_the_rate_and_the_file_at_hand(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(30):
        (folder / f"note-{number:02}.md").write_text(f"# Note {number}\n\nSomething about the number {number}.\n")
    seen = terminal("--db", str(db), "--embedder", "hashing", "index", str(folder), COLUMNS="120")
    assert "indexing" in seen
    assert "30 of 30 files" in seen
    assert "note-29.md" in seen
    assert seen.rstrip().endswith("30 added")


def test_learning_shows_itself_from_the_beginning_and_prints_beside(run: Run, db: Path) -> None:
    run("session", "append", "monday", "My dog is called Rex.")
    seen = terminal("--db", str(db), "--embedder", "hashing", "learn", "monday")
    assert "learning" in seen
    assert "1 message read" in seen


def test_a_pipe_sees_no_progress(run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n")
    assert json.loads(run("index", str(tmp_path / "note.md"), "--json"))["added"] == 1
    assert capsys.readouterr().err == ""
