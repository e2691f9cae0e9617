"""Mark and place hits that a newer memory replaced, or may have replaced.

A memory may be the older one of an open proposal. A message may be the origin of a memory that was superseded since.
One lookup for all hits of a search tells whether there is anything to do.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from retentive.model import Event, Hit, Memory, Outdated, Scope, Status, Tier, Type, Why
from retentive.search.newer_first import Key, join_pairs, key_of, lift_newer
from retentive.storage.tables.hidden import SupersededFact
from retentive.storage.tables.proposals import NewerMemory
from retentive.store import OpenStore
from retentive.store.origins import origins, read_origin
from retentive.text.chunk import chunk

MAX_CHAIN = 100  # of memories that replaced one another


class Successor(NamedTuple):
    """The memory that holds now in place of what a message says, and the hits that would show it."""

    mark: Outdated
    keys: Collection[Key]


def mark_outdated(store: OpenStore, scope: Scope, tier: Tier, hits: list[Hit], limit: int | None) -> list[Hit]:
    """Mark hits that are outdated, or possibly so, and place what is newer above them, within the limit."""
    if scope.filter.past:
        return hits
    ids = [hit.id for hit in hits if isinstance(hit.item, Memory)]
    messages = [hit.item for hit in hits if isinstance(hit.item, Event)]
    if not ids and not messages:
        return hits
    sessions = [*dict.fromkeys(event.session for event in messages)]
    rows = store.tables.hidden_messages.outdated(scope.namespaces, ids, sessions)
    if rows.superseded:
        hits = _mark_messages(hits, _find_successors(store, scope, messages, rows.superseded))
    return _mark_memories(store, scope, tier, hits, rows.older_ids)[:limit] if rows.older_ids else hits


def _mark_messages(hits: list[Hit], found: Mapping[Key, Successor]) -> list[Hit]:
    marked = [replace(hit, outdated=found[key].mark) if (key := key_of(hit)) in found else hit for hit in hits]
    return lift_newer(marked, {key: successor.keys for key, successor in found.items()})


def _find_successors(
    store: OpenStore, scope: Scope, messages: Sequence[Event], superseded: Sequence[SupersededFact]
) -> dict[Key, Successor]:
    """By message: what replaced the memory that was learned from it. A message that still backs one is current."""
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
    for namespace, origin in store.tables.hidden_messages.learned(scope.namespaces, sessions, scope.now):
        for place in read_origin(origin):
            facts.pop(_key_of_place(namespace, place), None)
    return {key: _successor(store, scope, fact) for key, fact in facts.items() if fact.ended}


def _successor(store: OpenStore, scope: Scope, fact: SupersededFact) -> Successor:
    """Follow what replaced what to its end. A successor that may not be seen is not named."""
    last: Memory | None = None
    id = fact.superseded_by
    for _ in range(MAX_CHAIN):
        memory = store.tables.memories.find_intact(fact.namespace, id, scope.now) if id else None
        if memory is None:
            break
        last, id = memory, memory.superseded_by
    assert fact.ended is not None  # noqa: S101 - the caller asked
    if last is None or last.status is not Status.ACTIVE or last.session not in (None, scope.session):
        return Successor(Outdated(None, fact.ended, is_certain=True), ())
    keys: set[Key] = {(last.namespace, Type.MEMORY, last.id)}
    keys |= {_key_of_place(last.namespace, place) for place in origins(last)}
    return Successor(Outdated(last.id, fact.ended, is_certain=True), keys)


def _key_of_place(namespace: str, place: tuple[str, int]) -> Key:
    return namespace, Type.EVENT, f"{place[0]}#{place[1]}"


def _mark_memories(store: OpenStore, scope: Scope, tier: Tier, hits: list[Hit], ids: Sequence[str]) -> list[Hit]:
    """Mark older memories of open proposals, and place the newer one directly above each."""
    newer: dict[Key, list[NewerMemory]] = {}
    for each in store.tables.proposals.newer_of(ids, scope):
        namespace, older = each.older
        newer.setdefault((namespace, Type.MEMORY, older), []).append(each)
    known = {key_of(hit) for hit in hits}
    missing = [each.id for some in newer.values() for each in some if _key_of_newer(each) not in known]
    added = {
        (memory.namespace, Type.MEMORY, memory.id): _added_hit(memory, tier)
        for memory in (store.tables.memories.some(missing, scope).values() if missing else ())
    }
    pairs: dict[Key, Key] = {}
    for key, some in newer.items():
        seen = [other for each in some if (other := _key_of_newer(each)) in known or other in added]
        pairs |= {key: seen[0]} if seen else {}
    wanted = {*pairs.values()}
    marked = [_marked(hit, newer.get(key_of(hit), ()), pairs.get(key_of(hit))) for hit in hits]
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
            own = {_key_of_place(second.namespace, place) for place in origins(second)}
            messages = {_key_of_place(first.namespace, place) for place in origins(first)} - own
            found |= dict.fromkeys(messages, (newer,))
    return found


def _key_of_newer(newer: NewerMemory) -> Key:
    return newer.older[0], Type.MEMORY, newer.id


def _added_hit(memory: Memory, tier: Tier) -> Hit:
    """A newer memory that the search did not find: all of its score comes from its pair."""
    return Hit(memory, 0.0, chunk(memory.content)[0], Why(tier, None, None, 1.0, 1.0))


def _marked(hit: Hit, newer: Sequence[NewerMemory], shown: Key | None) -> Hit:
    """Name the newer memory that stands above the hit, else the newest."""
    if not newer:
        return hit
    named = next((each for each in newer if _key_of_newer(each) == shown), newer[0])
    return replace(hit, outdated=Outdated(named.id, named.since, is_certain=False))
