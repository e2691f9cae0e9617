"""Files on the command line."""

import json
from pathlib import Path

import pytest

from tests.support import Run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    (made / "dogs.md").write_text("# Dogs\n\n## Rex\n\nRex likes carrots.\n")
    return made


def test_a_folder_is_indexed_and_searched(run: Run, folder: Path) -> None:
    assert run("index", str(folder)) == "1 added\n"
    assert run("index", str(folder)) == "1 unchanged\n"
    found = run("search", "what does Rex like?", "--include", "files")
    assert found.startswith(f"{folder.resolve()}/dogs.md:3-5 > Dogs > Rex\t")


def test_what_was_skipped_is_told_on_standard_error(run: Run, refused: Run, folder: Path) -> None:
    for number in range(25):
        (folder / f"link{number}.md").symlink_to("nowhere")
    told = refused("index", str(folder), code=0)
    assert told.count("a link that leads nowhere") == 20
    assert told.endswith("and 5 more; --json names them all\n")
    assert len(json.loads(run("index", str(folder), "--json"))["skipped"]) == 25


def test_a_dry_run_keeps_nothing(run: Run, folder: Path) -> None:
    assert run("index", str(folder), "--dry-run") == "would be: 1 added\n"
    assert run("files", "list") == ""


def test_options_reach_the_index(run: Run, folder: Path) -> None:
    (folder / "cats.md").write_text("Tom sleeps.")
    run("index", str(folder), "--session", "s", "--tag", "pets", "--ignore", "cats.md", "--limit-kb", "1")
    (file,) = json.loads(run("files", "list", "--json"))["files"]
    assert (file["session"], file["tags"]) == ("s", ["pets", "notes", "dogs.md"])
    assert "dogs.md" in run("files", "show", file["id"])


def test_files_are_removed_from_the_index_alone(run: Run, folder: Path) -> None:
    run("index", str(folder))
    assert run("files", "remove", str(folder)) == f"removed {folder.resolve()}/dogs.md\n"
    assert run("files", "list") == ""
    assert (folder / "dogs.md").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("index nowhere", 2, "there is no 'nowhere'"),
        ("index . --ignore !", 2, "is not a valid pattern"),
        ("index . --limit-kb 0", 2, "limit_kb is 0"),
        ("watch nowhere", 2, "there is no 'nowhere'"),
        ("files show nowhere", 3, "is not in the index"),
        ("files remove nowhere", 3, "is not in the index"),
    ],
)
def test_what_is_wrong_is_told(refused: Run, words: str, code: int, said: str) -> None:
    assert said in refused(*words.split(), code=code)
