"""Where a memory came from: the messages it was learned from, what it took the place of, what became of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retentive import clock
from retentive.errors import NotFound
from retentive.memories import edit
from retentive.memories.plan import CONSOLIDATION
from retentive.model import Event, Memory, Provenance
from retentive.storage.tables.purges import told
from retentive.store import OpenStore, validate
from retentive.store.origins import as_list, origins
from retentive.store.person import may_read

LONGEST_CHAIN = 1000  # of what replaced what


def why(store: OpenStore, id: str) -> Provenance:
    memory = found(store, id)
    before = tuple(reversed(_chain(memory, lambda each: _before(store, each))))
    events: dict[str, Event | None] = {}
    for each in (memory, *_cited(memory, before)):
        events |= find_events(store, each)
    return Provenance(
        memory=memory,
        messages=tuple(event for event in events.values() if event),
        missing=tuple(id for id, event in events.items() if not event),
        replaced=before,
        replaced_by=tuple(_chain(memory, lambda each: _after(store, each))),
        changes=tuple(edit.history(store, id)),
    )


def _cited(memory: Memory, before: Sequence[Memory]) -> Iterator[Memory]:
    """The memories that were consolidated into this one, and into those: it came from their messages, too."""
    cited = {*as_list((memory.origin or {}).get("memories"))} if CONSOLIDATION in (memory.origin or {}) else set()
    for each in reversed(before):
        if each.id in cited:
            yield each
            cited |= {*as_list((each.origin or {}).get("memories"))} if CONSOLIDATION in (each.origin or {}) else set()


def found(store: OpenStore, id: str) -> Memory:
    """As `edit.load`; of what was purged, it says so."""
    try:
        return edit.load(store, id)
    except NotFound as error:
        line = store.tables.purges.of(store.namespace, validate.plain(id, "id"))
        if line is None:
            raise
        hint = "Nothing is left but this line; it cannot be brought back."
        raise NotFound(f"{id} was {told(line)}", hint) from error


def _chain(memory: Memory, further: Callable[[Memory], Sequence[Memory]]) -> list[Memory]:
    """Step by step away from it, each memory once."""
    chain: dict[str, Memory] = {}
    rest = [memory]
    while rest and len(chain) < LONGEST_CHAIN:
        for each in further(rest.pop(0)):
            if each.id not in chain and each.id != memory.id:
                chain[each.id] = each
                rest.append(each)
    return [*chain.values()]


def _before(store: OpenStore, memory: Memory) -> Sequence[Memory]:
    return store.tables.memories.superseded(memory.namespace, memory.id, clock.now())


def _after(store: OpenStore, memory: Memory) -> Sequence[Memory]:
    by = memory.superseded_by and store.tables.memories.find_intact(memory.namespace, memory.superseded_by, clock.now())
    return [by] if by else []


def said_in(store: OpenStore, memory: Memory) -> list[Event]:
    """The messages that its origin names, as far as they are there."""
    return [event for event in find_events(store, memory).values() if event]


def find_events(store: OpenStore, memory: Memory) -> dict[str, Event | None]:
    """The messages that the origin of a memory names, by their ids; None: it is not there.

    Anybody can write an origin. So a session of another namespace must itself name that of the memory as its person's,
    and this view must see it. Otherwise its messages count as missing.
    """
    talk = (memory.origin or {}).get("namespace", memory.namespace)
    found: dict[str, Event | None] = {}
    for session, sequence in origins(memory):
        is_seen = talk == memory.namespace or _is_linked(store, memory, talk, session)
        found[f"{session}#{sequence}"] = store.tables.conversations.event(talk, session, sequence) if is_seen else None
    return found


def _is_linked(store: OpenStore, memory: Memory, talk: Any, session: str) -> bool:
    if not isinstance(talk, str) or not may_read(store, talk):
        return False
    known = store.tables.conversations.get(talk, session)
    return known is not None and known.person == memory.namespace
