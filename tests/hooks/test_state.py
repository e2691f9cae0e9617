"""The state that two hooks of a conversation share."""

import os
import time
from pathlib import Path

from retentive.hooks.state import MAX_AGE_DAYS, MAX_SHOWN_IDS, HookState


def test_what_was_shown_is_remembered_for_its_conversation(tmp_path: Path) -> None:
    HookState.of(tmp_path, "store", "default", "one").save_shown(["a", "my note", "a"])
    assert HookState.of(tmp_path, "store", "default", "one").load_shown() == ["a", "my note"]
    assert HookState.of(tmp_path, "store", "default", "two").load_shown() == []
    assert HookState.of(tmp_path, "other", "default", "one").load_shown() == []


def test_only_so_many_are_remembered(tmp_path: Path) -> None:
    state = HookState.of(tmp_path, "s")
    state.save_shown(map(str, range(MAX_SHOWN_IDS + 5)))
    assert state.load_shown()[0] == "5"


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    state = HookState.of(tmp_path / "new" / "hooks", "s")
    state.save_last_recorded("u1")
    (file,) = state.folder.iterdir()
    assert (file.stat().st_mode & 0o777, state.folder.stat().st_mode & 0o777) == (0o600, 0o700)


def test_those_of_old_conversations_go(tmp_path: Path) -> None:
    old, new = HookState.of(tmp_path, "old"), HookState.of(tmp_path, "new")
    old.save_shown(["a"])
    new.save_shown(["b"])
    past = time.time() - (MAX_AGE_DAYS + 1) * 86_400
    os.utime(next(tmp_path.glob(f"{old.name}*")), (past, past))
    new.prune()
    assert (old.load_shown(), new.load_shown()) == ([], ["b"])


def test_a_folder_that_cannot_be_used_costs_nothing_but_the_memory_of_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    state = HookState.of(tmp_path / "file" / "hooks", "s")
    state.save_shown(["a"])
    state.prune()
    assert (state.load_shown(), state.load_last_recorded()) == ([], None)


def test_a_damaged_file_is_none(tmp_path: Path) -> None:
    state = HookState.of(tmp_path, "s")
    (tmp_path / f"{state.name}.shown").write_bytes(b"\xff\xfe")
    assert state.load_shown() == []
