"""The jobs of background work: which are due, and how each is run.

A job is a generator that yields a count after each piece. A piece is one commit or less, so a job that is stopped
between two pieces loses nothing. A piece takes a fraction of a second, except for requests to a language model and for
rewriting the file after a purge. Two workers may run the same job at once without harm: the steps are guarded.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from retentive import clock
from retentive.consolidation import consolidate
from retentive.conversations import summaries
from retentive.errors import NotFound
from retentive.learning import learn
from retentive.memories import forget, write
from retentive.model import Task
from retentive.purge.proof import scrub_pending
from retentive.store import OpenStore
from retentive.store.active_model import with_active_model
from retentive.store.vectors import embed_pending
from retentive.transfer import leftover_files

MAX_KEPT_CHANGES = 200_000  # rows of the change log for indexes that lag; an index further behind is rebuilt
EMBED_BATCH_SIZE = 16  # texts: 0.15 s on a slow core, for which a question may have to wait
EMBED_SECONDS = 5.0  # of computing vectors before other jobs have their turn
YIELD_SECONDS = 0.25  # pause after a batch during which a question came: more may follow
FIRST_PAUSE_SECONDS = 5.0  # until a failed task is tried again; doubled after each further failure
MAX_PAUSE_SECONDS = 600.0
CHORES = ("retention", "changes", "copies", "proposals", "consolidate")  # looked for once in `CHORE_SECONDS`


class CannotRunYet(Exception):
    """A job cannot run now, though the store is fine."""


class _Pause(NamedTuple):
    """The pause of a task that failed or did nothing."""

    until: float
    """On the monotonic clock."""
    seconds: float


class Jobs:
    """Finds and runs jobs. For one thread at a time."""

    def __init__(self, store: OpenStore, chore_seconds: float, wait: Callable[[float], object]) -> None:
        self._store = store
        self._chore_seconds = chore_seconds
        self._wait = wait
        self._next_chores = 0.0
        """When chores are looked for again."""
        self._embedded_upto = 0
        """All chunks up to this number have vectors."""
        self._last_newest = 0
        """The highest chunk number at the last check."""
        self._pauses: dict[Task, _Pause] = {}
        """By task. A pause that is over stays: the next one is longer."""

    def refresh_due(self) -> list[Task]:
        """Look for tasks that can run now. If there are none, this costs one small query."""
        self._follow_model()
        store, moment = self._store, clock.now()
        silent = moment - round(store.config.learn_after * 1e6)
        seen = store.tables.metrics.due(moment, silent)
        if store.images.made and store.engine.uses_local_index:
            store.images.made.follow(seen.head)
        tasks = [*self._find_chores()]
        if seen.expired:
            tasks.append(Task("expiry"))
        if seen.unlearned:
            tasks += [Task("learn", *each) for each in store.tables.learning.list_due_of_all(silent)]
        if self._has_pending_vectors(seen.newest):
            tasks.append(Task("vectors"))
        if seen.purges:
            tasks.append(Task("purges"))
        self._pauses = {task: pause for task, pause in self._pauses.items() if task in tasks or task.job in CHORES}
        now = time.monotonic()
        return [task for task in tasks if task not in self._pauses or self._pauses[task].until <= now]

    def _follow_model(self) -> None:
        """Use the model of the active space. After a change of space all vectors are checked again."""
        before = self._store.space
        self._store = with_active_model(self._store)
        if self._store.space != before:
            self._embedded_upto = self._last_newest = 0

    def run(self, task: Task) -> Iterator[int]:
        """Run a task. Yields the count of each piece."""
        jobs: dict[str, Callable[[], Iterator[int]]] = {
            "learn": lambda: self._learn(task),
            "vectors": self._embed_pending,
            "expiry": lambda: write.expire_memories(self._store),
            "retention": lambda: forget.apply_retention(self._store),
            "purges": self._scrub_purges,
            "proposals": self._prune_proposals,
            "changes": self._prune_changes,
            "copies": self._remove_copies,
            "consolidate": lambda: self._consolidate(task),
        }
        return jobs[task.job]()

    def pause_task(self, task: Task) -> None:
        """Pause a task that failed or did nothing, each time for longer."""
        before = self._pauses.get(task)
        seconds = min(2 * before.seconds, MAX_PAUSE_SECONDS) if before else FIRST_PAUSE_SECONDS
        self._pauses[task] = _Pause(time.monotonic() + seconds, seconds)

    def resume_task(self, task: Task) -> None:
        self._pauses.pop(task, None)

    def has_been_paused(self, task: Task) -> bool:
        """Whether the task failed or did nothing, and is still due. This stays true when the pause is over."""
        return task in self._pauses

    def _find_chores(self) -> Iterator[Task]:
        """Chores, which nothing announces. They are looked for rarely, because that costs more."""
        if time.monotonic() < self._next_chores:
            return
        self._next_chores = time.monotonic() + self._chore_seconds
        self._embedded_upto = self._last_newest = 0  # rows restored or committed late may have been skipped
        if next(forget.find_unretained(self._store), None):
            yield Task("retention")
        if self._store.tables.metrics.find_prunable(MAX_KEPT_CHANGES):
            yield Task("changes")
        if self._store.tables.proposals.has_outdated(clock.now()):
            yield Task("proposals")
        if leftover_files.find(self._store):
            yield Task("copies")
        if self._store.config.consolidate:
            yield from (Task("consolidate", each) for each in consolidate.find_due_namespaces(self._store))

    def _has_pending_vectors(self, newest: int) -> bool:
        """Whether a chunk since the last check has no vector.

        On a server, numbers are not committed in order. So a check covers the newest chunk only at the next check.
        """
        space = self._store.space
        if space is None or newest == self._embedded_upto:
            return False
        if self._store.tables.chunks.list_pending(space, self._embedded_upto, 1):
            return True
        self._embedded_upto, self._last_newest = self._last_newest or newest, newest
        return False

    def _learn(self, task: Task) -> Iterator[int]:
        """Learn from a session. First its summary, if no append has made one that is due."""
        # The person of a session is recorded with it. Our own setting is about our sessions only.
        store = replace(self._store, namespace=task.namespace, person="")
        summaries.summarise_if_due(store, task.session)
        try:
            for state in learn.learn_stepwise(store, task.session, learn.LearningTally()):
                if not state.is_finished:
                    yield 0
        except NotFound:
            return  # deleted meanwhile
        yield 1

    def _embed_pending(self) -> Iterator[int]:
        until = time.monotonic() + EMBED_SECONDS
        while time.monotonic() < until:
            questions_before = self._store.journal.question_count
            filled = embed_pending(self._store, self._embedded_upto, EMBED_BATCH_SIZE)
            if not filled:
                return
            self._embedded_upto = filled[-1].chunk
            yield len(filled)
            if self._store.journal.question_count != questions_before:
                self._wait(YIELD_SECONDS)

    def _scrub_purges(self) -> Iterator[int]:
        done, obstacle = scrub_pending(self._store)
        if obstacle:
            raise CannotRunYet(f"bytes of purged rows are {obstacle}")
        yield done

    def _prune_changes(self) -> Iterator[int]:
        self._store.tables.metrics.prune_changes(MAX_KEPT_CHANGES)
        yield 1

    def _remove_copies(self) -> Iterator[int]:
        copies = leftover_files.sweep(self._store)
        if copies.busy:
            raise CannotRunYet("a copy of the store is being written")
        yield copies.removed or 1

    def _prune_proposals(self) -> Iterator[int]:
        self._store.tables.proposals.prune(clock.now())
        yield 1

    def _consolidate(self, task: Task) -> Iterator[int]:
        store = replace(self._store, namespace=task.namespace)
        request = consolidate.make_request(store, None, consolidate.MAX_GROUPS, dry_run=False)
        for piece in consolidate.consolidate_pieces(store, request):
            yield len(piece.group.cited) if piece.group else 0
        consolidate.note_daily_run(store)
