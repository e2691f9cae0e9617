"""Wherever a path is taken, one that leads to a pipe, a device or a made-up file is refused at once, with what to do.

What would wait for ever is asked in a thread of its own, so that a test that fails ends.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest

from retentive import Retentive, config
from retentive.cli import main
from retentive.clients import Environment, find_client, install
from retentive.errors import BadConfig, Invalid, ModelMissing, Unwritable
from retentive.served_namespaces import Project, find_project
from tests.mcp.process import Piped
from tests.support import Run

SECONDS = 60.0  # far more than a refusal takes on a busy machine
REFUSED = ("not a regular file", "a virtual file of the system")
PATHS = ("pipe", "/dev/zero", "/proc/self/status")


@pytest.fixture(params=PATHS)
def special(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param != "pipe":
        return str(request.param)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return str(path)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def in_time(do: Callable[[], Any]) -> Any:
    """What it returns or raises, if it does."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((do(), None))
        except BaseException as error:  # noqa: BLE001 - raised again below
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert outcome, "it waits"
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


def is_refused(told: object) -> bool:
    return any(each in str(told) for each in REFUSED)


COMMANDS = (
    ("import", "{}"),
    ("import", "{}", "--from", "retentive"),
    ("import", "{}", "--from", "mcp-memory-service"),
    ("import", "{}", "--from", "csv", "--dry-run"),
    ("chat-log", "import", "{}"),
    ("chat-log", "import", "{}", "--format", "plain"),
    ("backup", "verify", "{}"),
    ("backup", "restore", "{}", "--yes"),
    ("backup", "create", "{}"),
    ("backup", "create", "{}", "--force"),
    ("export", "{}"),
    ("export", "{}", "--force"),
    ("migrate", "{}", "new.db"),
    ("profile", "set", "--file", "{}"),
    ("profile", "schema", "{}"),
    ("contact", "add", "Ada", "--file", "{}"),
    ("project", "add", "Engine", "--file", "{}"),
    ("skill", "add", "Report", "--file", "{}"),
    ("eval", "{}"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_that_takes_a_path_refuses_it(
    command: tuple[str, ...], special: str, run: Run, db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("add", "The dog is called Rex")
    before = db.read_bytes()
    typed = [special if word == "{}" else word for word in command]
    code = in_time(lambda: main(["--db", str(db), "--embedder", "hashing", *typed]))
    told = capsys.readouterr().err
    assert code == 2, told
    assert is_refused(told)
    assert db.read_bytes() == before


@pytest.mark.parametrize("command", [("list",), ("backup", "restore", "{}", "--yes"), ("backup", "create", "x")])
def test_a_store_is_a_regular_file(
    command: tuple[str, ...], special: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Retentive.open(tmp_path / "copy.db", embedder="none") as store:
        store.add("The dog is called Rex")
    typed = [str(tmp_path / "copy.db") if word == "{}" else word for word in command]
    assert in_time(lambda: main(["--db", special, "--embedder", "hashing", *typed])) in (2, 5)
    assert is_refused(capsys.readouterr().err)


def test_a_store_that_is_none_is_told_in_the_tree_of_errors(special: str) -> None:
    with pytest.raises(Unwritable, match=r"not a regular file|virtual file"):
        in_time(lambda: Retentive.open(special))


def test_the_configuration_is_a_regular_file(special: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETENTIVE_CONFIG", special)
    with pytest.raises(BadConfig, match=r"not a regular file|virtual file"):
        in_time(config.load)


def test_a_tokenizer_is_a_regular_file(special: str, tmp_path: Path) -> None:
    with Retentive.open(tmp_path / "memory.db", embedder="none", tokenizer=special) as store:
        store.add("Tea at four")
        with pytest.raises(BadConfig, match=r"not a regular file|virtual file"):
            in_time(lambda: store.context("tea"))


def test_a_model_is_a_regular_file(pipe: Path, tmp_path: Path) -> None:
    with Retentive.open(tmp_path / "memory.db", embedder="minilm", model_path=str(pipe)) as store:
        in_time(lambda: store.add("Tea at four"))
        with pytest.raises(ModelMissing):
            in_time(store.backfill)


def test_the_key_of_integrity_mode_is_a_regular_file(pipe: Path, tmp_path: Path) -> None:
    pipe.chmod(0o600)
    refused = pytest.raises(BadConfig, match="not a regular file")
    with Retentive.open(tmp_path / "memory.db", embedder="none", integrity_key=str(pipe)) as store, refused:
        in_time(store.integrity.start)


def test_the_certificates_of_a_server_are_a_regular_file(special: str) -> None:
    with pytest.raises(BadConfig, match=r"not a regular file|virtual file"):
        in_time(lambda: Retentive.open("libsql://127.0.0.1:1?tls=1", ca_file=special))


def test_the_settings_of_a_client_are_a_regular_file(special: str, tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").symlink_to(special)
    here = Environment("linux", tmp_path, tmp_path, {})
    with pytest.raises(Unwritable, match=r"not a regular file|virtual file"):
        in_time(lambda: install(find_client("cursor"), "user", here, {"command": "retentive", "args": ["mcp"]}))


def test_a_folder_of_git_that_is_a_pipe_names_no_project(pipe: Path, tmp_path: Path) -> None:
    project = tmp_path / "work"
    project.mkdir()
    (project / ".git").symlink_to(pipe)
    assert in_time(lambda: find_project(project)) == Project("work")


def test_files_that_are_none_are_left_out_of_the_index(special: str, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "link.md").symlink_to(special)
    (folder / "note.md").write_text("# Tea\n\nTea at four.\n", "utf-8")
    with Retentive.open(tmp_path / "memory.db", embedder="hashing") as store:
        done = in_time(lambda: store.files.index([folder, special]))
        assert done.added == 1
        assert "not a regular file" in {each.reason for each in done.skipped}


def test_a_folder_that_the_system_makes_up_is_not_walked(tmp_path: Path) -> None:
    with Retentive.open(tmp_path / "memory.db", embedder="hashing") as store:
        with pytest.raises(Invalid, match="a virtual file of the system"):
            in_time(lambda: store.import_memories("/proc"))
        done = in_time(lambda: store.files.index(["/proc", "/sys"]))
        assert [each.reason for each in done.skipped] == ["a virtual file of the system"] * 2


@pytest.fixture
def piped_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    """Gives the next command something on its standard input, through a pipe."""
    opened: list[TextIO] = []

    def give(data: bytes) -> None:
        read, write = os.pipe()
        os.write(write, data)
        os.close(write)
        opened.append(os.fdopen(read, "r", encoding="utf-8"))
        monkeypatch.setattr(sys, "stdin", opened[-1])

    yield give
    for each in opened:
        each.close()


def test_standard_input_is_read_where_it_is_asked_for(run: Run, piped_in: Callable[[bytes], None]) -> None:
    piped_in(b"text,tags\nTea at four,home\n")
    assert "1 memory imported" in run("import", "-")
    piped_in(b"Anna: Hello\nBen: Hi\n")
    assert "2 messages imported in 1 session" in run("chat-log", "import", "-", "--format", "plain")
    piped_in(b'{"city": "Oslo"}')
    assert "version 1" in run("profile", "set", "--file", "-")


def test_a_server_answers_whatever_it_was_told_to_read(db: Path, pipe: Path) -> None:
    """More often than it has threads."""
    with Piped(db, "2025-11-25", "--tools", "full") as server:
        for path in (str(pipe), "/dev/zero", "/proc/kmsg", "/dev/tty"):
            named = [("memory_import", {"path": path}), ("memory_export", {"path": path})]
            asked = [server.post("tools/call", {"name": tool, "arguments": given}) for tool, given in named * 5]
            answers = [server.answer(each)["result"] for each in asked]
            assert all(each["isError"] and is_refused(each["content"][0]["text"]) for each in answers), answers
            assert server.call("files_index", {"paths": [path]})["added"] == 0
        assert server.call("memory_stats", {})["memories"] == 0


def test_the_null_device_stands_for_no_settings(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETENTIVE_CONFIG", os.devnull)
    assert run("list") == ""
