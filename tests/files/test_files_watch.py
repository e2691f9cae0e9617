"""Folders that are followed: what happens on disk is in the index soon after."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retentive import IndexResult, Retentive, config
from retentive.errors import Busy
from retentive.files import changes
from retentive.files import watch as watching
from retentive.files.debounce import MAX_DELAY_SECONDS, QUIET_SECONDS, Debouncer
from retentive.files.index import locate_paths
from retentive.files.walk import Tree
from retentive.testing import parts_of
from tests.files.test_files import fresh, state, write
from tests.forkserver import ForkedProgram
from tests.support import Open

SOON = 20.0  # seconds, on a machine that is busy with other things


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


@pytest.fixture(params=["events", "looks"])
def follow(request: pytest.FixtureRequest, store: Retentive, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Watches a folder until the test is over, by both ways of hearing of changes."""
    monkeypatch.setattr(changes, "POLL_SECONDS", 0.2)
    begun = []

    def begin(*paths: Path, **options: Any) -> watching.Watch:
        watch = store.files.watch(paths, poll=request.param == "looks", **options).start()
        begun.append(watch)
        assert watch.wait(SOON)
        return watch

    yield begin
    for watch in begun:
        assert watch.stop(SOON)


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + SOON
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def names(store: Retentive) -> list[str]:
    return [Path(each.path).name for each in store.files.list()]


def test_what_is_there_is_indexed_first(store: Retentive, folder: Path, follow: Any) -> None:
    write(folder, a="One")
    follow(folder)
    assert names(store) == ["a.md"]


def test_what_happens_is_followed(store: Retentive, folder: Path, follow: Any) -> None:
    """Made, changed, renamed, a folder moved, deleted."""
    follow(folder)
    write(folder, a="One", sub__b="Two")
    until(lambda: names(store) == ["a.md", "b.md"])
    write(folder, a="Another")
    until(lambda: store.files.get(folder / "a.md").size == 7)
    id = store.files.get(folder / "a.md").id
    (folder / "a.md").rename(folder / "c.md")
    until(lambda: names(store) == ["c.md", "b.md"])
    assert store.files.get(folder / "c.md").id == id
    (folder / "sub").rename(folder / "moved")
    until(lambda: store.files.list()[-1].path == f"{folder.resolve()}/moved/b.md")
    shutil.rmtree(folder / "moved")
    until(lambda: names(store) == ["c.md"])
    assert state(store) == fresh(folder)


def test_an_atomic_save_is_a_change(store: Retentive, folder: Path, follow: Any) -> None:
    write(folder, a="One")
    follow(folder)
    id = store.files.get(folder / "a.md").id
    (folder / ".a.md.swp").write_text("Another")
    (folder / ".a.md.swp").replace(folder / "a.md")
    until(lambda: store.files.get(folder / "a.md").size == 7)
    assert store.files.get(folder / "a.md").id == id
    assert names(store) == ["a.md"]


def test_what_is_behind_links_is_found_once(store: Retentive, folder: Path, tmp_path: Path, follow: Any) -> None:
    """The system tells of a change by any of the names that a folder has."""
    write(tmp_path / "elsewhere", far="One")
    for n in range(8):
        write(folder, **{f"d{n}__x": "One"})
        (folder / f"alias{n}").symlink_to(folder / f"d{n}")
        (folder / f"away{n}").symlink_to(tmp_path / "elsewhere")
    follow(folder)
    before = [each.path for each in store.files.list()]
    write(tmp_path / "elsewhere", far="Another")
    write(folder, **{f"d{n}__x": "Another" for n in range(8)})
    until(lambda: all(each.size == len("Another") for each in store.files.list()))
    assert [each.path for each in store.files.list()] == before
    assert state(store) == fresh(folder)


def test_a_file_that_is_left_out_is_named_once(folder: Path, follow: Any) -> None:
    told: list[IndexResult] = []
    write(folder, a="x" * 200_000)
    follow(folder, on_change=told.append)
    write(folder, b="y" * 200_000, c="One")
    until(lambda: sum(each.added for each in told) == 1 and sum(len(each.skipped) for each in told) == 2)
    assert sorted(Path(each.path).name for part in told for each in part.skipped) == ["a.md", "b.md"]


