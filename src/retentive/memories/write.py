"""Write memories: the one way in which a memory gets into the store.

Read the existing memories that matter, decide (`plan.py`), embed, and apply everything as one batch of guarded steps.
The memory, its history, chunks, full text, vectors and change log become visible together or not at all. No
transaction is open while text is being embedded. If a concurrent writer won, the whole batch is refused and decided
again.

A bulk load writes two thousand memories at a time, so this path is kept lean. A load with vectors is first tried as
if all of it were new; the unique index reports if it is not. One dictionary of values for each memory serves all the
tables, and values that the memories of a load share are built once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from retentive import clock
from retentive.errors import EmbedError, NotFound, PartlyEmbedded, Stale
from retentive.memories import daily_log
from retentive.memories.corrections import find_stated_slot
from retentive.memories.plan import (
    REPLACES,
    Existing,
    Plan,
    WriteResult,
    check_replaced,
    expiry_steps,
    is_about_the_past,
    make_plan,
    plan_all_new,
    without_rejected,
)
from retentive.memories.trust import limit_by_trust
from retentive.model import Draft, Memory, Space, Status, Traits, to_micros
from retentive.storage import Step
from retentive.storage.tables import Tables, chunks, memories, proposals
from retentive.store import OpenStore
from retentive.store.vectors import count_dimensions, find_space, pack_rows, pack_vectors
from retentive.store.write import Decision, write
from retentive.text.chunk import CHUNK_SIZE, chunk_text

EXPIRED_PER_COMMIT = 500  # memories

Vectors = Sequence[bytes | None]
"""One vector for each text, in order. None: it is still to be embedded."""
FurtherSteps = Callable[[], Iterable[Step]]
"""Returns steps for the transaction of a write. It is called again for each attempt."""


def write_memories(
    store: OpenStore, drafts: Sequence[Draft], actor: str = "user", further_steps: FurtherSteps = lambda: ()
) -> list[WriteResult]:
    """Write each draft as if it came after the ones before it.

    All go in one batch, unless one touches a memory that another touched. Each batch also applies `further_steps`:
    give one draft, or steps that may be applied again. If one of their guards fails, the batch is decided again.
    """
    results: list[WriteResult] = []
    window = len(drafts)
    while len(results) < len(drafts):
        batch = drafts[len(results) : len(results) + window]
        written = _write_batch(store, batch, actor, further_steps)
        # Where drafts depend on each other, smaller batches save reading about all of them again and again.
        window = 2 * (window if len(written) == len(batch) else len(written))
        results += written
    return results


class _DecidedBatch(NamedTuple):
    drafts: Sequence[Draft]
    """All drafts of the batch, limited by the trust in their sources."""
    plan: Plan
    """The plan for the first of them, as many as can be decided together."""
    now: int


def _write_batch(
    store: OpenStore, drafts: Sequence[Draft], actor: str, further_steps: FurtherSteps
) -> list[WriteResult]:
    """Write the first drafts, as many as can be decided together, in one transaction."""
    vectors: dict[int, Vectors] = {}
    try_as_new = len(drafts) > 1 and all(draft.vector and not _may_touch_existing(draft) for draft in drafts)

    def decide(now: int) -> Decision[_DecidedBatch]:
        nonlocal try_as_new
        trusted_drafts = drafts
        plan = plan_all_new(drafts, now) if try_as_new else None
        try_as_new = False  # tried only at the first attempt
        if plan is None:
            existing = _load_existing(store, drafts, now)
            trusted_drafts = [limit_by_trust(without_rejected(draft, existing), existing, actor) for draft in drafts]
            plan = make_plan(trusted_drafts, existing, now, actor)
        vectors.update(_make_vectors(store, drafts, [index for index in plan.new_indexes if index not in vectors]))
        dimension = next((count_dimensions(draft.vector) for draft in drafts if draft.vector), None)
        inserts = _insert_steps(store, trusted_drafts, plan, vectors, find_space(store, dimension), now)
        proposed = proposals.insert_unless_there_step(plan.proposals_about_known_texts)
        steps = [*further_steps(), *plan.steps, *inserts, proposed]
        return Decision(steps, _DecidedBatch(trusted_drafts, plan, now), upserts=len(plan.results))

    decided = write(store, decide, busy="other writers kept changing the same memories")
    plan, results = decided.plan, decided.plan.results
    daily_log.append_to_log(store, ((results[index].id, drafts[index]) for index in plan.new_indexes), decided.now)
    store.sync_profile_slots(store, (draft.traits.slot for draft in drafts[: len(results)]))
    for index in plan.new_indexes:
        if not all(vectors[index]):
            results[index] = results[index]._replace(pending=True)
    if len(drafts) == 1 and plan.new_indexes:  # `add` returns the memory; bulk loads need only ids
        results[0] = results[0]._replace(memory=_build_memory(store, decided.drafts[0], plan, decided.now))
    return results


def _may_touch_existing(draft: Draft) -> bool:
    return bool(draft.traits.slot or draft.corrects or draft.proposes or draft.ended_by or draft.proposed_move)


def _load_existing(store: OpenStore, drafts: Sequence[Draft], now: int) -> Existing:
    """Load the memories that the drafts repeat, name, or share a slot with."""
    table = store.tables.memories
    slots = [draft.traits.slot for draft in drafts if draft.traits.slot]
    same_text = table.load_active_by_text(store.namespace, [draft.content_hash for draft in drafts], now)
    same_slot = table.load_active_by_slot(store.namespace, slots, now) if slots else []
    ids = {each.id for draft in drafts for each in (*draft.corrects, *draft.proposes)}
    ids |= {draft.ended_by for draft in drafts if draft.ended_by}
    named = table.load_by_ids(store.namespace, sorted(ids), now) if ids else {}
    check_named(store, drafts, named)
    existing = Existing(
        same_text={(memory.session, memory.content_hash): memory for memory in same_text},
        same_slot={(memory.session, memory.slot): memory for memory in same_slot},
        named={memory.id: memory for memory in named.values() if memory.status is Status.ACTIVE},
    )
    existing.rejected = _load_rejected(store, drafts, existing)
    for draft in drafts:
        key = draft.traits.session, draft.traits.slot
        if key not in existing.slot_histories and is_about_the_past(draft, existing.same_slot.get(key)):
            existing.slot_histories[key] = table.load_slot_history(store.namespace, *key, now)
    return existing


def announce_existing(store: OpenStore, tables: Tables, draft: Draft) -> None:
    """Name what `_load_existing` will read for a single draft, for `read_ahead`."""
    now = clock.now()
    tables.memories.load_active_by_text(store.namespace, [draft.content_hash], now)
    slot = draft.traits.slot or find_stated_slot(store, draft)
    if slot:
        tables.memories.load_active_by_slot(store.namespace, [slot], now)
    tables.proposals.find_rejected(store.namespace, [draft.content_hash])


def check_named(store: OpenStore, drafts: Sequence[Draft], named: Mapping[str, Memory]) -> None:
    """Raise if the caller names a memory to be replaced that does not exist or cannot be replaced."""
    for draft in drafts:
        for id in (each.id for each in draft.corrects if each.rule == REPLACES):
            if id not in named:
                raise NotFound(f"no memory {id[:60]!r} in namespace {store.namespace!r}", "See `list()`.")
            check_replaced(draft, named[id])


def _load_rejected(store: OpenStore, drafts: Sequence[Draft], existing: Existing) -> set[tuple[str, str]]:
    """Load the pairs (newer, older) that somebody rejected, where the newer text is a draft's or may end a draft."""
    hashes: dict[str, None] = {}
    for draft in drafts:
        traits = draft.traits
        holder = existing.same_slot.get((traits.session, traits.slot)) if traits.slot else None
        successor = existing.named.get(draft.ended_by or "")
        if draft.corrects or draft.proposes or draft.proposed_move or holder:
            hashes[draft.content_hash] = None
        hashes |= {each.content_hash: None for each in (holder, successor) if each}
    return store.tables.proposals.find_rejected(store.namespace, [*hashes]) if hashes else set()


