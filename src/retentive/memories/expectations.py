"""Expectations: recall tests that are stored with the memories. Each says what a question must find.

Only the question and ids are stored, never the text of a memory. If a memory was superseded, its successor counts in
its place. If a memory is gone, the expectation fails until somebody removes it.
"""

import builtins
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from retentive import clock
from retentive.errors import Conflict, Invalid, NotFound
from retentive.frozen_dataclass import dataclass
from retentive.ids import new_ids
from retentive.memories import edit
from retentive.model import (
    Expectation,
    ExpectationResult,
    ExpectedMemory,
    Fusion,
    Hit,
    ItemType,
    Memory,
    Mode,
    Query,
    Results,
    Status,
    from_micros,
)
from retentive.search import search
from retentive.storage.tables import expectations as rows
from retentive.storage.tables.memories import namespace_step
from retentive.storage.tables.purges import describe_purge
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.active_model import with_active_model
from retentive.store.scope import make_scope
from retentive.store.views import mutates

DEFAULT_WITHIN = 5  # hits that count: as many as people read of an answer
MAX_WITHIN = 1000  # hits that may count
MAX_RANK_SHOWN = 100  # hits that are searched for the rank of a memory that is not among those that count
MAX_QUESTION_CHARS = 2000  # what is longer is a text
MAX_NAMED_IDS = 50  # in an expectation


class Expectations:
    """The verbs of expectations, about one namespace. Their searches are not logged."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @mutates
    def add(
        self,
        question: str,
        finds: str | Iterable[str] = (),
        *,
        absent: str | Iterable[str] = (),
        nothing: bool = False,
        within: int = DEFAULT_WITHIN,
        session: str | None = None,
    ) -> Expectation:
        """Expect that a question finds these memories, by id, among the first `within` hits of `search`.

        `absent` are memories that it must not find there. With `nothing` instead of both, a search without a limit
        must find nothing that is similar enough. `session` asks in a session. If the same expectation exists, it is
        returned.
        """
        store = self._store
        expectation = _make_expectation(store, question, finds, absent, within, session)
        if nothing and not expectation.nothing:
            raise Invalid(
                "`nothing` contradicts the expected memories",
                "Give either `nothing=True`, or the ids that it finds or that are absent.",
            )
        if expectation.nothing and not nothing:
            hint = "Give the ids that it finds or that are absent: `finds=ID`, `absent=ID`, or `nothing=True`."
            raise Invalid("no expected result is given", hint)
        for id in expectation.finds:
            _require_findable(store, id, expectation.session)
        for id in expectation.absent:
            edit.load(store, id)
        for known in self.list():
            if replace(known, id=expectation.id, created=expectation.created) == expectation:
                return known
        store.engine.apply([namespace_step(store.namespace, clock.now()), rows.insert_step(expectation)])
        return expectation

    def list(self) -> builtins.list[Expectation]:
        """List the expectations of the namespace, oldest first."""
        return self._store.tables.expectations.all(self._store.namespace)

    @mutates
    def remove(self, id: str) -> Expectation:
        """Remove an expectation and return it."""
        wanted = validate.require_text(id, "id")
        for known in self.list():
            if known.id == wanted:
                self._store.engine.apply([rows.delete_step(known.namespace, [known.id])])
                return known
        hint = "`expectations.list()` shows the existing ones."
        raise NotFound(f"no recall test {wanted[:60]!r} in namespace {self._store.namespace!r}", hint)

    def run(
        self,
        *,
        mode: str = Mode.HYBRID,
        fusion: str | None = None,
        vector_weight: float | None = None,
        min_similarity: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> builtins.list[ExpectationResult]:
        """Run all expectations of the namespace, oldest first.

        The options are those of `search`. The searches are neither logged nor counted. `progress` is called with the
        number of expectations that are done, and the number of all.
        """
        store = with_active_model(self._store)
        options = SearchOptions(
            mode=validate.parse_choice(Mode, mode, "mode"),
            fusion=validate.parse_choice(Fusion, fusion or store.config.fusion, "fusion"),
            vector_weight=validate.parse_fraction(vector_weight, "vector_weight", store.config.vector_weight),
            min_similarity=validate.parse_fraction(min_similarity, "min_similarity", None),
        )
        expectations, results = self.list(), list[ExpectationResult]()
        for each in expectations:
            results.append(run_expectation(store, each, options))
            if progress:
                progress(len(results), len(expectations))
        return results


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options with which the questions of expectations are asked."""

    mode: Mode
    fusion: Fusion
    vector_weight: float
    min_similarity: float | None

    def search(self, store: OpenStore, expectation: Expectation, limit: int | None) -> Results:
        return search.answer(
            store,
            Query(
                text=expectation.question,
                scope=make_scope([expectation.namespace], session=expectation.session),
                limit=limit,
                mode=self.mode,
                fusion=self.fusion,
                vector_weight=self.vector_weight,
                rrf_k=store.config.rrf_k,
                min_similarity=self.min_similarity,
            ),
        )


def default_options(store: OpenStore) -> SearchOptions:
    """The options that `search` has by default."""
    return SearchOptions(Mode.HYBRID, Fusion(store.config.fusion), store.config.vector_weight, None)