def test_rules_that_change_are_heeded(store: Retentive, folder: Path, follow: Any) -> None:
    write(folder, a="One", b="Two")
    follow(folder)
    (folder / ".gitignore").write_text("a.md\n")
    until(lambda: names(store) == ["b.md"])


def test_a_single_file_may_be_watched(store: Retentive, folder: Path, follow: Any) -> None:
    write(folder, a="One", b="Two")
    follow(folder / "a.md")
    (folder / "new").write_text("Another")
    (folder / "new").replace(folder / "a.md")
    until(lambda: store.files.get(folder / "a.md").size == 7)
    assert names(store) == ["a.md"]


def test_a_folder_that_is_made_again_is_followed(store: Retentive, folder: Path, follow: Any) -> None:
    """Until then, what is known of it stays."""
    write(folder, a="One")
    follow(folder)
    time.sleep(0.5)
    folder.rename(folder.with_name("away"))
    time.sleep(3)
    assert names(store) == ["a.md"]
    write(folder, b="Two")
    until(lambda: names(store) == ["b.md"])
    write(folder, c="Three")
    until(lambda: names(store) == ["b.md", "c.md"])


@pytest.mark.engines
def test_whatever_happens_the_index_is_that_of_the_folder(open_store: Open, folder: Path) -> None:
    """Made, edited, grown, renamed, deleted, five hundred at once; and the daily log of the store is in there, too."""
    store = open_store(daily_log="on", daily_log_folder=str(folder / "log"))
    told: list[IndexResult] = []
    write(folder, edited="# One\n\nHerons nest.", grown="# Log\n\nFirst.\n", renamed="Storks nest.", gone="Terns.")
    with store.files.watch(folder, on_change=told.append) as watch:
        assert watch.wait(SOON)
        write(
            folder,
            edited="# One\n\nHerons sleep.",
            made="Ibises wade.",
            **{f"d{n % 5}__f{n}": f"{n}" for n in range(500)},
        )
        with (folder / "grown.md").open("a") as file:
            file.write("\nSecond.\n")
        (folder / "renamed.md").rename(folder / "named.md")
        (folder / "gone.md").unlink()
        store.add("Egrets are white.")
        until(lambda: store.stats()["files"] == 505)  # with the log of the day
        until(lambda: state(store) == fresh(folder))
        quiet = len(told)
        time.sleep(2)
    assert len(told) == quiet  # what was written of the log was no new memory
    assert [hit.type for hit in store.search("egrets", mode="text")] == ["memory", "file"]


def test_the_store_may_be_in_the_folder(folder: Path) -> None:
    """What is written for one change is not the next."""
    told: list[IndexResult] = []
    with Retentive.open(folder / "memory.db", embedder="hashing") as store:
        write(folder, a="One")
        with store.files.watch(folder, on_change=told.append) as watch:
            assert watch.wait(SOON)
            write(folder, b="Two")
            until(lambda: len(told) == 2)
            head = parts_of(store).tables.chunks.head()
            time.sleep(2)
            assert (len(told), parts_of(store).tables.chunks.head()) == (2, head)


def test_a_store_that_is_busy_is_tried_again(store: Retentive, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "FIRST_PAUSE_SECONDS", 0.05)
    broken, index = threading.Event(), watching.index_paths

    def sometimes(*given: Any) -> IndexResult:
        if broken.is_set():
            raise Busy("another is writing")
        return index(*given)

    monkeypatch.setattr(watching, "index_paths", sometimes)
    with store.files.watch(folder) as watch:
        assert watch.wait(SOON)
        broken.set()
        write(folder, a="One")
        until(lambda: watch.failure)
        broken.clear()
        until(lambda: names(store) == ["a.md"] and watch.failure is None)


