"""Find what a new memory replaces: surely, by its form, or perhaps, by a learned judge.

A draft is compared with the memories that share its keywords, those with near vectors, and the holder of its slot. A
memory that it surely replaces is ended. One that it may replace is proposed: both stay, and somebody decides.

Instructions and decisions are never ended by the form of a text, and never several memories at once: those are
proposed. Only the most trusted memories count as several, so an import cannot block a correction of the user's words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from retentive import clock
from retentive.errors import EmbedError
from retentive.frozen_dataclass import dataclass
from retentive.judgement import MAX_COMPARED_MEMORIES, MAX_STATEMENT_CHARS, TRAINED_SPACE
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
from retentive.store.scope import make_scope
from retentive.store.vectors import pack_vectors, unpack_vector
from retentive.text.chunk import CHUNK_SIZE
from retentive.text.sentences import find_sentences

if TYPE_CHECKING:
    from retentive.judgement.corrections.statement import Statement

MAX_NEIGHBOURS = MAX_COMPARED_MEMORIES  # memories near by vector that a new one is compared with
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
    """An older memory compared with a draft: the verdict of the rules, and the score of the judge."""

    memory: Memory
    verdict: Any
    score: float


def apply_corrections(store: OpenStore, draft: Draft, near: Iterable[Memory], *, judge: bool = True) -> Draft:
    """Fill in the slot of a draft, what it replaces, what it may replace, and what replaced it already.

    `near` are memories that share its keywords. If the caller gave a slot, the slot alone decides. Without `judge`,
    only the rules find replacements.
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
    compared = _compare_all(store, older, statement, vector if judge and has_trained_vectors(store) else None)
    adds_mostly = draft.traits.kind is Kind.DECISION or (statement.is_event and not statement.says_change)
    ended, proposed = _decide(compared, EVENT_MARGIN if adds_mostly else 0.0, draft.traits.source)
    slot = _find_free_slot(store, statement, known, ended, when)
    return draft._replace(
        traits=replace(draft.traits, slot=slot) if slot else draft.traits,
        corrects=ended,
        proposes=proposed,
        ended_by=None if slot else _find_successor(store, statement, known, when),
    )


def find_stated_slot(store: OpenStore, draft: Draft) -> str | None:
    """The slot that the text of a draft fills by its form; None if it is not compared, or surely fills none."""
    if not store.config.corrections or draft.traits.kind in NOT_COMPARED or len(draft.content) > MAX_STATEMENT_CHARS:
        return None
    return store.rules().find_slot(store.rules().parse(draft.content))


def _with_bounds(store: OpenStore, draft: Draft) -> Traits:
    """The traits with the times from and until which the text says it holds, unless the caller gave them.

    Only for texts of one sentence: the end of one of several is not the end of the others.
    """
    traits = draft.traits
    stated_at = traits.valid_from or from_micros(clock.now())
    if traits.expires or len(draft.content) > MAX_STATEMENT_CHARS or len([*find_sentences(draft.content)]) > 1:
        return traits
    begun, end = store.rules().find_validity(draft.content, stated_at)
    if end is None:
        return traits
    return replace(traits, valid_from=traits.valid_from or begun, expires=end)


def _with_vector(store: OpenStore, draft: Draft) -> tuple[Draft, Any]:
    """The draft with its vector, and the vector, made once for comparing and writing. None without an embedder."""
    if draft.vector is not None:
        return draft, unpack_vector(draft.vector)
    if store.embedder is None or draft.traits.context or len(draft.content) > CHUNK_SIZE:
        return draft, None
    try:
        vectors = store.embedder.embed([draft.content])
    except EmbedError:
        return draft, None  # `write_memories` tries again, and reports it
    return draft._replace(vector=pack_vectors(vectors)[0]), vectors[0]


def has_trained_vectors(store: OpenStore) -> bool:
    """Whether the store's vectors are of the model that the judges were trained on."""
    return store.space is not None and store.space.name.startswith(TRAINED_SPACE)


