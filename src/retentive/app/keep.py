"""The one way a memory is written.

Read what is there, decide, embed, and apply it all as one batch of guarded steps: the memory, its history, chunks,
full text, vectors and change log become visible together or not at all. No transaction is open while text is being
embedded. Where someone else was first, the batch is refused whole and decided again.

A bulk load goes this way two thousand at a time, so it is kept lean: if it brings its vectors it is first tried as if
all of it were new (the unique index says if it is not), one dictionary of values for each memory serves all the tables,
and what the memories of a load have in common is written out once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from retentive import clock
from retentive.app.parts import Parts
from retentive.app.vectors import packed, space_of
from retentive.errors import Busy, EmbedError, Stale
from retentive.ids import new_ids
from retentive.model import Draft, Kind, Memory, Space, Status, Traits, from_micros, to_micros
from retentive.storage import Step, chunks, memories
from retentive.text.chunk import CHUNK_SIZE, chunk

EXPIRED_AT_ONCE = 500  # that share a commit
TRIES = 100  # each try lost means that another went through; a slow one of three on a server lost 20 in a row

Vectors = Sequence[bytes | None]
Present = tuple[dict[Any, Memory], dict[Any, Memory]]


class Kept(NamedTuple):
    """What became of a draft."""

    id: str
    created: bool
    superseded: str | None = None
    pending: bool = False


@dataclass(slots=True)
class Plan:
    """What is to become of a batch."""

    kept: list[Kept] = field(default_factory=list)
    fresh: list[int] = field(default_factory=list)
    """The places in the batch of what is new."""
    steps: list[Step] = field(default_factory=list)
    """What happens to memories that are there already."""


def keep(parts: Parts, drafts: Sequence[Draft], actor: str = "user") -> list[Kept]:
    """Each draft as if it came after the ones before it. All in one batch, unless one touches what another touched."""
    kept: list[Kept] = []
    window = len(drafts)
    while len(kept) < len(drafts):
        asked = drafts[len(kept) : len(kept) + window]
        done = _keep(parts, asked, actor)
        # Where they depend on each other, deciding on a few at a time saves reading about all again and again.
        window = 2 * (window if len(done) == len(asked) else len(done))
        kept += done
    return kept


def _keep(parts: Parts, drafts: Sequence[Draft], actor: str) -> list[Kept]:
    """The first of the drafts, as many as can be decided together: these whole or not at all."""
    space = space_of(parts, next((len(draft.vector) // 2 for draft in drafts if draft.vector), None))
    vectors: dict[int, Vectors] = {}
    hopeful = len(drafts) > 1 and all(draft.vector and not draft.traits.slot for draft in drafts)
    for attempt in range(TRIES):
        now = clock.now()
        present: Present = ({}, {}) if hopeful and not attempt else _present(parts, drafts, now)
        plan = _plan(drafts, present, now, actor)
        vectors.update(_vectors(parts, drafts, [at for at in plan.fresh if at not in vectors]))
        try:
            parts.engine.apply([*plan.steps, *_insert_steps(parts, drafts, plan, vectors, space, now)])
        except Stale:
            continue
        parts.journal.kept(parts.namespace, len(plan.kept))
        for at in plan.fresh:
            if not all(vectors[at]):
                plan.kept[at] = plan.kept[at]._replace(pending=True)
        return plan.kept
    raise Busy("other writers kept changing the same memories", "Retry in a moment.")


def _plan(drafts: Sequence[Draft], present: Present, now: int, actor: str) -> Plan:
    """Up to the first draft that depends on what becomes of an earlier one."""
    plan, ids = Plan(), new_ids(now, len(drafts))
    same_text, same_slot = present
    seen: dict[tuple[str | None, str], int] = {}
    touched: set[str | tuple[str | None, str]] = set()
    for at, draft in enumerate(drafts):
        session, slot = draft.traits.session, draft.traits.slot
        if draft.traits.kind is Kind.NOTE:
            twin, same = at, None  # a note is known by its id: two may say the same
        else:
            twin = seen.setdefault((session, draft.content_hash), at)
            same = same_text.get((session, draft.content_hash))
        if twin == at and same is None and slot is None:
            plan.kept.append(Kept(ids[at], created=True))
            plan.fresh.append(at)
            continue
        holder = same_slot.get((session, slot)) if slot else None
        touches = {old.id for old in (same, holder) if old} | ({(session, slot)} if slot else set())
        depends = touches & touched if twin == at else slot or drafts[twin].traits.expires
        if depends:
            break
        touched |= touches
        if twin != at:
            plan.kept.append(Kept(plan.kept[twin].id, created=False))
        elif same is None and holder is None:
            plan.kept.append(Kept(ids[at], created=True))
            plan.fresh.append(at)
        else:
            _correct(plan, at, draft, ids[at], same, holder, now, actor)
    return plan


def _present(parts: Parts, drafts: Sequence[Draft], now: int) -> Present:
    """What is active now, by session and hash, and by session and slot."""
    slots = [draft.traits.slot for draft in drafts if draft.traits.slot]
    same_text = parts.memories.same_text(parts.namespace, [draft.content_hash for draft in drafts], now)
    same_slot = parts.memories.same_slot(parts.namespace, slots, now) if slots else []
    return (
        {(memory.session, memory.content_hash): memory for memory in same_text},
        {(memory.session, memory.slot): memory for memory in same_slot},
    )


def _correct(
    plan: Plan, at: int, draft: Draft, id: str, same: Memory | None, holder: Memory | None, now: int, actor: str
) -> None:
    """Something is there already: the same text, or another value of the slot."""
    known = same if same and same.status is Status.ACTIVE else None
    superseded = None
    for old in {old.id: old for old in (same, holder) if old and old is not known}.values():
        if old.status is not Status.ACTIVE:
            plan.steps += expiry(old, now, actor)
        elif known is None or old.id != known.id:
            superseded = old.id
            plan.steps += _superseding(old, known.id if known else id, draft.traits, now, actor)
    plan.kept.append(Kept(known.id if known else id, known is None, superseded))
    if known is None:
        plan.fresh.append(at)
    else:
        plan.steps += _said_again(known, draft.traits, now, actor)


def _said_again(known: Memory, traits: Traits, now: int, actor: str) -> Iterator[Step]:
    """A known text may take a slot, and may now hold for longer."""
    longer = known.expires is not None and (traits.expires is None or traits.expires > known.expires)
    changed = replace(
        known,
        slot=traits.slot or known.slot,
        expires=traits.expires if longer else known.expires,
        updated=from_micros(now),
    )
    if (changed.slot, changed.expires) == (known.slot, known.expires):
        yield memories.touch_step(known, now)
    else:
        yield from memories.update_steps(known, changed, actor, "said again")
        yield chunks.refresh_step(changed)


def _superseding(old: Memory, by: str, traits: Traits, now: int, actor: str) -> Iterator[Step]:
    moment = from_micros(now)
    end = max(old.valid_from, traits.valid_from or moment)
    ended = replace(old, status=Status.SUPERSEDED, superseded_by=by, valid_to=end, updated=moment)
    return memories.status_steps(old, ended, actor, None)


def expiry(memory: Memory, now: int, actor: str) -> Iterator[Step]:
    ended = replace(memory, status=Status.EXPIRED, valid_to=memory.expires, updated=from_micros(now))
    return memories.status_steps(memory, ended, actor, "its time ran out")


def new_steps(parts: Parts, draft: Draft, id: str, now: int) -> Iterator[Step]:
    """A memory under an id of the caller's choice; a broken key means that it is taken."""
    vectors = dict(_vectors(parts, [draft], [0]))
    yield from _insert_steps(parts, [draft], Plan([Kept(id, created=True)], [0]), vectors, parts.space, now)


