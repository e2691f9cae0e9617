"""What a new memory replaces: surely, by its form, or perhaps, by a learned judge.

It is compared with the memories that share its words, those whose vectors are near, and the one that holds its slot.
One that it surely replaces is ended with it. One that it may replace is proposed: both stay, and somebody decides.
Instructions and decisions are never ended by words, nor are several memories at once: those are proposed, too. Several
are counted among those that are trusted most: an import beside what the user said does not keep them from mending it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from retentive import clock
from retentive.errors import EmbedError
from retentive.judgement import CROWD, MAX_STATEMENT_CHARS, VECTOR_SPACE
from retentive.model import (
    Draft,
    Kind,
    Memory,
    Replacement,
    Source,
    Status,
    Traits,
    find_trust,
    from_micros,
    may_replace,
)
from retentive.search.retrievers import find_neighbours
from retentive.store import OpenStore
from retentive.store.scope import scope
from retentive.store.vectors import packed, unpack_vector
from retentive.text.chunk import CHUNK_SIZE
from retentive.text.sentences import spans

if TYPE_CHECKING:
    from retentive.judgement.corrections.statement import Statement

MAX_NEIGHBOURS = CROWD  # memories near by vector that a new one is compared with
MAX_PROPOSALS = 2  # for one new memory: more would be noise
# The judge's score from which a pair is proposed: in a new store, and what is added where many memories are compared.
# On lives left out, .6 of the pairs at .36 are replacements, and .75 of those at .54.
MIN_PROPOSED, CROWD_MARGIN = 0.12, 0.33
EVENT_MARGIN = 0.2  # more for what merely happened, and for a decision: most add something, and replace nothing
MIN_AGREED = 0.45  # the judge's score where the form alone has other meanings: "moved to Porto", "moved to Neovim"
NOT_COMPARED = frozenset({Kind.NOTE, Kind.FILE})  # known by an id of their own
NOT_ENDED_BY_WORDS = frozenset({Kind.INSTRUCTION, Kind.DECISION})


@dataclass(frozen=True, slots=True)
class _Compared:
    """An older memory beside a new one."""

    memory: Memory
    verdict: Any
    score: float


def apply_corrections(store: OpenStore, draft: Draft, near: Iterable[Memory], *, judge: bool = True) -> Draft:
    """The draft with its slot, the memory it replaces, those it may replace, or the one that replaced it already.

    `near` are memories that share its words. A slot that the caller gave decides alone. Without the judge only what
    has the form of a correction ends or is proposed.
    """
    if not store.config.corrections or draft.traits.kind in NOT_COMPARED:
        return draft
    draft = draft._replace(traits=_with_bounds(store, draft))
    if draft.traits.slot or len(draft.content) > MAX_STATEMENT_CHARS:
        return draft
    statement = store.rules().parse(draft.content)
    draft, vector = _with_vector(store, draft)
    known = _find_known(store, draft, statement, near, vector)
    when = draft.traits.valid_from or from_micros(clock.now())
    older = [memory for memory in known if memory.valid_from <= when]
    compared = _compare_all(store, older, statement, vector if judge and is_judged(store) else None)
    adds_mostly = draft.traits.kind is Kind.DECISION or (statement.is_event and not statement.says_change)
    ended, proposed = _decide(compared, EVENT_MARGIN if adds_mostly else 0.0, draft.traits.source)
    slot = _find_free_slot(store, statement, known, ended, when)
    return draft._replace(
        traits=replace(draft.traits, slot=slot) if slot else draft.traits,
        corrects=ended,
        proposes=proposed,
        ended_by=None if slot else _find_successor(store, statement, known, when),
    )


def _with_bounds(store: OpenStore, draft: Draft) -> Traits:
    """With the times between which it holds by its own words, as far as the caller did not give them.

    Words about the one sentence of a memory: the end of one of several is not the end of the others.
    """
    traits, said = draft.traits, draft.traits.valid_from or from_micros(clock.now())
    if traits.expires or len(draft.content) > MAX_STATEMENT_CHARS or len([*spans(draft.content)]) > 1:
        return traits
    begun, end = store.rules().ends(draft.content, said)
    if end is None:
        return traits
    return replace(traits, valid_from=traits.valid_from or begun, expires=end)


def _with_vector(store: OpenStore, draft: Draft) -> tuple[Draft, Any]:
    """The draft with its vector, made once for comparing and for keeping; None where there is no embedder."""
    if draft.vector is not None:
        return draft, unpack_vector(draft.vector)
    if store.embedder is None or draft.traits.context or len(draft.content) > CHUNK_SIZE:
        return draft, None
    try:
        vectors = store.embedder.embed([draft.content])
    except EmbedError:
        return draft, None  # told by `keep`, which tries again
    return draft._replace(vector=packed(vectors)[0]), vectors[0]


def is_judged(store: OpenStore) -> bool:
    """Whether the store's vectors are those that the judges were trained on."""
    return store.space is not None and store.space.name.startswith(VECTOR_SPACE)