def _make_expectation(
    store: OpenStore, question: Any, finds: Any, absent: Any, within: Any, session: Any
) -> Expectation:
    """Validate the arguments of `add` and make an expectation of them."""
    text = validate.require_text(question, "question").strip()
    if not text:
        raise Invalid("the question is empty", "Give a question.")
    if len(text) > MAX_QUESTION_CHARS:
        limit = f"a recall test holds up to {MAX_QUESTION_CHARS:,}"
        raise Invalid(f"the question has {len(text):,} characters; {limit}")
    now = clock.now()
    expectation = Expectation(
        id=new_ids(now, 1)[0],
        namespace=store.namespace,
        question=secret_policy.apply_policy(store, text, "question"),
        finds=_parse_ids(finds, "finds"),
        absent=_parse_ids(absent, "absent"),
        within=validate.positive_int(within, "within", MAX_WITHIN),
        session=validate.optional_name(session, "session"),
        created=from_micros(now),
    )
    count = len(expectation.finds)
    if both := {*expectation.finds} & {*expectation.absent}:
        raise Invalid(f"{min(both)} is expected to be both found and absent", "Name it once.")
    if count > expectation.within:
        hint = f"Allow more hits: `within={count}`."
        raise Invalid(f"{count} memories cannot be among the first {expectation.within}", hint)
    return expectation


def _parse_ids(given: Any, name: str) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(validate.require_text(each, "id") for each in validate.as_list(given, name)))
    if len(ids) > MAX_NAMED_IDS:
        raise Invalid(f"{name} has {len(ids)} ids; a recall test names up to {MAX_NAMED_IDS}", "Split it into several.")
    return ids


def _require_findable(store: OpenStore, id: str, session: str | None) -> None:
    """Raise `Conflict` if no question can find the memory."""
    current = _find_successor(store, edit.load(store, id))
    if current is None or current.status is not Status.ACTIVE:
        what = current.status if current else "gone"
        raise Conflict(f"{id} is {what}, and not found by any question", "Expect it to be absent, or restore it first.")
    if current.session not in (None, session):
        raise Conflict(f"{id} is of session {current.session!r} alone", "Ask in that session: give `session`.")


def run_expectation(store: OpenStore, expectation: Expectation, options: SearchOptions) -> ExpectationResult:
    """Ask the question with the model of `store`, and compare the hits with what is expected."""
    within = expectation.within
    results = options.search(store, expectation, None if expectation.nothing else within)
    ranks = _rank_memories(results)
    expected = [_check_found(store, expectation, id, ranks) for id in expectation.finds]
    if any(each.memory and not each.passed for each in expected):
        deeper = _rank_memories(options.search(store, expectation, max(MAX_RANK_SHOWN, within)))
        expected = [each if each.passed else _with_deeper_rank(each, deeper, within) for each in expected]
    expected += [_check_absent(store, expectation, id, ranks) for id in expectation.absent]
    passed = not results.hits if expectation.nothing else all(each.passed for each in expected)
    return ExpectationResult(
        expectation, passed, tuple(expected), hits=results.hits[:within], tier=results.tier, notes=results.notes
    )


def _rank_memories(hits: Iterable[Hit]) -> dict[str, int]:
    """The ranks of memories by id. Messages have ranks, too, and are left out."""
    return {hit.id: rank for rank, hit in enumerate(hits, start=1) if hit.type is ItemType.MEMORY}


def _check_found(store: OpenStore, expectation: Expectation, id: str, ranks: dict[str, int]) -> ExpectedMemory:
    """Check that a memory, or its successor, was found."""
    named = store.tables.memories.get(expectation.namespace, id, clock.now())
    current = _find_successor(store, named) if named else None
    rank = ranks.get(current.id) if current else None
    note = _describe_change(store, expectation.namespace, id, named, current)
    memory, passed = _only_active(current), rank is not None
    return ExpectedMemory(id, wanted=True, memory=memory, rank=rank, passed=passed, note=note)


def _with_deeper_rank(missed: ExpectedMemory, ranks: dict[str, int], within: int) -> ExpectedMemory:
    """Add the rank in a longer list. That list may be ordered otherwise: a rank within the limit is left out."""
    rank = ranks.get(missed.memory.id) if missed.memory else None
    return replace(missed, rank=rank if rank and rank > within else None)


def _check_absent(store: OpenStore, expectation: Expectation, id: str, ranks: dict[str, int]) -> ExpectedMemory:
    """Check that a memory was not found. Its successor is another memory, and may be found."""
    named = store.tables.memories.get(expectation.namespace, id, clock.now())
    rank = ranks.get(id)
    note = _describe_change(store, expectation.namespace, id, None, None) if named is None else ""
    if named and named.status is not Status.ACTIVE:
        note = f"it is {named.status}, and not found by any question"
    memory, passed = _only_active(named), rank is None
    return ExpectedMemory(id, wanted=False, memory=memory, rank=rank, passed=passed, note=note)


def _only_active(memory: Memory | None) -> Memory | None:
    """The memory if it is active: a report does not show what was forgotten."""
    return memory if memory and memory.status is Status.ACTIVE else None


def _find_successor(store: OpenStore, memory: Memory) -> Memory | None:
    """The last of the memories that superseded one another, which may be the memory itself; None if it is gone."""
    seen = {memory.id}
    current: Memory | None = memory
    while current and current.status is Status.SUPERSEDED and current.superseded_by:
        if current.superseded_by in seen:
            return current
        seen.add(current.superseded_by)
        current = store.tables.memories.get(memory.namespace, current.superseded_by, clock.now())
    return current


def _describe_change(store: OpenStore, namespace: str, id: str, named: Memory | None, current: Memory | None) -> str:
    """Say what changed since the memory was named; empty if nothing did. `current` is its last successor."""
    if named is None:
        line = store.tables.purges.get(namespace, id)
        return f"the memory is gone: {describe_purge(line) if line else 'it is no longer in the store'}"
    if current is None:
        return "the memory is gone: it was superseded, and its replacement is no longer in the store"
    superseded = f"superseded by {current.id}, which counts instead" if current.id != id else ""
    if current.status is Status.ACTIVE:
        return superseded
    gone = f"the memory is gone: {current.status} on {current.updated:%Y-%m-%d %H:%M}"
    return f"{superseded}; {gone}" if superseded else gone
