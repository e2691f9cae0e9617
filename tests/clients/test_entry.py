"""The command for a client, and the entries that are recognised as ours."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from retentive.clients.entry import RunningProgram, build_command, find_program, is_ours, resolve_store


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_command_starts_from_any_folder_without_any_environment() -> None:
    command = [*find_program(RunningProgram(script="-m"), {}), "--version"]
    run = subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("retentive ")


def test_the_program_that_runs_is_named_by_the_way_it_was_called(tmp_path: Path) -> None:
    """A link such as ~/.local/bin/retentive outlives what it leads to now."""
    real = executable(tmp_path / "tools" / "retentive")
    link = tmp_path / "bin" / "retentive"
    link.parent.mkdir()
    link.symlink_to(real)
    assert find_program(RunningProgram(str(link), sys.executable, sys.prefix), {}) == [str(link)]


def test_without_a_script_python_runs_the_module(tmp_path: Path) -> None:
    python = str(tmp_path / "python")
    assert find_program(RunningProgram("/x/__main__.py", python, "/usr"), {}) == [python, "-m", "retentive"]


@pytest.mark.parametrize(
    "prefix",
    [
        "/home/ana/.cache/uv/archive-v0/AbC",
        "/home/ana/.cache/uv/environments-v2/x",
        r"C:\Users\ana\AppData\Local\uv\cache\archive-v0\AbC",
        "/home/ana/.cache/pipx/1f2",
        "/home/ana/.local/pipx/.cache/1f2",
    ],
)
def test_an_environment_that_will_vanish_is_rebuilt_by_uvx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    running = RunningProgram(f"{prefix}/bin/retentive", f"{prefix}/bin/python", prefix)
    monkeypatch.setenv("PATH", "")
    assert find_program(running, {}) == ["uvx", "retentive"]
    uvx = executable(tmp_path / "bin" / "uvx")
    assert find_program(running, {"UV": str(uvx.parent / "uv")}) == [str(uvx), "retentive"]
    monkeypatch.setenv("PATH", str(uvx.parent))
    assert find_program(running, {}) == [str(uvx), "retentive"]
    assert find_program(running, {}, "postgresql://x") == [str(uvx), "--from", "retentive[postgres]", "retentive"]


def test_an_environment_of_uv_tool_stays(tmp_path: Path) -> None:
    script = executable(tmp_path / "uv" / "tools" / "retentive" / "bin" / "retentive")
    assert find_program(RunningProgram(str(script), "/x/python", "/home/ana/.local/share/uv/tools/retentive"), {}) == [
        str(script)
    ]


def test_options_are_passed_on() -> None:
    options = {"db": "/x.db", "namespace": "auto", "also": ["a", "b/*"], "tools": None}
    command = build_command(["retentive"], options)
    assert command == ["retentive", "mcp", "--db", "/x.db", "--namespace", "auto", "--also", "a", "--also", "b/*"]


@pytest.mark.parametrize(
    ("db", "written"),
    [
        ("x.db", "/home/ana/project/x.db"),
        ("../x.db", "/home/ana/x.db"),
        ("/x.db", "/x.db"),
        (":memory:", ":memory:"),
        ("libsql://host:1", "libsql://host:1"),
    ],
)
def test_a_store_is_named_so_that_it_is_found_from_anywhere(db: str, written: str) -> None:
    assert resolve_store(db, Path("/home/ana/project")) == written


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "retentive", "args": ["mcp"]},
        {"command": "/a b/bin/retentive", "args": ["mcp", "--db", "x"], "env": {"A": "b"}},
        {"command": r"C:\x\Retentive.exe", "args": ["mcp"]},
        {"command": "uvx", "args": ["retentive@latest", "mcp"]},
        {"command": "uvx", "args": ["--from", "retentive[postgres]", "retentive", "mcp"]},
        {"command": "/usr/bin/python3", "args": ["-m", "retentive", "mcp"]},
        {"type": "local", "command": ["/x/retentive", "mcp"]},
        {"command": {"path": "/x/retentive", "args": ["mcp"]}},
    ],
)
def test_what_starts_us_is_ours(entry: Any) -> None:
    assert is_ours(entry)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "retentive mcp",
        [],
        {},
        {"command": "npx", "args": ["retentive-notes", "mcp"]},
        {"command": "retentive", "args": []},
        {"command": "other", "args": ["mcp"]},
        {"url": "http://127.0.0.1:8321/mcp"},
        {"command": 1, "args": {"retentive": "mcp"}},
    ],
)
def test_what_does_not_is_not(entry: Any) -> None:
    assert not is_ours(entry)
