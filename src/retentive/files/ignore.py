"""What is left out of the index, though it could be read.

By rules in the syntax of `.gitignore`, in three ranks; in each, the rule of the deepest folder, and in that the last
that speaks of a path, decides:
  a. what the caller gives, and `.retentiveignore` in any folder: these may also ask for what would be left out (`!x`);
  b. `.gitignore` in any folder, also in those above the root that are of the same repository;
  c. what is hidden, by itself or where a link leads to, and folders in which nobody writes anything to be read.
Nothing in a folder that is left out is looked at.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from retentive.errors import Invalid
from retentive.fs.regular_files import read_regular

MAX_RULES_BYTES = 10_000_000  # of a file of rules; longer ones are no rules that people wrote
OWN, GIT = ".retentiveignore", ".gitignore"
NOISE = frozenset(
    "node_modules __pycache__ bower_components jspm_packages site-packages venv virtualenv __MACOSX "
    "$RECYCLE.BIN lost+found".split()
) | {"System Volume Information"}


class Pattern(NamedTuple):
    """A line of rules: whether it leaves out what it matches, or asks for it."""

    leaves_out: bool
    match: Callable[[str], object]


class Level(NamedTuple):
    """The rules of one folder, which are about what is below it; the last first."""

    folder: str
    patterns: tuple[Pattern, ...]

    def says(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether it leaves the path out; None: it does not say."""
        inside = path[len(self.folder) :].lstrip("/") + "/" * is_folder
        return next((pattern.leaves_out for pattern in self.patterns if pattern.match(inside)), None)


@dataclass(frozen=True)
class Rules:
    """Those that hold in one folder, the deepest first."""

    own: tuple[Level, ...] = ()
    git: tuple[Level, ...] = ()

    def inside(self, folder: str, names: Collection[str]) -> "Rules":
        """Those of a folder below, which has these names in it."""
        own = _level(folder, OWN) if OWN in names else None
        git = _level(folder, GIT) if GIT in names else None
        if own is None and git is None:
            return self
        return Rules(_with(self.own, own), _with(self.git, git))

    def leave_out(self, path: str, *, is_folder: bool, hidden: bool = False) -> bool:
        """`hidden`: it is a link, and where it leads is."""
        name = path.rpartition("/")[2]
        said = _first(self.own, path, is_folder=is_folder)
        if said is None:
            said = _first(self.git, path, is_folder=is_folder) or None
        return (hidden or name.startswith(".") or (is_folder and name in NOISE)) if said is None else said


def rules_of(root: str, patterns: Sequence[str]) -> Rules:
    """Those that hold above a root: what the caller gives, and what its repository says."""
    given = Level(root, _patterns(patterns, strict=True)) if patterns else None
    git: tuple[Level, ...] = ()
    for folder in reversed([*_above(root)]):
        git = _with(git, _level(folder, GIT))
    return Rules(_with((), given), git)


def _above(root: str) -> Iterator[str]:
    """The folders between a root and the top of its repository; none, if it is in none."""
    above = []
    folder = root
    while not os.path.lexists(f"{folder}/.git"):
        parent = os.path.dirname(folder)  # noqa: PTH120 - paths are texts here
        if parent == folder:
            return
        above.append(parent)
        folder = parent
    yield from above


def _first(levels: Iterable[Level], path: str, *, is_folder: bool) -> bool | None:
    said = (level.says(path, is_folder=is_folder) for level in levels)
    return next((each for each in said if each is not None), None)


def _with(levels: tuple[Level, ...], deeper: Level | None) -> tuple[Level, ...]:
    return levels if deeper is None else (deeper, *levels)


def _level(folder: str, name: str) -> Level | None:
    """One that cannot be read says nothing; nor does one that is no file, of which a pipe would never end."""
    path = f"{folder}/{name}"
    if not os.path.isfile(path):  # noqa: PTH113 - paths are texts here: there are very many
        return None
    try:
        lines = read_regular(path, MAX_RULES_BYTES).decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    except (OSError, Invalid):
        return None
    return Level(folder, _patterns(lines))


def _patterns(lines: Iterable[str], *, strict: bool = False) -> tuple[Pattern, ...]:
    """A line that makes no sense is none, as for git; of a caller it is refused.

    Each is matched by itself: folders are asked about before what is in them, so the last that matches decides, and
    nothing else of what `GitIgnoreSpec` weighs.
    """
    from pathspec import GitIgnoreSpec

    found: list[Pattern] = []
    for line in lines:
        try:
            made = GitIgnoreSpec.from_lines([line]).patterns
        except ValueError as error:
            if strict:
                raise Invalid(f"{line[:80]!r} is no pattern: {error}", "Write it as in .gitignore.") from error
            continue
        found += [Pattern(bool(each.include), each.match_file) for each in made if each.include is not None]
    return tuple(reversed(found))
