"""Which files and folders are not indexed, though they could be read.

Rules have the syntax of `.gitignore` and three ranks. In each rank the rule of the deepest folder decides, and in that
folder the last that matches:
  a. the caller's patterns, and `.retentiveignore` in any folder. These may also include what b or c leave out (`!x`);
  b. `.gitignore` in any folder, also in the folders above the root that belong to the same repository;
  c. hidden files, links to hidden files, and folders that hold nothing people wrote, such as `node_modules`.
Nothing inside an ignored folder is looked at.
"""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from retentive.errors import Invalid
from retentive.fs.regular_files import read_regular

MAX_RULES_BYTES = 10_000_000  # of a file of rules; longer ones are no rules that people wrote
OWN_RULES, GIT_RULES = ".retentiveignore", ".gitignore"
NOISE_FOLDERS = frozenset(
    "node_modules __pycache__ bower_components jspm_packages site-packages venv virtualenv __MACOSX "
    "$RECYCLE.BIN lost+found".split()
) | {"System Volume Information"}


class Pattern(NamedTuple):
    """A line of rules: it ignores the paths that it matches, or includes them again."""

    ignores: bool
    matches: Callable[[str], object]


class FolderRules(NamedTuple):
    """The rules of one folder, which apply to everything below it. The last one comes first."""

    folder: str
    patterns: tuple[Pattern, ...]

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Return whether a path is ignored; None if no pattern matches."""
        relative = path[len(self.folder) :].lstrip("/") + "/" * is_folder
        return next((pattern.ignores for pattern in self.patterns if pattern.matches(relative)), None)


@dataclass(frozen=True)
class IgnoreRules:
    """The rules that apply in one folder, those of the deepest folder first."""

    own: tuple[FolderRules, ...] = ()
    git: tuple[FolderRules, ...] = ()

    def with_folder(self, folder: str, names: Collection[str]) -> "IgnoreRules":
        """Return these rules with those of a folder below, which contains these names."""
        own = _read_rules(folder, OWN_RULES) if OWN_RULES in names else None
        git = _read_rules(folder, GIT_RULES) if GIT_RULES in names else None
        if own is None and git is None:
            return self
        return IgnoreRules(_prepend(own, self.own), _prepend(git, self.git))

    def is_ignored(self, path: str, *, is_folder: bool, is_hidden: bool = False) -> bool:
        """Return whether a path is ignored. `is_hidden` is set for a link to something hidden."""
        own = _decide(self.own, path, is_folder=is_folder)
        if own is not None:
            return own
        if _decide(self.git, path, is_folder=is_folder):
            return True
        name = path.rpartition("/")[2]
        return is_hidden or name.startswith(".") or (is_folder and name in NOISE_FOLDERS)


def load_rules(root: str, patterns: Sequence[str]) -> IgnoreRules:
    """Return the rules that apply above a root: the caller's patterns, and those of its repository."""
    given = FolderRules(root, _parse_patterns(patterns, strict=True)) if patterns else None
    git: tuple[FolderRules, ...] = ()
    for folder in reversed(_repository_folders_above(root)):
        git = _prepend(_read_rules(folder, GIT_RULES), git)
    return IgnoreRules(_prepend(given, ()), git)


def _repository_folders_above(root: str) -> list[str]:
    """Return the folders from above a root to the top of its repository; none if it is in no repository."""
    above: list[str] = []
    folder = root
    while not os.path.lexists(f"{folder}/.git"):
        parent = os.path.dirname(folder)  # noqa: PTH120 - paths are texts here
        if parent == folder:
            return []
        above.append(parent)
        folder = parent
    return above


def _decide(levels: Iterable[FolderRules], path: str, *, is_folder: bool) -> bool | None:
    decisions = (level.decide(path, is_folder=is_folder) for level in levels)
    return next((each for each in decisions if each is not None), None)


def _prepend(deeper: FolderRules | None, levels: tuple[FolderRules, ...]) -> tuple[FolderRules, ...]:
    return levels if deeper is None else (deeper, *levels)


def _read_rules(folder: str, name: str) -> FolderRules | None:
    """Read a file of rules; None if it cannot be read, or is no regular file: a pipe would never end."""
    path = f"{folder}/{name}"
    if not os.path.isfile(path):  # noqa: PTH113 - paths are texts here: there are very many
        return None
    try:
        lines = read_regular(path, MAX_RULES_BYTES).decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    except (OSError, Invalid):
        return None
    return FolderRules(folder, _parse_patterns(lines))


def _parse_patterns(lines: Iterable[str], *, strict: bool = False) -> tuple[Pattern, ...]:
    """Parse lines of rules, the last one first. A malformed line is left out, as by git; with `strict` it is refused.

    Each line is matched by itself: a folder is decided before what is in it, so the last line that matches decides.
    Nothing else that `GitIgnoreSpec` considers is needed.
    """
    from pathspec import GitIgnoreSpec

    found: list[Pattern] = []
    for line in lines:
        try:
            parsed = GitIgnoreSpec.from_lines([line]).patterns
        except ValueError as error:
            if strict:
                raise Invalid(f"{line[:80]!r} is not a valid pattern: {error}", "Write it as in .gitignore.") from error
            continue
        found += [Pattern(bool(each.include), each.match_file) for each in parsed if each.include is not None]
    return tuple(reversed(found))
