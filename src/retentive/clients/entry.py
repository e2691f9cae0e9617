"""The command that a client runs to start Retentive, and how to recognise it in an entry."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from retentive.frozen_dataclass import dataclass

_CACHED_ENVIRONMENT = re.compile(
    r"[\\/](?:(?:archive|environments|builds)-v\d+|\.cache[\\/]pipx|pipx[\\/]\.cache)(?:[\\/]|$)", re.IGNORECASE
)
"""Folders in which uvx and pipx make environments that they may delete at any time."""
_OUR_PROGRAM = re.compile(r"retentive(?:\.exe)?(?:[@=<>~!\[].*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RunningProgram:
    script: str = field(default_factory=lambda: sys.argv[0])
    executable: str = field(default_factory=lambda: sys.executable)
    prefix: str = field(default_factory=lambda: sys.prefix)


def build_command(program: Sequence[str], options: Mapping[str, str | Iterable[str] | None]) -> list[str]:
    """Build the command `retentive mcp --db FILE ...`. None leaves an option out; a list repeats it."""
    command = [*program, "mcp"]
    for name, given in options.items():
        values = [given] if isinstance(given, str) else given or ()
        for value in values:
            command += [f"--{name}", value]
    return command


def find_program(running: RunningProgram, variables: Mapping[str, str], db: str | None = None) -> list[str]:
    """Return a command that starts Retentive from any folder and with any PATH: that of desktop programs is short."""
    is_temporary = Path(running.prefix).is_relative_to(tempfile.gettempdir())
    if _CACHED_ENVIRONMENT.search(running.prefix) or (is_temporary and shutil.which("uvx")):
        package = ["--from", "retentive[postgres]"] if db and db.startswith("postgres") else []
        return [_find_uvx(variables), *package, "retentive"]
    script_of_python = Path(running.executable).parent / "retentive"
    for script in (running.script, str(script_of_python)):
        if _OUR_PROGRAM.fullmatch(Path(script).name):
            found = shutil.which(os.path.abspath(script))  # noqa: PTH100 - keeps links
            if found:
                return [found]
    return [running.executable, "-m", "retentive"]


def resolve_store(db: str, folder: Path) -> str:
    """Return the address of a store as it is valid in any folder."""
    if db == ":memory:" or "://" in db:
        return db
    return os.path.normpath(folder / Path(db).expanduser())


def is_ours(entry: Any) -> bool:
    """Whether an entry starts `retentive mcp`, in whatever way."""
    words = [*_iterate_words(entry)]
    return "mcp" in words and any(_OUR_PROGRAM.fullmatch(re.split(r"[\\/]", word)[-1]) for word in words)


def _iterate_words(entry: Any) -> Iterator[str]:
    """Yield the words of the command in an entry, in whatever shape the client writes it."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, list):
        for each in entry:
            yield from _iterate_words(each)
    elif isinstance(entry, dict):
        for key in ("command", "path", "args"):
            yield from _iterate_words(entry.get(key))


def _find_uvx(variables: Mapping[str, str]) -> str:
    """Return the path of uvx. uv sets `UV` to its own path for the programs that it runs."""
    beside_uv = str(Path(variables.get("UV", "")).parent / "uvx")
    return shutil.which("uvx") or shutil.which(beside_uv) or "uvx"
