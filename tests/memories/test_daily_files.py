"""The daily log by itself: how a line looks, and that it is whole whatever happens beside it."""

import fcntl
import os
import resource
import stat
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from retentive.memories.daily_files import (
    MAX_SHOWN_CHARS,
    DailyLog,
    LogEntry,
    LoggedMemory,
    render_heading,
    render_text,
)

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def vienna(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An hour before UTC, two in summer."""
    with monkeypatch.context() as there:
        there.setenv("TZ", "Europe/Vienna")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def log(tmp_path: Path) -> DailyLog:
    return DailyLog(tmp_path / "log", on=True)


def make_entry(
    text: str = "Anna lives in Linz.", id: str = "m1", at: datetime = NOON, namespace: str = "default"
) -> LogEntry:
    return LogEntry(id, namespace, at, "fact", "explicit", text)


def make_logged(id: str, at: datetime = NOON, namespace: str = "default") -> LoggedMemory:
    return LoggedMemory(id, namespace, at)


def read_lines(log: DailyLog, day: str = "2026-11-16") -> list[str]:
    return (log.folder / f"{day}.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna lives in Linz.", "Anna lives in Linz."),
        ("first\nsecond\r\n\r\n\tthird", "first second third"),
        ("  blank \u2028 lines \x85 of \x0b all \x1d kinds  ", "blank lines of all kinds"),
        ("\x1b[31mred\x07", r"\[31mred"),  # nothing that a terminal obeys
        ("# no *heading* _here_", r"# no \*heading\* \_here\_"),
        ("the file snake_case.py, __init__ too", r"the file snake_case.py, \_\_init\_\_ too"),
        ("[a](b) `code` <b> ~~gone~~ ~/notes", r"\[a\](b) \`code\` \<b> \~\~gone\~\~ ~/notes"),
        ("<!-- m9 default -->", r"\<!-- m9 default -->"),  # no comment of its own
        (r"C:\Users\anna, a\*b", r"C:\Users\anna, a\\\*b"),
        ("AT&T, &amp; and &#8212;", r"AT&T, \&amp; and \&#8212;"),
        ("שלום, אנה גרה בלינץ", "שלום, אנה גרה בלינץ"),  # from right to left
        ("turned \u202eround\u202c here", "turned round here"),
        ("Ärzte in 東京 😀", "Ärzte in 東京 😀"),
        ("a" * 200, "a" * 200),  # just fits
        ("a" * 201, "a" * 199 + "…"),
        ("four " * 41, "four " * 39 + "four…"),  # at a word, where there is one
        ("東京に住む" * 60, ("東京に住む" * 60)[:199] + "…"),
        ("e\u0301" * 150, "e\u0301" * 99 + "…"),  # not between a letter and its accent
        ("👩\u200d👩\u200d👧" * 50, "👩\u200d👩\u200d👧" * 39 + "…"),  # nor within a family
    ],
)  # fmt: skip
def test_a_text_is_shown_on_one_line_and_as_it_was_said(text: str, expected: str) -> None:
    assert render_text(text) == expected
    assert len(render_text(text).replace("\\", "")) <= MAX_SHOWN_CHARS


def test_of_a_text_that_begins_with_blanks_it_is_told_that_there_is_more() -> None:
    assert render_text("word" + " " * 10_000 + "another") == "word…"


def test_a_line_has_time_kind_source_text_and_what_a_purge_looks_for(log: DailyLog) -> None:
    log.append([make_entry(), make_entry("Of a project", id="to do > 50%", namespace="work/billing")])
    assert read_lines(log) == [
        "# 2026-11-16, Monday",
        "",
        "- 13:00+01:00 fact (explicit): Anna lives in Linz. <!-- m1 default -->",
        "- 13:00+01:00 fact (explicit): Of a project <!-- to%20do%20%3e%2050%25 work/billing -->",
    ]


def test_days_begin_at_midnight_where_the_writer_is(log: DailyLog) -> None:
    midnight = datetime(2026, 7, 3, 22, tzinfo=UTC)
    log.append([make_entry("late", at=midnight - timedelta(seconds=1)), make_entry("early", at=midnight)])
    assert read_lines(log, "2026-07-03")[2].startswith("- 23:59+02:00 fact (explicit): late")
    assert read_lines(log, "2026-07-04")[2].startswith("- 00:00+02:00 fact (explicit): early")


@pytest.mark.parametrize("day", range(1, 8))
def test_the_heading_names_the_day_in_english(day: int) -> None:
    names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    assert render_heading(date(2026, 11, 14 + day)) == f"# 2026-11-{14 + day}, {names[day - 1]}\n\n"


def test_the_files_are_for_their_owner_alone(log: DailyLog) -> None:
    before = os.umask(0)
    try:
        log.append([make_entry()])
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (log.folder, *log.folder.iterdir())}
    assert modes == {"log": 0o700, ".lock": 0o600, "2026-11-16.md": 0o600}


def test_a_last_line_that_somebody_left_open_is_ended(log: DailyLog) -> None:
    log.folder.mkdir()
    (log.folder / "2026-11-16.md").write_text("My own words")
    log.append([make_entry()])
    assert read_lines(log) == ["My own words", "- 13:00+01:00 fact (explicit): Anna lives in Linz. <!-- m1 default -->"]


@pytest.mark.parametrize("cut", [3, 8, 14, 30, 60, 70])
def test_what_a_kill_left_of_a_line_is_taken_away(log: DailyLog, cut: int) -> None:
    """By the next one who writes, and by a purge, which could not know whose it is."""
    log.append([make_entry(id="m1"), make_entry("The last of a long load", id="m2")])
    file = log.folder / "2026-11-16.md"
    whole, last = file.read_bytes().splitlines(keepends=True)[:-1], file.read_bytes().splitlines()[-1]
    file.write_bytes(b"".join(whole) + last[:cut])
    log.append([make_entry("next", id="m3")])
    assert [line.split()[-3] for line in read_lines(log)[2:]] == ["m1", "m3"]
    file.write_bytes(b"".join(whole) + last[:cut])
    assert log.remove([make_logged("m2")]) == (0, ())
    assert file.read_bytes() == b"".join(whole)


def test_a_whole_line_without_an_end_stays(log: DailyLog) -> None:
    log.append([make_entry(id="m1")])
    file = log.folder / "2026-11-16.md"
    file.write_bytes(file.read_bytes().rstrip())
    log.append([make_entry(id="m2")])
    assert len(read_lines(log)) == 4


def test_a_folder_that_was_deleted_is_made_again(log: DailyLog) -> None:
    log.append([make_entry()])
    for path in log.folder.iterdir():
        path.unlink()
    log.folder.rmdir()
    log.append([make_entry()])
    assert len(read_lines(log)) == 3


def test_where_the_disk_is_full_no_part_of_a_line_stays(log: DailyLog) -> None:
    """A limit on the size of files cuts a write in two, as the end of a disk does."""
    log.append([make_entry()])
    before = (log.folder / "2026-11-16.md").read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 40, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            log.append([make_entry("too much")])
        assert (log.folder / "2026-11-16.md").read_bytes() == before
        assert log.remove([make_logged("m1")]) == (1, ())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_whoever_holds_the_lock_for_long_is_waited_for_once(log: DailyLog) -> None:
    log.append([make_entry()])
    with (log.folder / ".lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        times = [time.perf_counter()]
        for _ in range(3):
            with pytest.raises(TimeoutError):
                log.append([make_entry("in vain")])
            times.append(time.perf_counter())
    assert 0.4 < times[1] - times[0] < 5
    assert times[3] - times[1] < 0.2
    log.append([make_entry("at last")])
    assert [line for line in read_lines(log) if "at last" in line]


def test_removing_takes_out_the_lines_of_a_memory_and_no_others(log: DailyLog) -> None:
    log.append([make_entry(id="m1"), make_entry("<!-- m1 default -->", id="m2"), make_entry(id="m1", namespace="work")])
    (log.folder / "2026-11-16.md").chmod(0o640)
    before = read_lines(log)
    assert log.remove([make_logged("m1")], dry_run=True).lines == 1
    assert read_lines(log) == before
    assert log.remove([make_logged("m1"), make_logged("unknown")]) == (1, ())
    assert read_lines(log) == [*before[:2], *before[3:]]
    assert log.remove([make_logged("m1")]) == (0, ())
    assert stat.S_IMODE((log.folder / "2026-11-16.md").stat().st_mode) == 0o640
    assert {path.name for path in log.folder.iterdir()} == {".lock", "2026-11-16.md"}


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_a_line_is_found_from_another_time_zone(log: DailyLog, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    for hour in (0, 12, 23):
        log.append([make_entry(id=f"m{hour}", at=NOON.replace(hour=hour))])
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert log.remove([make_logged(f"m{hour}", NOON.replace(hour=hour)) for hour in (0, 12, 23)]) == (3, ())


def test_a_file_that_cannot_be_changed_is_named(log: DailyLog) -> None:
    log.append([make_entry()])
    (log.folder / ".rewritten").mkdir()
    assert log.remove([make_logged("m1")]) == (0, ("2026-11-16.md",))
    assert len(read_lines(log)) == 3


def test_what_a_killed_purge_left_behind_goes_with_the_next(log: DailyLog) -> None:
    log.append([make_entry(id="m1"), make_entry(id="m2")])
    (log.folder / ".rewritten").write_text("half of a day")
    log.remove([make_logged("m1")])
    assert not (log.folder / ".rewritten").exists()


def test_removing_leaves_a_folder_alone_that_has_no_log(tmp_path: Path) -> None:
    assert DailyLog(tmp_path / "none", on=False).remove([make_logged("m1")]) == (0, ())
    assert not (tmp_path / "none").exists()


def test_threads_that_append_and_remove_lose_no_line(log: DailyLog) -> None:
    def append(name: str) -> None:
        for number in range(100):
            log.append([make_entry(f"{name} {number}", id=f"{name}{number}")])

    threads = [threading.Thread(target=append, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    removed = 0
    while any(thread.is_alive() for thread in threads) or removed < 100:
        removed += log.remove([make_logged(f"b{number}") for number in range(100)]).lines
    lines = read_lines(log)
    assert lines[:2] == ["# 2026-11-16, Monday", ""]
    assert sorted(line.split()[5] for line in lines[2:]) == sorted([*map(str, range(100))] * 2)
    assert all(line.endswith(" default -->") for line in lines[2:])
