"""Changes in folders as they happen: events of the system, or polling where the system reports none."""

import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from retentive.files.ignore import GIT_RULES, NOISE_FOLDERS, OWN_RULES
from retentive.files.walk import Tree

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

POLL_SECONDS = 2.0  # between two polls. 2,000 files take about 20 ms each time
POLL_REST_FACTOR = 9  # times as long as the last poll took: a very large or slow folder takes no more than a tenth
GROUP_MILLISECONDS = 50  # events so close together are reported at once


class ChangeSource(Protocol):
    def wait(self, seconds: float) -> set[str]:
        """Return the changed paths of files or folders, none when the time is up. May return earlier, and with more."""
        ...


def open_change_source(trees: Sequence[Tree], stop: threading.Event, *, poll: bool) -> tuple[ChangeSource, str]:
    """Return the events of the system if it has any, else polling, and a note that says why it polls."""
    if poll:
        return Polling(trees, stop), ""
    try:
        return SystemEvents(trees, stop), ""
    except ImportError as error:
        reason = str(error)
    except OSError as error:  # no room for as many watches, among others
        reason = f"the system does not report changes ({error})"
    return Polling(trees, stop), f"checking every {POLL_SECONDS:.0f} s: {reason}"


class SystemEvents:
    """Events of folders. Single files are polled, because much may happen in the folder around them."""

    def __init__(self, trees: Sequence[Tree], stop: threading.Event) -> None:
        self._stop = stop
        self._folders = [tree.root for tree in trees if os.path.isdir(tree.root)]  # noqa: PTH112 - paths are texts here
        files = [tree for tree in trees if tree.root not in self._folders]
        self._files = Polling(files, stop) if files else None
        self._notifier = _open_notifier(self._folders) if self._folders else None

    def wait(self, seconds: float) -> set[str]:
        changed: set[str] = set()
        if self._notifier is None:
            self._stop.wait(seconds)
        else:
            milliseconds = max(1, int(seconds * 1000))
            events = self._notifier.watch(2 * GROUP_MILLISECONDS, GROUP_MILLISECONDS, milliseconds, self._stop)
            if isinstance(events, set):  # else a word: the time is up, or `stop` is set
                changed = {path.replace(os.sep, "/") for _, path in events}
        paths = {found for path in changed if (found := find_path_to_index(path, self._folders))}
        return paths | self._files.find_changes() if self._files else paths


def _open_notifier(folders: Sequence[str]) -> "RustNotify":
    """Begin to collect events of folders. `OSError` if the system refuses.

    This is the only use of a private module of watchfiles. Its public `watch` begins to collect at the first wait: a
    change between the first indexing and that wait would be lost. It also has one timeout for all waits.
    """
    from watchfiles._rust_notify import RustNotify

    is_debug, is_polling, poll_milliseconds, is_recursive, ignores_denied = False, False, 0, True, True
    return RustNotify([*folders], is_debug, is_polling, poll_milliseconds, is_recursive, ignores_denied)


class Polling:
    """Changes found by comparing the folders with how they were."""

    def __init__(self, trees: Sequence[Tree], stop: threading.Event) -> None:
        self._trees, self._stop = trees, stop
        self._last_seconds = 0.0
        self._files = self._scan()

    def wait(self, seconds: float) -> set[str]:
        self._stop.wait(max(seconds, POLL_SECONDS, POLL_REST_FACTOR * self._last_seconds))
        return set() if self._stop.is_set() else self.find_changes()

    def find_changes(self) -> set[str]:
        before, self._files = self._files, self._scan()
        return {path for path, _ in before.items() ^ self._files.items()}

    def _scan(self) -> dict[str, tuple[int, str]]:
        """Return size and stamp of every file. A skipped file is listed, too: it may become one to index."""
        begun = time.monotonic()
        results = [tree.walk() for tree in self._trees]
        self._last_seconds = time.monotonic() - begun
        skipped = {each.path: (0, "") for result in results for each in result.skipped}
        return skipped | {each.path: (each.size, each.stamp) for result in results for each in result.files}


def find_path_to_index(path: str, roots: Sequence[str]) -> str | None:
    """Return the path to index after a change: for a file of ignore rules, its folder; None for noise."""
    folder, _, name = path.rpartition("/")
    if name in (OWN_RULES, GIT_RULES):
        return folder
    for root in roots:
        if path.startswith(root):
            names = path[len(root) :].split("/")
            if ".git" not in names and NOISE_FOLDERS.isdisjoint(names):
                return path
    return None