def _find_known(
    store: OpenStore, draft: Draft, statement: "Statement", near: Iterable[Memory], vector: Any
) -> Sequence[Memory]:
    """The active memories that it may concern."""
    found = {memory.id: memory for memory in near}
    if vector is not None:
        within = scope([store.namespace], session=draft.traits.session, include="memories")
        found |= {memory.id: memory for memory in find_neighbours(store, vector, within, MAX_NEIGHBOURS)}
    slot = store.rules().find_slot(statement)
    if slot:
        found |= {each.id: each for each in store.tables.memories.same_slot(store.namespace, [slot], clock.now())}
    return [
        memory
        for memory in found.values()
        if memory.session == draft.traits.session
        and memory.status is Status.ACTIVE
        and memory.kind not in NOT_COMPARED
        and memory.content_hash != draft.content_hash
        and len(memory.content) <= MAX_STATEMENT_CHARS
    ]


def _compare_all(store: OpenStore, older: Sequence[Memory], newer: "Statement", vector: Any) -> list[_Compared]:
    """What the form says of each, and how likely the judge finds that it is replaced."""
    rules, space = store.rules(), store.space
    vectors: Mapping[str, bytes] = {}
    if vector is not None and space is not None:
        vectors = store.tables.chunks.memory_vectors(store.namespace, [memory.id for memory in older], space)
    stored = [vectors.get(memory.id) for memory in older]
    statements = [rules.parse(memory.content) for memory in older]
    scores = rules.score_replacements(
        statements, newer, [unpack_vector(each) if each else None for each in stored], vector
    )
    return [
        _Compared(memory, rules.compare(statement, newer), score)
        for memory, statement, score in zip(older, statements, scores, strict=True)
    ]


def _decide(
    compared: Sequence[_Compared], margin: float, source: Source
) -> tuple[tuple[Replacement, ...], tuple[Replacement, ...]]:
    """What is ended, and what is proposed; `margin` is added to the score that is needed."""
    sure = [each for each in compared if each.verdict and (not each.verdict.needs_judge or each.score >= MIN_AGREED)]
    proposed = [_name(each) for each in sure]
    foremost = _find_foremost(sure, source)
    if len(foremost) == 1 and foremost[0].memory.kind not in NOT_ENDED_BY_WORDS:
        others = [_name(each) for each in sure if each is not foremost[0]]
        return (_name(foremost[0]),), tuple(others[:MAX_PROPOSALS])
    threshold = MIN_PROPOSED + margin + CROWD_MARGIN * min(1.0, len(compared) / MAX_NEIGHBOURS)
    doubtful = [each for each in compared if each not in sure and (each.verdict or each.score >= threshold)]
    proposed += [_name(each) for each in sorted(doubtful, key=lambda each: -each.score)]
    return (), tuple(proposed[:MAX_PROPOSALS])


def _find_foremost(sure: Sequence[_Compared], source: Source) -> list[_Compared]:
    """The most trusted memories of those that a source may end; all if it may end none."""
    endable = [each for each in sure if may_replace(source, each.memory.source)] or [*sure]
    most = max((find_trust(each.memory.source) for each in endable), default=None)
    return [each for each in endable if find_trust(each.memory.source) is most]


def _name(each: _Compared) -> Replacement:
    if each.verdict:
        return Replacement(each.memory.id, each.verdict.rule, each.verdict.reason)
    return Replacement(each.memory.id, "judge", f"the newer one may replace it ({each.score:.0%} sure)")


def _find_free_slot(
    store: OpenStore, statement: "Statement", known: Sequence[Memory], ended: Sequence[Replacement], when: datetime
) -> str | None:
    """The slot that the words name, unless a memory that is not ended holds it."""
    slot: str | None = store.rules().find_slot(statement)
    if slot is None:
        return None
    gone = {each.id for each in ended}
    is_held = any(memory.slot == slot and memory.id not in gone and memory.valid_from <= when for memory in known)
    return None if is_held else slot


def _find_successor(store: OpenStore, statement: "Statement", known: Sequence[Memory], when: datetime) -> str | None:
    """A memory that tells of a later time and surely replaced this one before it came."""
    for memory in known:
        if memory.valid_from > when:
            verdict = store.rules().compare(statement, store.rules().parse(memory.content))
            if verdict and not verdict.needs_judge:
                return memory.id
    return None
