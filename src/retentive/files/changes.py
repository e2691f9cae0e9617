"""What changes in folders, as it happens: from the system, or by looking every few seconds where it does not tell."""

import os
import threading
from collections.abc import Sequence
from typing import Protocol

from retentive.files.ignore import GIT, NOISE, OWN
from retentive.files.walk import Tree

EVERY = 2.0  # seconds between two looks. 2,000 files take about 20 ms each time
GATHER = 50  # ms: events so close together come at once


class Source(Protocol):
    def wait(self, seconds: float) -> set[str]:
        """The paths that changed, of files or folders; none when the time is up. May come earlier, and with more."""
        ...


def open_source(trees: Sequence[Tree], stop: threading.Event, *, poll: bool) -> tuple[Source, str]:
    """The events of the system, if it has any; and what is to be said about it."""
    if poll:
        return Looks(trees, stop), ""
    try:
        return Events(trees, stop), ""
    except ImportError as error:
        return Looks(trees, stop), f"looking every {EVERY:.0f} s: {error}"
    except OSError as error:  # no room for as many watches, among others
        return Looks(trees, stop), f"looking every {EVERY:.0f} s: the system does not tell of changes ({error})"


class Events:
    """Of folders; the parent of a single file may be anything, so at that we look."""

    def __init__(self, trees: Sequence[Tree], stop: threading.Event) -> None:
        from watchfiles._rust_notify import RustNotify

        folders = [tree.root for tree in trees if os.path.isdir(tree.root)]  # noqa: PTH112 - paths are texts here
        files = [tree for tree in trees if tree.root not in folders]
        self._stop, self._folders = stop, folders
        self._files = Looks(files, stop, every=0.0) if files else None
        self._notify = RustNotify(folders, False, False, 0, True, True) if folders else None

    def wait(self, seconds: float) -> set[str]:
        found: set[str] = set()
        if self._notify is None:
            self._stop.wait(seconds)
        else:
            told = self._notify.watch(2 * GATHER, GATHER, max(1, int(seconds * 1000)), self._stop)
            found = {_slashed(path) for _, path in told} if isinstance(told, set) else set()
        places = {place for path in found if (place := meant(path, self._folders))}
        return places | self._files.look() if self._files else places


class Looks:
    """By comparing what is there with what was."""

    def __init__(self, trees: Sequence[Tree], stop: threading.Event, every: float = EVERY) -> None:
        self._trees, self._stop, self._every = trees, stop, every
        self._seen = self._snapshot()

    def wait(self, seconds: float) -> set[str]:
        self._stop.wait(max(seconds, self._every))
        return set() if self._stop.is_set() else self.look()

    def look(self) -> set[str]:
        before, self._seen = self._seen, self._snapshot()
        return {path for path, _ in before.items() ^ self._seen.items()}

    def _snapshot(self) -> dict[str, tuple[int, str]]:
        return {entry.path: (entry.size, entry.stamp) for tree in self._trees for entry in tree.walk().entries}


def meant(path: str, roots: Sequence[str]) -> str | None:
    """What is to be looked at: of rules, their folder. None: it is of no interest, and there may be very much of it."""
    folder, _, name = path.rpartition("/")
    if name in (OWN, GIT):
        return folder
    inside = [path[len(root) :].split("/") for root in roots if path.startswith(root)]
    return path if any(".git" not in names and NOISE.isdisjoint(names) for names in inside) else None


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/")
