"""The namespaces that a server serves: one that it reads and writes, and others that it only reads."""

import re
from collections.abc import Iterable, Sequence
from configparser import ConfigParser, Error
from pathlib import Path

from retentive.errors import Invalid
from retentive.frozen_dataclass import dataclass
from retentive.fs.regular_files import read_regular

AUTO = "auto"
MAX_GIT_BYTES = 1_000_000  # of a file in `.git`
PERSON = "default"
"""The namespace for what concerns the person, whatever they work on."""


@dataclass(frozen=True, slots=True)
class ServedNamespaces:
    namespace: str
    also_read: tuple[str, ...] = ()
    """Read, never written: names, or prefixes such as `team/*`."""
    person: str | None = None
    """The namespace for what concerns the person rather than the project; one of `also_read` if it is another one."""
    is_settled: bool = True
    """False: a project was searched for and not found."""


def find_namespaces(namespace: str, also_read: Iterable[str], folder: Path, person: str = "") -> ServedNamespaces:
    """Find the namespaces to serve. `auto` is the project of the folder, with the person's own namespace read too.

    `person` is the setting of that name: it also applies where the project is named.
    """
    home = person or PERSON
    if namespace != AUTO:
        is_other = bool(person) and person != namespace
        return ServedNamespaces(
            namespace,
            _without(namespace, [person, *also_read] if is_other else also_read),
            person if is_other else None,
        )
    project = find_project(folder) or home
    if project == home:
        return ServedNamespaces(home, _without(home, also_read), is_settled=False)
    return ServedNamespaces(project, _without(project, [home, *also_read]), home)


def find_project(folder: Path) -> str | None:
    """The name of the git project around a folder: the one its origin has, else its own folder's.

    All worktrees of a repository, and its clones under other names, are one project. Git itself is not needed.
    """
    for each in (folder, *folder.parents):
        marker = each / ".git"
        if _exists(marker):
            shared = _find_shared_folder(marker)
            own_name = (shared.parent if shared.name == ".git" else each).name
            return _make_namespace_name(_read_origin_name(shared / "config") or own_name)
    return None


def _find_shared_folder(marker: Path) -> Path:
    """The folder of the repository's own files. In a worktree or submodule `.git` is a file that points to it."""
    if marker.is_dir():
        return marker
    own = marker.parent / _read_text(marker).removeprefix("gitdir:").strip()
    common = own / "commondir"
    return (own / _read_text(common)).resolve() if _exists(common) else own.resolve()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # in a folder that we may not look into
        return False


def _read_text(path: Path) -> str:
    try:
        return read_regular(path, MAX_GIT_BYTES).decode("utf-8", errors="replace").strip()
    except (OSError, Invalid):
        return ""


def _read_origin_name(config: Path) -> str | None:
    """The last part of the address that the repository was cloned from."""
    known = ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        known.read_string(re.sub(r"^[ \t]+", "", _read_text(config), flags=re.MULTILINE))
        address = known.get('remote "origin"', "url", fallback=None)
    except Error:
        return None
    return re.split(r"[/:\\]", address.rstrip("/\\").removesuffix(".git"))[-1] if address else None


def _make_namespace_name(given: str) -> str | None:
    """The text, changed to what a namespace may be called."""
    return re.sub(r"[^\w.@+-]+", "-", given).strip("-")[:100] or None


def _without(namespace: str, also_read: Iterable[str]) -> tuple[str, ...]:
    known: Sequence[str] = [*dict.fromkeys(also_read)]
    return tuple(name for name in known if name != namespace)
