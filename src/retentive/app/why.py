"""Where a memory came from: the messages it was learned from, what it took the place of, what became of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retentive import clock
from retentive.app import check, edit
from retentive.app.parts import Parts
from retentive.errors import NotFound
from retentive.model import Event, Memory, Provenance
from retentive.storage.forgetting import Purges, told

LONGEST_CHAIN = 1000  # of what replaced what
DIGITS = 20  # more has no sequence


def why(parts: Parts, id: str) -> Provenance:
    memory = found(parts, id)
    named = [*origins(memory)]
    events = [parts.conversations.event(parts.namespace, *each) for each in named]
    return Provenance(
        memory=memory,
        messages=tuple(event for event in events if event),
        missing=tuple(f"{name}#{number}" for (name, number), event in zip(named, events, strict=True) if not event),
        replaced=tuple(reversed(_chain(memory, lambda each: _before(parts, each)))),
        replaced_by=tuple(_chain(memory, lambda each: _after(parts, each))),
        changes=tuple(edit.history(parts, id)),
    )


def found(parts: Parts, id: str) -> Memory:
    """As `edit.load`; of what was purged, it says so."""
    try:
        return edit.load(parts, id)
    except NotFound as error:
        line = Purges(parts.engine).of(parts.namespace, check.plain(id, "id"))
        if line is None:
            raise
        hint = "Nothing is left but this line; it cannot be brought back."
        raise NotFound(f"{id} was {told(line)}", hint) from error


def origins(memory: Memory) -> Iterator[tuple[str, int]]:
    """Session and sequence of the messages that its origin names."""
    origin = memory.origin or {}
    session = origin.get("session")
    for each in (*_several(origin.get("event")), *_several(origin.get("events")), *_several(origin.get("sequence"))):
        name, _, number = each.rpartition("#") if isinstance(each, str) else (session, "", each)
        name = name or session
        place = sequence_of(number)
        if isinstance(name, str) and place is not None:
            yield name, place


def sequence_of(given: Any) -> int | None:
    """The number of a message, if it can be one."""
    number = int(given) if str(given).isdecimal() and len(str(given)) < DIGITS else 0
    return number if 0 < number <= check.LAST else None


def _several(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]


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


def _before(parts: Parts, memory: Memory) -> Sequence[Memory]:
    return parts.memories.superseded(memory.namespace, memory.id, clock.now())


def _after(parts: Parts, memory: Memory) -> Sequence[Memory]:
    by = memory.superseded_by and parts.memories.get(memory.namespace, memory.superseded_by, clock.now())
    return [by] if by else []


def said_in(parts: Parts, memory: Memory) -> list[Event]:
    """The messages that its origin names, as far as they are there."""
    events = (parts.conversations.event(parts.namespace, *each) for each in origins(memory))
    return [event for event in events if event]
