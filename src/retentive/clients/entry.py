"""The command that a client is to start, and how to tell it from others."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FLEETING = re.compile(
    r"[\\/](?:(?:archive|environments|builds)-v\d+|\.cache[\\/]pipx|pipx[\\/]\.cache)(?:[\\/]|$)", re.IGNORECASE
)
"""Folders in which uvx and pipx make environments that they may clear at any time."""
_US = re.compile(r"retentive(?:\.exe)?(?:[@=<>~!\[].*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Program:
    """What runs now."""

    script: str = field(default_factory=lambda: sys.argv[0])
    executable: str = field(default_factory=lambda: sys.executable)
    prefix: str = field(default_factory=lambda: sys.prefix)


def words(program: Sequence[str], options: Mapping[str, str | Iterable[str] | None]) -> list[str]:
    """The whole command: `retentive mcp --db FILE ...`. What is None is left out; a list repeats its option."""
    found = [*program, "mcp"]
    for name, given in options.items():
        for value in [given] if isinstance(given, str) else given or ():
            found += [f"--{name}", value]
    return found


def program(running: Program, variables: Mapping[str, str], db: str | None = None) -> list[str]:
    """What starts us from any folder and with any PATH: programs with windows often have a short one."""
    if _FLEETING.search(running.prefix) or (_is_temporary(running.prefix) and shutil.which("uvx")):
        package = ["--from", "retentive[postgres]"] if db and db.startswith("postgres") else []
        return [_uvx(variables), *package, "retentive"]
    beside = Path(running.executable).parent / "retentive"
    for each in (running.script, str(beside)):
        found = shutil.which(os.path.abspath(each)) if _US.fullmatch(Path(each).name) else None  # noqa: PTH100 - keeps links
        if found:
            return [found]
    return [running.executable, "-m", "retentive"]


def address(db: str, folder: Path) -> str:
    """As it means the same from any folder."""
    if db == ":memory:" or "://" in db:
        return db
    return os.path.normpath(folder / Path(db).expanduser())


def is_ours(entry: Any) -> bool:
    """Whether it starts `retentive mcp`, in whatever way."""
    said = [*_words(entry)]
    return "mcp" in said and any(_US.fullmatch(re.split(r"[\\/]", word)[-1]) for word in said)


def _words(entry: Any) -> Iterable[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, list):
        for each in entry:
            yield from _words(each)
    elif isinstance(entry, dict):
        for key in ("command", "path", "args"):
            yield from _words(entry.get(key))


def _is_temporary(prefix: str) -> bool:
    return Path(prefix).is_relative_to(tempfile.gettempdir())


def _uvx(variables: Mapping[str, str]) -> str:
    """`UV` is what uv tells those whom it runs: where it is itself."""
    beside = str(Path(variables.get("UV", "")).parent / "uvx")
    return shutil.which("uvx") or shutil.which(beside) or "uvx"
