"""Changing the model of a store while it is in use.

The vectors of the new model are made beside those of the old one, in a space of their own, batch by batch. Each batch
is one commit, so whoever is killed loses one batch, and whoever is called next goes on. Reads and writes go on in the
old space meanwhile: what is written has its vector there, and is found here by what it lacks.

When nothing is lacking, the recall tests of the store are asked in both spaces. If none regresses, one transaction
makes the new space the active one. It is refused if a text was written since that has no vector yet; then that is
embedded, and the switch is tried again. Where writers are quicker than the model, the switch is announced, and writers
wait a moment for it (`active.py`). The old space is kept, so that the way back is the same way: what was written since
is embedded in it, and it is switched to.

A lease lets one process at a time do this. A second one waits, and then finds less to do or nothing. Should both be at
work all the same, they do the same work twice: a vector is put where it already is.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from retentive.embed import Embedder
from retentive.embed.time_limit import background
from retentive.errors import Busy, Conflict, Invalid, NotFound, Stale
from retentive.memories.expectations import Expectations, default_way, run_expectation
from retentive.model import (
    Checked,
    RecallChange,
    Reembedded,
    ReembedProgress,
    ReembedStage,
    SpaceFigures,
    SpaceState,
    StoredSpace,
)
from retentive.storage.tables import spaces
from retentive.storage.tables.chunks import vector_steps
from retentive.storage.tables.leases import Leases
from retentive.storage.tables.spaces import NEVER
from retentive.store import OpenStore
from retentive.store.vectors import embed_pending, packed

LEASE = "reembed"
LEASE_SECONDS = 10.0  # after which the work of a process that was killed goes on elsewhere
POLL_SECONDS = 0.2  # between two looks whether the lease is free
BATCH = 100  # texts of a commit: half a second with MiniLM on two cores, so that little is lost and writers wait little
QUIET_TRIES = 20  # switches tried between writes before writers are asked to wait
TRIES = 200  # switches tried in all

_STAYING = (SpaceState.ACTIVE, SpaceState.GIVEN, SpaceState.DROPPED)

Progress = Callable[[ReembedProgress], None]


def reembed(
    store: OpenStore, model: str | Embedder, progress: Progress | None, batch: int, *, is_forced: bool
) -> Reembedded:
    """Give the store another model. `is_forced` switches though a recall test regresses."""
    embedder = store.active.open(model)
    if embedder is None:
        raise Invalid("a store cannot be re-embedded with no model", "Name one, such as minilm.")
    try:
        return _Reembedding(store, embedder, progress or _ignore, batch).run(is_forced=is_forced)
    finally:
        store.active.look_again()


def roll_back(store: OpenStore, progress: Progress | None, batch: int) -> Reembedded:
    """Return to the space that was active before. What was written since is embedded in it first."""
    previous = find_previous(store)
    if previous is None:
        raise NotFound("there is no earlier space to return to", "See `retentive reembed --status`.")
    if previous.model is None:
        hint = "Open the store with the program that has it, and call `reembed` with the model itself."
        raise Conflict(f"it is not known how the model of {previous.name} is opened", hint)
    return reembed(store, previous.model, progress, batch, is_forced=True)


def find_previous(store: OpenStore) -> StoredSpace | None:
    """The space that was active last before the present one."""
    kept = [each for each in store.tables.spaces.all() if each.state is SpaceState.KEPT and each.changed > NEVER]
    return max(kept, key=lambda each: each.changed, default=None)


def drop_old(store: OpenStore, progress: Progress | None) -> list[str]:
    """Delete the vectors of all spaces but the active one and those that callers filled. Their names.

    What was being built is dropped, too. May be stopped and called again.
    """
    stored, tell = store.tables.spaces, progress or _ignore
    with _lease(store, tell):
        known = stored.all()
        if not any(each.state is SpaceState.ACTIVE for each in known):
            return []
        counts = {name: count for name, _, count in store.tables.chunks.vector_counts()}
        old = [each for each in known if each.state not in _STAYING]
        old += [each for each in known if each.state is SpaceState.DROPPED and counts[each.name]]
        for each in old:
            store.engine.apply([spaces.mark_step(each.name, SpaceState.DROPPED)])
            _delete_vectors(store, each.name, counts[each.name], tell)
        _forget_graphs(store, [each.name for each in old])
    store.journal.wrote = True
    return [each.name for each in old]


def _delete_vectors(store: OpenStore, name: str, count: int, tell: Progress) -> None:
    stored, done = store.tables.spaces, 0
    while stored.has_vectors(name):
        store.engine.apply([spaces.drop_step(name)])
        done = min(done + spaces.DROP_PAGE, count)
        tell(ReembedProgress(ReembedStage.DROPPING, done, count))


def _forget_graphs(store: OpenStore, names: Sequence[str]) -> None:
    """The files of graphs in the cache of this machine."""
    if names and store.engine.in_process:
        for namespace in store.tables.memories.namespaces():
            store.images().erase(namespace, names)


def list_spaces(store: OpenStore) -> list[SpaceFigures]:
    """Every space that holds vectors or is about to, the active one first."""
    stored = store.tables.spaces.all()
    active = next((each.name for each in stored if each.state is SpaceState.ACTIVE), "")
    counts = {name: count for name, _, count in store.tables.chunks.vector_counts()}
    figures = [
        SpaceFigures(each, counts[each.name], store.tables.chunks.unbuilt_count(each.name, active))
        for each in stored
        if each.state is not SpaceState.DROPPED
    ]
    return sorted(figures, key=lambda each: (each.space.name != active, each.space.name))


def _ignore(_: ReembedProgress) -> None:
    """Nobody wants to hear of it."""


@contextmanager
def _lease(store: OpenStore, tell: Progress) -> Iterator[Callable[[], object]]:
    """Alone among all processes. What is given keeps the lease: it is to be called every few seconds."""
    leases = Leases(store.engine)
    while not leases.take(LEASE, LEASE_SECONDS):
        tell(ReembedProgress(ReembedStage.WAITING, 0, 0))
        time.sleep(POLL_SECONDS)
    try:
        yield lambda: leases.take(LEASE, LEASE_SECONDS)
    finally:
        leases.release(LEASE)


class _Reembedding:
    """One call. Its parts are those of the old space; `_new` are those of the new one."""

    def __init__(self, store: OpenStore, embedder: Embedder, tell: Progress, batch: int) -> None:
        with background():
            embedder.embed(["a text"])  # a model that does not work changes nothing
        self._store, self._new = store, replace(store, embedder=embedder)
        self._embedder, self._space = embedder, embedder.space
        self._tell, self._batch = tell, batch
        self._stored = store.tables.spaces
        self._embedded = 0

    def run(self, *, is_forced: bool) -> Reembedded:
        with _lease(self._store, self._tell) as keep_lease:
            old = self._begin()
            if old is None or old.name == self._space.name:
                self._fill_active(keep_lease)
                return self._describe(old, [], 0, is_switched=True)
            self._old = old
            self._old_parts = replace(self._store, embedder=self._open_old(old))
            self._build(keep_lease)
            before, after = self._ask_recall_tests(keep_lease)
            changes = [RecallChange(*pair) for pair in zip(before, after, strict=True) if _differ(*pair)]
            is_refused = any(each.is_regression for each in changes) and not is_forced
            if not is_refused:
                self._switch(keep_lease)
                self._fill_active(keep_lease)
            return self._describe(old, changes, len(before), is_switched=not is_refused)

    def _begin(self) -> StoredSpace | None:
        """Note what is being built. The active space, or None if this one has become it because there was none."""
        known = self._stored.all()
        active = next((each for each in known if each.state is SpaceState.ACTIVE), None)
        same = next((each for each in known if each.name == self._space.name), None)
        if same and same.dimension != self._space.dimension:
            hint = "The model has changed under its name. Give it another name, or drop the old vectors first."
            raise Conflict(
                f"{same.name} has {same.dimension} dimensions in the store, not {self._space.dimension}", hint
            )
        if active and active.name == self._space.name:
            return active
        if active and not self._stored.has_vectors(active.name):
            self._store.engine.apply([spaces.release_step(active.name)])
            active = None
        if active is None:
            insert, adopt = spaces.insert_step(self._space), spaces.adopt_step(self._space.name, self._space.model)
            self._store.engine.apply([insert, adopt])
            return None
        self._store.engine.apply(spaces.build_steps(self._space))
        return active

    def _open_old(self, old: StoredSpace) -> Embedder | None:
        """The model of the old space, to ask the recall tests with; those of a model that is gone are by full text."""
        own = self._store.embedder
        return own if own and own.space.name == old.name else self._store.active.follow()

    def _build(self, keep_lease: Callable[[], object]) -> None:
        total = self._store.tables.chunks.unbuilt_count(self._space.name, self._old.name)
        begun = time.monotonic()
        self._tell(ReembedProgress(ReembedStage.BUILDING, 0, total))
        while True:
            made = 0
            for count in self._fill_new():
                keep_lease()
                made += count
                passed = time.monotonic() - begun
                left = max(total - self._embedded, 0)
                seconds = passed / self._embedded * left if self._embedded else None
                done = min(self._embedded, max(total, self._embedded))
                self._tell(ReembedProgress(ReembedStage.BUILDING, done, max(total, done), seconds))
            if not made:
                return

    def _fill_new(self) -> Iterator[int]:
        """Embed what the new space lacks, from the oldest on; how many after each commit."""
        after = 0
        while pending := self._store.tables.chunks.unbuilt(self._space, self._old.name, after, self._batch):
            with background():
                vectors = packed(self._embedder.embed([each.text for each in pending]))
            self._store.engine.apply(vector_steps(self._space, zip(pending, vectors, strict=True)))
            self._store.journal.wrote = True
            after = pending[-1].chunk
            self._embedded += len(pending)
            yield len(pending)

    def _ask_recall_tests(self, keep_lease: Callable[[], object]) -> tuple[list[Checked], list[Checked]]:
        """The results in the old space and in the new one, of all namespaces."""
        way = default_way(self._store)
        known = [
            (name, each)
            for name in self._store.tables.memories.namespaces()
            for each in Expectations(replace(self._store, namespace=name)).list()
        ]
        results: tuple[list[Checked], list[Checked]] = [], []
        for store, checked in zip((self._old_parts, self._new), results, strict=True):
            for name, each in known:
                checked.append(run_expectation(replace(store, namespace=name), each, way))
                keep_lease()
                done = len(results[0]) + len(results[1])
                self._tell(ReembedProgress(ReembedStage.COMPARING, done, 2 * len(known)))
        return results

    def _switch(self, keep_lease: Callable[[], object]) -> None:
        """Make the new space the active one at a moment when it lacks nothing."""
        for attempt in range(TRIES):
            if attempt >= QUIET_TRIES:
                self._store.engine.apply([spaces.mark_step(self._space.name, SpaceState.SWITCHING)])
            sum(self._fill_new())
            keep_lease()
            self._tell(ReembedProgress(ReembedStage.SWITCHING, attempt, attempt))
            try:
                self._store.engine.apply(spaces.switch_steps(self._space.name, self._old.name))
            except Stale:
                self._check_still_active()
                continue
            self._store.journal.wrote = True
            self._tell(ReembedProgress(ReembedStage.SWITCHED, 0, 0))
            return
        self._store.engine.apply([spaces.mark_step(self._space.name, SpaceState.BUILDING)])
        raise Busy("other writers left no moment for the switch", "Retry; what was embedded stays.")

    def _check_still_active(self) -> None:
        active = self._stored.find_active()
        if active is None or active.name != self._old.name:
            raise Conflict("another process has changed the model of the store meanwhile", "Look at the status first.")

    def _fill_active(self, keep_lease: Callable[[], object]) -> None:
        """What was written in the old space while the switch was made; or what an active space lacks."""
        after = 0
        while filled := embed_pending(self._new, after, self._batch):
            after = filled[-1].chunk
            self._embedded += len(filled)
            keep_lease()
            self._tell(ReembedProgress(ReembedStage.SWITCHED, self._embedded, self._embedded))

    def _describe(
        self, old: StoredSpace | None, changes: list[RecallChange], tests: int, *, is_switched: bool
    ) -> Reembedded:
        previous = old.name if old and old.name != self._space.name else None
        return Reembedded(
            self._space.name, self._space.model, previous, self._embedded, tests, tuple(changes), is_switched
        )


def _differ(before: Checked, after: Checked) -> bool:
    """Whether a recall test came out otherwise, or found other memories."""
    return before.held != after.held or [hit.id for hit in before.found] != [hit.id for hit in after.found]