def new_memory_steps(store: OpenStore, draft: Draft, id: str, now: int) -> Iterator[Step]:
    """Steps that insert a memory under an id that the caller chose. They fail if the id is taken."""
    vectors = dict(_make_vectors(store, [draft], [0]))
    plan = Plan([WriteResult(id, created=True)], [0])
    yield from _insert_steps(store, [draft], plan, vectors, store.space, now)


def build_new_memory(store: OpenStore, draft: Draft, id: str, now: int) -> Memory:
    """The memory that `new_memory_steps` inserts."""
    return _build_memory(store, draft, Plan([WriteResult(id, created=True)], [0]), now)


def _build_memory(store: OpenStore, draft: Draft, plan: Plan, now: int) -> Memory:
    """The written memory, built from its values instead of read back."""
    own = _own_values(draft, plan.results[0].id)
    ending = {"status": Status.SUPERSEDED, **_ending_values(plan.successors[0])} if plan.successors else {}
    values = {**_shared_values(store.namespace, draft.traits, None, now), **own, **ending}
    return memories.make_inserted_memory(values, clock.now())


def _insert_steps(
    store: OpenStore,
    drafts: Sequence[Draft],
    plan: Plan,
    vectors: Mapping[int, Vectors],
    space: Space | None,
    now: int,
) -> Iterator[Step]:
    """Steps that insert the new memories of a plan, with their chunks and proposals."""
    if not plan.new_indexes:
        return
    yield memories.namespace_step(store.namespace, now)
    rows: list[dict[str, Any]] = []  # each has the columns of a memory and of its first chunk
    further_chunks: list[dict[str, Any]] = []
    shared_by_traits: dict[int, dict[str, Any]] = {}  # by identity: all memories of a load share one `Traits`
    for index in plan.new_indexes:
        draft = drafts[index]
        shared = shared_by_traits.get(id(draft.traits))
        if shared is None:
            shared = _shared_values(store.namespace, draft.traits, space, now)
            shared_by_traits[id(draft.traits)] = shared
        first_chunk, *others = chunks.chunk_values(_split_content(draft), vectors[index])
        row = {**shared, **_own_values(draft, plan.results[index].id), **first_chunk}
        rows.append(row)
        further_chunks += [{**row, **chunk} for chunk in others]
    successors = {plan.results[index].id: successor for index, successor in plan.successors.items()}
    current = [row for row in rows if row["id"] not in successors] if successors else rows
    ended = [{**row, **_ending_values(successors[row["id"]])} for row in rows if row["id"] in successors]
    yield from memories.insert_steps(current, ended)
    yield from chunks.insert_steps([*rows, *further_chunks], space)
    for ended_id in successors:
        yield memories.chunk_status_step(store.namespace, ended_id, Status.SUPERSEDED)
    yield proposals.insert_step(plan.proposals)


