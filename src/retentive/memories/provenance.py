"""Provenance of a memory: the messages it was learned from, what it replaced, and what replaced it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retentive import clock
from retentive.errors import NotFound
from retentive.memories import edit
from retentive.memories.plan import CONSOLIDATION
from retentive.model import Event, Memory, Provenance
from retentive.storage.tables.purges import describe_purge
from retentive.store import OpenStore, validate
from retentive.store.origins import as_list, memory_origins
from retentive.store.person import may_read

MAX_CHAIN = 1000  # memories that replaced one another


def explain_memory(store: OpenStore, id: str) -> Provenance:
    """Explain where a memory came from."""
    memory = load_or_explain(store, id)
    before = tuple(reversed(_walk_chain(memory, lambda each: _load_replaced(store, each))))
    events: dict[str, Event | None] = {}
    for each in (memory, *_find_consolidated(memory, before)):
        events |= find_events(store, each)
    return Provenance(
        memory=memory,
        messages=tuple(event for event in events.values() if event),
        missing=tuple(id for id, event in events.items() if not event),
        replaced=before,
        replaced_by=tuple(_walk_chain(memory, lambda each: _load_successor(store, each))),
        changes=tuple(edit.history(store, id)),
    )


def _find_consolidated(memory: Memory, before: Sequence[Memory]) -> Iterator[Memory]:
    """The memories that were consolidated into this one, directly or in several runs. Their messages are its own."""
    cited = _read_cited(memory)
    for each in reversed(before):
        if each.id in cited:
            yield each
            cited |= _read_cited(each)


def _read_cited(memory: Memory) -> set[Any]:
    """The ids that a consolidated memory cites in its origin."""
    origin = memory.origin or {}
    return {*as_list(origin.get("memories"))} if CONSOLIDATION in origin else set()


def load_or_explain(store: OpenStore, id: str) -> Memory:
    """Load a memory. If it was purged, the error says so."""
    try:
        return edit.load(store, id)
    except NotFound as error:
        line = store.tables.purges.get(store.namespace, validate.require_text(id, "id"))
        if line is None:
            raise
        hint = "Only this line is left; the purge cannot be undone."
        raise NotFound(f"{id} was {describe_purge(line)}", hint) from error


def _walk_chain(memory: Memory, load_next: Callable[[Memory], Sequence[Memory]]) -> list[Memory]:
    """The memories reached from one by `load_next`, breadth first, each once."""
    chain: dict[str, Memory] = {}
    rest = [memory]
    while rest and len(chain) < MAX_CHAIN:
        for each in load_next(rest.pop(0)):
            if each.id not in chain and each.id != memory.id:
                chain[each.id] = each
                rest.append(each)
    return [*chain.values()]


def _load_replaced(store: OpenStore, memory: Memory) -> Sequence[Memory]:
    return store.tables.memories.list_superseded(memory.namespace, memory.id, clock.now())


def _load_successor(store: OpenStore, memory: Memory) -> Sequence[Memory]:
    if not memory.superseded_by:
        return []
    successor = store.tables.memories.find_intact(memory.namespace, memory.superseded_by, clock.now())
    return [successor] if successor else []


def load_messages(store: OpenStore, memory: Memory) -> list[Event]:
    """The existing messages that the origin of a memory names."""
    return [event for event in find_events(store, memory).values() if event]


def find_events(store: OpenStore, memory: Memory) -> dict[str, Event | None]:
    """The messages that the origin of a memory names, by their ids. None: the message is missing.

    Anybody can write an origin. So a session of another namespace must itself name the memory's namespace as that of
    its person, and this view must be able to read it. Otherwise its messages count as missing.
    """
    namespace = (memory.origin or {}).get("namespace", memory.namespace)
    events: dict[str, Event | None] = {}
    for session, sequence in memory_origins(memory):
        event = None
        if namespace == memory.namespace or _is_linked(store, memory, namespace, session):
            event = store.tables.conversations.load_event(namespace, session, sequence)
        events[f"{session}#{sequence}"] = event
    return events


def _is_linked(store: OpenStore, memory: Memory, namespace: Any, session: str) -> bool:
    """Whether a session of another namespace names the memory's namespace as that of its person."""
    if not isinstance(namespace, str) or not may_read(store, namespace):
        return False
    known = store.tables.conversations.get(namespace, session)
    return known is not None and known.person == memory.namespace
