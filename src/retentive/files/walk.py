"""What is in a folder that can be indexed.

Links are followed to where nothing of the folder is: what a link inside it leads to is found at its own place, and a
link to a folder that it is in would have no end. Nothing here is opened but the rules of what to ignore.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from retentive.files.ignore import Rules, rules_of
from retentive.files.kinds import readable
from retentive.fs.regular_files import is_made_up
from retentive.model import Skipped

LONGEST_PATH = 1500  # bytes: an entry of an index has 2,704 at most, of which a namespace may take 800
RACY = 2_000_000_000  # ns: a file that was changed so shortly before may be changed again at the same time of its clock


class Entry(NamedTuple):
    """A file as the disk tells of it."""

    path: str
    kind: str
    size: int
    modified: int
    """Microseconds."""
    stamp: str
    """Changes whenever the file does."""


@dataclass(slots=True)
class Walked:
    entries: list[Entry] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """Files and folders that could not be looked at: what is known of them stays."""
    ignored: int = 0
    unknown: int = 0

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(path, reason))

    def fail(self, path: str, error: OSError) -> None:
        self.skip(path, reason_of(error))
        self.unread.append(path)


def reason_of(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def stamp_of(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns} {found.st_ctime_ns}"


def settled(found: os.stat_result) -> bool:
    """Whether a later change would surely have another stamp."""
    return max(found.st_mtime_ns, found.st_ctime_ns) + RACY < time.time_ns()


@dataclass(frozen=True)
class Tree:
    """A folder, or one file, by its real path with slashes."""

    root: str
    limit: int
    """Bytes of the largest file."""
    patterns: tuple[str, ...] = ()

    def walk(self, start: str | None = None) -> Walked:
        """All of it, or of what is at a path inside it. Of what is not there, nothing.

        If the root is not there either, nothing is known of what is in it: a disk may not be mounted.
        """
        found = Walked()
        if start is None or start == self.root:
            self._begin(found)
        else:
            rules = self._rules_in(os.path.dirname(start))  # noqa: PTH120 - paths are texts here: there are very many
            if rules is not None:
                self._one(start, rules, found, [self.root])
            if not os.path.lexists(self.root):
                found.unread.append(self.root)
        return found

    def wanted(self, paths: Iterable[str]) -> list[str]:
        """Without those in folders that are left out, where a build may write thousands: each is asked about once."""
        inside = [(os.path.dirname(path), path) for path in paths]  # noqa: PTH120
        left = {folder for folder in {each for each, _ in inside} if self._rules_in(folder) is None}
        return [path for folder, path in inside if folder not in left]

    def links_to(self, path: str) -> bool:
        """Whether a link is on the way to a path. By itself one cannot tell then whether it is found elsewhere."""
        folder = os.path.dirname(path)  # noqa: PTH120
        return os.path.islink(path) or PurePath(os.path.realpath(folder)).as_posix() != folder  # noqa: PTH114

    def _begin(self, found: Walked) -> None:
        """The root itself is wanted, whatever the rules say of it."""
        try:
            told = os.stat(self.root)  # noqa: PTH116 - likewise
        except OSError as error:
            found.fail(self.root, error)
            return
        if self._is_made_up(self.root, told, found):
            return
        if stat.S_ISDIR(told.st_mode):
            self._folder(self.root, rules_of(self.root, self.patterns), found, [self.root])
        else:
            self._file(self.root, told, found)

    def _rules_in(self, place: str) -> Rules | None:
        """Those that hold in a folder below the root; None: it is left out."""
        rules, folder = rules_of(self.root, self.patterns), self.root
        for name in filter(None, place[len(self.root) :].split("/")):
            rules = rules.inside(folder, _names(folder))
            folder = f"{folder.rstrip('/')}/{name}"
            if rules.leave_out(folder, is_folder=True):
                return None
        return rules.inside(folder, _names(folder))

    def _folder(self, path: str, rules: Rules, found: Walked, trees: list[str]) -> None:
        pending = [(path, rules)]
        while pending:
            folder, above = pending.pop()
            try:
                names = sorted(os.listdir(folder))  # noqa: PTH208 - likewise
            except OSError as error:
                found.fail(folder, error)
                continue
            here = above.inside(folder, names)
            pending += reversed([(each, here) for each in self._folders(folder, names, here, found, trees)])

    def _folders(
        self, folder: str, names: Sequence[str], rules: Rules, found: Walked, trees: list[str]
    ) -> Iterator[str]:
        """The folders inside one that are to be looked at; of the rest, what it is."""
        for name in names:
            path = f"{folder.rstrip('/')}/{name}"
            if self._look(path, rules, found, trees):
                yield path

    def _one(self, path: str, rules: Rules, found: Walked, trees: list[str]) -> None:
        if self._look(path, rules, found, trees):
            self._folder(path, rules, found, trees)

    def _look(self, path: str, rules: Rules, found: Walked, trees: list[str]) -> bool:
        """Whether it is a folder to go into."""
        told = _told(path, found)
        if told is None:
            return False
        linked = stat.S_ISLNK(told.st_mode)
        is_folder = os.path.isdir(path) if linked else stat.S_ISDIR(told.st_mode)  # noqa: PTH112
        if rules.leave_out(path, is_folder=is_folder, hidden=linked and self._leads_to_hidden(path)):
            found.ignored += 1
            return False
        if linked:
            told = self._followed(path, found, trees)
        if told is None or stat.S_ISDIR(told.st_mode):
            return told is not None and not self._is_made_up(path, told, found)
        self._file(path, told, found)
        return False

    def _leads_to_hidden(self, path: str) -> bool:
        """Somebody else may have made the link, in a repository for instance, and keys are in folders like `.ssh`."""
        there = {*PurePath(os.path.realpath(path)).parts} - {*PurePath(self.root).parts}
        return any(name.startswith(".") for name in there)

    def _followed(self, path: str, found: Walked, trees: list[str]) -> os.stat_result | None:
        try:
            told = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            found.skip(path, "a link that leads nowhere")
            return None
        except OSError as error:  # a link to itself, among others
            found.fail(path, error)
            return None
        real = os.path.realpath(path)
        if _within(os.path.realpath(os.path.dirname(path)), real):  # noqa: PTH120
            found.skip(path, "a link to a folder that it is in")
            return None
        if any(_within(real, tree) or (stat.S_ISDIR(told.st_mode) and _within(tree, real)) for tree in trees):
            return None
        if stat.S_ISDIR(told.st_mode):
            trees.append(real)
        return told

    def _is_made_up(self, path: str, told: os.stat_result, found: Walked) -> bool:
        """Folders such as `/proc` have no end, and nothing in them is a document."""
        if is_made_up(told):
            found.skip(path, "made up by the system, not on a disk")
        return is_made_up(told)

    def _file(self, path: str, told: os.stat_result, found: Walked) -> None:
        kind = readable(PurePath(path))
        if kind is None:
            found.unknown += 1
        elif not stat.S_ISREG(told.st_mode) or is_made_up(told):
            found.skip(path, "not a regular file")
        elif told.st_size > self.limit:
            found.skip(path, f"{_kb(told.st_size)} KB, over the limit of {_kb(self.limit)} KB")
        elif len(path.encode()) > LONGEST_PATH:
            found.skip(path, f"its path has more than {LONGEST_PATH} bytes")
        else:
            found.entries.append(Entry(path, kind, told.st_size, told.st_mtime_ns // 1000, stamp_of(told)))


def _told(path: str, found: Walked) -> os.stat_result | None:
    try:
        path.encode()
        return os.lstat(path)
    except UnicodeEncodeError:
        found.skip(path.encode("utf-8", "backslashreplace").decode(), "its name is not UTF-8")
    except FileNotFoundError:
        pass  # it went away meanwhile
    except OSError as error:
        found.fail(path, error)
    return None


def _kb(size: int) -> str:
    return f"{size / 1000:.0f}"


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
