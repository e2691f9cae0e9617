"""Find the files of a folder that can be indexed.

A link is followed if it leads out of the folder. What it leads to inside the folder is found at its own place, and a
link to a folder above itself would have no end. Files are not opened here, except those with ignore rules.
"""

import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from retentive.files.ignore import IgnoreRules, load_rules
from retentive.files.kinds import find_kind
from retentive.fs.regular_files import is_kernel_file
from retentive.model import SkippedFile

MAX_PATH_BYTES = 1500  # an entry of a database index has 2,704 at most, of which a namespace may take 800
RACY_NANOSECONDS = 2_000_000_000  # a file changed so shortly before may change again within one tick of its clock


class FoundFile(NamedTuple):
    """A file as the disk describes it, without its content."""

    path: str
    kind: str
    size: int
    modified: int
    """Microseconds."""
    stamp: str
    """Changes whenever the file does."""


@dataclass(slots=True)
class WalkResult:
    files: list[FoundFile] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    """Files and folders that could not be looked at: their entries in the index are kept."""
    ignored: int = 0
    unknown: int = 0

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(SkippedFile(path, reason))

    def fail(self, path: str, error: OSError) -> None:
        self.skip(path, describe_error(error))
        self.unreadable.append(path)


def describe_error(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def make_stamp(status: os.stat_result) -> str:
    return f"{status.st_mtime_ns} {status.st_ctime_ns}"


def is_stamp_reliable(status: os.stat_result) -> bool:
    """Return whether any later change would surely give another stamp."""
    return max(status.st_mtime_ns, status.st_ctime_ns) + RACY_NANOSECONDS < time.time_ns()


@dataclass(frozen=True)
class Tree:
    """A folder, or one file, by its real path with slashes."""

    root: str
    max_file_bytes: int
    patterns: tuple[str, ...] = ()

    def walk(self, start: str | None = None) -> WalkResult:
        """Find everything, or what is at a path inside; nothing if that path does not exist.

        If the root itself does not exist, it counts as unreadable: its disk may not be mounted.
        """
        walk = _Walk(self)
        if start is None or start == self.root:
            walk.visit_root()
        else:
            rules = self._rules_in(os.path.dirname(start))  # noqa: PTH120 - paths are texts here: there are very many
            if rules is not None:
                walk.visit(start, rules)
            if not os.path.lexists(self.root):
                walk.result.unreadable.append(self.root)
        return walk.result

    def without_ignored(self, paths: Iterable[str]) -> list[str]:
        """Return the paths that are not in ignored folders. Each folder is decided once: a build writes thousands."""
        by_folder = [(os.path.dirname(path), path) for path in paths]  # noqa: PTH120
        folders = {folder for folder, _ in by_folder}
        ignored = {folder for folder in folders if self._rules_in(folder) is None}
        return [path for folder, path in by_folder if folder not in ignored]

    def is_behind_link(self, path: str) -> bool:
        """Return whether a path goes through a link. Then only a walk of the whole tree shows where it belongs."""
        folder = os.path.dirname(path)  # noqa: PTH120
        return os.path.islink(path) or PurePath(os.path.realpath(folder)).as_posix() != folder  # noqa: PTH114

    def _rules_in(self, path: str) -> IgnoreRules | None:
        """Return the rules that apply in a folder below the root; None if the folder is ignored."""
        rules, folder = load_rules(self.root, self.patterns), self.root
        for name in filter(None, path[len(self.root) :].split("/")):
            rules = rules.with_folder(folder, _list_names(folder))
            folder = f"{folder.rstrip('/')}/{name}"
            if rules.is_ignored(folder, is_folder=True):
                return None
        return rules.with_folder(folder, _list_names(folder))


class _Walk:
    """One walk through a tree."""

    def __init__(self, tree: Tree) -> None:
        self.result = WalkResult()
        self._tree = tree
        self._linked_folders = [tree.root]
        """Real paths of the folders that are walked: the root, and those that links lead to."""

    def visit_root(self) -> None:
        """Visit the root itself, whatever the rules say about it."""
        root = self._tree.root
        try:
            status = os.stat(root)  # noqa: PTH116 - likewise
        except OSError as error:
            self.result.fail(root, error)
            return
        if self._skip_kernel_file(root, status):
            return
        if stat.S_ISDIR(status.st_mode):
            self._visit_folder(root, load_rules(root, self._tree.patterns))
        else:
            self._add_file(root, status)

    def visit(self, path: str, rules: IgnoreRules) -> None:
        """Visit a file or a folder with all that is in it."""
        if self._visit_path(path, rules):
            self._visit_folder(path, rules)

    def _visit_folder(self, path: str, rules: IgnoreRules) -> None:
        pending = [(path, rules)]
        while pending:
            folder, rules_above = pending.pop()
            try:
                names = sorted(os.listdir(folder))  # noqa: PTH208 - likewise
            except OSError as error:
                self.result.fail(folder, error)
                continue
            rules_here = rules_above.with_folder(folder, names)
            paths = (f"{folder.rstrip('/')}/{name}" for name in names)
            folders = [each for each in paths if self._visit_path(each, rules_here)]
            pending += [(each, rules_here) for each in reversed(folders)]

    def _visit_path(self, path: str, rules: IgnoreRules) -> bool:
        """Add a file to the result. Return whether the path is a folder to go into."""
        status = self._read_status(path)
        if status is None:
            return False
        is_link = stat.S_ISLNK(status.st_mode)
        is_folder = os.path.isdir(path) if is_link else stat.S_ISDIR(status.st_mode)  # noqa: PTH112
        if rules.is_ignored(path, is_folder=is_folder, is_hidden=is_link and self._leads_to_hidden(path)):
            self.result.ignored += 1
            return False
        if is_link:
            status = self._follow_link(path)
            if status is None:
                return False
        if stat.S_ISDIR(status.st_mode):
            return not self._skip_kernel_file(path, status)
        self._add_file(path, status)
        return False

    def _read_status(self, path: str) -> os.stat_result | None:
        try:
            path.encode()
            return os.lstat(path)
        except UnicodeEncodeError:
            self.result.skip(path.encode("utf-8", "backslashreplace").decode(), "its name is not UTF-8")
        except FileNotFoundError:
            pass  # deleted meanwhile
        except OSError as error:
            self.result.fail(path, error)
        return None

    def _leads_to_hidden(self, path: str) -> bool:
        """Return whether a link leads to something hidden. A repository may link to folders with keys, like `.ssh`."""
        names = {*PurePath(os.path.realpath(path)).parts} - {*PurePath(self._tree.root).parts}
        return any(name.startswith(".") for name in names)

    def _follow_link(self, path: str) -> os.stat_result | None:
        """Return the status of the target of a link; None if it is not to be followed."""
        try:
            status = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            self.result.skip(path, "a link that leads nowhere")
            return None
        except OSError as error:  # a link to itself, among others
            self.result.fail(path, error)
            return None
        target = os.path.realpath(path)
        is_folder = stat.S_ISDIR(status.st_mode)
        if is_within(os.path.realpath(os.path.dirname(path)), target):  # noqa: PTH120
            self.result.skip(path, "a link to a folder that contains it")
            return None
        for folder in self._linked_folders:
            if is_within(target, folder) or (is_folder and is_within(folder, target)):
                return None  # found at its own place
        if is_folder:
            self._linked_folders.append(target)
        return status

    def _skip_kernel_file(self, path: str, status: os.stat_result) -> bool:
        """Skip folders such as `/proc`: they have no end, and nothing in them is a document."""
        if not is_kernel_file(status):
            return False
        self.result.skip(path, "a virtual file of the system")
        return True

    def _add_file(self, path: str, status: os.stat_result) -> None:
        kind = find_kind(PurePath(path))
        limit = self._tree.max_file_bytes
        if kind is None:
            self.result.unknown += 1
        elif not stat.S_ISREG(status.st_mode) or is_kernel_file(status):
            self.result.skip(path, "not a regular file")
        elif status.st_size > limit:
            self.result.skip(path, f"{_to_kb(status.st_size)} KB, over the limit of {_to_kb(limit)} KB")
        elif len(path.encode()) > MAX_PATH_BYTES:
            self.result.skip(path, f"its path has more than {MAX_PATH_BYTES} bytes")
        else:
            found = FoundFile(path, kind, status.st_size, status.st_mtime_ns // 1000, make_stamp(status))
            self.result.files.append(found)


def is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _to_kb(size: int) -> str:
    return f"{size / 1000:.0f}"


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