def _insert_steps(
    parts: Parts,
    drafts: Sequence[Draft],
    plan: Plan,
    vectors: Mapping[int, Vectors],
    space: Space | None,
    now: int,
) -> Iterator[Step]:
    if not plan.fresh:
        return
    yield memories.namespace_step(parts.namespace, now)
    rows: list[dict[str, Any]] = []
    more: list[dict[str, Any]] = []
    common: dict[int, dict[str, Any]] = {}  # by identity: a load shares one value
    for at in plan.fresh:
        draft, made = drafts[at], plan.kept[at].id
        shared = common.get(id(draft.traits))
        if shared is None:
            shared = common[id(draft.traits)] = _common(parts.namespace, draft.traits, space, now)
        text = {"id": made, "owner": made, "content": draft.content, "content_hash": draft.content_hash}
        first, *others = chunks.chunk_values(_slices(draft), vectors[at])
        rows.append({**shared, **text, **first})
        more += [{**rows[-1], **other} for other in others]
    yield Step("memory_insert", rows)
    yield from chunks.insert_steps([*rows, *more], space)


def _common(namespace: str, traits: Traits, space: Space | None, now: int) -> dict[str, Any]:
    """The values that all memories with these traits share."""
    return {
        **memories.trait_values(traits),
        **chunks.field_values(traits.context, traits.tags),
        "namespace": namespace,
        "owner_type": "memory",
        "created": now,
        "valid_from": to_micros(traits.valid_from) if traits.valid_from else now,
        "space": space.name if space else None,
    }


def _slices(draft: Draft) -> Sequence[str]:
    """A memory that brings its vector is one piece."""
    if draft.vector or len(draft.content) <= CHUNK_SIZE:
        return (draft.content,)
    return chunk(draft.content)


def _vectors(parts: Parts, drafts: Sequence[Draft], wanting: Sequence[int]) -> Iterator[tuple[int, Vectors]]:
    yield from ((at, (drafts[at].vector,)) for at in wanting if drafts[at].vector)
    rest = [(at, _slices(drafts[at])) for at in wanting if not drafts[at].vector]
    texts = [chunks.embedded_text(text, drafts[at].traits.context) for at, slices in rest for text in slices]
    made = iter(embedded(parts, texts))
    yield from ((at, [next(made) for _ in slices]) for at, slices in rest)


def embedded(parts: Parts, texts: Sequence[str]) -> Vectors:
    """The vectors of texts; None for each where the embedder is off or down, which keeps no memory from being kept."""
    if not texts or parts.embedder is None:
        return [None] * len(texts)
    try:
        return packed(parts.embedder.embed(texts))
    except EmbedError as error:
        parts.journal.failed("embed", error)
        return [None] * len(texts)


def expire(parts: Parts) -> None:
    """Mark what has run out. Answers leave it out from its moment on; this is for the record."""
    now = clock.now()
    while found := parts.memories.expired(now, EXPIRED_AT_ONCE):
        try:
            parts.engine.apply([step for memory in found for step in expiry(memory, now, "upkeep")])
        except Stale:
            continue  # one of them was changed meanwhile
