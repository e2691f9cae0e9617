"""What callers give to be kept, one or many: checked, compared with what resembles it, and handed to `keep`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any

from retentive import clock
from retentive.errors import Conflict, Invalid, NotFound, SecretFound
from retentive.judgement.likeness import NEAR, overlap
from retentive.memories import edit
from retentive.memories.corrections import apply_corrections
from retentive.memories.plan import REPLACES
from retentive.memories.write import check_named, write_memories
from retentive.model import (
    Added,
    Draft,
    Loaded,
    Memory,
    Proposal,
    Refusal,
    Replacement,
    Resemblance,
    Space,
    Status,
    Traits,
    may_replace,
)
from retentive.search.retrievers import find_like
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.active_model import with_active_model
from retentive.store.scope import scope
from retentive.store.validate import Options
from retentive.store.vectors import space_for, with_vectors
from retentive.text.terms import words

BATCH = 2000  # memories that share one commit in a bulk load: a tenth faster than 1,000, and 4,000 gain nothing more
LONGEST = (
    8_000_000  # characters that share one commit: 40 MB on the way to a server, and the lock held for a second or two
)
MOST_REPLACED = 100  # ids that one memory may name as replaced
CANDIDATES = 20  # memories looked at for what resembles a new one
MAX_PROPOSALS_READ = 1000  # open proposals looked through for those of one memory: people decide on them


def add(store: OpenStore, text: Any, vector: Any, options: Mapping[str, Any], actor: str) -> Added:
    validate.plain(actor, "actor")
    (draft,) = with_vectors([draft_of(store, text, options)], [vector], space_for(store, [vector]))
    known = near(store, draft)
    resembling = _resembling(store, draft, known)
    (kept,) = write_memories(store, [_replacing(apply_corrections(store, draft, known), draft.corrects)], actor)
    memory = kept.memory or edit.load(store, kept.id)
    others = tuple(each for each in resembling if each.id not in (kept.id, *kept.superseded)) if kept.created else ()
    return Added(
        memory=memory,
        created=kept.created,
        superseded=kept.superseded,
        resembles=others,
        pending=kept.pending,
        ended=kept.ended,
        proposals=kept.proposals if kept.created else _find_proposals(store, draft, memory),
    )


def _find_proposals(store: OpenStore, draft: Draft, known: Memory) -> tuple[Proposal, ...]:
    """What a known text may replace, if it is from a lesser source than the draft: why that was not done."""
    if may_replace(known.source, draft.traits.source):
        return ()
    found = store.tables.proposals.page(store.namespace, clock.now(), MAX_PROPOSALS_READ)
    return tuple(each for each in found if each.newer_id == known.id)


def _replacing(draft: Draft, named: Sequence[Replacement]) -> Draft:
    """Have a draft replace what the caller named, before what its words say of the same memories."""
    ids = {each.id for each in named}
    return draft._replace(
        corrects=(*named, *(each for each in draft.corrects if each.id not in ids)),
        proposes=tuple(each for each in draft.proposes if each.id not in ids),
    )


def add_many(
    store: OpenStore,
    items: Iterable[str | Mapping[str, Any]],
    vectors: Iterable[Any] | None,
    progress: Callable[[int], None] | None,
    options: Mapping[str, Any],
    actor: str,
) -> Loaded:
    validate.plain(actor, "actor")
    if "replaces" in options:
        raise Invalid("replaces cannot be set for all memories", "Give it with the item that replaces others.")
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise Invalid("add_many takes a list of memories", "Use add for one.")
    refusals: list[Refusal] = []
    batches = _batches(store, items, vectors, options, refusals)
    loaded = _load(store, iter([*batches]) if isinstance(items, Sequence) else batches, progress, actor)
    return replace(loaded, refusals=tuple(refusals))


def _load(
    store: OpenStore, batches: Iterator[Sequence[Draft]], progress: Callable[[int], None] | None, actor: str
) -> Loaded:
    ids: list[str] = []
    created = superseded = pending = 0
    for batch in batches:
        if not any(draft.vector for draft in batch):  # vectors that a caller brings are of the model there was at first
            store = with_active_model(store, is_writing=True)
        for kept in write_memories(store, batch, actor):
            ids.append(kept.id)
            created += kept.created
            superseded += len(kept.superseded)
            pending += kept.pending
        if progress:
            progress(len(ids))
    return Loaded(tuple(ids), created, len(ids) - created, superseded, pending)


def _batches(
    store: OpenStore,
    items: Iterable[str | Mapping[str, Any]],
    vectors: Iterable[Any] | None,
    options: Mapping[str, Any],
    refusals: list[Refusal],
) -> Iterator[Sequence[Draft]]:
    """Yield drafts of up to two thousand items, all checked. Items that hold a secret are added to `refusals`."""
    common = _traits(store, options, "add_many")
    pairs = _paired(items, vectors)
    space: Space | None = None
    done = 0
    replaced: dict[str, int] = {}
    while part := [*islice(pairs, BATCH)]:
        numbers: list[int] = []
        drafts: list[Draft] = []
        given: list[Any] = []
        for number, (item, vector) in enumerate(part, start=done + 1):
            try:
                drafts.append(_numbered(store, number, item, options, common))
            except SecretFound as error:
                refusals.append(Refusal(f"item {number}", str(error)))
                continue
            numbers.append(number)
            given.append(item.get("vector", vector) if isinstance(item, Mapping) else vector)
        _check_replaced(store, drafts, numbers, replaced)
        space = space or space_for(store, given)
        yield from cut(with_vectors(drafts, given, space, numbers))
        done += len(part)


def _check_replaced(
    store: OpenStore, drafts: Sequence[Draft], numbers: Sequence[int], replaced: dict[str, int]
) -> None:
    """Raise if an item names a memory that it cannot replace. `replaced` has those of earlier items."""
    names = [each.id for draft in drafts for each in draft.corrects]
    known = store.tables.memories.named(store.namespace, names, clock.now()) if names else {}
    for number, draft in zip(numbers, drafts, strict=True):
        try:
            check_named(store, [draft], known)
        except (Invalid, NotFound, Conflict) as error:
            raise type(error)(f"item {number}: {error}", error.hint) from error
        for id in (each.id for each in draft.corrects):
            if replaced.setdefault(id, number) != number:
                raise Conflict(f"item {number}: {id} is replaced by item {replaced[id]} already", "Name it once.")


def cut(drafts: Sequence[Draft]) -> Iterator[Sequence[Draft]]:
    """Before they grow too long together."""
    start = length = 0
    for at, draft in enumerate(drafts):
        if at > start and length + len(draft.content) > LONGEST:
            yield drafts[start:at]
            start, length = at, 0
        length += len(draft.content)
    if drafts:
        yield drafts[start:]


def _numbered(store: OpenStore, number: int, item: Any, options: Mapping[str, Any], common: Traits) -> Draft:
    try:
        if isinstance(item, Mapping):
            own = {key: value for key, value in item.items() if key not in ("text", "vector")}
            return draft_of(store, item.get("text", ""), {**options, **own})
        return secret_policy.draft(store, validate.draft(item, common, store.config.max_content))
    except SecretFound:
        raise
    except Invalid as error:
        raise type(error)(f"item {number}: {error}", error.hint) from error


def draft_of(store: OpenStore, text: Any, options: Mapping[str, Any]) -> Draft:
    own = {name: value for name, value in options.items() if name != "replaces"}
    draft = secret_policy.draft(store, validate.draft(text, _traits(store, own, "add"), store.config.max_content))
    ids = dict.fromkeys(validate.plain(id, "replaces") for id in validate.each_of(options.get("replaces"), "replaces"))
    if len(ids) > MOST_REPLACED:
        raise Invalid(f"replaces has {len(ids)} ids; a memory replaces up to {MOST_REPLACED}")
    return draft._replace(corrects=tuple(Replacement(id, REPLACES, "named by the caller") for id in ids))


def _traits(store: OpenStore, options: Mapping[str, Any], verb: str) -> Traits:
    validate.known(options, Options, verb)
    return validate.traits(max_content=store.config.max_content, **options)


def _paired(items: Iterable[Any], vectors: Any) -> Iterator[tuple[Any, Any]]:
    if vectors is None:
        return ((item, None) for item in items)
    if not isinstance(vectors, Iterable):
        raise Invalid("vectors must be a list", "Give one vector for each item.")
    return _matched(items, vectors)


def _matched(items: Iterable[Any], vectors: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    missing = object()
    for item, vector in zip_longest(items, vectors, fillvalue=missing):
        if item is missing or vector is missing:
            raise Invalid("there are not as many vectors as items", "Give one vector for each item.")
        yield item, vector


def near(store: OpenStore, draft: Draft, status: Status = Status.ACTIVE) -> Sequence[Memory]:
    """Memories of the same scope that share telling words."""
    within = scope([store.namespace], session=draft.traits.session, status=status, include="memories")
    found = find_like(store, draft.content, within, CANDIDATES)
    return [memory for memory in found if memory.session == draft.traits.session]


def _resembling(store: OpenStore, draft: Draft, known: Sequence[Memory]) -> Sequence[Resemblance]:
    """Memories of the same kind that share most of the keywords."""
    tokens = store.engine.tokens
    own = tokens(" ".join(words(draft.content)))
    found = (
        Resemblance(memory.id, memory.content, round(overlap(own, tokens(" ".join(words(memory.content)))), 2))
        for memory in known
        if memory.content_hash != draft.content_hash and memory.kind is draft.traits.kind
    )
    return sorted((each for each in found if each.overlap >= NEAR), key=lambda each: -each.overlap)
