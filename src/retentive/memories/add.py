"""Add memories, one or many: check the input, compare it with similar memories, and write it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any

from retentive import clock
from retentive.errors import Conflict, Invalid, NotFound, SecretFound
from retentive.judgement.likeness import MIN_RESEMBLANCE, compute_overlap
from retentive.memories import edit
from retentive.memories.corrections import apply_corrections
from retentive.memories.plan import REPLACES
from retentive.memories.write import announce_existing, check_named, write_memories
from retentive.model import (
    AddManyResult,
    AddResult,
    Draft,
    Memory,
    Proposal,
    RefusedItem,
    Replacement,
    Scope,
    SimilarMemory,
    Space,
    Status,
    Traits,
    may_replace,
)
from retentive.search.retrievers import announce_like, find_like
from retentive.storage.tables import Tables
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.active_model import with_active_model
from retentive.store.read_ahead import read_ahead
from retentive.store.scope import make_scope
from retentive.store.traits import parse_traits
from retentive.store.validate import MemoryOptions
from retentive.store.vectors import find_space_of_vectors, with_vectors
from retentive.text.terms import find_query_words

BATCH_SIZE = 2000  # memories of one commit in a bulk load: a tenth faster than 1,000; 4,000 gain nothing more
MAX_COMMIT_CHARS = 8_000_000  # in one commit: 40 MB on the way to a server, and the lock held for a second or two
MAX_REPLACED = 100  # ids that one memory may name as replaced
MAX_RELATED = 20  # memories that a new one is compared with
MAX_PROPOSALS_READ = 1000  # open proposals searched for those of one memory: people keep their number small


def add(store: OpenStore, text: Any, vector: Any, options: Mapping[str, Any], actor: str) -> AddResult:
    """Add one memory, with corrections applied. Report similar memories that stay beside it."""
    validate.require_text(actor, "actor")
    draft = make_draft(store, text, options)
    within = _make_scope_of_related(store, draft)
    store = read_ahead(store, lambda tables: _announce_reads(store, tables, draft, within))
    store = with_active_model(store, is_writing=True)
    (draft,) = with_vectors([draft], [vector], find_space_of_vectors(store, [vector]))
    related = _find_in_scope(store, draft, within)
    similar = _find_similar(store, draft, related)
    corrected = apply_corrections(store, draft, related)
    (result,) = write_memories(store, [_put_named_first(corrected, draft.corrects)], actor)
    memory = result.memory or edit.load(store, result.id)
    gone = (result.id, *result.superseded)
    return AddResult(
        memory=memory,
        created=result.created,
        superseded=result.superseded,
        similar=tuple(each for each in similar if each.id not in gone) if result.created else (),
        pending=result.pending,
        replaced=result.replaced,
        proposals=result.proposals if result.created else _find_proposals(store, draft, memory),
    )


def _announce_reads(store: OpenStore, tables: Tables, draft: Draft, within: Scope) -> None:
    """Name what `add` will read in any case."""
    store.active.announce(tables.spaces)
    announce_like(store, tables, draft.content, within, MAX_RELATED)
    announce_existing(store, tables, draft)


def _find_proposals(store: OpenStore, draft: Draft, known: Memory) -> tuple[Proposal, ...]:
    """The open proposals of a known text from a less trusted source: they say what it was not allowed to replace."""
    if may_replace(known.source, draft.traits.source):
        return ()
    open_proposals = store.tables.proposals.list_page(store.namespace, clock.now(), MAX_PROPOSALS_READ)
    return tuple(each for each in open_proposals if each.newer_id == known.id)


def _put_named_first(draft: Draft, named: Sequence[Replacement]) -> Draft:
    """The draft with the replacements that the caller named. They win over those found by rules."""
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
) -> AddManyResult:
    """Add many memories in batches. Items that hold a secret are refused; all others must be valid."""
    validate.require_text(actor, "actor")
    if "replaces" in options:
        raise Invalid(
            "`replaces` cannot be set for all memories at once", "Give it with the item that replaces others."
        )
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise Invalid("add_many takes a list of memories", "Use add for one.")
    refusals: list[RefusedItem] = []
    batches = _read_batches(store, items, vectors, options, refusals)
    if isinstance(items, Sequence):
        batches = iter([*batches])  # a list is checked to its end before anything is written
    loaded = _write_batches(store, batches, progress, actor)
    return replace(loaded, refusals=tuple(refusals))


def _write_batches(
    store: OpenStore, batches: Iterator[Sequence[Draft]], progress: Callable[[int], None] | None, actor: str
) -> AddManyResult:
    ids: list[str] = []
    created = superseded = pending = 0
    for batch in batches:
        if not any(draft.vector for draft in batch):  # a caller's vectors are of the model at the start
            store = with_active_model(store, is_writing=True)
        for result in write_memories(store, batch, actor):
            ids.append(result.id)
            created += result.created
            superseded += len(result.superseded)
            pending += result.pending
        if progress:
            progress(len(ids))
    return AddManyResult(tuple(ids), created, len(ids) - created, superseded, pending)


def _read_batches(
    store: OpenStore,
    items: Iterable[str | Mapping[str, Any]],
    vectors: Iterable[Any] | None,
    options: Mapping[str, Any],
    refusals: list[RefusedItem],
) -> Iterator[Sequence[Draft]]:
    """Yield checked drafts in batches. Items that hold a secret are added to `refusals`."""
    common = _parse_traits(store, options, "add_many")
    pairs = _pair_vectors(items, vectors)
    space: Space | None = None
    read = 0
    replaced: dict[str, int] = {}
    while part := [*islice(pairs, BATCH_SIZE)]:
        numbers: list[int] = []
        drafts: list[Draft] = []
        own_vectors: list[Any] = []
        for number, (item, vector) in enumerate(part, start=read + 1):
            try:
                drafts.append(_read_item(store, number, item, options, common))
            except SecretFound as error:
                refusals.append(RefusedItem(f"item {number}", str(error)))
                continue
            numbers.append(number)
            own_vectors.append(item.get("vector", vector) if isinstance(item, Mapping) else vector)
        _check_replaced(store, drafts, numbers, replaced)
        space = space or find_space_of_vectors(store, own_vectors)
        yield from split_by_size(with_vectors(drafts, own_vectors, space, numbers))
        read += len(part)


def _check_replaced(
    store: OpenStore, drafts: Sequence[Draft], numbers: Sequence[int], replaced: dict[str, int]
) -> None:
    """Raise if an item names a memory that it cannot replace. `replaced` maps ids to the items that replace them."""
    names = [each.id for draft in drafts for each in draft.corrects]
    known = store.tables.memories.load_by_ids(store.namespace, names, clock.now()) if names else {}
    for number, draft in zip(numbers, drafts, strict=True):
        try:
            check_named(store, [draft], known)
        except (Invalid, NotFound, Conflict) as error:
            raise type(error)(f"item {number}: {error}", error.hint) from error
        for id in (each.id for each in draft.corrects):
            if replaced.setdefault(id, number) != number:
                raise Conflict(f"item {number}: {id} is replaced by item {replaced[id]} already", "Name it once.")


def split_by_size(drafts: Sequence[Draft]) -> Iterator[Sequence[Draft]]:
    """Split drafts into parts whose texts fit into one commit."""
    start = length = 0
    for index, draft in enumerate(drafts):
        if index > start and length + len(draft.content) > MAX_COMMIT_CHARS:
            yield drafts[start:index]
            start, length = index, 0
        length += len(draft.content)
    if drafts:
        yield drafts[start:]


def _read_item(store: OpenStore, number: int, item: Any, options: Mapping[str, Any], common: Traits) -> Draft:
    """The draft of one item of `add_many`. Errors name the number of the item."""
    try:
        if isinstance(item, Mapping):
            own = {key: value for key, value in item.items() if key not in ("text", "vector")}
            return make_draft(store, item.get("text", ""), {**options, **own})
        return secret_policy.apply_policy_to_draft(store, validate.make_draft(item, common, store.config.max_content))
    except SecretFound:
        raise
    except Invalid as error:
        raise type(error)(f"item {number}: {error}", error.hint) from error


def make_draft(store: OpenStore, text: Any, options: Mapping[str, Any]) -> Draft:
    """Check a text and its options, apply the policy for secrets, and make a draft of them."""
    own = {name: value for name, value in options.items() if name != "replaces"}
    draft = validate.make_draft(text, _parse_traits(store, own, "add"), store.config.max_content)
    draft = secret_policy.apply_policy_to_draft(store, draft)
    given = validate.as_list(options.get("replaces"), "replaces")
    ids = dict.fromkeys(validate.require_text(id, "replaces") for id in given)
    if len(ids) > MAX_REPLACED:
        raise Invalid(f"replaces has {len(ids)} ids; a memory replaces up to {MAX_REPLACED}")
    return draft._replace(corrects=tuple(Replacement(id, REPLACES, "named by the caller") for id in ids))


def _parse_traits(store: OpenStore, options: Mapping[str, Any], verb: str) -> Traits:
    validate.reject_unknown(options, MemoryOptions, verb)
    return parse_traits(max_content=store.config.max_content, **options)


def _pair_vectors(items: Iterable[Any], vectors: Any) -> Iterator[tuple[Any, Any]]:
    """Each item with its vector, or with None if no vectors were given."""
    if vectors is None:
        return ((item, None) for item in items)
    if not isinstance(vectors, Iterable):
        raise Invalid("vectors must be a list", "Give one vector for each item.")
    return _zip_equal(items, vectors)


def _zip_equal(items: Iterable[Any], vectors: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Pair items with vectors. Raise if there are more of one than of the other."""
    missing = object()
    for item, vector in zip_longest(items, vectors, fillvalue=missing):
        if item is missing or vector is missing:
            raise Invalid("there are not as many vectors as items", "Give one vector for each item.")
        yield item, vector