def _find_known(
    store: OpenStore, draft: Draft, statement: "Statement", near: Iterable[Memory], vector: Any
) -> Sequence[Memory]:
    """The active memories that a draft may replace or repeat."""
    found = {memory.id: memory for memory in near}
    if vector is not None:
        within = make_scope([store.namespace], session=draft.traits.session, include="memories")
        found |= {memory.id: memory for memory in find_neighbours(store, vector, within, MAX_NEIGHBOURS)}
    slot = store.rules().find_slot(statement)
    if slot:
        holders = store.tables.memories.load_active_by_slot(store.namespace, [slot], clock.now())
        found |= {each.id: each for each in holders}
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
    """Compare a statement with older memories, by the rules and by the judge."""
    rules, space = store.rules(), store.space
    vectors: Mapping[str, bytes] = {}
    if vector is not None and space is not None:
        vectors = store.tables.chunks.list_memory_vectors(store.namespace, [memory.id for memory in older], space)
    stored = [vectors.get(memory.id) for memory in older]
    unpacked = [unpack_vector(each) if each else None for each in stored]
    statements = [rules.parse(memory.content) for memory in older]
    scores = rules.score_replacements(statements, newer, unpacked, vector)
    return [
        _Compared(memory, rules.compare(statement, newer), score)
        for memory, statement, score in zip(older, statements, scores, strict=True)
    ]


def _decide(
    compared: Sequence[_Compared], margin: float, source: Source
) -> tuple[tuple[Replacement, ...], tuple[Replacement, ...]]:
    """Return the replacements to carry out and those to propose. `margin` is added to the score that is needed."""
    sure = [each for each in compared if _is_sure(each)]
    proposed = [_make_replacement(each) for each in sure]
    trusted = _find_most_trusted(sure, source)
    if len(trusted) == 1 and trusted[0].memory.kind not in NOT_ENDED_BY_WORDS:
        others = [_make_replacement(each) for each in sure if each is not trusted[0]]
        return (_make_replacement(trusted[0]),), tuple(others[:MAX_PROPOSALS])
    threshold = MIN_PROPOSED + margin + CROWD_MARGIN * min(1.0, len(compared) / MAX_NEIGHBOURS)
    doubtful = [each for each in compared if each not in sure and (each.verdict or each.score >= threshold)]
    proposed += [_make_replacement(each) for each in sorted(doubtful, key=lambda each: -each.score)]
    return (), tuple(proposed[:MAX_PROPOSALS])


def _is_sure(each: _Compared) -> bool:
    """Whether the rules find a replacement, and the judge agrees where the form alone is ambiguous."""
    return bool(each.verdict and (not each.verdict.needs_judge or each.score >= MIN_AGREED))


def _find_most_trusted(sure: Sequence[_Compared], source: Source) -> list[_Compared]:
    """The most trusted of the memories that a source may end, or of all if it may end none."""
    endable = [each for each in sure if may_replace(source, each.memory.source)] or [*sure]
    most = max((find_trust(each.memory.source) for each in endable), default=None)
    return [each for each in endable if find_trust(each.memory.source) is most]


def _make_replacement(each: _Compared) -> Replacement:
    if each.verdict:
        return Replacement(each.memory.id, each.verdict.rule, each.verdict.reason)
    return Replacement(each.memory.id, "judge", f"the newer one may replace it ({each.score:.0%} sure)")


def _find_free_slot(
    store: OpenStore, statement: "Statement", known: Sequence[Memory], ended: Sequence[Replacement], when: datetime
) -> str | None:
    """The slot that a statement names, unless a memory holds it that is not ended."""
    slot: str | None = store.rules().find_slot(statement)
    if slot is None:
        return None
    gone = {each.id for each in ended}
    is_taken = any(memory.slot == slot and memory.id not in gone and memory.valid_from <= when for memory in known)
    return None if is_taken else slot


def _find_successor(store: OpenStore, statement: "Statement", known: Sequence[Memory], when: datetime) -> str | None:
    """The id of a memory of a later time that surely replaces the statement."""
    for memory in known:
        if memory.valid_from > when:
            verdict = store.rules().compare(statement, store.rules().parse(memory.content))
            if verdict and not verdict.needs_judge:
                return memory.id
    return None
