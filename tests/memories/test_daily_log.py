"""The daily log of a store: each new memory once, none that is known, none that was purged, and never in the way."""

import re
import time as clocks
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from retentive import RemainingCopy, Retentive, config
from retentive.errors import BadConfig, SecretFound
from retentive.testing import Clock
from tests.hooks.claude import Claude
from tests.mcp.client import over_http, serving
from tests.mcp.process import Piped
from tests.storage.test_processes import fewer, start
from tests.support import Open, Run

pytestmark = pytest.mark.engines

LINE = re.compile(r"- \d\d:\d\d[+-]\d\d:\d\d (\w+) \((\w+)\): (.*) <!-- (\S+) (\S+) -->")


@pytest.fixture
def folder(target: str, tmp_path: Path) -> Path:
    """Where the log is if nothing else is said: beside a file, in the data folder for a server."""
    return tmp_path / "data" / "retentive" / "log" if "://" in target else tmp_path / "log"


@pytest.fixture
def logged(open_store: Open) -> Retentive:
    return open_store(daily_log="on")


def read_lines(folder: Path) -> list[str]:
    files = sorted(folder.glob("*.md"))
    return [line for file in files for line in file.read_text("utf-8").splitlines()[2:]]


def read_texts(folder: Path) -> list[str]:
    return [split_line(line)[2] for line in read_lines(folder)]


def split_line(line: str) -> Any:
    found = LINE.fullmatch(line)
    assert found, line
    return found.groups()


def test_a_library_writes_none_unless_it_is_asked_to(store: Retentive, folder: Path) -> None:
    store.add("Anna lives in Linz")
    assert not folder.exists()


def test_each_new_memory_is_a_line_however_it_came(logged: Retentive, folder: Path) -> None:
    added = logged.add("Anna lives in Linz", kind="personal")
    logged.add_many(["The heron is a bird", "Herons eat fish"], source="import")
    logged.in_namespace("work").notes.put("Buy milk", note_id="to do")
    logged.sessions.append("monday", "user", "Remember that my dog is called Rex")
    logged.sessions.append("monday", "user", "My cat Miso is afraid of thunder")
    logged.learn("monday")
    said = [split_line(line) for line in read_lines(folder)]
    assert [each[:3] for each in said] == [
        ("personal", "explicit", "Anna lives in Linz"),
        ("fact", "import", "The heron is a bird"),
        ("fact", "import", "Herons eat fish"),
        ("note", "explicit", "Buy milk"),
        *((memory.kind, memory.source, memory.content) for memory in reversed(logged.list(limit=2))),
    ]
    assert said[0][3:] == (added.id, "default")
    assert said[3][3:] == ("to%20do", "work")


def test_what_came_of_a_skill_is_a_line(logged: Retentive, folder: Path) -> None:
    skill = logged.skills.create(name="backup", description="Copies the store", instructions="Run it")
    logged.skills.record(skill.id, "12 MB were copied")
    (line,) = read_lines(folder)
    assert split_line(line)[0] == "outcome"
    assert "12 MB were copied" in line


def test_what_is_known_is_not_told_again_and_a_correction_is(logged: Retentive, folder: Path) -> None:
    for text in ("Rex", "Rex", "Max"):
        logged.add(f"The dog is called {text}", slot="user.dog.name")
    logged.add_many(["The dog is called Max", "One of two", "One of two"])
    for text in ("Buy milk", "Buy bread"):
        logged.notes.put(text, note_id="list")
    assert read_texts(folder) == ["The dog is called Rex", "The dog is called Max", "One of two", "Buy milk"]


def test_neither_messages_nor_files_nor_changes_are_memories(logged: Retentive, folder: Path) -> None:
    logged.sessions.append("monday", "user", "It rains")
    logged.add("A paragraph of a document", source="file", kind="file")
    kept = logged.add("It rained")
    logged.update(kept.id, content="It rained all day")
    logged.forget(kept.id)
    logged.restore(kept.id)
    assert read_texts(folder) == ["It rained"]


