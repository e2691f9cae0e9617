"""Whose memory does a server serve? One namespace that it reads and writes, and others that it only reads."""

import re
from collections.abc import Iterable, Sequence
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path

from retentive.errors import Invalid
from retentive.fs.regular_files import read_regular

AUTO = "auto"
MAX_GIT_BYTES = 1_000_000  # of a file that says what a repository is called
PERSON = "default"
"""Where what concerns the person is kept, whatever they work on."""


@dataclass(frozen=True, slots=True)
class Whose:
    namespace: str
    also: tuple[str, ...] = ()
    """Read, never written: names, or prefixes such as `team/*`."""
    person: str | None = None
    """Where to keep what concerns the person rather than the project: one of `also`, if it is another."""
    settled: bool = True
    """False: a project was looked for and not found."""


def whose(namespace: str, also: Iterable[str], folder: Path, person: str = "") -> Whose:
    """`auto` is the project that the folder belongs to; then what is known of the person is seen too.

    `person` is the setting of that name: the namespace of the person, also where the project is named.
    """
    home = person or PERSON
    if namespace != AUTO:
        is_other = bool(person) and person != namespace
        return Whose(namespace, _others(namespace, [person, *also] if is_other else also), person if is_other else None)
    project = project_of(folder) or home
    if project == home:
        return Whose(home, _others(home, also), settled=False)
    return Whose(project, _others(project, [home, *also]), home)


def project_of(folder: Path) -> str | None:
    """The name of the git project around a folder: the one its origin has, else its own folder's.

    All worktrees of a repository, and its clones under other names, are one project. Git itself is not needed.
    """
    for each in (folder, *folder.parents):
        marker = each / ".git"
        if _exists(marker):
            shared = _shared(marker)
            return _as_name(_origin(shared / "config") or (shared.parent if shared.name == ".git" else each).name)
    return None


def _shared(marker: Path) -> Path:
    """Where the repository's own files are: in a worktree or submodule `.git` is a file that says where."""
    if marker.is_dir():
        return marker
    own = marker.parent / _line(marker).removeprefix("gitdir:").strip()
    common = own / "commondir"
    return (own / _line(common)).resolve() if _exists(common) else own.resolve()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # in a folder that we may not look into
        return False


def _line(path: Path) -> str:
    try:
        return read_regular(path, MAX_GIT_BYTES).decode("utf-8", errors="replace").strip()
    except (OSError, Invalid):
        return ""


def _origin(config: Path) -> str | None:
    """The last part of the address that the repository was cloned from."""
    known = ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        known.read_string(re.sub(r"^[ \t]+", "", _line(config), flags=re.MULTILINE))
        address = known.get('remote "origin"', "url", fallback=None)
    except Error:
        return None
    return re.split(r"[/:\\]", address.rstrip("/\\").removesuffix(".git"))[-1] if address else None


def _as_name(given: str) -> str | None:
    """As a namespace may be called."""
    return re.sub(r"[^\w.@+-]+", "-", given).strip("-")[:100] or None


def _others(namespace: str, also: Iterable[str]) -> tuple[str, ...]:
    known: Sequence[str] = [*dict.fromkeys(also)]
    return tuple(name for name in known if name != namespace)
