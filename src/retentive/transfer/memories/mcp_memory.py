"""The knowledge graph of the MCP reference server (`memory.jsonl`, formerly `memory.json`).

Each line is an entity with its observations, or a relation between two entities. An observation seldom names its
entity ("speaks Spanish"), so the name is put before it: two entities may have the same observation. The answer of the
tool `read_graph`, one object with `entities` and `relations`, is read, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from retentive.conversations.formats.values import clean_name, json_type_name
from retentive.errors import Invalid
from retentive.model import RefusedItem
from retentive.transfer.memories.graph import GraphMemory, make_entity, make_observation, make_relation
from retentive.transfer.memories.items import ImportItem, ReadResult, clean_text, make_refusal, try_make
from retentive.transfer.memories.source import ImportSource


def recognise(source: ImportSource) -> bool:
    match source.first_value:
        case {"type": "entity", "name": str()} | {"type": "relation", "from": str(), "to": str()}:
            return True
        case {"entities": list(), "relations": list()}:
            return True
    return False


def read(source: ImportSource) -> Iterator[ReadResult]:
    for place, value in source.records():
        match value:
            case Invalid():
                yield make_refusal(place, value)
            case {"entities": list() as entities, "relations": list() as relations}:
                for number, each in enumerate(entities, 1):
                    yield from _read_entity(f"{place}, entity {number}", each)
                for number, each in enumerate(relations, 1):
                    yield from _read_relation(f"{place}, relation {number}", each)
            case {"type": "entity"}:
                yield from _read_entity(place, value)
            case {"type": "relation"}:
                yield from _read_relation(place, value)
            case _:
                yield RefusedItem(place, "it is neither an entity nor a relation")


def _read_entity(place: str, value: Any) -> Iterator[ReadResult]:
    name = clean_name(value.get("name")) if isinstance(value, dict) else None
    if name is None:
        yield RefusedItem(place, "an entity needs a name")
        return
    observations = value.get("observations")
    if observations is not None and not isinstance(observations, list):
        yield RefusedItem(place, f"a list of observations was expected, not {json_type_name(observations)}")
        return
    entity_type = clean_name(value.get("entityType")) or ""
    if not observations:
        yield from _read_bare_entity(place, name, entity_type)
    for number, each in enumerate(observations or (), 1):
        yield try_make(_make_observation, f"{place}, observation {number}", each, name, entity_type)


def _make_observation(place: str, observation: Any, name: str, entity_type: str) -> ImportItem:
    text = clean_text(observation.get("content") if isinstance(observation, dict) else observation, "observations")
    return ImportItem(place, *_name(name, make_observation(name, entity_type, text)))


def _name(id: str, made: GraphMemory) -> tuple[str, str, Mapping[str, Any]]:
    return made.text, id, made.options


def _read_bare_entity(place: str, name: str, entity_type: str) -> Iterator[ReadResult]:
    """Read an entity that has no observations, but perhaps a type."""
    if entity_type:
        yield ImportItem(place, *_name(name, make_entity(name, entity_type)))
    else:
        yield RefusedItem(place, "the entity has neither observations nor a type")


def _read_relation(place: str, value: Any) -> Iterator[ReadResult]:
    ends = [clean_name(value.get(name)) if isinstance(value, dict) else None for name in ("from", "relationType", "to")]
    if not all(ends):
        yield RefusedItem(place, "a relation needs from, to and relationType")
        return
    source, verb, target = (str(end) for end in ends)
    yield ImportItem(place, *_name(f"{source} {verb} {target}", make_relation(source, verb, target)))