def test_a_secret_never_reaches_it(open_store: Open, folder: Path) -> None:
    said = "my password is Tr0ub4dor&3x9"
    with pytest.raises(SecretFound):
        open_store(daily_log="on").add(said)
    open_store(daily_log="on", secrets_in_memories="redact").add(said)
    assert len(read_lines(folder)) == 1
    assert "Tr0ub4dor" not in "".join(read_texts(folder))


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as there:
        there.setenv("TZ", "Asia/Tokyo")
        clocks.tzset()
        yield
    clocks.tzset()


@pytest.mark.usefixtures("tokyo")
def test_days_are_those_of_the_clock_on_the_wall(logged: Retentive, folder: Path, time: Clock) -> None:
    time.micros = 1_794_841_140_000_000  # 2026-11-16 14:59 UTC: one minute before midnight there
    logged.add("late")
    time.forward(60)
    logged.add("early")
    assert [file.name for file in sorted(folder.glob("*.md"))] == ["2026-11-16.md", "2026-11-17.md"]
    assert (folder / "2026-11-16.md").read_text().startswith("# 2026-11-16, Monday\n\n- 23:59+09:00 fact")
    assert (folder / "2026-11-17.md").read_text().startswith("# 2026-11-17, Tuesday\n\n- 00:00+09:00 fact")


def test_two_processes_share_a_day(target: str, folder: Path) -> None:
    count = fewer(target, 200)
    for process in [start("diarist.py", target, name, str(count)) for name in "ab"]:
        assert process.communicate(timeout=120) == ("", "")
    wanted = sorted(f"diarist {name} keeps item {number}" for name in "ab" for number in range(count))
    assert sorted(read_texts(folder)) == wanted
    headings = [line for file in folder.glob("*.md") for line in file.read_text().splitlines() if line[:1] == "#"]
    assert len(headings) == len([*folder.glob("*.md")])


def test_a_purge_beside_a_writer_takes_its_own_lines_and_no_others(target: str, open_store: Open, folder: Path) -> None:
    count = fewer(target, 100)
    store = open_store(daily_log="on")
    gone = store.add_many([f"secret {number}" for number in range(10)]).ids
    writer = start("diarist.py", target, "a", str(count))
    for id in gone:
        assert store.purge(id).removed["log"] == 1
    assert writer.communicate(timeout=120) == ("", "")
    assert sorted(read_texts(folder)) == sorted(f"diarist a keeps item {number}" for number in range(count))


def test_killed_writers_leave_no_torn_line(db: Path, tmp_path: Path) -> None:
    """Neither do they keep others from writing."""
    for number in range(4):
        writer = start("diarist.py", db, str(number), "1000000")
        while len(read_lines(tmp_path / "log")) < 20 * (number + 1):
            assert writer.poll() is None
        writer.kill()
        writer.communicate()
    with Retentive.open(db, embedder="none", daily_log="on") as store:
        store.add("the last one")
        kept = {memory.content for memory in store.list(limit=100_000)}
    assert {*read_texts(tmp_path / "log")} <= kept


def test_a_load_is_logged_whole(logged: Retentive, folder: Path) -> None:
    count = 5000
    logged.add_many([f"item {number}" for number in range(count)])
    assert read_texts(folder) == [f"item {number}" for number in range(count)]


@pytest.mark.parametrize("way", ["a file in its place", "a file above it"])
def test_a_log_that_cannot_be_written_costs_no_memory_and_is_told(open_store: Open, tmp_path: Path, way: str) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("in the way")
    where = blocked if way == "a file in its place" else blocked / "log"
    store = open_store(daily_log="on", daily_log_folder=where)
    kept = store.add("Anna lives in Linz")
    assert store.add_many(["One", "Two"]).created == 2
    assert store.get(kept.id).content == "Anna lives in Linz"
    assert [*store.stats()["failures"]] == ["daily_log"]
    (finding,) = [each for each in store.doctor() if each.name == "daily log"]
    assert not finding.ok
    assert "blocked" in finding.detail
    assert store.purge(kept.id).remaining == ()
    assert blocked.read_text() == "in the way"


