"""The one way a memory is written.

Read what is there, decide, embed, and apply it all as one batch of guarded steps: the memory, its history, chunks,
full text, vectors and change log become visible together or not at all. No transaction is open while text is being
embedded. Where someone else was first, the batch is refused whole and decided again.

A bulk load goes this way two thousand at a time, so it is kept lean: if it brings its vectors it is first tried as if
all of it were new (the unique index says if it is not), one dictionary of values for each memory serves all the tables,
and what the memories of a load have in common is written out once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from retentive import clock
from retentive.errors import Busy, EmbedError, NotFound, PartlyEmbedded, Stale
from retentive.memories import daily_log
from retentive.memories.plan import (
    REPLACES,
    Existing,
    Plan,
    WriteResult,
    check_replaced,
    expiry,
    is_late,
    make_plan,
    plan_all_new,
    without_rejected,
)
from retentive.memories.trust import weigh
from retentive.model import Draft, Memory, Space, Status, Traits, to_micros
from retentive.storage import Step
from retentive.storage.tables import chunks, memories, proposals
from retentive.store import OpenStore
from retentive.store.vectors import pack_rows, packed, space_of
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.chunk import CHUNK_SIZE, chunk

EXPIRED_AT_ONCE = 500  # that share a commit


Vectors = Sequence[bytes | None]
ExtraSteps = Callable[[int], Iterable[Step]]


def write_memories(
    store: OpenStore, drafts: Sequence[Draft], actor: str = "user", also: ExtraSteps = lambda _: ()
) -> list[WriteResult]:
    """Each draft as if it came after the ones before it. All in one batch, unless one touches what another touched.

    `also` gives further steps for each batch, told how many drafts it has; if their guards fail, all is decided anew.
    """
    kept: list[WriteResult] = []
    window = len(drafts)
    while len(kept) < len(drafts):
        asked = drafts[len(kept) : len(kept) + window]
        done = _keep(store, asked, actor, partial(_after, also, len(kept)))
        # Where they depend on each other, deciding on a few at a time saves reading about all again and again.
        window = 2 * (window if len(done) == len(asked) else len(done))
        kept += done
    return kept


def _after(also: ExtraSteps, before: int, count: int) -> Iterable[Step]:
    return also(before + count)


def _keep(store: OpenStore, drafts: Sequence[Draft], actor: str, also: ExtraSteps) -> list[WriteResult]:
    """The first of the drafts, as many as can be decided together: these whole or not at all."""
    vectors: dict[int, Vectors] = {}
    hopeful = len(drafts) > 1 and all(draft.vector and not _depends_on_others(draft) for draft in drafts)
    for attempt in range(MAX_ATTEMPTS):
        now = clock.now()
        plan, decided = plan_all_new(drafts, now) if hopeful and not attempt else None, drafts
        if plan is None:
            present = _present(store, drafts, now)
            decided = [weigh(without_rejected(draft, present), present, actor) for draft in drafts]
            plan = make_plan(decided, present, now, actor)
        vectors.update(_vectors(store, drafts, [at for at in plan.fresh if at not in vectors]))
        space = space_of(store, next((len(draft.vector) // 2 for draft in drafts if draft.vector), None))
        try:
            made = _insert_steps(store, decided, plan, vectors, space, now)
            known = proposals.insert_unless_there_step(plan.proposals_of_known)
            store.engine.apply([*also(len(plan.kept)), *plan.steps, *made, known])
        except Stale:
            continue
        store.journal.kept(store.namespace, len(plan.kept))
        daily_log.log(store, ((plan.kept[at].id, drafts[at]) for at in plan.fresh), now)
        store.sync_profile(store, (draft.traits.slot for draft in drafts[: len(plan.kept)]))
        for at in plan.fresh:
            if not all(vectors[at]):
                plan.kept[at] = plan.kept[at]._replace(pending=True)
        if len(drafts) == 1 and plan.fresh:
            plan.kept[0] = plan.kept[0]._replace(memory=_written(store, decided[0], plan, now))
        return plan.kept
    raise Busy("other writers kept changing the same memories", "Retry in a moment.")


def _depends_on_others(draft: Draft) -> bool:
    return bool(draft.traits.slot or draft.corrects or draft.proposes or draft.ended_by or draft.move)


def _present(store: OpenStore, drafts: Sequence[Draft], now: int) -> Existing:
    slots = [draft.traits.slot for draft in drafts if draft.traits.slot]
    same_text = store.tables.memories.same_text(store.namespace, [draft.content_hash for draft in drafts], now)
    same_slot = store.tables.memories.same_slot(store.namespace, slots, now) if slots else []
    names = {each.id for draft in drafts for each in (*draft.corrects, *draft.proposes)}
    names |= {draft.ended_by for draft in drafts if draft.ended_by}
    named = store.tables.memories.named(store.namespace, sorted(names), now) if names else {}
    check_named(store, drafts, named)
    present = Existing(
        {(memory.session, memory.content_hash): memory for memory in same_text},
        {(memory.session, memory.slot): memory for memory in same_slot},
        {memory.id: memory for memory in named.values() if memory.status is Status.ACTIVE},
    )
    present.rejected = _rejected(store, drafts, present)
    for draft in drafts:
        key = draft.traits.session, draft.traits.slot
        if key not in present.chains and is_late(draft, present.same_slot.get(key)):
            present.chains[key] = store.tables.memories.chain(store.namespace, *key, now)
    return present


def check_named(store: OpenStore, drafts: Sequence[Draft], named: Mapping[str, Memory]) -> None:
    """Raise if the caller names a memory to be replaced that is not there, or cannot be."""
    for draft in drafts:
        for id in (each.id for each in draft.corrects if each.rule == REPLACES):
            if id not in named:
                raise NotFound(f"no memory {id[:60]!r} in namespace {store.namespace!r}", "See `retentive list`.")
            check_replaced(draft, named[id])


def _rejected(store: OpenStore, drafts: Sequence[Draft], present: Existing) -> set[tuple[str, str]]:
    """The pairs of texts that somebody keeps apart: with a draft as the newer one, or with what came before it."""
    hashes: dict[str, None] = {}
    for draft in drafts:
        holder = present.same_slot.get((draft.traits.session, draft.traits.slot)) if draft.traits.slot else None
        later = present.named.get(draft.ended_by or "")
        if draft.corrects or draft.proposes or draft.move or holder:
            hashes[draft.content_hash] = None
        hashes |= {each.content_hash: None for each in (holder, later) if each}
    return store.tables.proposals.rejected(store.namespace, [*hashes]) if hashes else set()


def new_steps(store: OpenStore, draft: Draft, id: str, now: int) -> Iterator[Step]:
    """A memory under an id of the caller's choice; a broken key means that it is taken."""
    vectors = dict(_vectors(store, [draft], [0]))
    yield from _insert_steps(store, [draft], Plan([WriteResult(id, created=True)], [0]), vectors, store.space, now)


