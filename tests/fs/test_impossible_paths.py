"""Paths that no store, copy or setting can have: one line with what to do, no traceback, and nothing changed.

Root may read and write everywhere, so what needs permissions runs in a process that gave its privileges away.
"""

import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.errors import BadConfig, EmbedError, StorageError, Unwritable
from retentive.testing import parts_of
from tests.forkserver import run_program
from tests.sizes import choose

UNPRIVILEGED = Path(__file__).parents[1] / "programs" / "unprivileged.py"
LONG = "x" * 300

Make = Callable[[Path], str]


def under_a_file(folder: Path) -> str:
    (folder / "file").write_text("no folder")
    return str(folder / "file" / "below" / "memory.db")


def broken_link(folder: Path) -> str:
    (folder / "link").symlink_to(folder / "nowhere" / "memory.db")
    return str(folder / "link")


def loop(folder: Path) -> str:
    (folder / "loop").symlink_to(folder / "loop")
    return str(folder / "loop")


IMPOSSIBLE: dict[str, Make] = {
    "under a file": under_a_file,
    "a broken link": broken_link,
    "a link to itself": loop,
    "in a folder that is not there": lambda folder: str(folder / "no" / "such" / "memory.db"),
    "too long": lambda folder: str(folder / LONG),
    "a path too long": lambda folder: str(folder.joinpath(*[LONG[:200]] * 40)),
    "with a zero byte": lambda folder: f"{folder}/a\0b",
    "not UTF-8": lambda folder: f"{folder}/a\udc80b",
    "of nobody": lambda _: "~no-such-user/memory.db",
    "a virtual file of the system": lambda _: "/proc/memory.db",
    "a terminal": lambda _: "/dev/tty",
    "a folder": str,
}


@pytest.fixture(params=IMPOSSIBLE)
def impossible(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    (tmp_path / "place").mkdir()
    return IMPOSSIBLE[request.param](tmp_path / "place")


def tell(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["--embedder", "hashing", *arguments])
    return code, capsys.readouterr().err


def is_one_line_with_a_hint(told: str) -> bool:
    is_one_line = told.startswith("error: ") and told.count("\n") == 1
    has_hint = told.count(". ") > 0
    return is_one_line and has_hint and "Errno" not in told and "Traceback" not in told


def files_in(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_size) for path in folder.rglob("*"))


def test_a_store_that_cannot_be_is_refused_by_the_library(impossible: str, tmp_path: Path) -> None:
    before = files_in(tmp_path)
    with pytest.raises(StorageError) as caught:
        Retentive.open(impossible, embedder="hashing")
    assert caught.value.hint
    assert "Errno" not in str(caught.value)
    assert files_in(tmp_path) == before


COMMANDS_ON_A_STORE = ("list", "add hello", "doctor", "stats", "mcp", "serve --port 0", "work --once", "compact")