def _own_values(draft: Draft, id: str) -> dict[str, Any]:
    """The column values that a memory shares with no other."""
    return {"id": id, "owner": id, "content": draft.content, "content_hash": draft.content_hash}


def _ending_values(successor: Memory) -> dict[str, Any]:
    return {"superseded_by": successor.id, "valid_to": to_micros(successor.valid_from)}


def _shared_values(namespace: str, traits: Traits, space: Space | None, now: int) -> dict[str, Any]:
    """The column values that all memories with these traits share."""
    return {
        **memories.trait_values(traits),
        **chunks.field_values(traits.context, traits.tags),
        "namespace": namespace,
        "owner_type": "memory",
        "created": now,
        "valid_from": to_micros(traits.valid_from) if traits.valid_from else now,
        "space": space.name if space else None,
    }


def _split_content(draft: Draft) -> Sequence[str]:
    """The texts of the chunks of a draft. One that comes with its vector is a single chunk."""
    if draft.vector or len(draft.content) <= CHUNK_SIZE:
        return (draft.content,)
    return chunk_text(draft.content)


def _make_vectors(store: OpenStore, drafts: Sequence[Draft], wanted: Sequence[int]) -> Iterator[tuple[int, Vectors]]:
    """The vectors of the drafts with these indexes: brought by the caller, or embedded in one call."""
    texts: list[str] = []
    chunk_counts: dict[int, int] = {}
    for index in wanted:
        draft = drafts[index]
        if draft.vector:
            yield index, (draft.vector,)
        else:
            split = _split_content(draft)
            chunk_counts[index] = len(split)
            texts += (chunks.join_embedded_text(text, draft.traits.context) for text in split)
    embedded_vectors = iter(embed_texts(store, texts))
    for index, count in chunk_counts.items():
        yield index, [*islice(embedded_vectors, count)]


def embed_texts(store: OpenStore, texts: Sequence[str]) -> Vectors:
    """Embed texts. A vector is None where the embedder is off or fails, so a memory can be written without it."""
    if not texts or store.embedder is None:
        return [None] * len(texts)
    vectors: Sequence[bytes] = ()
    try:
        vectors = pack_vectors(store.embedder.embed(texts))
    except PartlyEmbedded as error:
        store.journal.record_failure("embed", error)
        vectors = pack_rows(error.vectors)
    except EmbedError as error:
        store.journal.record_failure("embed", error)
    return [*vectors, *[None] * (len(texts) - len(vectors))]


def expire_memories(store: OpenStore) -> Iterator[int]:
    """Mark the memories of all namespaces whose time ran out as expired. Yield how many after each commit.

    Searches leave an expired memory out even without the mark, which is for its history.
    """
    now = clock.now()
    while due := store.tables.memories.list_expired(now, EXPIRED_PER_COMMIT):
        try:
            store.engine.apply([step for memory in due for step in expiry_steps(memory, now, "upkeep")])
        except Stale:
            continue  # one of them was changed meanwhile
        yield len(due)