def test_without_events_it_looks(store: Retentive, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the system has no room for more watches."""

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(changes, "SystemEvents", refuse)
    monkeypatch.setattr(changes, "POLL_SECONDS", 0.2)
    with store.files.watch(folder) as watch:
        assert watch.wait(SOON)
        assert "does not report changes" in watch.note
        write(folder, a="One")
        until(lambda: names(store) == ["a.md"])


def test_closing_the_store_ends_it(open_store: Open, folder: Path) -> None:
    store = open_store()
    watch = store.files.watch(folder).start()
    store.close()
    assert not watch.running


def test_a_file_that_keeps_changing_is_due_now_and_then() -> None:
    pending, now = Debouncer(), 0.0
    due = []
    while now < 3 * MAX_DELAY_SECONDS:
        pending.add(["log.txt"], now)
        due += [now for _ in pending.pop_due(now)]
        now += QUIET_SECONDS / 2
    assert len(due) == 2


def test_a_file_that_is_left_alone_is_due_soon() -> None:
    pending = Debouncer()
    pending.add(["a"], 0.0)
    pending.add(["a", "b"], 0.4)
    assert pending.pop_due(0.5) == []
    assert pending.seconds_until_due(0.5, 1.0) == pytest.approx(0.4)
    assert sorted(pending.pop_due(0.9)) == ["a", "b"]
    assert len(pending) == 0


def test_the_command_line_watches_until_it_is_interrupted(db: Path, folder: Path) -> None:
    write(folder, a="One")
    command = [sys.executable, "-m", "retentive", "--db", str(db), "--embedder", "hashing", "watch", str(folder)]
    running = ForkedProgram(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    assert running.stdout
    assert running.stdout.readline().endswith("1 added\n")
    write(folder, b="Two")
    assert running.stdout.readline().endswith("1 added\n")
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=SOON)[1] == "watching; Ctrl-C ends it\n"
    assert running.returncode == 0
    assert time.monotonic() - began < 5


def test_the_command_line_ends_when_nobody_listens(db: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "retentive", "--db", str(db), "--embedder", "hashing", "watch", str(folder)]
    running = ForkedProgram(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    assert running.stdout
    running.stdout.readline()
    running.stdout.close()
    running.stdout = None
    write(folder, a="One")
    try:
        assert running.communicate(timeout=SOON)[1] == "watching; Ctrl-C ends it\n"
        assert running.returncode == 141
    finally:
        running.kill()


def test_servers_watch_the_folders_of_the_settings(open_store: Open, folder: Path) -> None:
    """One that is not there yet is waited for."""
    store = open_store(watch=f"{folder}, {folder}-later")
    watch = store.files.watch_configured()
    assert watch
    write(folder.with_name("notes-later"), b="Two")
    write(folder, a="One")
    until(lambda: names(store) == ["b.md", "a.md"])
    assert open_store().files.watch_configured() is None


def test_a_list_of_folders_may_be_configured(tmp_path: Path, store: Retentive) -> None:
    (tmp_path / "config.toml").write_text('watch = ["~/notes", "/srv/docs"]\n')
    assert config.load().watch == "~/notes, /srv/docs"
    assert store.files.watch_configured() is None


def test_changes_in_folders_that_are_left_out_cost_nothing(folder: Path) -> None:
    """A build may write thousands of files: not even the folder that they are in is looked at."""
    write(folder, src__a="One", target__deep__b="Two", target__c="Three")
    (folder / ".gitignore").write_text("target/\n")
    tree = Tree(str(folder.resolve()), 1000)
    changed = [f"{tree.root}/{name}" for name in ("src/a.md", "target/deep/b.md", "target/c.md", ".x/d.md", "e.md")]
    assert locate_paths([tree], changed, max_paths=2) == [(tree, changed[0]), (tree, changed[-1])]


def test_a_folder_that_is_slow_is_looked_at_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "POLL_SECONDS", 0.0)
    looks = changes.Polling([Tree(str(tmp_path), 1000)], threading.Event())
    looks._last_seconds = 0.1
    began = time.monotonic()
    looks.wait(0.0)
    assert time.monotonic() - began > 0.8


def test_the_notifier_of_watchfiles_reports_a_change_made_before_the_first_wait(folder: Path) -> None:
    """Guards the one use of a private module of watchfiles: its arguments and what it returns."""
    notifier = changes._open_notifier([str(folder)])
    write(folder, a="One")
    events = notifier.watch(100, 50, int(SOON * 1000), threading.Event())
    assert isinstance(events, set)
    assert f"{folder}/a.md" in {path for _, path in events}
    stop = threading.Event()
    stop.set()
    assert isinstance(notifier.watch(100, 50, 1000, stop), str)
