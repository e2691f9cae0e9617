"""The supported MCP clients, and the settings files in which each keeps its list of servers."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from retentive.clients import jsonc, strict_json, toml
from retentive.errors import Invalid
from retentive.frozen_dataclass import dataclass
from retentive.served_namespaces import AUTO, PERSON

SERVER_NAME = "retentive"
"""The name of our entry in every list."""


class SettingsFormat(Protocol):
    """Edits texts of one format. Pure: bytes that need not change stay the same."""

    def parse(self, text: str) -> dict[str, Any]:
        """Parse a text. `Invalid` if it is not of this format."""

    def put(self, text: str, path: Sequence[str], value: Any) -> str:
        """Set the value at a path. `Invalid` if the text is written in a way that cannot be edited."""

    def remove(self, text: str, path: Sequence[str]) -> str:
        """Remove the value at a path."""

    def render(self, path: Sequence[str], value: Any) -> str:
        """Render a text with only the value at this path."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The operating system, the user's home, the current folder and the environment variables."""

    system: str
    """As in `sys.platform`."""
    home: Path
    folder: Path
    variables: Mapping[str, str]

    def path_in(self, variable: str) -> Path | None:
        """Return the path that a variable has, if it is set."""
        value = self.variables.get(variable)
        return self.folder / value if value else None

    @property
    def xdg_config(self) -> Path:
        """The settings folder of programs that follow the XDG rules."""
        return self.path_in("XDG_CONFIG_HOME") or self.home / ".config"

    @property
    def app_data(self) -> Path:
        """The settings folder of programs that follow the rules of each operating system."""
        match self.system:
            case "darwin":
                return self.home / "Library" / "Application Support"
            case "win32":
                return self.path_in("APPDATA") or self.home / "AppData" / "Roaming"
            case _:
                return self.xdg_config


