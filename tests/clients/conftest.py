import sys
from pathlib import Path

import pytest

from retentive.clients import Environment

VARIABLES = """APPDATA LOCALAPPDATA CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME CLINE_MCP_SETTINGS_PATH CLINE_DATA_DIR
CLINE_DIR XDG_CONFIG_HOME""".split()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home in which no client has been yet; their project is the folder in it we are in."""
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("RETENTIVE_CONFIG")
    monkeypatch.delenv("RETENTIVE_CACHE")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(home / "project")
    return home


@pytest.fixture
def environment(home: Path) -> Environment:
    return Environment("linux", home, home / "project", {})
