"""The knowledge graph of the MCP reference server (`memory.jsonl`, formerly `memory.json`).

A line for each entity with its observations, and for each relation between two. An observation is about its entity and
seldom names it ("speaks Spanish"), so the name is put before it: two entities may be said to do the same. What the
tool `read_graph` answers, one object with `entities` and `relations`, is read too.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from retentive.conversations.formats.values import kind, label
from retentive.errors import Invalid
from retentive.model import Refusal
from retentive.transfer.memories.items import (
    Item,
    Told,
    attempt,
    kind_of,
    readable,
    refused,
    relation,
    tags_of,
    text_of,
    told,
)
from retentive.transfer.memories.source import Given


def recognise(given: Given) -> bool:
    match given.first:
        case {"type": "entity", "name": str()} | {"type": "relation", "from": str(), "to": str()}:
            return True
        case {"entities": list(), "relations": list()}:
            return True
    return False


def read(given: Given) -> Iterator[Told]:
    for place, value in given.records():
        match value:
            case Invalid():
                yield refused(place, value)
            case {"entities": list() as entities, "relations": list() as relations}:
                for number, each in enumerate(entities, 1):
                    yield from _entity(f"{place}, entity {number}", each)
                for number, each in enumerate(relations, 1):
                    yield from _relation(f"{place}, relation {number}", each)
            case {"type": "entity"}:
                yield from _entity(place, value)
            case {"type": "relation"}:
                yield from _relation(place, value)
            case _:
                yield Refusal(place, "it is neither an entity nor a relation")


def _entity(place: str, value: Any) -> Iterator[Told]:
    name = label(value.get("name")) if isinstance(value, dict) else None
    if name is None:
        yield Refusal(place, "an entity needs a name")
        return
    observations = value.get("observations")
    if observations is not None and not isinstance(observations, list):
        yield Refusal(place, f"a list of observations was expected, not {kind(observations)}")
        return
    sort = label(value.get("entityType")) or ""
    if not observations:
        yield from _bare(place, name, sort)
    for number, each in enumerate(observations or (), 1):
        yield attempt(_observation, f"{place}, observation {number}", each, name, sort)


def _observation(place: str, said: Any, name: str, sort: str) -> Item:
    text = text_of(said.get("content") if isinstance(said, dict) else said, "observations")
    return Item(place, about(readable(name), text), name, _traits(name, sort))


def about(name: str, text: str) -> str:
    """A text that says whom it is about."""
    named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    return text if named else f"{name}: {text}"


def _bare(place: str, name: str, sort: str) -> Iterator[Told]:
    """An entity of which only its type is known."""
    if sort:
        yield Item(place, f"{readable(name)} ({readable(sort)})", name, _traits(name, sort))
    else:
        yield Refusal(place, "nothing is said of the entity")


def _traits(name: str, sort: str) -> Mapping[str, Any]:
    context = f"{readable(name)} ({readable(sort)})" if sort else readable(name)
    return {**kind_of(sort), **tags_of([name, sort]), **told(context=context)}


def _relation(place: str, value: Any) -> Iterator[Told]:
    ends = [label(value.get(name)) if isinstance(value, dict) else None for name in ("from", "relationType", "to")]
    if not all(ends):
        yield Refusal(place, "a relation needs from, to and relationType")
        return
    source, verb, target = (str(end) for end in ends)
    text = relation(readable(source), verb, readable(target))
    yield Item(place, text, f"{source} {verb} {target}", tags_of([source, target]))
