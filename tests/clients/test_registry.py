"""Where each client keeps its settings, on each system."""

from pathlib import Path

import pytest

from retentive.clients import CLIENTS, Environment, find_client
from retentive.errors import Invalid
from retentive.surface.verbs.serve import CLIENTS as TYPED

MAC = "Library/Application Support"
ROAMING = "AppData/Roaming"


def test_the_terminal_knows_every_client() -> None:
    assert tuple(CLIENTS) == TYPED


@pytest.mark.parametrize(
    ("name", "linux", "mac", "windows"),
    [
        ("claude-code", ".claude.json", ".claude.json", ".claude.json"),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            f"{MAC}/Claude/claude_desktop_config.json",
            f"{ROAMING}/Claude/claude_desktop_config.json",
        ),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json"),
        ("vscode", ".config/Code/User/mcp.json", f"{MAC}/Code/User/mcp.json", f"{ROAMING}/Code/User/mcp.json"),
        ("codex", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml"),
        ("windsurf", *[".config/devin/mcp_config.json"] * 2, f"{ROAMING}/devin/mcp_config.json"),
        ("gemini-cli", ".gemini/settings.json", ".gemini/settings.json", ".gemini/settings.json"),
        ("zed", ".config/zed/settings.json", ".config/zed/settings.json", f"{ROAMING}/Zed/settings.json"),
        ("cline", *[".cline/data/settings/cline_mcp_settings.json"] * 3),
        ("opencode", *[".config/opencode/opencode.json"] * 3),
    ],
)
def test_the_place_on_each_system(home: Path, name: str, linux: str, mac: str, windows: str) -> None:
    for system, place in (("linux", linux), ("darwin", mac), ("win32", windows)):
        assert find_client(name).file("user", Environment(system, home, home, {})) == home / place


@pytest.mark.parametrize(
    ("name", "system", "variable", "place"),
    [
        ("claude-code", "linux", "CLAUDE_CONFIG_DIR", "x/.claude.json"),
        ("codex", "win32", "CODEX_HOME", "x/config.toml"),
        ("gemini-cli", "linux", "GEMINI_CLI_HOME", "x/.gemini/settings.json"),
        ("vscode", "linux", "XDG_CONFIG_HOME", "x/Code/User/mcp.json"),
        ("vscode", "win32", "APPDATA", "x/Code/User/mcp.json"),
        ("zed", "linux", "XDG_CONFIG_HOME", "x/zed/settings.json"),
        ("zed", "win32", "APPDATA", "x/Zed/settings.json"),
        ("opencode", "darwin", "XDG_CONFIG_HOME", "x/opencode/opencode.json"),
        ("claude-desktop", "win32", "APPDATA", "x/Claude/claude_desktop_config.json"),
        ("cline", "linux", "CLINE_MCP_SETTINGS_PATH", "x"),
        ("cline", "linux", "CLINE_DATA_DIR", "x/settings/cline_mcp_settings.json"),
        ("cline", "linux", "CLINE_DIR", "x/data/settings/cline_mcp_settings.json"),
    ],
)
def test_the_place_its_own_variable_gives(home: Path, name: str, system: str, variable: str, place: str) -> None:
    for value in (str(home / "x"), "x"):  # a folder given from where we are is one, too
        assert find_client(name).file("user", Environment(system, home, home, {variable: value})) == home / place


def test_the_windows_package_of_claude_has_a_folder_of_its_own(home: Path) -> None:
    packaged = home / "AppData/Local/Packages/Claude_abc123/LocalCache/Roaming/Claude"
    packaged.mkdir(parents=True)
    usual = home / ROAMING / "Claude"
    usual.mkdir(parents=True)
    (usual / "claude_desktop_config.json").write_text("{}")
    file = find_client("claude-desktop").file("user", Environment("win32", home, home, {}))
    assert file == packaged / "claude_desktop_config.json"


@pytest.mark.parametrize(
    ("name", "old"),
    [
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
        ("cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
        ("opencode", ".config/opencode/opencode.jsonc"),
    ],
)
def test_a_file_at_another_of_its_places_is_used(environment: Environment, name: str, old: str) -> None:
    (environment.home / old).parent.mkdir(parents=True)
    (environment.home / old).write_text("{}")
    assert find_client(name).file("user", environment) == environment.home / old


def test_a_project_has_a_file_where_the_client_has_such(environment: Environment) -> None:
    with_project = [client for client in CLIENTS.values() if client.project_files]
    files = {each.name: str(each.file("project", environment).relative_to(environment.folder)) for each in with_project}
    assert files == {
        "claude-code": ".mcp.json",
        "cursor": ".cursor/mcp.json",
        "vscode": ".vscode/mcp.json",
        "codex": ".codex/config.toml",
        "gemini-cli": ".gemini/settings.json",
        "zed": ".zed/settings.json",
        "opencode": "opencode.json",
    }
    with pytest.raises(Invalid, match="Claude Desktop has no settings of a project"):
        find_client("claude-desktop").file("project", environment)


def test_a_client_nobody_knows_is_refused() -> None:
    with pytest.raises(Invalid, match="not a supported client"):
        find_client("emacs")
