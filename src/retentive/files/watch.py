"""Folders that are followed by a thread of its own: first all that is in them, then what changes.

A file is read when it has been left alone for half a second, at the latest five seconds after it began to change. Where
the system does not tell of changes we look every few seconds; and now and then at everything, in case something was
missed. A folder that disappears is waited for, and what is known of it stays: a disk may not be mounted. If the store
does not answer, what is to be done is kept and tried again.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from retentive.errors import Closed, Conflict, RetentiveError
from retentive.files.debounce import Pending
from retentive.files.lease import Stopped, alone
from retentive.store import OpenStore
from retentive.store.active_model import with_active_model
from retentive.store.background import Background

if TYPE_CHECKING:
    from retentive.files.changes import Source
    from retentive.files.index import Options
    from retentive.files.walk import Tree
    from retentive.model import Indexed

TICK = 1.0  # seconds at most between two looks at whether the folders themselves are still there
EVERYTHING = 600.0  # seconds between two looks at everything
TOO_MANY = 50  # changes in a folder from which all of it is looked at: one walk is less than so many questions
FIRST_PAUSE = 1.0  # seconds, when the store does not answer; twice as many each time
LONGEST_PAUSE = 60.0

Told = Callable[["Indexed"], None]


@dataclass(frozen=True, slots=True)
class Folders:
    """What is watched, and how."""

    trees: "Sequence[Tree]"
    options: "Options"
    poll: bool = False


class Watch(Background):
    """`start` and `stop` it, or use it as a context manager. Any thread may call its methods."""

    NAME = "retentive-watch"
    PATIENCE = 5.0  # a batch takes one or two

    def __init__(self, store: OpenStore, folders: Folders, told: Told | None = None) -> None:
        super().__init__()
        self._store, self._folders, self._told = store, folders, told
        self._ready = threading.Event()
        self._pending = Pending()
        self._pause = 0.0
        self._named = set[str]()
        """Files that were left out, and somebody was told so."""
        self.failure: RetentiveError | OSError | None = None
        """Why the last try came to nothing, until one succeeds."""
        self.note = ""
        """If changes have to be looked for: why."""

    def start(self) -> Self:
        """Begin, in a thread of its own that ends with the program."""
        if self.running:
            raise Conflict("this watch is running")
        self._ready.clear()
        self._store.watches.append(self)
        self._begin()
        return self

    def _ended(self) -> None:
        if self in self._store.watches:
            self._store.watches.remove(self)

    def wait(self, seconds: float | None = None) -> bool:
        """Until everything there was at the start is in the index. False: the time is up."""
        return self._ready.wait(seconds)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._follow()
        except (Stopped, Closed):
            return

    def _follow(self) -> None:
        """From a look at everything until a folder is another than it was."""
        from retentive.files.changes import open_source

        there = self._identities()
        source, self.note = open_source(self._trees(there), self._stop, poll=self._folders.poll)
        if not self._index([tree.root for tree in self._folders.trees]):
            return
        self._ready.set()
        until = time.monotonic() + EVERYTHING
        while not self._stop.is_set() and time.monotonic() < until and self._identities() == there:
            self._heard(source)
            due = self._pending.due(time.monotonic())
            if due and not self._index(due):
                self._pending.note(due, time.monotonic())

    def _heard(self, source: "Source") -> None:
        changed = source.wait(self._pending.wait(time.monotonic(), TICK))
        self._pending.note(changed, time.monotonic())

    def _identities(self) -> dict[str, tuple[int, int] | None]:
        return {tree.root: _identity(tree.root) for tree in self._folders.trees}

    def _trees(self, there: dict[str, tuple[int, int] | None]) -> "list[Tree]":
        return [tree for tree in self._folders.trees if there[tree.root]]

    def _index(self, paths: Sequence[str]) -> bool:
        """Whether what is at these paths was brought into the index. If not, it rests before another try."""
        try:
            store = with_active_model(self._store, is_writing=True)
            told = index(store, self._folders, paths, self._stop)
        except (Stopped, Closed):
            raise
        except (RetentiveError, OSError) as error:
            self.failure = error
            self._pause = min(max(2 * self._pause, FIRST_PAUSE), LONGEST_PAUSE)
            self._stop.wait(self._pause)
            return False
        self.failure, self._pause = None, 0.0
        self._tell(told)
        return True

    def _tell(self, told: "Indexed") -> None:
        """What changed, and what is left out from now on."""
        news = tuple(each for each in told.skipped if each.path not in self._named)
        self._named.update(each.path for each in news)
        if self._told and (told.changed or news or not self._ready.is_set()):
            self._told(replace(told, skipped=news))


def index(store: OpenStore, folders: Folders, paths: Sequence[str], stop: threading.Event) -> "Indexed":
    """What is at these paths, and nothing else of the folders. Nothing is written if nothing changed."""
    from retentive.files.index import Indexing, places

    where = places(folders.trees, paths, TOO_MANY)
    work = Indexing(store, folders.options, stop, None)
    if work.idle(where):
        return work.told()
    with alone(store, [*dict.fromkeys(tree.root for tree, _ in where)], stop, None):
        return Indexing(store, folders.options, stop, None).run(where)


def _identity(path: str) -> tuple[int, int] | None:
    """A folder that was deleted and made again is another. A file is the same by its name: editors replace it."""
    try:
        told = os.stat(path)  # noqa: PTH116 - paths are texts here
    except OSError:
        return None
    return (told.st_dev, told.st_ino) if os.path.isdir(path) else (0, 0)  # noqa: PTH112
