"""What there is to do in the background, and how each piece of it is done.

A job is a generator that tells a number after each piece. A piece is a commit or less than one, so whoever stops
between two loses nothing; it takes a fraction of a second, but for questions to a language model and for rewriting the
file after a purge. All of them may be done by two at once without harm: what decides is in the guards of the steps.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from retentive import clock
from retentive.consolidation import consolidate
from retentive.conversations import summaries
from retentive.errors import NotFound
from retentive.learning import learn
from retentive.memories import forget, write
from retentive.model import Task
from retentive.purge import purge
from retentive.store import OpenStore
from retentive.store.active_model import with_active_model
from retentive.store.vectors import embed_pending
from retentive.transfer import leftover_files

KEEP_CHANGES = 200_000  # rows of the change log kept for indexes that lag; further behind they load anew
BATCH = 16  # texts embedded at once: 0.15 s on a slow core, for which a question may have to wait
SLICE = 5.0  # seconds of filling in vectors before other work has its turn
GIVE_WAY = 0.25  # seconds of rest after a batch during which a question came: where one is, more follow
FIRST_REST = 5.0  # seconds until what failed is tried again; twice as many after each further failure
LONGEST_REST = 600.0
REGULAR = ("retention", "changes", "copies", "proposals", "consolidate")  # are not looked for at every look


class Later(Exception):
    """It cannot be done now, through no fault of the store's."""


class Jobs:
    """For one thread at a time."""

    def __init__(self, store: OpenStore, every: float, pause: Callable[[float], object]) -> None:
        self._store = store
        self._every = every
        self._pause = pause
        self._next = 0.0
        """When the regular chores are looked at again."""
        self._filled = 0
        """Up to this number all chunks have their vectors."""
        self._newest = 0
        """The highest number at the last look."""
        self._rests: dict[Task, tuple[float, float]] = {}
        """Of what failed: until when it rests, and for how long."""

    def due(self) -> list[Task]:
        """What can be done now. One small query, if that is nothing."""
        self._follow_model()
        store, now = self._store, clock.now()
        silent = now - round(store.config.learn_after * 1e6)
        seen = store.tables.metrics.due(now, silent)
        if store.images.made and store.engine.in_process:
            store.images.made.follow(seen.head)
        tasks = [*self._regular()]
        if seen.expired:
            tasks.append(Task("expiry"))
        if seen.unlearned:
            tasks += [Task("learn", *each) for each in store.tables.learning.waiting(silent)]
        if self._wants_vectors(seen.newest):
            tasks.append(Task("vectors"))
        if seen.purges:
            tasks.append(Task("purges"))
        self._rests = {task: rest for task, rest in self._rests.items() if task in tasks or task.job in REGULAR}
        return [task for task in tasks if self._rests.get(task, (0.0, 0.0))[0] <= time.monotonic()]

    def _follow_model(self) -> None:
        """Work with the model of the active space. In another space all vectors are looked at once more."""
        before = self._store.space
        self._store = with_active_model(self._store)
        if self._store.space != before:
            self._filled = self._newest = 0

    def do(self, task: Task) -> Iterator[int]:
        """Piece by piece: how much each came to."""
        jobs: dict[str, Callable[[], Iterator[int]]] = {
            "learn": lambda: self._learn(task),
            "vectors": self._vectors,
            "expiry": lambda: write.expire(self._store),
            "retention": lambda: forget.apply_retention(self._store),
            "purges": self._purges,
            "proposals": self._proposals,
            "changes": self._changes,
            "copies": self._copies,
            "consolidate": lambda: self._consolidate(task),
        }
        return jobs[task.job]()

    def failed(self, task: Task) -> None:
        _, before = self._rests.get(task, (0.0, FIRST_REST / 2))
        rest = min(2 * before, LONGEST_REST)
        self._rests[task] = (time.monotonic() + rest, rest)

    def succeeded(self, task: Task) -> None:
        self._rests.pop(task, None)

    def rests(self, task: Task) -> bool:
        """Whether it failed, and is still to be done."""
        return task in self._rests

    def _regular(self) -> Iterator[Task]:
        """What nothing points to, looked for now and then: here because a look costs more."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every
        self._filled = self._newest = 0  # what was restored, or committed late, may have been passed over
        if next(forget.outlived(self._store), None):
            yield Task("retention")
        if self._store.tables.metrics.prunable(KEEP_CHANGES):
            yield Task("changes")
        if self._store.tables.proposals.has_outdated(clock.now()):
            yield Task("proposals")
        if leftover_files.find(self._store):
            yield Task("copies")
        if self._store.config.consolidate:
            yield from (Task("consolidate", each) for each in consolidate.find_due_namespaces(self._store))

    def _wants_vectors(self, newest: int) -> bool:
        """Only what came since the last look is looked at.

        On a server, numbers are not committed in their order: what was the newest at one look is passed at the next.
        """
        space = self._store.space
        if space is None or newest == self._filled:
            return False
        if self._store.tables.chunks.pending(space, self._filled, 1):
            return True
        self._filled, self._newest = self._newest or newest, newest
        return False

    def _learn(self, task: Task) -> Iterator[int]:
        """First a summary, if one is due that no append made: each session that was spoken in passes here."""
        # Sessions of all namespaces: whose each one is was recorded with it, and our own setting says nothing of that.
        store = replace(self._store, namespace=task.namespace, person="")
        summaries.keep_up(store, task.session)
        try:
            for state in learn.pieces(store, task.session, learn.Tally()):
                if state.left or state.upto < state.last:
                    yield 0
        except NotFound:
            return  # deleted meanwhile
        yield 1

    def _vectors(self) -> Iterator[int]:
        until = time.monotonic() + SLICE
        while time.monotonic() < until:
            asked = self._store.journal.asked
            filled = embed_pending(self._store, self._filled, BATCH)
            if not filled:
                return
            self._filled = filled[-1].chunk
            yield len(filled)
            if self._store.journal.asked != asked:
                self._pause(GIVE_WAY)

    def _purges(self) -> Iterator[int]:
        done, why = purge.finish(self._store)
        if why:
            raise Later(f"bytes of purged rows are {why}")
        yield done

    def _changes(self) -> Iterator[int]:
        self._store.tables.metrics.prune_changes(KEEP_CHANGES)
        yield 1

    def _copies(self) -> Iterator[int]:
        copies = leftover_files.sweep(self._store)
        if copies.busy:
            raise Later("a copy of the store is being written")
        yield copies.removed or 1

    def _proposals(self) -> Iterator[int]:
        self._store.tables.proposals.prune(clock.now())
        yield 1

    def _consolidate(self, task: Task) -> Iterator[int]:
        store = replace(self._store, namespace=task.namespace)
        request = consolidate.make_request(store, None, consolidate.MAX_GROUPS, dry_run=False)
        for piece in consolidate.consolidate_pieces(store, request):
            yield len(piece.group.cited) if piece.group else 0
        consolidate.note_daily_run(store)
