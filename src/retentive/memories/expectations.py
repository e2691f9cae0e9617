"""Expectations: tests of a store that live in it. What a question should find, kept; and looked at when asked.

Only the question and ids are kept, never the text of a memory. A memory that was superseded since counts as what took
its place; of one that is gone there is nothing to be found, and the expectation is broken until somebody removes it.
"""

import builtins
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from retentive import clock
from retentive.errors import Conflict, Invalid, NotFound
from retentive.ids import new_ids
from retentive.memories import edit
from retentive.model import (
    Checked,
    Expectation,
    Fusion,
    Hit,
    Memory,
    Mode,
    Query,
    Results,
    Sought,
    Status,
    Type,
    from_micros,
)
from retentive.search import search
from retentive.storage.tables import expectations as rows
from retentive.storage.tables.memories import namespace_step
from retentive.storage.tables.purges import told
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.active_model import with_active_model
from retentive.store.scope import scope
from retentive.store.views import writes

WITHIN = 5  # hits that count if not said otherwise: what is read of an answer
DEEPEST = 1000  # hits that may count
BEYOND = 100  # hits that are looked at to tell where a memory is that did not come among those that count
LONGEST = 2000  # characters of a question; what is longer is a text
MOST = 50  # ids in an expectation


class Expectations:
    """The verbs of expectations. They are about one namespace, and nobody takes note of what they ask."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @writes
    def add(
        self,
        question: str,
        finds: str | Iterable[str] = (),
        *,
        absent: str | Iterable[str] = (),
        nothing: bool = False,
        within: int = WITHIN,
        session: str | None = None,
    ) -> Expectation:
        """Expect that a question finds these memories, by id, among the first `within` hits of `search`.

        `absent` are those it must not find there. `nothing` instead of both: a search without a limit, for what is
        similar enough, must come back empty. `session` asks in a session. The same again gives back what is there.
        """
        store = self._store
        given = _checked(store, question, finds, absent, within, session)
        if nothing and not given.nothing:
            raise Invalid(
                "nothing is expected, and also memories", "Give `nothing`, or the ids that it finds or that are absent."
            )
        if given.nothing and not nothing:
            hint = "Give the ids that it finds or that are absent, or `nothing` (--finds, --absent, --nothing)."
            raise Invalid("nothing is said to be expected", hint)
        for id in given.finds:
            _findable(store, id, given.session)
        for id in given.absent:
            edit.load(store, id)
        for known in self._rows.all(store.namespace):
            if replace(known, id=given.id, created=given.created) == given:
                return known
        store.engine.apply([namespace_step(store.namespace, clock.now()), rows.insert_step(given)])
        return given

    def list(self) -> builtins.list[Expectation]:
        """Those of the namespace, the oldest first."""
        return self._rows.all(self._store.namespace)

    @writes
    def remove(self, id: str) -> Expectation:
        """Expect it no longer."""
        wanted = validate.plain(id, "id")
        for known in self.list():
            if known.id == wanted:
                self._store.engine.apply([rows.delete_step(known.namespace, [known.id])])
                return known
        hint = "`retentive expect list` shows those there are."
        raise NotFound(f"no expectation {wanted[:60]!r} in namespace {self._store.namespace!r}", hint)

    def run(
        self,
        *,
        mode: str = Mode.HYBRID,
        fusion: str | None = None,
        vector_weight: float | None = None,
        min_similarity: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> builtins.list[Checked]:
        """Hold all expectations of the namespace against what their questions find now; the oldest first.

        The options are those of `search`. Neither the access log nor the statistics hear of it. `progress` hears how
        many are done, and how many there are.
        """
        store = with_active_model(self._store)
        way = Way(
            mode=validate.one_of(Mode, mode, "mode"),
            fusion=validate.one_of(Fusion, fusion or store.config.fusion, "fusion"),
            vector_weight=validate.fraction(vector_weight, "vector_weight", store.config.vector_weight),
            min_similarity=validate.fraction(min_similarity, "min_similarity", None),
        )
        known, done = self.list(), list[Checked]()
        for each in known:
            done.append(run_expectation(store, each, way))
            if progress:
                progress(len(done), len(known))
        return done

    @property
    def _rows(self) -> rows.Expectations:
        return self._store.tables.expectations


@dataclass(frozen=True, slots=True)
class Way:
    """How the questions of a run are asked."""

    mode: Mode
    fusion: Fusion
    vector_weight: float
    min_similarity: float | None

    def asked(self, store: OpenStore, given: Expectation, limit: int | None) -> Results:
        return search.answer(
            store,
            Query(
                text=given.question,
                scope=scope([given.namespace], session=given.session),
                limit=limit,
                mode=self.mode,
                fusion=self.fusion,
                vector_weight=self.vector_weight,
                rrf_k=store.config.rrf_k,
                min_similarity=self.min_similarity,
            ),
        )


def default_way(store: OpenStore) -> Way:
    """As `search` asks if nothing else is said."""
    return Way(Mode.HYBRID, Fusion(store.config.fusion), store.config.vector_weight, None)


def _checked(store: OpenStore, question: Any, finds: Any, absent: Any, within: Any, session: Any) -> Expectation:
    text = validate.plain(question, "question").strip()
    if not text:
        raise Invalid("the question is empty", "Give the words that are asked.")
    if len(text) > LONGEST:
        raise Invalid(f"the question has {len(text):,} characters; an expectation holds up to {LONGEST:,}")
    now = clock.now()
    given = Expectation(
        id=new_ids(now, 1)[0],
        namespace=store.namespace,
        question=secret_policy.guarded(store, text, "question"),
        finds=_ids(finds, "finds"),
        absent=_ids(absent, "absent"),
        within=validate.limit_of(within, "within", DEEPEST),
        session=validate.name_of(session, "session"),
        created=from_micros(now),
    )
    if both := {*given.finds} & {*given.absent}:
        raise Invalid(f"{min(both)} is to be found and to be absent", "Name it once.")
    if len(given.finds) > given.within:
        hint = f"Let more of the hits count: within={len(given.finds)}, or on the terminal --within {len(given.finds)}."
        raise Invalid(f"{len(given.finds)} memories cannot be among the first {given.within}", hint)
    return given


def _ids(given: Any, name: str) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(validate.plain(each, "id") for each in validate.each_of(given, name)))
    if len(ids) > MOST:
        raise Invalid(f"{name} has {len(ids)} ids; an expectation names up to {MOST}", "Make several of it.")
    return ids


def _findable(store: OpenStore, id: str, session: str | None) -> None:
    """What can never be found is not worth expecting."""
    counts = _successor(store, edit.load(store, id))
    if counts is None or counts.status is not Status.ACTIVE:
        what = counts.status if counts else "gone"
        raise Conflict(f"{id} is {what}, and not found by any question", "Expect it to be absent, or restore it first.")
    if counts.session not in (None, session):
        raise Conflict(f"{id} is of session {counts.session!r} alone", "Ask in that session: give `session`.")


def run_expectation(store: OpenStore, given: Expectation, way: Way) -> Checked:
    """Ask its question with the model of `parts`, and compare."""
    results = way.asked(store, given, None if given.nothing else given.within)
    ranks = _ranks(results)
    sought = [_found(store, given, id, ranks) for id in given.finds]
    if any(each.memory and not each.held for each in sought):
        further = _ranks(way.asked(store, given, max(BEYOND, given.within)))
        sought = [each if each.held else _further(each, further, given.within) for each in sought]
    sought += [_absent(store, given, id, ranks) for id in given.absent]
    held = not results.hits if given.nothing else all(each.held for each in sought)
    return Checked(given, held, tuple(sought), results.hits[: given.within], results.tier, results.notes)


def _ranks(hits: Iterable[Hit]) -> dict[str, int]:
    """By the ids of memories; messages take up places, too."""
    return {hit.id: rank for rank, hit in enumerate(hits, start=1) if hit.type is Type.MEMORY}


def _found(store: OpenStore, given: Expectation, id: str, ranks: dict[str, int]) -> Sought:
    named = store.tables.memories.get(given.namespace, id, clock.now())
    counts = _successor(store, named) if named else None
    rank = ranks.get(counts.id) if counts else None
    note = _fate(store, given.namespace, id, named, counts)
    return Sought(id, True, _active(counts), rank, rank is not None, note)


def _further(missed: Sought, ranks: dict[str, int], within: int) -> Sought:
    """With where it is instead. A longer list may be ordered otherwise; what is not behind is then not told."""
    rank = ranks.get(missed.memory.id) if missed.memory else None
    return replace(missed, rank=rank if rank and rank > within else None)


def _absent(store: OpenStore, given: Expectation, id: str, ranks: dict[str, int]) -> Sought:
    """Of the memory itself: what took its place is another one, and may well be found."""
    named = store.tables.memories.get(given.namespace, id, clock.now())
    rank = ranks.get(id)
    note = _fate(store, given.namespace, id, None, None) if named is None else ""
    if named and named.status is not Status.ACTIVE:
        note = f"it is {named.status}, and not found by any question"
    return Sought(id, False, _active(named), rank, rank is None, note)


def _active(memory: Memory | None) -> Memory | None:
    """A report does not tell what was forgotten."""
    return memory if memory and memory.status is Status.ACTIVE else None


def _successor(store: OpenStore, memory: Memory) -> Memory | None:
    """What holds in its place, as far as it was superseded; None if that is no longer there."""
    seen = {memory.id}
    counts: Memory | None = memory
    while counts and counts.status is Status.SUPERSEDED and counts.superseded_by:
        if counts.superseded_by in seen:
            return counts
        seen.add(counts.superseded_by)
        counts = store.tables.memories.get(memory.namespace, counts.superseded_by, clock.now())
    return counts


def _fate(store: OpenStore, namespace: str, id: str, named: Memory | None, counts: Memory | None) -> str:
    """What became of a memory since it was named."""
    if named is None:
        line = store.tables.purges.of(namespace, id)
        return f"the memory is gone: {told(line) if line else 'it is no longer in the store'}"
    if counts is None:
        return "the memory is gone: it was superseded, and what took its place is no longer in the store"
    superseded = f"superseded by {counts.id}, which counts in its place" if counts.id != id else ""
    if counts.status is Status.ACTIVE:
        return superseded
    gone = f"the memory is gone: {counts.status} on {counts.updated:%Y-%m-%d %H:%M}"
    return f"{superseded}; {gone}" if superseded else gone