@pytest.mark.parametrize("command", COMMANDS_ON_A_STORE)
def test_every_command_says_so_in_one_line(
    impossible: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files_in(tmp_path)
    code, told = tell(["--db", impossible, *command.split()], capsys)
    assert code in (2, 3, 5)
    assert is_one_line_with_a_hint(told), told
    assert files_in(tmp_path) == before


PATHS_OF_COMMANDS = (
    "backup create {}",
    "backup verify {}",
    "backup restore {} --yes",
    "export {}",
    "export {} --format markdown",
    "import {}",
    "chat-log import {}",
    "migrate {} new.db",
    "migrate store.db {}",
    "profile set --file {}",
    "eval {}",
)


@pytest.mark.parametrize("command", PATHS_OF_COMMANDS)
def test_every_path_of_a_command_is_refused_in_one_line(
    impossible: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for a folder, into which a backup or pages can go, and for names that only SQLite cannot have."""
    needs_sqlite = "migrate" in command or "backup" in command
    is_possible = impossible == str(tmp_path / "place") or ("\udc80" in impossible and not needs_sqlite)
    if is_possible or ("markdown" in command and "no/such" in impossible):
        pytest.skip("it is a possible path here")
    monkeypatch.chdir(tmp_path)
    Retentive.open("store.db", embedder="hashing").close()
    before = files_in(tmp_path / "place")
    code, told = tell(["--db", "store.db", *(word.replace("{}", impossible) for word in command.split())], capsys)
    assert code in (2, 3, 4, 5)
    assert is_one_line_with_a_hint(told), told
    assert files_in(tmp_path / "place") == before


@pytest.mark.parametrize(
    "kind", ["under a file", "a broken link", "a link to itself", "too long", "a virtual file of the system"]
)
@pytest.mark.parametrize("command", ["list", "mcp", "backup restore copy.db --yes"])
def test_a_data_folder_that_cannot_be_made_is_told(
    kind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with Retentive.open("copy.db", embedder="hashing") as store:
        store.add("something")
    (tmp_path / "place").mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", IMPOSSIBLE[kind](tmp_path / "place"))
    code, told = tell(command.split(), capsys)
    assert code == 5
    assert is_one_line_with_a_hint(told), told
    assert "RETENTIVE_DB" in told
    with pytest.raises(Unwritable):
        Retentive.open(embedder="hashing")


@pytest.mark.parametrize("setting", ["cache", "model_path", "tokenizer", "daily_log_folder", "rerank_model", "ca_file"])
@pytest.mark.parametrize("value", ["~no-such-user/x", "a\0b", "a\udc80b"])
def test_a_setting_that_can_be_no_path_is_refused(setting: str, value: str, db: Path) -> None:
    with pytest.raises(BadConfig, match=setting):
        Retentive.open(db, **cast("Any", {setting: value}))
    assert not db.exists()


def test_a_config_file_that_cannot_be_read_is_told_without_numbers(
    impossible: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if "\0" in impossible:
        pytest.skip("the system has no such variable")
    monkeypatch.setenv("RETENTIVE_CONFIG", impossible)
    code, told = tell(["--db", ":memory:", "list"], capsys)
    assert code in (0, 2)
    assert code == 0 or is_one_line_with_a_hint(told), told


@pytest.mark.parametrize("path", ["x" * 300, "/proc/none/model.onnx"])
def test_a_model_whose_path_cannot_be_is_an_embed_error(path: str, db: Path) -> None:
    with Retentive.open(db, embedder="minilm", model_path=path) as store:
        assert store.add("kept all the same").id
        with pytest.raises(EmbedError):
            parts_of(store).embedder.embed(["x"])  # type: ignore[union-attr]


def test_a_tokenizer_whose_path_cannot_be_is_told(db: Path) -> None:
    with Retentive.open(db, embedder="hashing", tokenizer=LONG) as store, pytest.raises(BadConfig):
        store.context("anything")


def run_unprivileged(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line as somebody who is not root."""
    return run_program([sys.executable, str(UNPRIVILEGED), "--embedder", "hashing", *map(str, arguments)], check=False)


def run_with_few_files(files: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line in a process that may have only so many files open."""
    return subprocess.run(
        [sys.executable, "-m", "retentive", "--embedder", "hashing", *map(str, arguments)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
    )  # fmt: skip


@pytest.mark.parametrize("command", ["list", "add hello", "mcp", "doctor"])
@pytest.mark.parametrize("place", ["folder", "file", "file without read"])
def test_a_place_without_permission_is_told(command: str, place: str, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    db = folder / "memory.db"
    if place != "folder":
        Retentive.open(db, embedder="hashing").close()
        db.chmod(0o444 if place == "file" else 0)
    folder.chmod(0o555)
    try:
        done = run_unprivileged("--db", db, *command.split())
    finally:
        folder.chmod(0o755)
    assert done.returncode == 5, done
    assert is_one_line_with_a_hint(done.stderr), done.stderr


def test_a_data_folder_without_permission_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "locked"))
    done = run_unprivileged("list")
    assert done.returncode == 5, done
    assert is_one_line_with_a_hint(done.stderr), done.stderr
    assert "RETENTIVE_DB" in done.stderr


@pytest.mark.parametrize("command", ["list", "search x", "mcp"])
def test_a_process_with_too_many_open_files_is_told(command: str, db: Path) -> None:
    """From so few that nothing can be opened to so many that all can. With four, Python itself does not start."""
    Retentive.open(db, embedder="hashing").close()
    limits = choose((5, 8, 64), (5, 6, 7, 8, 9, 12, 64))
    outcomes = [run_with_few_files(files, "--db", db, *command.split()) for files in limits]
    for done in outcomes:
        assert done.returncode in (0, 5), done
        assert done.returncode == 0 or ("ulimit" in done.stderr and is_one_line_with_a_hint(done.stderr)), done.stderr
    assert {done.returncode for done in outcomes} == {0, 5}


def test_the_library_says_so_too_and_leaves_no_file_open(db: Path, tmp_path: Path) -> None:
    """Whatever the opening of a store lacked, afterwards there are as many files as before, and it can be repeated."""
    Retentive.open(db, embedder="hashing").close()
    code = f"""
import os, resource
from retentive import Retentive
from retentive.errors import StorageError
from retentive.testing import parts_of
Retentive.open({str(tmp_path / "other.db")!r}, embedder="hashing").close()  # imports, too, need files
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
taken = []
try:
    while True:
        taken.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
for free in range(24):
    before = len(os.listdir("/dev/fd")) if free else 0
    try:
        Retentive.open({str(db)!r}, embedder="hashing").close()
        print("opened")
    except StorageError as error:
        assert "ulimit" in error.hint, error
        print("refused")
    after = len(os.listdir("/dev/fd")) if free else 0
    assert after == before, (free, before, after)
    os.close(taken.pop())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.split()
    assert (said[0], said[-1]) == ("refused", "opened")


def test_a_read_only_file_system_is_told(tmp_path: Path) -> None:
    """`/sys` is one on most systems; where it can be written to, root cannot make a file there either."""
    for place in ("/sys/memory.db", "/proc/self/memory.db"):
        with pytest.raises(Unwritable):
            Retentive.open(place, embedder="hashing")
    assert not list(tmp_path.glob("memory.db*"))


def test_what_nobody_expected_is_told_in_one_line_too(
    db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect: the line says how to see where."""

    def run(arguments: object) -> int:
        raise KeyError(arguments)

    monkeypatch.setattr("retentive.cli.commands.run", run)
    code, told = tell(["--db", str(db), "list"], capsys)
    assert code == 1
    assert is_one_line_with_a_hint(told), told
    assert "-X dev" in told
