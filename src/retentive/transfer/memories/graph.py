"""A knowledge graph kept in memories: entities with observations, and relations between them.

Each entity, observation and relation is a memory with a text of its own, so that it is searched, corrected and
forgotten like any other. An observation seldom names its entity ("speaks Spanish"), so the name is put before it. What
the graph said, word for word, is in the memory's metadata under `graph`: a list, because two observations may come to
the same text. All of these memories have the tag `knowledge-graph`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from retentive.model import Memory
from retentive.text.normalize import hash_content
from retentive.transfer.memories.items import drop_empty, guess_kind, make_tags, render_relation, split_name

GRAPH_TAG = "knowledge-graph"
METADATA_KEY = "graph"

Element = Mapping[str, str]
"""An entity (`entity`, `type`), an observation (also `observation`), or a relation (`from`, `to`, `relationType`)."""


class GraphMemory(NamedTuple):
    """The text of a memory for an element of a graph, and the options of `add`."""

    text: str
    options: Mapping[str, Any]


def make_entity(name: str, type: str) -> GraphMemory:
    return GraphMemory(_describe_entity(name, type), _make_options(name, type, {"entity": name, "type": type}))


def make_observation(name: str, type: str, observation: str) -> GraphMemory:
    element = {"entity": name, "type": type, "observation": observation}
    options = {**_make_options(name, type, element), **drop_empty(context=_describe_entity(name, type))}
    return GraphMemory(add_subject(split_name(name), observation.strip()), options)


def make_relation(source: str, verb: str, target: str) -> GraphMemory:
    element = {"from": source, "to": target, "relationType": verb}
    text = render_relation(split_name(source), verb, split_name(target))
    return GraphMemory(text, {**make_tags([GRAPH_TAG, source, target]), "metadata": {METADATA_KEY: [element]}})


def make_memory(element: Element) -> GraphMemory:
    if "relationType" in element:
        return make_relation(element["from"], element["relationType"], element["to"])
    if "observation" in element:
        return make_observation(element["entity"], element["type"], element["observation"])
    return make_entity(element["entity"], element["type"])


def add_subject(name: str, text: str) -> str:
    """Put the name of the subject before a text, unless the text has it."""
    has_name = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    return text if has_name else f"{name}: {text}"


def _describe_entity(name: str, type: str) -> str:
    return f"{split_name(name)} ({split_name(type)})" if type.strip() else split_name(name)


def _make_options(name: str, type: str, element: Element) -> Mapping[str, Any]:
    return {**guess_kind(type), **make_tags([GRAPH_TAG, name, type]), "metadata": {METADATA_KEY: [element]}}


@dataclass(slots=True)
class Entity:
    name: str
    type: str
    observations: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "entityType": self.type, "observations": self.observations}

    def contains(self, text: str) -> bool:
        return any(text in part.lower() for part in (self.name, self.type, *self.observations))


@dataclass(slots=True)
class Graph:
    """The graph that memories hold."""

    entities: dict[str, Entity] = field(default_factory=dict)
    relations: list[Element] = field(default_factory=list)

    def select(self, names: Iterable[str]) -> "Graph":
        """The entities of these names, and the relations at either end of which there is one."""
        wanted = {*names}
        entities = {name: entity for name, entity in self.entities.items() if name in wanted}
        return Graph(entities, [each for each in self.relations if each["from"] in entities or each["to"] in entities])

    def to_dict(self) -> dict[str, Any]:
        entities = [entity.to_dict() for entity in self.entities.values()]
        return {"entities": entities, "relations": [dict(each) for each in self.relations]}


def list_elements(memory: Memory) -> Sequence[Element]:
    """The elements of a memory. An observation whose memory was edited has the words that the memory has now."""
    given = memory.metadata.get(METADATA_KEY)
    elements = [each for each in given if _is_element(each)] if isinstance(given, list) else []
    if elements and any("observation" in each for each in elements):
        was_edited = hash_content(make_memory(elements[0]).text) != memory.content_hash
        return [{**elements[0], "observation": memory.content}] if was_edited else elements
    return elements


def _is_element(value: Any) -> bool:
    """Metadata are the caller's: they may hold anything."""
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        return False
    return {"entity", "type"} <= value.keys() or {"from", "to", "relationType"} <= value.keys()


def read_graph(memories: Iterable[Memory]) -> Graph:
    """Read the graph from memories, the oldest first."""
    graph = Graph()
    for memory in memories:
        for element in list_elements(memory):
            if "relationType" in element:
                if element not in graph.relations:
                    graph.relations.append(element)
                continue
            entity = graph.entities.setdefault(element["entity"], Entity(element["entity"], element["type"]))
            if "observation" in element and element["observation"] not in entity.observations:
                entity.observations.append(element["observation"])
    return graph
