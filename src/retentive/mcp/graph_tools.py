"""The tools of `@modelcontextprotocol/server-memory`, by their names and with their answers, over our memories.

Somebody who changes the server keeps their prompts. Entities, observations and relations are memories (see
`transfer/memories/graph.py`); a memory that is forgotten or replaced leaves the graph.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from retentive.api import Retentive
from retentive.errors import NotFound, SecretFound
from retentive.mcp.caller import Caller
from retentive.mcp.tool import Answer, Schema, Tool, several, text, thing
from retentive.model import AGENT, Memory
from retentive.text.normalize import normalise_text
from retentive.transfer.memories.graph import (
    GRAPH_TAG,
    METADATA_KEY,
    Element,
    Graph,
    list_elements,
    make_memory,
    read_graph,
)

PAGE_SIZE = 1000  # memories read at a time
MAX_FOUND = 10  # entities found by meaning, where no text has the words
MAX_LISTED = 1000  # entities, observations or relations in one call
MIN_RELEVANCE = 0.5  # of what is found by meaning: below it a near miss is more likely


def create_entities(caller: Caller, entities: Sequence[Mapping[str, Any]]) -> Answer:
    known = {*_load_graph(caller).entities}
    new: dict[str, dict[str, Any]] = {}
    for each in entities:
        if each["name"] not in known:
            new.setdefault(each["name"], {**each, "observations": [*dict.fromkeys(each.get("observations", ()))]})
    _save(caller, (element for entity in new.values() for element in _list_entity_elements(entity)))
    return _answer([*new.values()], "entities")


def _list_entity_elements(entity: Mapping[str, Any]) -> Iterator[Element]:
    own = {"entity": entity["name"], "type": entity["entityType"]}
    yield own
    yield from ({**own, "observation": each} for each in entity["observations"])


def create_relations(caller: Caller, relations: Sequence[Mapping[str, str]]) -> Answer:
    known = _load_graph(caller).relations
    new: list[Element] = []
    for each in relations:
        if each not in known and each not in new:
            new.append(dict(each))
    _save(caller, new)
    return _answer(new, "relations")


def add_observations(caller: Caller, observations: Sequence[Mapping[str, Any]]) -> Answer:
    entities = _load_graph(caller).entities
    for each in observations:
        if each["entityName"] not in entities:
            raise NotFound(f"Entity with name {each['entityName']} not found", "create_entities creates it.")
    results, elements = [], list[Element]()
    for each in observations:
        entity = entities[each["entityName"]]
        added = [one for one in dict.fromkeys(each["contents"]) if one not in entity.observations]
        entity.observations += added
        elements += ({"entity": entity.name, "type": entity.type, "observation": one} for one in added)
        results.append({"entityName": entity.name, "addedObservations": added})
    _save(caller, elements)
    return _answer(results, "results")


def delete_entities(caller: Caller, entityNames: Sequence[str]) -> Answer:  # noqa: N803 - the names of the protocol
    names = {*entityNames}
    _remove(caller, lambda each: not names.isdisjoint((each.get("entity"), each.get("from"), each.get("to"))))
    return _answer_done("Entities deleted successfully")


def delete_observations(caller: Caller, deletions: Sequence[Mapping[str, Any]]) -> Answer:
    """Delete observations. Their entities stay, also those that nothing else speaks of."""
    gone = {(each["entityName"], text) for each in deletions for text in each["observations"]}
    entities = _load_graph(caller).entities
    named = [entities[name] for name in dict.fromkeys(name for name, _ in gone) if name in entities]
    _save(caller, ({"entity": entity.name, "type": entity.type} for entity in named))
    _remove(caller, lambda each: (each.get("entity"), each.get("observation")) in gone)
    return _answer_done("Observations deleted successfully")


def delete_relations(caller: Caller, relations: Sequence[Mapping[str, str]]) -> Answer:
    gone = [dict(each) for each in relations]
    _remove(caller, lambda each: each in gone)
    return _answer_done("Relations deleted successfully")


def show_graph(caller: Caller) -> Answer:
    return _answer_graph(_load_graph(caller))


def search_nodes(caller: Caller, query: str) -> Answer:
    """Find entities whose name, type or observations contain the query; if none does, those that are about it."""
    graph = _load_graph(caller)
    names = [entity.name for entity in graph.entities.values() if entity.contains(query.lower())]
    return _answer_graph(graph.select(names or _find_by_meaning(caller, query)))


def _find_by_meaning(caller: Caller, query: str) -> Iterator[str]:
    if query.strip():
        hits = caller.memory.search(query, MAX_FOUND, include="memories", tags=[GRAPH_TAG])
        elements = (each for hit in hits if hit.relevance >= MIN_RELEVANCE for each in list_elements(hit.memory))
        yield from (each["entity"] for each in elements if "entity" in each)


def open_nodes(caller: Caller, names: Sequence[str]) -> Answer:
    return _answer_graph(_load_graph(caller).select(names))


def _load_graph(caller: Caller) -> Graph:
    return read_graph(_list_memories(caller.memory))


def _list_memories(memory: Retentive) -> list[Memory]:
    """The memories of the graph, the oldest first."""
    found: list[Memory] = []
    after: str | None = None
    while True:
        page = memory.list(PAGE_SIZE, after, tags=[GRAPH_TAG])
        found += page
        if page.next is None:
            return found[::-1]
        after = page.next


def _save(caller: Caller, elements: Iterable[Element]) -> None:
    """Save elements that the graph does not have. Those that come to the same text share a memory."""
    by_text: dict[str, list[Element]] = {}
    for element in elements:
        by_text.setdefault(normalise_text(make_memory(element).text), []).append(element)
    if not by_text:
        return
    items = [_make_item(same) for same in by_text.values()]
    saved = caller.memory.add_many(items, actor=AGENT)
    if saved.refusals:
        places = "; ".join(f"{each.place}: {each.reason}" for each in saved.refusals)
        raise SecretFound(f"not saved: {places}", "Leave out passwords, keys and other secrets. The rest was saved.")
    if saved.repeated:
        for id, same in zip(saved.ids, by_text.values(), strict=True):
            _complete(caller.memory, id, same)


def _make_item(same: Sequence[Element]) -> dict[str, Any]:
    made = make_memory(same[0])
    return {"text": made.text, **made.options, "metadata": {METADATA_KEY: [*same]}}


def _complete(memory: Retentive, id: str, elements: Sequence[Element]) -> None:
    """Add elements to a memory that had their text already."""
    found = memory.get(id)
    known = [*list_elements(found)]
    missing = [each for each in elements if each not in known]
    if missing:
        tags = dict.fromkeys([*found.tags, *make_memory(missing[0]).options["tags"]])
        memory.update(id, metadata={**found.metadata, METADATA_KEY: [*known, *missing]}, tags=[*tags], actor=AGENT)


def _remove(caller: Caller, is_gone: Callable[[Element], bool]) -> None:
    """Remove elements, and forget the memories that have no others."""
    for memory in _list_memories(caller.memory):
        elements = list_elements(memory)
        left = [each for each in elements if not is_gone(each)]
        if not left and elements:
            caller.memory.forget(memory.id, "deleted from the graph", AGENT)
        elif len(left) < len(elements):
            caller.memory.update(memory.id, metadata={**memory.metadata, METADATA_KEY: left}, actor=AGENT)


def _answer(rows: Sequence[Mapping[str, Any]], name: str) -> Answer:
    return Answer(_render(rows), {name: [dict(each) for each in rows]})


def _answer_graph(graph: Graph) -> Answer:
    return Answer(_render(graph.to_dict()), graph.to_dict())


def _answer_done(message: str) -> Answer:
    return Answer(message, {"success": True, "message": message})


def _render(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


_NAME = text(most=200)
_TEXTS = several(text(most=20_000), MAX_LISTED, least=0)
_RELATION = thing({"from": _NAME, "to": _NAME, "relationType": _NAME}, ("from", "to", "relationType"))
_ENTITY = thing({"name": _NAME, "entityType": text(most=200, least=0), "observations": _TEXTS}, ("name", "entityType"))
_GRAPH = {"entities": "array", "relations": "array"}
_DONE = {"success": "boolean", "message": "string"}


def list_tools() -> Sequence[Tool]:
    """The tools in the order of that server."""
    return (
        _make_tool("create_entities", create_entities, "entities", _ENTITY, {"entities": "array"},
                   "Create multiple new entities in the knowledge graph. Existing names are skipped"),
        _make_tool("create_relations", create_relations, "relations", _RELATION, {"relations": "array"},
                   "Create multiple new relations between entities, in active voice. Existing ones are skipped"),
        _make_tool("add_observations", add_observations, "observations",
                   thing({"entityName": _NAME, "contents": _TEXTS}, ("entityName", "contents")), {"results": "array"},
                   "Add new observations to existing entities in the knowledge graph"),
        _make_tool("delete_entities", delete_entities, "entityNames", _NAME, _DONE,
                   "Delete multiple entities and their relations from the knowledge graph", destroys=True),
        _make_tool("delete_observations", delete_observations, "deletions",
                   thing({"entityName": _NAME, "observations": _TEXTS}, ("entityName", "observations")), _DONE,
                   "Delete specific observations from entities in the knowledge graph", destroys=True),
        _make_tool("delete_relations", delete_relations, "relations", _RELATION, _DONE,
                   "Delete multiple relations from the knowledge graph", destroys=True),
        Tool("read_graph", "Read Graph", "Read the entire knowledge graph: all entities and relations.",
             show_graph, gives=_GRAPH, reads=True),
        Tool("search_nodes", "Search Nodes",
             "Search entities by name, type and observations; if none contains the query, by meaning.",
             search_nodes, {"query": text(most=2000, least=0)}, ("query",), _GRAPH, reads=True),
        Tool("open_nodes", "Open Nodes", "Open specific entities of the knowledge graph by name.",
             open_nodes, {"names": several(_NAME, MAX_LISTED, least=0)}, ("names",), _GRAPH, reads=True),
    )  # fmt: skip


def _make_tool(
    name: str,
    run: Callable[..., Answer],
    argument: str,
    item: Schema,
    gives: Mapping[str, str],
    description: str,
    *,
    destroys: bool = False,
) -> Tool:
    takes = {argument: several(item, MAX_LISTED, least=0)}
    title = name.replace("_", " ").title()
    return Tool(name, title, f"{description}.", run, takes, (argument,), gives, destroys=destroys, repeatable=True)
