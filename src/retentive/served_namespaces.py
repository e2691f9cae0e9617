"""The namespaces that a server serves: one that it reads and writes, and others that it only reads.

A project is named by the address it was cloned from: owner and name, as `fjordpay/core`. Its earlier name was `core`
alone, so projects of two owners shared a memory. What was saved under the earlier name is still read, because nobody
can say which of the projects it came from, and it is never written.
"""

import re
from collections.abc import Iterable, Sequence
from configparser import ConfigParser, Error
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from retentive.errors import Invalid
from retentive.frozen_dataclass import dataclass
from retentive.fs.regular_files import read_regular

AUTO = "auto"
MAX_GIT_BYTES = 1_000_000  # of a file in `.git`
MAX_PART_CHARS = 100  # of a part of a name
MAX_NAME_CHARS = 200  # of a namespace
MAX_LOCAL_ORIGINS = 5  # clones of clones on this machine that are followed
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
    earlier: str | None = None
    """One of `also_read`: the name that the project had in earlier versions, which others may have had, too."""

    def keep_earlier_if_in(self, known: Iterable[str]) -> "ServedNamespaces":
        """The same without the earlier name if nothing was saved under it."""
        if self.earlier is None or self.earlier in known:
            return self
        return replace(self, also_read=_without(self.earlier, self.also_read), earlier=None)


class Project(NamedTuple):
    name: str
    earlier: str | None = None
    """Its name in earlier versions, if that was another one."""


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
    project = find_project(folder)
    if project is None or project.name == home:
        return ServedNamespaces(home, _without(home, also_read), is_settled=False)
    earlier = None if project.earlier in (home, *also_read) else project.earlier
    others = _without(project.name, [home, *([earlier] if earlier else []), *also_read])
    return ServedNamespaces(project.name, others, home, earlier=earlier)


def find_project(folder: Path, depth: int = 0) -> Project | None:
    """The git project around a folder, named by its origin, or else by its own folder.

    All worktrees of a repository, and its clones under other names, are one project. Git itself is not needed.
    """
    for each in (folder, *folder.parents):
        marker = each / ".git"
        if _exists(marker):
            shared = _find_shared_folder(marker)
            own_folder = shared.parent if shared.name == ".git" else each
            return _name_by_origin(shared / "config", own_folder, depth) or _name_by_folder(own_folder)
    return None


def _name_by_origin(config: Path, folder: Path, depth: int) -> Project | None:
    address = _read_origin(config)
    if not address:
        return None
    is_local = _is_path(address)
    if is_local and depth < MAX_LOCAL_ORIGINS and (found := _find_local_project(folder, address, depth)):
        return found
    parts = _split_path(address)[-2:] if is_local else _split_address(address)
    name = _join_parts(parts)
    if name is None:
        return None
    earlier = _make_part(re.split(r"[/:\\]", _strip_suffix(address))[-1])
    return Project(name, earlier if earlier != name else None)


def _find_local_project(folder: Path, address: str, depth: int) -> Project | None:
    """The project of a repository on this machine that another was cloned from."""
    origin = folder / address.removeprefix("file://")
    if _exists(origin / ".git"):
        return find_project(origin, depth + 1)
    return _name_by_origin(origin / "config", origin, depth + 1) if _exists(origin / "config") else None


def _name_by_folder(folder: Path) -> Project | None:
    name = _make_part(folder.name)
    return Project(name) if name else None


def _is_path(address: str) -> bool:
    """Whether an address is a path, of this system or of Windows, rather than a URL or `host:path`."""
    if re.match(r"[A-Za-z]:[\\/]|[\\/.~]|file:", address):
        return True
    before, colon, _ = address.partition(":")
    return not colon or "/" in before


def _split_path(path: str) -> list[str]:
    parts = re.split(r"[\\/]+", _strip_suffix(re.sub(r"^(file:|[A-Za-z]:)", "", path)))
    return [part for part in parts if part not in ("", ".", "..", "~")]


def _split_address(address: str) -> list[str]:
    """Owner, groups and name of a URL (`https://host:8443/group/sub/name.git`) or of `user@host:group/name.git`."""
    url = re.fullmatch(r"[\w+.-]+://[^/]*(?P<path>.*)", address, re.DOTALL)
    path = url["path"] if url else address.partition(":")[2]
    parts = [unquote(part) for part in _strip_suffix(re.sub(r"[?#].*", "", path)).split("/") if part]
    if parts[:-2] and parts[0] in _ROUTES:
        parts = parts[1:]
    return [part for part in parts if part not in (".", "..", "_git")]


_ROUTES = ("scm", "v3")  # of Bitbucket over HTTPS, of Azure DevOps over SSH: no part of the name


def _strip_suffix(address: str) -> str:
    return address.strip().rstrip("/\\").removesuffix(".git").rstrip("/\\")


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


def _read_origin(config: Path) -> str | None:
    """The address that the repository was cloned from."""
    known = ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        known.read_string(re.sub(r"^[ \t]+", "", _read_text(config), flags=re.MULTILINE))
        written = known.get('remote "origin"', "url", fallback=None)
    except Error:
        return None
    return re.sub(r'\\(.)|"', r"\1", written).strip() if written else None  # git quotes some, and escapes \


def _join_parts(parts: Iterable[str]) -> str | None:
    """The parts as a namespace. One that is too long is cut, and told from others by a hash."""
    made = [part for part in map(_make_part, parts) if part]
    name = "/".join(made)
    if len(name) > MAX_NAME_CHARS:
        name = f"{made[-1]}-{sha256(name.encode()).hexdigest()[:16]}"
    return name or None


def _make_part(given: str) -> str | None:
    """The text, changed to what a part of a namespace may be called."""
    return re.sub(r"[^\w.@+-]+", "-", given).strip("-")[:MAX_PART_CHARS] or None


def _without(namespace: str, also_read: Iterable[str]) -> tuple[str, ...]:
    known: Sequence[str] = [*dict.fromkeys(also_read)]
    return tuple(name for name in known if name != namespace)