@dataclass(frozen=True, slots=True)
class McpClient:
    name: str
    title: str
    next_step: str
    """The user's next step to see Retentive in the client."""
    user_files: Callable[[Environment], Sequence[Path]]
    """The possible settings files of the user. The first one that exists is used."""
    project_files: tuple[str, ...] = ()
    """The possible settings files in a project."""
    servers_path: tuple[str, ...] = ("mcpServers",)
    """The path of the table of servers in the file."""
    newer_servers_path: tuple[str, ...] = ()
    """Another path, used if the file has a table there."""
    build_entry: Callable[[Sequence[str]], dict[str, Any]] = lambda words: {"command": words[0], "args": [*words[1:]]}
    """Builds an entry from a command."""
    format: SettingsFormat = jsonc
    namespace: str = AUTO

    @property
    def scopes(self) -> tuple[str, ...]:
        return ("user", "project") if self.project_files else ("user",)

    def file(self, scope: str, environment: Environment) -> Path:
        """Return the settings file: one that exists, else one whose folder exists, else the first."""
        if scope == "user":
            paths = [*self.user_files(environment)]
        else:
            paths = [environment.folder / name for name in self.project_files]
        if not paths:
            raise Invalid(f"{self.title} has no settings of a project", "Leave out --scope project.")
        # os.path: a file in a folder we may not look into counts as missing here; reading it then says why.
        files = [path for path in paths if os.path.exists(path)]  # noqa: PTH110
        folders = [path for path in paths if os.path.exists(path.parent)]  # noqa: PTH110
        return [*files, *folders, *paths][0]

    def find_path(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the path of our entry in a document."""
        newer: Any = document
        for key in self.newer_servers_path:
            newer = newer.get(key) if isinstance(newer, dict) else None
        has_newer = bool(self.newer_servers_path) and isinstance(newer, dict)
        return (*(self.newer_servers_path if has_newer else self.servers_path), SERVER_NAME)


def _build_stdio_entry(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio", "command": words[0], "args": [*words[1:]]}


def _build_local_entry(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": [*words]}


def _find_claude_desktop_files(environment: Environment) -> list[Path]:
    # The Windows package (since 2026) has its own roaming folder, and the app sees nothing in the usual one.
    name = "claude_desktop_config.json"
    local = environment.path_in("LOCALAPPDATA") or environment.home / "AppData" / "Local"
    packages = sorted((local / "Packages").glob("Claude_*")) if environment.system == "win32" else []
    packaged = [each / "LocalCache" / "Roaming" / "Claude" / name for each in packages]
    return packaged or [environment.app_data / "Claude" / name]


def _find_windsurf_files(environment: Environment) -> list[Path]:
    # Since 2026 it is called Devin Desktop and has another folder; older versions are still in use.
    devin = environment.app_data if environment.system == "win32" else environment.xdg_config
    return [devin / "devin" / "mcp_config.json", environment.home / ".codeium" / "windsurf" / "mcp_config.json"]


def _find_cline_files(environment: Environment) -> list[Path]:
    # Older versions keep it in the storage of the extension; newer versions move it from there.
    name = Path("settings", "cline_mcp_settings.json")
    root = environment.path_in("CLINE_DIR") or environment.home / ".cline"
    extension = environment.app_data / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    given = environment.path_in("CLINE_MCP_SETTINGS_PATH")
    return [given] if given else [(environment.path_in("CLINE_DATA_DIR") or root / "data") / name, extension / name]


CLIENTS = {
    each.name: each
    for each in (
        McpClient(
            "claude-code",
            "Claude Code",
            "Restart Claude Code and run /mcp in it to see Retentive.",
            lambda env: [(env.path_in("CLAUDE_CONFIG_DIR") or env.home) / ".claude.json"],
            (".mcp.json",),
            build_entry=_build_stdio_entry,
            format=strict_json,
        ),
        McpClient(
            "claude-desktop",
            "Claude Desktop",
            "Quit Claude Desktop and start it again; Retentive is among its connectors.",
            _find_claude_desktop_files,
            format=strict_json,
            namespace=PERSON,
        ),
        McpClient(
            "cursor",
            "Cursor",
            "Restart Cursor, and check in its settings, under MCP, that Retentive is switched on.",
            lambda env: [env.home / ".cursor" / "mcp.json"],
            (".cursor/mcp.json",),
        ),
        McpClient(
            "vscode",
            "VS Code",
            "Run `MCP: List Servers` in VS Code and start Retentive there.",
            lambda env: [env.app_data / "Code" / "User" / "mcp.json"],
            (".vscode/mcp.json",),
            servers_path=("servers",),
            build_entry=_build_stdio_entry,
        ),
        McpClient(
            "codex",
            "Codex",
            "Restart Codex and run /mcp in it to see Retentive.",
            lambda env: [(env.path_in("CODEX_HOME") or env.home / ".codex") / "config.toml"],
            (".codex/config.toml",),
            servers_path=("mcp_servers",),
            format=toml,
        ),
        McpClient(
            "windsurf",
            "Windsurf",
            "Restart Windsurf (Devin Desktop); Retentive is among the MCP servers of its agent.",
            _find_windsurf_files,
        ),
        McpClient(
            "gemini-cli",
            "Gemini CLI",
            "Restart Gemini CLI in a folder that it trusts, and run /mcp in it to see Retentive.",
            lambda env: [(env.path_in("GEMINI_CLI_HOME") or env.home) / ".gemini" / "settings.json"],
            (".gemini/settings.json",),
        ),
        McpClient(
            "zed",
            "Zed",
            "Zed reads its settings at once; Retentive is among the servers in the settings of its agent.",
            lambda env: [(env.app_data / "Zed" if env.system == "win32" else _find_zed_folder(env)) / "settings.json"],
            (".zed/settings.json",),
            servers_path=("context_servers",),
        ),
        McpClient(
            "cline",
            "Cline",
            "Cline reads its settings at once; Retentive is among its MCP servers.",
            _find_cline_files,
            format=strict_json,
        ),
        McpClient(
            "opencode",
            "opencode",
            "Restart opencode; `opencode mcp list` shows Retentive.",
            lambda env: [env.xdg_config / "opencode" / name for name in ("opencode.json", "opencode.jsonc")],
            ("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
            servers_path=("mcp",),
            newer_servers_path=("mcp", "servers"),  # of version 2, which also reads that of version 1
            build_entry=_build_local_entry,
        ),
    )
}


def _find_zed_folder(environment: Environment) -> Path:
    """Return the folder: `.config` also on a Mac, where Zed ignores the variable."""
    return (environment.home / ".config" if environment.system == "darwin" else environment.xdg_config) / "zed"


def find_client(name: str) -> McpClient:
    if name not in CLIENTS:
        raise Invalid(f"{name!r} is not a supported client", f"Supported: {', '.join(CLIENTS)}.")
    return CLIENTS[name]