def test_a_purge_takes_the_line_out_also_where_the_log_is_off(
    open_store: Open, logged: Retentive, folder: Path
) -> None:
    id = logged.add("The locker opens with Zanzibarquux91").id
    logged.update(id, content="The locker opens with a key")
    logged.add("Herons eat fish")
    store = open_store()
    assert store.purge(id, dry_run=True).removed["log"] == 1
    assert len(read_lines(folder)) == 2
    gone = store.purge(id)
    assert (gone.removed["log"], gone.remaining, gone.complete) == (1, (), True)
    assert read_texts(folder) == ["Herons eat fish"]


def test_a_purge_names_a_log_that_it_could_not_change(logged: Retentive, folder: Path) -> None:
    id = logged.add("The locker opens with Zanzibarquux91").id
    (folder / ".rewritten").mkdir()  # a folder where the new file is to be
    (day,) = folder.glob("*.md")
    gone = logged.purge(id)
    assert gone.remaining == (RemainingCopy("log", day.name),)
    assert "log" not in gone.removed


def test_what_goes_with_a_session_goes_from_the_log(logged: Retentive, folder: Path) -> None:
    logged.sessions.append("monday", "user", "It rains")
    logged.add("Only here", session="monday")
    logged.notes.put("Here too", note_id="list", session="monday")
    logged.add("Everywhere")
    logged.sessions.delete("monday", dry_run=True)
    assert len(read_lines(folder)) == 3
    logged.sessions.delete("monday")
    assert read_texts(folder) == ["Everywhere"]


def test_a_store_in_memory_leaves_nothing_on_disk(tmp_path: Path) -> None:
    with Retentive.open(":memory:", embedder="none") as store:
        store.purge(store.add("Anna lives in Linz").id)
    assert config.resolve_daily_log(config.load(db=":memory:")) == "off"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("given", "value"),
    [("auto", "auto"), ("on", "on"), (True, "on"), ("false", "off"), ("OFF", "off")],
)
def test_the_setting_is_auto_on_or_off(given: Any, value: str) -> None:
    assert config.load(daily_log=given).daily_log == value
    with pytest.raises(BadConfig, match="must be auto, on or off"):
        config.load(daily_log="sometimes")


@pytest.mark.parametrize("folder", ["a\0b", "~nobody-of-that-name/log"])
def test_a_folder_that_is_none_is_refused(folder: str) -> None:
    with pytest.raises(BadConfig, match="daily_log_folder"):
        config.load(daily_log_folder=folder)


def test_the_terminal_follows_the_setting(run: Run, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = db.parent / "log"
    run("add", "Anna lives in Linz")
    assert not folder.exists()
    assert f"servers write it to {folder}" in run("doctor")
    monkeypatch.setenv("RETENTIVE_DAILY_LOG", "on")
    run("add", "Anna has moved to Graz")
    run("demo")
    assert read_texts(folder) == ["Anna has moved to Graz"]


def test_background_work_in_the_foreground_logs_what_it_learns(
    run: Run, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETENTIVE_LEARN_AFTER", "0")
    run("session", "append", "monday", "My cat Miso is afraid of thunder")
    run("work", "--once")
    assert read_texts(db.parent / "log") == ["The user's cat Miso is afraid of thunder."]


def test_a_server_of_standard_input_writes_one(db: Path) -> None:
    with Piped(db) as server:
        server.call("memory_add", {"content": "Anna lives in Linz"})
        assert read_texts(db.parent / "log") == ["Anna lives in Linz"]  # before it is acknowledged


def test_a_server_writes_none_if_it_is_off(db: Path) -> None:
    (db.parent / "config.toml").write_text("daily_log = false\n")
    with Piped(db) as server:
        server.call("memory_add", {"content": "Anna lives in Linz"})
    assert not (db.parent / "log").exists()


def test_a_server_of_http_writes_one(db: Path) -> None:
    async def talk(client: Client) -> None:
        await client.call_tool("memory_add", {"content": "Anna lives in Linz"})

    with serving(db) as url:
        over_http(talk, url, "2026-07-28")
    assert read_texts(db.parent / "log") == ["Anna lives in Linz"]


def test_a_hook_that_learns_writes_one(target: str, tmp_path: Path, folder: Path) -> None:
    claude = Claude(tmp_path, target)
    claude.says("My cat Miso is afraid of thunder", "Poor cat.")
    assert claude.hook("session-end") == (0, "", "")
    assert read_texts(folder) == ["The user's cat Miso is afraid of thunder."]
