"""The tools of the reference server for knowledge graphs, over memories."""

import json
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import NotFound, SecretFound
from retentive.mcp import arguments
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer, select_tools

pytestmark = pytest.mark.engines

ADA = {"name": "Ada_Byron", "entityType": "person", "observations": ["Speaks French", "Ada_Byron likes tea"]}
ENGINE = {"name": "Engine", "entityType": "machine", "observations": []}
BUILDS = {"from": "Ada_Byron", "to": "Engine", "relationType": "works_on"}
USES = {"from": "Engine", "to": "Steam", "relationType": "uses"}


class Graph:
    """Calls by the names of the protocol."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def __call__(self, name: str, /, **given: Any) -> dict[str, Any]:
        tool = select_tools(Offer.SERVER_MEMORY)[name]
        answer = tool.run(self.caller, **arguments.parse_arguments(tool, given))
        assert set(tool.gives) == set(answer.data)
        return dict(answer.data)


@pytest.fixture
def call(store: Retentive) -> Graph:
    return Graph(Caller(store))


@pytest.fixture
def graph(call: Graph) -> Graph:
    call("create_entities", entities=[ADA, ENGINE])
    call("create_relations", relations=[BUILDS, USES])
    return call


def test_the_graph_is_read_as_it_was_created(graph: Graph) -> None:
    assert graph("read_graph") == {"entities": [ADA, ENGINE], "relations": [BUILDS, USES]}


def test_an_empty_graph_is_empty(call: Graph) -> None:
    assert call("read_graph") == {"entities": [], "relations": []}


def test_an_entity_of_a_known_name_is_skipped(graph: Graph) -> None:
    new = {"name": "Steam", "entityType": "substance", "observations": ["hot"]}
    assert graph("create_entities", entities=[{**ADA, "entityType": "poet"}, new, new]) == {"entities": [new]}
    assert graph("read_graph")["entities"] == [ADA, ENGINE, new]


def test_a_relation_that_is_there_is_skipped(graph: Graph) -> None:
    back = {"from": "Engine", "to": "Ada_Byron", "relationType": "works_on"}
    assert graph("create_relations", relations=[BUILDS, back, back]) == {"relations": [back]}


def test_observations_are_added_once(graph: Graph) -> None:
    given = [{"entityName": "Engine", "contents": ["is loud", "is loud", "is big"]}]
    assert graph("add_observations", observations=given) == {
        "results": [{"entityName": "Engine", "addedObservations": ["is loud", "is big"]}]
    }
    again = graph("add_observations", observations=given)
    assert again == {"results": [{"entityName": "Engine", "addedObservations": []}]}
    assert graph("open_nodes", names=["Engine"])["entities"][0]["observations"] == ["is loud", "is big"]


def test_an_observation_of_an_unknown_entity_is_an_error_and_adds_nothing(graph: Graph) -> None:
    given = [{"entityName": "Engine", "contents": ["is loud"]}, {"entityName": "Bob", "contents": ["is late"]}]
    with pytest.raises(NotFound, match="Entity with name Bob not found"):
        graph("add_observations", observations=given)
    assert graph("read_graph")["entities"] == [ADA, ENGINE]


def test_deleting_an_entity_deletes_its_relations(graph: Graph) -> None:
    done = graph("delete_entities", entityNames=["Ada_Byron", "nobody"])
    assert done == {"success": True, "message": "Entities deleted successfully"}
    assert graph("read_graph") == {"entities": [ENGINE], "relations": [USES]}
    graph("create_entities", entities=[ADA])
    assert graph("open_nodes", names=["Ada_Byron"]) == {"entities": [ADA], "relations": []}


def test_deleting_observations_leaves_the_entity(graph: Graph) -> None:
    gone = [{"entityName": "Ada_Byron", "observations": [*ADA["observations"], "none such"]}]
    graph("delete_observations", deletions=gone)
    assert graph("read_graph")["entities"] == [{**ADA, "observations": []}, ENGINE]


def test_deleting_relations_leaves_the_entities(graph: Graph) -> None:
    graph("delete_relations", relations=[BUILDS, {**USES, "to": "Coal"}])
    assert graph("read_graph") == {"entities": [ADA, ENGINE], "relations": [USES]}


@pytest.mark.parametrize("query", ["french", "ADA", "person"])
def test_nodes_are_found_by_name_type_and_observation(graph: Graph, query: str) -> None:
    assert graph("search_nodes", query=query) == {"entities": [ADA], "relations": [BUILDS]}


def test_nodes_are_found_by_meaning_where_no_text_has_the_query(graph: Graph) -> None:
    assert graph("search_nodes", query="does Ada Byron like tea?")["entities"] == [ADA]
    assert graph("search_nodes", query="zebra crossing") == {"entities": [], "relations": []}


def test_what_the_graph_has_is_searched_corrected_and_forgotten_like_all_memories(
    graph: Graph, store: Retentive
) -> None:
    french = store.search("who speaks French?")[0].memory
    assert french.content == "Ada Byron: Speaks French"
    store.update(french.id, content="Ada Byron speaks German")
    assert graph("open_nodes", names=["Ada_Byron"])["entities"][0]["observations"][0] == "Ada Byron speaks German"
    store.forget(french.id)
    assert graph("open_nodes", names=["Ada_Byron"])["entities"] == [{**ADA, "observations": ["Ada_Byron likes tea"]}]
    store.restore(french.id)
    assert len(graph("open_nodes", names=["Ada_Byron"])["entities"][0]["observations"]) == 2


def test_elements_that_come_to_one_text_stay_apart(call: Graph, store: Retentive) -> None:
    """`Ada_B` and `Ada B` are two entities; their memories would have the same text."""
    store.add("Ada B (person)")
    entities = [
        {"name": name, "entityType": "person", "observations": ["tall", f"{name}: tall"]} for name in ("Ada_B", "Ada B")
    ]
    call("create_entities", entities=entities)
    found = {each["name"]: {*each["observations"]} for each in call("read_graph")["entities"]}
    assert found == {each["name"]: {*each["observations"]} for each in entities}
    call("delete_entities", entityNames=["Ada B"])
    assert [each["name"] for each in call("read_graph")["entities"]] == ["Ada_B"]


def test_a_secret_is_refused_and_named(call: Graph) -> None:
    with pytest.raises(SecretFound, match="not saved"):
        call("create_entities", entities=[{**ADA, "observations": ["the key is AKIAIOSFODNN7EXAMPLZ"]}])


def test_an_imported_graph_is_in_the_graph(call: Graph, store: Retentive, tmp_path: Path) -> None:
    lines = [{"type": "entity", **each} for each in (ADA, ENGINE)]
    lines += [{"type": "relation", **each} for each in (BUILDS, USES)]
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    store.import_memories(path)
    assert call("read_graph") == {"entities": [ADA, ENGINE], "relations": [BUILDS, USES]}
    call("delete_observations", deletions=[{"entityName": "Ada_Byron", "observations": ADA["observations"]}])
    assert {each["name"] for each in call("read_graph")["entities"]} == {"Ada_Byron", "Engine"}


def test_metadata_of_another_shape_are_no_part_of_the_graph(call: Graph, store: Retentive) -> None:
    for number, given in enumerate(("text", [1, {"entity": 3}, {"from": "a"}], {"entity": "a"})):
        store.add(f"Number {number}", tags=["knowledge-graph"], metadata={"graph": given})
    assert call("read_graph") == {"entities": [], "relations": []}
