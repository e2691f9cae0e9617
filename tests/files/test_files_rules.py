"""What is left out of the index, and where links lead."""

import os
from pathlib import Path

import pytest

from retentive import Retentive
from tests.files.test_files import counts, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


def test_links_lead_out_but_not_around(store: Retentive, folder: Path, tmp_path: Path) -> None:
    """What a link inside the folder leads to is found at its own place, once."""
    write(tmp_path / "elsewhere", far="Far away")
    write(folder, near="Nearby")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "again").symlink_to(tmp_path / "elsewhere")
    (folder / "alias.md").symlink_to(folder / "near.md")
    (tmp_path / "elsewhere" / "back").symlink_to(folder)
    store.files.index(folder)
    assert [Path(each.path).name for each in store.files.list()] == ["far.md", "near.md"]


def test_rules_of_what_to_ignore_are_those_of_git(store: Retentive, folder: Path) -> None:
    (folder / ".gitignore").write_text("*.log\nbuild/\n/top.md\nprivate*\n")
    (folder / "sub").mkdir()
    (folder / "sub" / ".gitignore").write_text("!keep.log\ninner.md\n")
    (folder / ".retentiveignore").write_text("drafts/\n!.hidden/\n")
    write(
        folder, top="x", sub__top="1", build__a="x", private1="x", sub__inner="x", sub__deep__inner="x", drafts__d="x"
    )
    write(folder / ".hidden", seen="2")
    write(folder / ".secret", unseen="x")
    write(folder / "node_modules", noise="x")
    (folder / "a.log").write_text("x")
    (folder / "sub" / "keep.log").write_text("3")
    (folder / "sub" / "other.log").write_text("x")
    store.files.index(folder, ignore=["*.tmp.md"])
    names = [Path(each.path).relative_to(folder.resolve()).as_posix() for each in store.files.list()]
    assert names == [".hidden/seen.md", "sub/keep.log", "sub/top.md"]


def test_a_folder_inside_a_repository_heeds_its_rules(store: Retentive, folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("out.md\n")
    write(folder, docs__out="x", docs__in="1")
    store.files.index(folder / "docs")
    assert [Path(each.path).name for each in store.files.list()] == ["in.md"]


def test_what_is_ignored_from_now_on_goes(store: Retentive, folder: Path) -> None:
    write(folder, a="One", b="Two")
    store.files.index(folder)
    (folder / ".gitignore").write_text("a.md\n")
    assert counts(store.files.index(folder)) == {"removed": 1, "unchanged": 1}


def test_a_link_to_what_is_hidden_is_not_followed(store: Retentive, tmp_path: Path) -> None:
    """As in a repository that somebody else made. Who wants it asks for it."""
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials.txt").write_text("Nobody's business.")
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "notes.md").symlink_to(tmp_path / ".aws" / "credentials.txt")
    (folder / "docs").symlink_to(tmp_path / ".aws")
    assert store.files.index(folder).ignored == 2
    assert store.files.list() == []
    assert store.files.index(folder, ignore="!docs").added == 1


def test_links_in_a_folder_that_is_hidden_itself_are_followed(store: Retentive, tmp_path: Path) -> None:
    (tmp_path / ".notes" / "mine").mkdir(parents=True)
    (tmp_path / ".notes" / "shared.md").write_text("One")
    (tmp_path / ".notes" / "mine" / "alias.md").symlink_to(tmp_path / ".notes" / "shared.md")
    assert store.files.index(tmp_path / ".notes" / "mine").added == 1


def test_rules_that_are_no_file_say_nothing(store: Retentive, folder: Path) -> None:
    """A pipe that nobody writes to would be read forever."""
    write(folder, a="One")
    os.mkfifo(folder / ".gitignore")
    (folder / ".retentiveignore").mkdir()
    assert store.files.index(folder).added == 1