def find_related(store: OpenStore, draft: Draft, status: Status = Status.ACTIVE) -> Sequence[Memory]:
    """Memories of the same session that share keywords with a draft, found by keyword search."""
    return _find_in_scope(store, draft, _make_scope_of_related(store, draft, status))


def _make_scope_of_related(store: OpenStore, draft: Draft, status: Status = Status.ACTIVE) -> Scope:
    return make_scope([store.namespace], session=draft.traits.session, status=status, include="memories")


def _find_in_scope(store: OpenStore, draft: Draft, within: Scope) -> Sequence[Memory]:
    matches = find_like(store, draft.content, within, MAX_RELATED)
    return [memory for memory in matches if memory.session == draft.traits.session]


def _find_similar(store: OpenStore, draft: Draft, related: Sequence[Memory]) -> Sequence[SimilarMemory]:
    """The related memories of the same kind that share most of the keywords, most similar first."""
    own = find_keyword_tokens(store, draft.content)
    similar: list[SimilarMemory] = []
    for memory in related:
        if memory.content_hash == draft.content_hash or memory.kind is not draft.traits.kind:
            continue
        share = round(compute_overlap(own, find_keyword_tokens(store, memory.content)), 2)
        if share >= MIN_RESEMBLANCE:
            similar.append(SimilarMemory(memory.id, memory.content, share))
    return sorted(similar, key=lambda each: -each.overlap)


def find_keyword_tokens(store: OpenStore, text: str) -> Sequence[str]:
    return store.engine.tokens(" ".join(find_query_words(text)))
