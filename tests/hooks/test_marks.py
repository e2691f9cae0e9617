"""What is remembered between two hooks."""

import os
import time
from pathlib import Path

from retentive.hooks.state import KEPT_DAYS, MOST_SHOWN, Marks


def test_what_was_shown_is_remembered_for_its_conversation(tmp_path: Path) -> None:
    Marks.of(tmp_path, "store", "default", "one").show(["a", "my note", "a"])
    assert Marks.of(tmp_path, "store", "default", "one").shown() == ["a", "my note"]
    assert Marks.of(tmp_path, "store", "default", "two").shown() == []
    assert Marks.of(tmp_path, "other", "default", "one").shown() == []


def test_only_so_many_are_remembered(tmp_path: Path) -> None:
    marks = Marks.of(tmp_path, "s")
    marks.show(map(str, range(MOST_SHOWN + 5)))
    assert marks.shown()[0] == "5"


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    marks = Marks.of(tmp_path / "new" / "hooks", "s")
    marks.reach("u1")
    (file,) = marks.folder.iterdir()
    assert (file.stat().st_mode & 0o777, marks.folder.stat().st_mode & 0o777) == (0o600, 0o700)


def test_those_of_old_conversations_go(tmp_path: Path) -> None:
    old, new = Marks.of(tmp_path, "old"), Marks.of(tmp_path, "new")
    old.show(["a"])
    new.show(["b"])
    past = time.time() - (KEPT_DAYS + 1) * 86_400
    os.utime(next(tmp_path.glob(f"{old.name}*")), (past, past))
    new.prune()
    assert (old.shown(), new.shown()) == ([], ["b"])


def test_a_folder_that_cannot_be_used_costs_nothing_but_the_memory_of_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    marks = Marks.of(tmp_path / "file" / "hooks", "s")
    marks.show(["a"])
    marks.prune()
    assert (marks.shown(), marks.through()) == ([], None)


def test_a_damaged_file_is_none(tmp_path: Path) -> None:
    marks = Marks.of(tmp_path, "s")
    (tmp_path / f"{marks.name}.shown").write_bytes(b"\xff\xfe")
    assert marks.shown() == []
