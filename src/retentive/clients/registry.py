"""The clients that can start us, and where each keeps its list of MCP servers."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from retentive.clients import jsonc, strict_json, toml
from retentive.errors import Invalid
from retentive.served_namespaces import AUTO, PERSON

NAME = "retentive"
"""What our entry is called in every list."""


class Format(Protocol):
    """Edits of texts of one kind. Pure; all but the place in question stays as it is, to the byte."""

    def read(self, text: str) -> dict[str, Any]:
        """What it says. Raises `Invalid` if it is not of the kind."""

    def put(self, text: str, path: Sequence[str], value: Any) -> str:
        """With this value at the path. Raises `Invalid` if it is written in a way that cannot be edited."""

    def drop(self, text: str, path: Sequence[str]) -> str:
        """Without what is at the path."""

    def snippet(self, path: Sequence[str], value: Any) -> str:
        """The value at the path, and nothing else."""


@dataclass(frozen=True, slots=True)
class Here:
    """Where we are: a machine, a person on it, and a folder."""

    system: str
    """As `sys.platform` has it."""
    home: Path
    folder: Path
    variables: Mapping[str, str]

    def variable(self, name: str) -> Path | None:
        value = self.variables.get(name)
        return self.folder / value if value else None

    @property
    def config(self) -> Path:
        """Of programs that keep to the rules of Linux desktops."""
        return self.variable("XDG_CONFIG_HOME") or self.home / ".config"

    @property
    def applications(self) -> Path:
        """Of programs that keep to the rules of each system."""
        match self.system:
            case "darwin":
                return self.home / "Library" / "Application Support"
            case "win32":
                return self.variable("APPDATA") or self.home / "AppData" / "Roaming"
            case _:
                return self.config


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    title: str
    next: str
    """What its user does to see us."""
    user: Callable[[Here], Sequence[Path]]
    """Its file for all that the user does. Of several, the first that is there."""
    project: tuple[str, ...] = ()
    """Its file in a project, if it has such."""
    within: tuple[str, ...] = ("mcpServers",)
    """The table of servers in the file."""
    rather: tuple[str, ...] = ()
    """Another, used where the file has it already."""
    shape: Callable[[Sequence[str]], dict[str, Any]] = lambda words: {"command": words[0], "args": [*words[1:]]}
    """A command as it writes one."""
    format: Format = jsonc
    namespace: str = AUTO

    def file(self, scope: str, here: Here) -> Path:
        places = self.user(here) if scope == "user" else [here.folder / each for each in self.project]
        if not places:
            raise Invalid(f"{self.title} has no settings of a project", "Leave --scope project out.")
        files = [each for each in places if os.path.exists(each)]  # noqa: PTH110 - what may not be seen is told later
        folders = [each for each in places if os.path.exists(each.parent)]  # noqa: PTH110 - as above
        return [*files, *folders, *places][0]

    @property
    def scopes(self) -> tuple[str, ...]:
        return ("user", "project") if self.project else ("user",)

    def path(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        """Of our entry in a document."""
        there: Any = document
        for key in self.rather:
            there = there.get(key) if isinstance(there, dict) else None
        return (*(self.rather if self.rather and isinstance(there, dict) else self.within), NAME)


def _typed(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio", "command": words[0], "args": [*words[1:]]}


def _listed(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": [*words]}


def _claude_desktop(here: Here) -> list[Path]:
    # From the Windows package (2026 on) the app sees a roaming folder of its own, and nothing in the usual one.
    name = "claude_desktop_config.json"
    local = here.variable("LOCALAPPDATA") or here.home / "AppData" / "Local"
    packages = sorted((local / "Packages").glob("Claude_*")) if here.system == "win32" else []
    packaged = [each / "LocalCache" / "Roaming" / "Claude" / name for each in packages]
    return packaged or [here.applications / "Claude" / name]


def _windsurf(here: Here) -> list[Path]:
    # Devin Desktop, as it is called since 2026, has a folder of its own; older ones are still in use.
    devin = here.applications if here.system == "win32" else here.config
    return [devin / "devin" / "mcp_config.json", here.home / ".codeium" / "windsurf" / "mcp_config.json"]


def _cline(here: Here) -> list[Path]:
    # Older versions keep it in the storage of the extension; newer ones move it from there.
    name = Path("settings", "cline_mcp_settings.json")
    root = here.variable("CLINE_DIR") or here.home / ".cline"
    extension = here.applications / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    given = here.variable("CLINE_MCP_SETTINGS_PATH")
    return [given] if given else [(here.variable("CLINE_DATA_DIR") or root / "data") / name, extension / name]


CLIENTS = {
    each.name: each
    for each in (
        Client(
            "claude-code",
            "Claude Code",
            "Start Claude Code anew and run /mcp in it to see Retentive.",
            lambda here: [(here.variable("CLAUDE_CONFIG_DIR") or here.home) / ".claude.json"],
            (".mcp.json",),
            shape=_typed,
            format=strict_json,
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            "Quit Claude Desktop and start it again; Retentive is among its connectors.",
            _claude_desktop,
            format=strict_json,
            namespace=PERSON,
        ),
        Client(
            "cursor",
            "Cursor",
            "Restart Cursor, and see that Retentive is switched on in its settings, under MCP.",
            lambda here: [here.home / ".cursor" / "mcp.json"],
            (".cursor/mcp.json",),
        ),
        Client(
            "vscode",
            "VS Code",
            "Run `MCP: List Servers` in VS Code and start Retentive there.",
            lambda here: [here.applications / "Code" / "User" / "mcp.json"],
            (".vscode/mcp.json",),
            within=("servers",),
            shape=_typed,
        ),
        Client(
            "codex",
            "Codex",
            "Start Codex anew and run /mcp in it to see Retentive.",
            lambda here: [(here.variable("CODEX_HOME") or here.home / ".codex") / "config.toml"],
            (".codex/config.toml",),
            within=("mcp_servers",),
            format=toml,
        ),
        Client(
            "windsurf",
            "Windsurf",
            "Restart Windsurf (Devin Desktop); Retentive is among the MCP servers of its agent.",
            _windsurf,
        ),
        Client(
            "gemini-cli",
            "Gemini CLI",
            "Start Gemini CLI anew and run /mcp in it to see Retentive.",
            lambda here: [(here.variable("GEMINI_CLI_HOME") or here.home) / ".gemini" / "settings.json"],
            (".gemini/settings.json",),
        ),
        Client(
            "zed",
            "Zed",
            "Zed reads its settings at once; Retentive is among the servers in the settings of its agent.",
            lambda here: [(here.applications / "Zed" if here.system == "win32" else _zed(here)) / "settings.json"],
            (".zed/settings.json",),
            within=("context_servers",),
        ),
        Client(
            "cline",
            "Cline",
            "Cline reads its settings at once; Retentive is among its MCP servers.",
            _cline,
            format=strict_json,
        ),
        Client(
            "opencode",
            "opencode",
            "Start opencode anew; `opencode mcp list` shows Retentive.",
            lambda here: [here.config / "opencode" / name for name in ("opencode.json", "opencode.jsonc")],
            ("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
            within=("mcp",),
            rather=("mcp", "servers"),  # version 2's own; it reads version 1's too, which knows only that
            shape=_listed,
        ),
    )
}


def _zed(here: Here) -> Path:
    """Under .config also on a Mac, where the variable means nothing to it."""
    return (here.home / ".config" if here.system == "darwin" else here.config) / "zed"


def client(name: str) -> Client:
    if name not in CLIENTS:
        raise Invalid(f"{name!r} is not a client we know", f"Known: {', '.join(CLIENTS)}.")
    return CLIENTS[name]
