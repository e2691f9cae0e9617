"""The one way a memory is written.

Read what is there, decide, embed, and apply it all as one batch of guarded steps: the memory, its history, chunks,
full text, vectors and change log become visible together or not at all. No transaction is open while text is being
embedded. Where someone else was first, the batch is refused whole and decided again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from retentive import clock
from retentive.app.parts import Parts
from retentive.app.vectors import packed, space_of, unit
from retentive.errors import Busy, EmbedError, Stale
from retentive.ids import new_id
from retentive.model import Added, Draft, Memory, Space, Status, from_micros
from retentive.storage import Step, chunks, memories
from retentive.text.chunk import chunk

TRIES = 20  # each try lost means that another writer's went through


@dataclass(slots=True)
class Decision:
    """What is to become of one draft."""

    draft: Draft
    existing: Memory | None = None
    twin: int | None = None
    """The place in the batch of an earlier draft that says the same."""
    ended: list[tuple[Memory, Status]] = field(default_factory=list)
    """What ceases to be active, and how."""
    memory: Memory | None = None
    """What is to be inserted."""

    @property
    def is_new(self) -> bool:
        return self.existing is None and self.twin is None

    @property
    def takes_slot(self) -> bool:
        """Said before, but now it is the value of a slot."""
        return bool(self.existing and self.draft.slot and self.existing.slot != self.draft.slot)


def keep(parts: Parts, drafts: Sequence[Draft], actor: str = "user") -> list[Added]:
    """All drafts or none. No two of them may have the same slot and session."""
    slices = [[draft.content] if draft.vector is not None else chunk(draft.content) for draft in drafts]
    vectors: dict[int, Sequence[bytes | None]] = {}
    space = space_of(parts, _given_dimension(drafts))
    for _ in range(TRIES):
        now = clock.now()
        decisions = _decide(parts, drafts, now)
        wanting = [at for at, each in enumerate(decisions) if each.is_new and at not in vectors]
        vectors.update(_vectors(parts, space, drafts, slices, wanting))
        try:
            parts.engine.apply(_steps(parts, decisions, slices, vectors, space, actor, now))
        except Stale:
            continue
        parts.journal.kept(parts.namespace, len(drafts))
        return _outcome(decisions, vectors, now)
    raise Busy("other writers kept changing the same memories", "Retry in a moment.")


def _decide(parts: Parts, drafts: Sequence[Draft], now: int) -> list[Decision]:
    same_text, same_slot = _present(parts, drafts, now)
    seen: dict[tuple[str | None, str], int] = {}
    decisions: list[Decision] = []
    for at, draft in enumerate(drafts):
        decision = Decision(draft, twin=seen.setdefault((draft.session, draft.content_hash), at))
        if decision.twin == at:
            decision.twin = None
        _compare(decision, same_text.get((draft.session, draft.content_hash)), same_slot)
        if decision.is_new:
            decision.memory = _memory(parts.namespace, draft, now)
        decisions.append(decision)
    return decisions


def _present(parts: Parts, drafts: Sequence[Draft], now: int) -> tuple[dict[Any, Memory], dict[Any, Memory]]:
    """What is active now, by session and hash, and by session and slot."""
    hashes = [draft.content_hash for draft in drafts]
    slots = [draft.slot for draft in drafts if draft.slot]
    same_text = parts.memories.same_text(parts.namespace, hashes, now)
    same_slot = parts.memories.same_slot(parts.namespace, slots, now) if slots else []
    return (
        {(memory.session, memory.content_hash): memory for memory in same_text},
        {(memory.session, memory.slot): memory for memory in same_slot},
    )


def _compare(decision: Decision, same: Memory | None, same_slot: dict[Any, Memory]) -> None:
    if same and same.status is Status.ACTIVE:
        decision.existing = same
    elif same:
        decision.ended.append((same, same.status))
    draft = decision.draft
    holder = same_slot.get((draft.session, draft.slot)) if draft.slot else None
    if holder and (same is None or holder.id != same.id):
        ended = Status.SUPERSEDED if holder.status is Status.ACTIVE else holder.status
        decision.ended.append((holder, ended))


def _memory(namespace: str, draft: Draft, now: int) -> Memory:
    moment = from_micros(now)
    return Memory(
        id=new_id(now), namespace=namespace, session=draft.session, kind=draft.kind, content=draft.content,
        context=draft.context, tags=draft.tags, slot=draft.slot, source=draft.source, origin=draft.origin,
        confidence=draft.confidence, importance=draft.importance, status=Status.ACTIVE, superseded_by=None,
        content_hash=draft.content_hash, valid_from=draft.valid_from or moment, valid_to=None, created=moment,
        updated=moment, expires=draft.expires, access_count=0, last_access=None, metadata=draft.metadata, version=1,
    )  # fmt: skip


def _steps(
    parts: Parts,
    decisions: Sequence[Decision],
    slices: Sequence[Sequence[str]],
    vectors: dict[int, Sequence[bytes | None]],
    space: Space | None,
    actor: str,
    now: int,
) -> Iterator[Step]:
    """Ordered so that steps of one kind stand together: the engine runs each kind as one."""
    for decision in decisions:
        yield from _ending(decision, now, actor)
        if decision.existing:
            yield from _again(decision, decision.existing, now, actor)
    fresh = [(at, each.memory) for at, each in enumerate(decisions) if each.memory]
    if not fresh:
        return
    yield memories.namespace_step(parts.namespace, now)
    if space:
        yield chunks.space_step(space)
    yield from (memories.insert_step(memory) for _, memory in fresh)
    for at, memory in fresh:
        yield from chunks.insert_steps(memory, slices[at], space, vectors[at])


def _ending(decision: Decision, now: int, actor: str) -> Iterator[Step]:
    successor = decision.memory or decision.existing
    for memory, status in decision.ended:
        if status is Status.SUPERSEDED and successor:
            end = max(memory.valid_from, successor.valid_from)
            ended = replace(memory, status=status, superseded_by=successor.id, valid_to=end, updated=from_micros(now))
            yield from memories.status_steps(memory, ended, actor, None)
        else:
            yield from _expiry(memory, now, actor)


def _expiry(memory: Memory, now: int, actor: str) -> Iterator[Step]:
    ended = replace(memory, status=Status.EXPIRED, valid_to=memory.expires, updated=from_micros(now))
    return memories.status_steps(memory, ended, actor, "its time ran out")


def _again(decision: Decision, existing: Memory, now: int, actor: str) -> Iterator[Step]:
    if decision.takes_slot:
        yield from memories.update_steps(existing, _refreshed(decision, existing, now), actor, "said again, for a slot")
    else:
        yield memories.touch_step(existing, now)


def _refreshed(decision: Decision, existing: Memory, now: int) -> Memory:
    """The existing memory after it was said again."""
    if not decision.takes_slot:
        return replace(existing, updated=from_micros(now))
    return replace(existing, updated=from_micros(now), slot=decision.draft.slot, version=existing.version + 1)


def _given_dimension(drafts: Sequence[Draft]) -> int | None:
    return next((len(draft.vector) for draft in drafts if draft.vector is not None), None)


def _vectors(
    parts: Parts,
    space: Space | None,
    drafts: Sequence[Draft],
    slices: Sequence[Sequence[str]],
    wanting: Sequence[int],
) -> Iterable[tuple[int, Sequence[bytes | None]]]:
    given = [at for at in wanting if drafts[at].vector is not None]
    if given:
        rows = packed(unit([drafts[at].vector for at in given], space))
        yield from ((at, [row]) for at, row in zip(given, rows, strict=True))
    rest = [at for at in wanting if drafts[at].vector is None]
    texts = [chunks.embedded_text(text, drafts[at].context) for at in rest for text in slices[at]]
    made = iter(embedded(parts, texts))
    yield from ((at, [next(made) for _ in slices[at]]) for at in rest)


def embedded(parts: Parts, texts: Sequence[str]) -> Sequence[bytes | None]:
    """The vectors of texts; None for each where the embedder is off or down, which keeps no memory from being kept."""
    if not texts or parts.embedder is None:
        return [None] * len(texts)
    try:
        return packed(parts.embedder.embed(texts))
    except EmbedError as error:
        parts.journal.failed("embed", error)
        return [None] * len(texts)


def _outcome(decisions: Sequence[Decision], vectors: dict[int, Sequence[bytes | None]], now: int) -> list[Added]:
    added: list[Added] = []
    for at, decision in enumerate(decisions):
        superseded = next((old.id for old, status in decision.ended if status is Status.SUPERSEDED), None)
        if decision.memory:
            added.append(Added(decision.memory, created=True, superseded=superseded, pending=not all(vectors[at])))
        elif decision.existing:
            added.append(Added(_refreshed(decision, decision.existing, now), created=False, superseded=superseded))
        elif decision.twin is not None:
            added.append(replace(added[decision.twin], created=False, superseded=None, pending=False))
    return added


def expire(parts: Parts, limit: int = 500) -> int:
    """Mark what has run out. Answers leave it out from its moment on; this is for the record."""
    now = clock.now()
    done = 0
    for memory in parts.memories.expired(now, limit):
        try:
            parts.engine.apply(_expiry(memory, now, "upkeep"))
        except Stale:
            continue  # changed meanwhile: if it still has run out, the next round marks it
        done += 1
    return done
