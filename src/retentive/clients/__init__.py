"""MCP clients that start Retentive: add our entry to their settings, remove it, or look for it.

Only that entry is ever changed. `registry.py` lists the clients, `entry.py` builds the command, `jsonc.py` and
`toml.py` edit texts, `edit.py` edits a client's settings and verifies the result, `settings_files.py` reads and writes
files.
"""

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from retentive.clients import edit, settings_files
from retentive.clients.registry import CLIENTS, SERVER_NAME, Environment, McpClient, find_client
from retentive.errors import Invalid, RetentiveError
from retentive.frozen_dataclass import dataclass

__all__ = [
    "CLIENTS",
    "ClientStatus",
    "Environment",
    "InstallResult",
    "McpClient",
    "find_client",
    "install",
    "list_statuses",
    "render_snippet",
    "uninstall",
]

DIFF_CONTEXT_LINES = 3  # shown around a change, as everywhere
_LINE_PATTERN = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class InstallResult:
    client: McpClient
    scope: str
    file: Path
    outcome: str
    """`installed`, `updated`, `already`, `removed` or `absent`."""
    diff: str = ""
    """The change that a dry run would make."""
    backup: Path | None = None
    """A copy of the file as it was, if one was made now."""
    is_new_folder: bool = False
    """Whether the client's folder was missing, so that the client is perhaps not installed."""


@dataclass(frozen=True, slots=True)
class ClientStatus:
    client: McpClient
    scope: str
    file: Path
    exists: bool
    state: str
    """`installed`, `other`, `absent`, or `unreadable`."""


def install(
    client: McpClient,
    scope: str,
    environment: Environment,
    entry: Mapping[str, Any],
    *,
    force: bool = False,
    dry_run: bool = False,
) -> InstallResult:
    path = client.file(scope, environment)
    with _name_file_in_errors(path):
        old = settings_files.read_settings(path)
        change = edit.put_entry(_decode(old), client, entry, force=force)
    return _apply_change(InstallResult(client, scope, path, change.outcome), old, change.text, dry_run=dry_run)


def uninstall(
    client: McpClient, scope: str, environment: Environment, *, force: bool = False, dry_run: bool = False
) -> InstallResult:
    path = client.file(scope, environment)
    with _name_file_in_errors(path):
        old = settings_files.read_settings(path)
        change = edit.remove_entry(_decode(old), client, [*_read_backup_texts(path), ""], force=force)
    return _apply_change(InstallResult(client, scope, path, change.outcome), old, change.text, dry_run=dry_run)


def list_statuses(environment: Environment) -> Iterator[ClientStatus]:
    """Look for our entry in each client's file of the user, and in the files that this project has."""
    for client in CLIENTS.values():
        for scope in client.scopes:
            path = client.file(scope, environment)
            exists = os.path.exists(path)  # noqa: PTH110 - a file in a folder we may not look into is `unreadable`
            if scope == "user" or exists:
                yield ClientStatus(client, scope, path, exists, _find_state(path, client))


def render_snippet(client: McpClient, entry: Mapping[str, Any]) -> str:
    """Return the text that a person would write into an empty file."""
    return client.format.render((*client.servers_path, SERVER_NAME), entry)


def _apply_change(result: InstallResult, old: bytes | None, text: str, *, dry_run: bool) -> InstallResult:
    """Write the changed text, after a backup.

    No backup is made if one has the same text except for our entry, or if nothing but our entry is in the file. Such a
    file is deleted when our entry is removed.
    """
    data = _encode(text)
    old_text = _decode(old)
    if dry_run or result.outcome in ("already", "absent"):
        return replace(result, diff=_diff(result.file, old_text, text))
    is_backed_up = edit.find_original(old_text, result.client, _read_backup_texts(result.file)) is not None
    is_all_ours = bool(old_text) and not is_backed_up and edit.find_original(old_text, result.client, [""]) is not None
    is_user_file = result.scope == "user"
    is_new_folder = is_user_file and not result.file.parent.exists()
    backup = settings_files.write_settings(
        result.file,
        old,
        None if is_all_ours and not text else data,
        private=is_user_file,
        back_up=not is_backed_up and not is_all_ours,
    )
    return replace(result, backup=backup, is_new_folder=is_new_folder)


def _read_backup_texts(path: Path) -> list[str]:
    """Return the texts of the file's backups. One that is not UTF-8 is not ours."""
    return [data.decode() for data in settings_files.read_backups(path) if _is_text(data)]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decode(data: bytes | None) -> str:
    try:
        return "" if data is None else data.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"it is not UTF-8: {error.reason} at byte {error.start}") from error


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:  # Python accepts paths that are not UTF-8
        raise Invalid("the path of the program or of the store is not UTF-8", "Give it another name.") from error


def _find_state(path: Path, client: McpClient) -> str:
    try:
        return edit.find_state(_decode(settings_files.read_settings(path)), client)
    except RetentiveError:
        return "unreadable"


def _diff(path: Path, old: str, new: str) -> str:
    """Compare only the lines around the change: comparing all lines of a large file would take seconds."""
    before, after = _LINE_PATTERN.findall(old), _LINE_PATTERN.findall(new)
    start = max(0, _count_common(before, after) - DIFF_CONTEXT_LINES)
    end = max(0, _count_common(before[start:][::-1], after[start:][::-1]) - DIFF_CONTEXT_LINES)
    parts = before[start : len(before) - end], after[start : len(after) - end]
    lines = difflib.unified_diff(*parts, str(path), str(path), "now", "then", DIFF_CONTEXT_LINES)
    return "".join(_finish_diff_line(line, start) for line in lines)


def _count_common(first: list[str], second: list[str]) -> int:
    """Count the lines at the beginning that are the same."""
    pairs = zip(first, second, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def _finish_diff_line(line: str, lines_above: int) -> str:
    """Correct the line numbers of a hunk for the lines that were not compared, and mark a missing line break."""
    if line.startswith("@@ "):
        return re.sub(r"([-+])(\d+)", lambda found: f"{found[1]}{int(found[2]) + lines_above}", line)
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


@contextmanager
def _name_file_in_errors(path: Path) -> Iterator[None]:
    """Add the path to errors about a file's content."""
    try:
        yield
    except Invalid as error:
        raise Invalid(f"{path}: {error}", error.hint or "The file was not changed. Correct it, then repeat.") from error
