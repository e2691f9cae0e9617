"""Replace the embedding model of a store while the store is in use.

The vectors of the new model are built in a space of their own, batch by batch. Each batch is one commit: a process that
is killed loses one batch, and the next call goes on from there. Meanwhile the old space serves reads and writes. A text
that is written there has no vector in the new space, which is how the builder finds it.

When no vector is missing, the recall tests of the store run in both spaces. If none regresses, one transaction makes
the new space the active one. The transaction is refused if a text was written since that has no vector yet. Then that
text is embedded, and the switch is tried again. If writers are quicker than the model, the switch is announced, and
writers wait a moment for it (`active_model.py`). The old space is kept. A rollback embeds what was written since in it,
and switches to it in the same way.

A lease lets one process at a time do this. A second one waits, and then has little or nothing left to do. If two work
at once all the same, they write the same vectors twice, which does no harm.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from retentive.embed import Embedder
from retentive.embed.time_limit import without_time_limit
from retentive.errors import Busy, Conflict, Invalid, NotFound, Stale
from retentive.memories.expectations import Expectations, default_options, run_expectation
from retentive.model import (
    ExpectationResult,
    RecallChange,
    ReembedProgress,
    ReembedResult,
    ReembedStage,
    SpaceFigures,
    SpaceState,
    StoredSpace,
)
from retentive.storage.tables import spaces
from retentive.storage.tables.chunks import vector_steps
from retentive.storage.tables.leases import STORE, Leases
from retentive.storage.tables.spaces import NEVER_ACTIVE
from retentive.store import OpenStore
from retentive.store.background import LeaseKeeper
from retentive.store.vectors import embed_pending, pack_vectors

LEASE = "reembed"
LEASE_SECONDS = 10.0  # after which another process takes over the work of one that was killed
POLL_SECONDS = 0.2  # between two attempts to take the lease
UNANNOUNCED_ATTEMPTS = 20  # to switch between writes, before writers are asked to wait
MAX_SWITCH_ATTEMPTS = 200

_UNDROPPABLE_STATES = (SpaceState.ACTIVE, SpaceState.GIVEN, SpaceState.DROPPED)

Progress = Callable[[ReembedProgress], None]


def reembed(
    store: OpenStore, model: str | Embedder, progress: Progress | None, batch: int, *, is_forced: bool
) -> ReembedResult:
    """Give the store another model. `is_forced`: switch even if a recall test regresses."""
    embedder = store.active.open(model)
    if embedder is None:
        raise Invalid("a store cannot be re-embedded with no model", "Name one, such as minilm.")
    try:
        return _Reembedding(store, embedder, progress or _ignore, batch).run(is_forced=is_forced)
    finally:
        store.active.expire_check()


def roll_back(store: OpenStore, progress: Progress | None, batch: int) -> ReembedResult:
    """Switch back to the space that was active before, after embedding what was written since."""
    previous = find_previous(store)
    if previous is None:
        raise NotFound("there is no earlier model to return to", "See `reembed_status()`.")
    if previous.model is None:
        hint = "Open the store in the program that provides the model, and pass the model to `reembed`."
        raise Conflict(f"the model of {previous.name} cannot be opened by name", hint)
    return reembed(store, previous.model, progress, batch, is_forced=True)


def find_previous(store: OpenStore) -> StoredSpace | None:
    """Return the space that was active before the present one."""
    kept = [each for each in store.tables.spaces.all() if each.state is SpaceState.KEPT and each.changed > NEVER_ACTIVE]
    return max(kept, key=lambda each: each.changed, default=None)


def drop_old(store: OpenStore, progress: Progress | None) -> list[str]:
    """Delete the vectors of all spaces except the active one and those that callers filled; return their names.

    A space that is being built is dropped, too. A call that was stopped can be repeated. Nothing is dropped while no
    space is active.
    """
    report = progress or _ignore
    with _hold_lease(store, report):
        known = store.tables.spaces.all()
        if not any(each.state is SpaceState.ACTIVE for each in known):
            return []
        counts = {name: count for name, _, count in store.tables.chunks.count_vectors()}
        old = [each for each in known if each.state not in _UNDROPPABLE_STATES]
        # A call that was stopped left vectors of dropped spaces.
        old += [each for each in known if each.state is SpaceState.DROPPED and counts[each.name]]
        for each in old:
            store.engine.apply([spaces.mark_step(each.name, SpaceState.DROPPED)])
            _delete_vectors(store, each.name, counts[each.name], report)
        _erase_graphs(store, [each.name for each in old])
    store.journal.note_write()
    return [each.name for each in old]


def _delete_vectors(store: OpenStore, name: str, count: int, report: Progress) -> None:
    done = 0
    while store.tables.spaces.has_vectors(name):
        store.engine.apply([spaces.drop_step(name)])
        done = min(done + spaces.DROP_PAGE, count)
        report(ReembedProgress(ReembedStage.DROPPING, done, count))


def _erase_graphs(store: OpenStore, names: Sequence[str]) -> None:
    """Drop the images of all namespaces, and delete the graph files of these spaces from the cache of this machine."""
    if names and store.engine.uses_local_index:
        for namespace in store.tables.memories.list_namespaces():
            store.images().erase(namespace, names)


def list_spaces(store: OpenStore) -> list[SpaceFigures]:
    """Return every space that has vectors or will have some, the active one first."""
    stored = store.tables.spaces.all()
    active = next((each.name for each in stored if each.state is SpaceState.ACTIVE), "")
    counts = {name: count for name, _, count in store.tables.chunks.count_vectors()}
    figures = [
        SpaceFigures(each, counts[each.name], store.tables.chunks.count_unbuilt(each.name, active))
        for each in stored
        if each.state is not SpaceState.DROPPED
    ]
    return sorted(figures, key=lambda each: (each.space.name != active, each.space.name))


def _ignore(_: ReembedProgress) -> None: ...


@contextmanager
def _hold_lease(store: OpenStore, report: Progress) -> Iterator[None]:
    """Wait until no other process does this work, and keep others out until the `with` block ends."""
    with LeaseKeeper(Leases(store.engine), STORE, LEASE_SECONDS) as keeper:
        while not keeper.take(LEASE):
            report(ReembedProgress(ReembedStage.WAITING, 0, 0))
            time.sleep(POLL_SECONDS)
        yield


class _Reembedding:
    """One call of `reembed`. `_old_store` is the store with the old model, `_new_store` with the new one."""

    def __init__(self, store: OpenStore, embedder: Embedder, report: Progress, batch: int) -> None:
        with without_time_limit():
            embedder.embed(["a text"])  # so that a model that does not work changes nothing
        self._store, self._new_store = store, replace(store, embedder=embedder)
        self._embedder, self._space = embedder, embedder.space
        self._report, self._batch = report, batch
        self._stored = store.tables.spaces
        self._embedded = 0

    def run(self, *, is_forced: bool) -> ReembedResult:
        with _hold_lease(self._store, self._report):
            old = self._begin()
            if old is None or old.name == self._space.name:
                self._fill_active()
                return self._describe(old, [], 0, is_active=True)
            self._old = old
            self._old_store = replace(self._store, embedder=self._open_old(old))
            self._build()
            before, after = self._run_recall_tests()
            changes = [RecallChange(*pair) for pair in zip(before, after, strict=True) if _differ(*pair)]
            is_refused = any(each.is_regression for each in changes) and not is_forced
            if not is_refused:
                self._switch()
                self._fill_active()
            return self._describe(old, changes, len(before), is_active=not is_refused)

    def _begin(self) -> StoredSpace | None:
        """Record that the new space is being built, and return the active space.

        If there is none, or it has no vectors, the new space becomes the active one at once. Then None is returned.
        """
        known = self._stored.all()
        active = next((each for each in known if each.state is SpaceState.ACTIVE), None)
        same = next((each for each in known if each.name == self._space.name), None)
        if same and same.dimension != self._space.dimension:
            hint = "The model has changed but kept its name. Rename it, or drop the old vectors first."
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
        """Return the model of the old space for the recall tests. If it is gone, they run on keywords alone."""
        own = self._store.embedder
        return own if own and own.space.name == old.name else self._store.active.current_model()

    def _build(self) -> None:
        total = self._store.tables.chunks.count_unbuilt(self._space.name, self._old.name)
        start = time.monotonic()
        self._report(ReembedProgress(ReembedStage.BUILDING, 0, total))
        while True:
            made = 0
            for count in self._fill_new():
                made += count
                passed = time.monotonic() - start
                left = max(total - self._embedded, 0)
                seconds = passed / self._embedded * left if self._embedded else None
                in_all = max(total, self._embedded)
                self._report(ReembedProgress(ReembedStage.BUILDING, self._embedded, in_all, seconds))
            if not made:
                return

    def _fill_new(self) -> Iterator[int]:
        """Embed the chunks that have no vector in the new space, oldest first; yield their number after each commit."""
        after = 0
        while pending := self._store.tables.chunks.list_unbuilt(self._space, self._old.name, after, self._batch):
            with without_time_limit():
                vectors = pack_vectors(self._embedder.embed([each.text for each in pending]))
            self._store.engine.apply(vector_steps(self._space, zip(pending, vectors, strict=True)))
            self._store.journal.note_write()
            after = pending[-1].chunk
            self._embedded += len(pending)
            yield len(pending)

    def _run_recall_tests(self) -> tuple[list[ExpectationResult], list[ExpectationResult]]:
        """Run the recall tests of all namespaces; return the results in the old space and in the new one."""
        options = default_options(self._store)
        known = [
            (name, each)
            for name in self._store.tables.memories.list_namespaces()
            for each in Expectations(replace(self._store, namespace=name)).list()
        ]
        results: tuple[list[ExpectationResult], list[ExpectationResult]] = [], []
        for store, checked in zip((self._old_store, self._new_store), results, strict=True):
            for name, each in known:
                checked.append(run_expectation(replace(store, namespace=name), each, options))
                done = len(results[0]) + len(results[1])
                self._report(ReembedProgress(ReembedStage.COMPARING, done, 2 * len(known)))
        return results

    def _switch(self) -> None:
        """Make the new space the active one at a moment when no vector is missing in it."""
        for attempt in range(MAX_SWITCH_ATTEMPTS):
            if attempt >= UNANNOUNCED_ATTEMPTS:
                self._store.engine.apply([spaces.mark_step(self._space.name, SpaceState.SWITCHING)])
            for _ in self._fill_new():
                pass
            self._report(ReembedProgress(ReembedStage.SWITCHING, attempt, MAX_SWITCH_ATTEMPTS))
            try:
                self._store.engine.apply(spaces.switch_steps(self._space.name, self._old.name))
            except Stale:
                self._require_old_still_active()
                continue
            self._store.journal.note_write()
            self._report(ReembedProgress(ReembedStage.SWITCHED, 0, 0))
            return
        self._store.engine.apply([spaces.mark_step(self._space.name, SpaceState.BUILDING)])
        raise Busy("other writers were too busy for the switch", "Retry; the vectors computed so far are kept.")

    def _require_old_still_active(self) -> None:
        active = self._stored.find_active()
        if active is None or active.name != self._old.name:
            raise Conflict("another process has changed the model of the store meanwhile", "See `reembed_status()`.")

    def _fill_active(self) -> None:
        """Embed what the active space lacks, such as texts that were written during the switch."""
        after = 0
        while filled := embed_pending(self._new_store, after, self._batch):
            after = filled[-1].chunk
            self._embedded += len(filled)
            self._report(ReembedProgress(ReembedStage.SWITCHED, self._embedded, self._embedded))

    def _describe(
        self, old: StoredSpace | None, changes: list[RecallChange], tests: int, *, is_active: bool
    ) -> ReembedResult:
        previous = old.name if old and old.name != self._space.name else None
        return ReembedResult(
            space=self._space.name, model=self._space.model, previous=previous, embedded=self._embedded, tests=tests,
            changes=tuple(changes), switched=is_active,
        )  # fmt: skip


def _differ(before: ExpectationResult, after: ExpectationResult) -> bool:
    """Return whether a recall test has another result, or found other memories."""
    return before.passed != after.passed or [hit.id for hit in before.hits] != [hit.id for hit in after.hits]
