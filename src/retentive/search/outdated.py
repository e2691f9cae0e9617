"""Mark and place hits that a newer memory replaced, or may have replaced.

A memory may be the older one of an open proposal. A message may be the origin of a memory that was superseded since.
One query for all hits of a search says whether there is anything to do.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from retentive.model import Event, Hit, ItemType, Memory, Scope, Status, Successor, Tier, Why
from retentive.search.newer_first import Key, join_pairs, key_of, lift_newer
from retentive.storage.tables.hidden import SupersededFact
from retentive.storage.tables.proposals import NewerMemory
from retentive.store import OpenStore
from retentive.store.origins import memory_origins, read_origin
from retentive.text.chunk import chunk_text

MAX_CHAIN = 100  # memories that replaced one another


class MessageSuccessor(NamedTuple):
    """The memory that replaced the statement of a message, and the keys of hits that would show it."""

    mark: Successor
    keys: Collection[Key]


def place_newer_first(store: OpenStore, scope: Scope, tier: Tier, hits: list[Hit], limit: int | None) -> list[Hit]:
    """Mark hits that are outdated, or possibly so, and place newer hits above them, within the limit."""
    if scope.filter.past:
        return hits
    ids = [hit.id for hit in hits if isinstance(hit.item, Memory)]
    messages = [hit.item for hit in hits if isinstance(hit.item, Event)]
    if not ids and not messages:
        return hits
    sessions = [*dict.fromkeys(event.session for event in messages)]
    rows = store.tables.hidden_messages.find_outdated(scope.namespaces, ids, sessions)
    if rows.superseded:
        hits = _mark_messages(hits, _find_successors(store, scope, messages, rows.superseded))
    return _mark_memories(store, scope, tier, hits, rows.older_ids)[:limit] if rows.older_ids else hits


def _mark_messages(hits: list[Hit], found: Mapping[Key, MessageSuccessor]) -> list[Hit]:
    marked = [replace(hit, outdated=found[key].mark) if (key := key_of(hit)) in found else hit for hit in hits]
    return lift_newer(marked, {key: successor.keys for key, successor in found.items()})


def _find_successors(
    store: OpenStore, scope: Scope, messages: Sequence[Event], superseded: Sequence[SupersededFact]
) -> dict[Key, MessageSuccessor]:
    """By message: the memory that replaced the one learned from it. A message that still backs a memory is current."""
    shown = {_key_of_place(event.namespace, (event.session, event.sequence)) for event in messages}
    facts = {
        key: fact
        for fact in superseded
        for place in read_origin(fact.origin)
        if (key := _key_of_place(fact.namespace, place)) in shown
    }
    if not facts:
        return {}
    sessions = [*{event.session for event in messages}]
    for namespace, origin in store.tables.hidden_messages.list_learned(scope.namespaces, sessions, scope.now):
        for place in read_origin(origin):
            facts.pop(_key_of_place(namespace, place), None)
    return {key: _find_successor(store, scope, fact) for key, fact in facts.items() if fact.ended}


def _find_successor(store: OpenStore, scope: Scope, fact: SupersededFact) -> MessageSuccessor:
    """Follow the chain of replacements to its end. A successor that may not be seen is not named."""
    last: Memory | None = None
    id = fact.superseded_by
    for _ in range(MAX_CHAIN):
        memory = store.tables.memories.find_intact(fact.namespace, id, scope.now) if id else None
        if memory is None:
            break
        last, id = memory, memory.superseded_by
    assert fact.ended is not None  # noqa: S101 - the caller asked
    if last is None or last.status is not Status.ACTIVE or last.session not in (None, scope.session):
        return MessageSuccessor(Successor(None, fact.ended, is_certain=True), ())
    keys: set[Key] = {(last.namespace, ItemType.MEMORY, last.id)}
    keys |= {_key_of_place(last.namespace, place) for place in memory_origins(last)}
    return MessageSuccessor(Successor(last.id, fact.ended, is_certain=True), keys)


def _key_of_place(namespace: str, place: tuple[str, int]) -> Key:
    return namespace, ItemType.EVENT, f"{place[0]}#{place[1]}"


def _mark_memories(store: OpenStore, scope: Scope, tier: Tier, hits: list[Hit], ids: Sequence[str]) -> list[Hit]:
    """Mark older memories of open proposals, and place the newer one directly above each."""
    newer: dict[Key, list[NewerMemory]] = {}
    for each in store.tables.proposals.list_newer(ids, scope):
        namespace, older = each.older
        newer.setdefault((namespace, ItemType.MEMORY, older), []).append(each)
    known = {key_of(hit) for hit in hits}
    missing = [each.id for some in newer.values() for each in some if _key_of_newer(each) not in known]
    added = {
        (memory.namespace, ItemType.MEMORY, memory.id): _make_added_hit(memory, tier)
        for memory in (store.tables.memories.list_by_ids(missing, scope).values() if missing else ())
    }
    pairs: dict[Key, Key] = {}
    for key, some in newer.items():
        seen = [other for each in some if (other := _key_of_newer(each)) in known or other in added]
        pairs |= {key: seen[0]} if seen else {}
    wanted = {*pairs.values()}
    marked = [_mark(hit, newer.get(key_of(hit), ()), pairs.get(key_of(hit))) for hit in hits]
    joined = join_pairs(marked, pairs, {key: hit for key, hit in added.items() if key in wanted})
    messages = _find_older_messages(joined, pairs)
    return join_pairs(lift_newer(joined, messages), pairs, {}) if messages else joined


def _find_older_messages(hits: Sequence[Hit], pairs: Mapping[Key, Key]) -> dict[Key, Collection[Key]]:
    """By message that an older memory of a pair came from: the newer memory, which stands above it, too."""
    memories = {key_of(hit): hit.item for hit in hits if isinstance(hit.item, Memory)}
    found: dict[Key, Collection[Key]] = {}
    for older, newer in pairs.items():
        first, second = memories.get(older), memories.get(newer)
        if first and second:
            own = {_key_of_place(second.namespace, place) for place in memory_origins(second)}
            messages = {_key_of_place(first.namespace, place) for place in memory_origins(first)} - own
            found |= dict.fromkeys(messages, (newer,))
    return found


def _key_of_newer(newer: NewerMemory) -> Key:
    return newer.older[0], ItemType.MEMORY, newer.id


def _make_added_hit(memory: Memory, tier: Tier) -> Hit:
    """A newer memory that the search did not find: all of its score comes from its pair."""
    return Hit(memory, 0.0, chunk_text(memory.content)[0], Why(tier, None, None, 1.0, 1.0))


def _mark(hit: Hit, newer: Sequence[NewerMemory], shown: Key | None) -> Hit:
    """Name the newer memory that stands above the hit, else the newest."""
    if not newer:
        return hit
    named = next((each for each in newer if _key_of_newer(each) == shown), newer[0])
    return replace(hit, outdated=Successor(named.id, named.since, is_certain=False))
