"""Watch folders in a background thread: index all that is in them, then what changes.

A changed file is indexed once it was left alone for half a second, or five seconds after its first change. If the
system does not report changes, the folders are polled. Everything is compared again every ten minutes, in case a change
was missed. If a folder disappears, the watch waits for it and its index is kept: an unmounted disk looks like an empty
folder. If the store does not answer, the changes are kept and tried again.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from retentive.errors import Closed, Conflict, RetentiveError
from retentive.files.debounce import Debouncer
from retentive.files.lease import Stopped
from retentive.frozen_dataclass import dataclass
from retentive.store import OpenStore
from retentive.store.active_model import with_active_model
from retentive.store.background import Background

if TYPE_CHECKING:
    from retentive.files.index import IndexOptions
    from retentive.files.walk import Tree
    from retentive.model import IndexResult

MAX_WAIT_SECONDS = 1.0  # between two checks whether the folders themselves are still the same
FULL_INDEX_SECONDS = 600.0  # between two comparisons of everything
MAX_CHANGED_PATHS = 50  # of a folder, beyond which all of it is compared: one walk costs less than so many queries
FIRST_PAUSE_SECONDS = 1.0  # when the store does not answer; doubled each time
MAX_PAUSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class WatchedFolders:
    trees: "Sequence[Tree]"
    options: "IndexOptions"
    poll: bool = False


class Watch(Background):
    """A watch of folders: `start` and `stop` it, or use it as a context manager. Any thread may call its methods."""

    THREAD_NAME = "retentive-watch"
    STOP_SECONDS = 5.0  # a batch takes one or two

    def __init__(
        self, store: OpenStore, folders: WatchedFolders, on_change: "Callable[[IndexResult], None] | None" = None
    ) -> None:
        super().__init__()
        self._store, self._folders, self._on_change = store, folders, on_change
        self._ready = threading.Event()
        self._changes = Debouncer()
        self._pause = 0.0
        self._reported_skips = set[str]()
        """Paths of skipped files that were already reported to `on_change`."""
        self.failure: RetentiveError | OSError | None = None
        """The error of the last attempt to index; None after a success."""
        self.note = ""
        """Why the folders are polled, if the system does not report changes."""

    def start(self) -> Self:
        """Start to watch, in a thread that ends with the program."""
        if self.running:
            raise Conflict("this watch is running")
        self._ready.clear()
        self._store.watches.append(self)
        self._start_thread()
        return self

    def _unregister(self) -> None:
        if self in self._store.watches:
            self._store.watches.remove(self)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until everything that was there at the start is in the index. False if the time is up."""
        return self._ready.wait(seconds)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._index_and_follow()
        except (Stopped, Closed):
            return

    def _index_and_follow(self) -> None:
        """Index everything, then each change, until a folder was replaced or it is time to index everything again."""
        from retentive.files.changes import open_change_source

        identities = self._identities()
        existing = [tree for tree in self._folders.trees if identities[tree.root]]
        source, self.note = open_change_source(existing, self._stop, poll=self._folders.poll)
        if not self._index([tree.root for tree in self._folders.trees]):
            return
        self._ready.set()
        until = time.monotonic() + FULL_INDEX_SECONDS
        while not self._stop.is_set() and time.monotonic() < until and self._identities() == identities:
            changed = source.wait(self._changes.seconds_until_due(time.monotonic(), MAX_WAIT_SECONDS))
            self._changes.add(changed, time.monotonic())
            due = self._changes.pop_due(time.monotonic())
            if due and not self._index(due):
                self._changes.add(due, time.monotonic())

    def _identities(self) -> dict[str, tuple[int, int] | None]:
        return {tree.root: _identify(tree.root) for tree in self._folders.trees}

    def _index(self, paths: Sequence[str]) -> bool:
        """Index what is at these paths. If that fails, pause and return False."""
        try:
            store = with_active_model(self._store, is_writing=True)
            result = index_paths(store, self._folders, paths, self._stop)
        except (Stopped, Closed):
            raise
        except (RetentiveError, OSError) as error:
            self.failure = error
            self._pause = min(max(2 * self._pause, FIRST_PAUSE_SECONDS), MAX_PAUSE_SECONDS)
            self._stop.wait(self._pause)
            return False
        self.failure, self._pause = None, 0.0
        self._report(result)
        return True

    def _report(self, result: "IndexResult") -> None:
        """Report the first result, and later each that has changes. A skipped file is reported once."""
        new_skips = tuple(each for each in result.skipped if each.path not in self._reported_skips)
        self._reported_skips.update(each.path for each in new_skips)
        if self._on_change and (result.changes or new_skips or not self._ready.is_set()):
            self._on_change(replace(result, skipped=new_skips))


def index_paths(
    store: OpenStore, folders: WatchedFolders, paths: Sequence[str], stop: threading.Event
) -> "IndexResult":
    """Index what is at these paths, and nothing else in the folders."""
    from retentive.files.index import index_places, locate_paths

    return index_places(store, folders.options, locate_paths(folders.trees, paths, MAX_CHANGED_PATHS), stop)


def _identify(path: str) -> tuple[int, int] | None:
    """Return the identity of a folder: one that was deleted and created again is another. A file has its name only."""
    try:
        status = os.stat(path)  # noqa: PTH116 - paths are texts here
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if os.path.isdir(path) else (0, 0)  # noqa: PTH112