def new_memory(store: OpenStore, draft: Draft, id: str, now: int) -> Memory:
    """The memory that the steps of a draft have written."""
    return _written(store, draft, Plan([WriteResult(id, created=True)], [0]), now)


def _written(store: OpenStore, draft: Draft, plan: Plan, now: int) -> Memory:
    text = {"id": plan.kept[0].id, "content": draft.content, "content_hash": draft.content_hash}
    ending = {"status": Status.SUPERSEDED, **_ending(plan.ended[0])} if plan.ended else {}
    values = {**_common(store.namespace, draft.traits, None, now), **text, **ending}
    return memories.inserted_memory(values, clock.now())


def _insert_steps(
    store: OpenStore,
    drafts: Sequence[Draft],
    plan: Plan,
    vectors: Mapping[int, Vectors],
    space: Space | None,
    now: int,
) -> Iterator[Step]:
    if not plan.fresh:
        return
    yield memories.namespace_step(store.namespace, now)
    rows: list[dict[str, Any]] = []
    more: list[dict[str, Any]] = []
    common: dict[int, dict[str, Any]] = {}  # by identity: a load shares one value
    for at in plan.fresh:
        draft, made = drafts[at], plan.kept[at].id
        shared = common.get(id(draft.traits))
        if shared is None:
            shared = common[id(draft.traits)] = _common(store.namespace, draft.traits, space, now)
        text = {"id": made, "owner": made, "content": draft.content, "content_hash": draft.content_hash}
        first, *others = chunks.chunk_values(_slices(draft), vectors[at])
        rows.append({**shared, **text, **first})
        more += [{**rows[-1], **other} for other in others]
    late = {plan.kept[at].id: later for at, later in plan.ended.items()}
    yield Step("memory_insert", [row for row in rows if row["id"] not in late] if late else rows)
    yield Step("memory_insert_ended", [{**row, **_ending(late[row["id"]])} for row in rows if row["id"] in late])
    yield from chunks.insert_steps([*rows, *more], space)
    for late_one in late:
        yield memories.ended_step(store.namespace, late_one)
    yield proposals.insert_step(plan.proposals)


def _ending(later: Memory) -> dict[str, Any]:
    return {"superseded_by": later.id, "valid_to": to_micros(later.valid_from)}


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


def _vectors(store: OpenStore, drafts: Sequence[Draft], wanting: Sequence[int]) -> Iterator[tuple[int, Vectors]]:
    yield from ((at, (drafts[at].vector,)) for at in wanting if drafts[at].vector)
    rest = [(at, _slices(drafts[at])) for at in wanting if not drafts[at].vector]
    texts = [chunks.embedded_text(text, drafts[at].traits.context) for at, slices in rest for text in slices]
    made = iter(embedded(store, texts))
    yield from ((at, [next(made) for _ in slices]) for at, slices in rest)


def embedded(store: OpenStore, texts: Sequence[str]) -> Vectors:
    """The vectors of texts; None for each where the embedder is off or down, which keeps no memory from being kept."""
    if not texts or store.embedder is None:
        return [None] * len(texts)
    made: Sequence[bytes] = ()
    try:
        made = packed(store.embedder.embed(texts))
    except PartlyEmbedded as error:
        store.journal.failed("embed", error)
        made = pack_rows(error.vectors)
    except EmbedError as error:
        store.journal.failed("embed", error)
    return [*made, *[None] * (len(texts) - len(made))]


def expire(store: OpenStore) -> Iterator[int]:
    """Mark what has run out, and tell how many after each commit.

    Answers leave it out from its moment on; this is for the record.
    """
    now = clock.now()
    while found := store.tables.memories.expired(now, EXPIRED_AT_ONCE):
        try:
            store.engine.apply([step for memory in found for step in expiry(memory, now, "upkeep")])
        except Stale:
            continue  # one of them was changed meanwhile
        yield len(found)
