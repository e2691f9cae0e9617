"""Arguments a model got wrong are told so that it can mend them."""

from typing import Any

import pytest

from retentive.errors import Invalid
from retentive.mcp.arguments import validate_arguments
from retentive.mcp.catalogue import Offer, select_tools

TOOLS = select_tools(Offer.FULL)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("memory_search", {}, "arguments: 'query' is missing"),
        ("memory_search", {"query": "a", "limit": 0}, "limit: 0 is below 1"),
        ("memory_search", {"query": "a", "limit": 51}, "limit: 51 is above 50"),
        ("memory_search", {"query": "a", "limit": "many"}, "limit: 'many' is not of type integer"),
        ("memory_search", {"query": ""}, "query: is empty"),
        ("memory_search", {"query": "x" * 2001}, "query: 2,001 characters, 2,000 at the most"),
        ("memory_search", {"query": ["x" * 200]}, "is not of type string"),
        ("memory_search", {"query": "a", "kind": "dream"}, "kind: 'dream' is not one of fact"),
        ("memory_search", {"query": "a", "depth": 3}, "'depth' was unexpected"),
        ("memory_get", {"ids": []}, "ids: 0 items, 1 at the least"),
        ("memory_get", {"ids": ["a"] * 21}, "ids: 21 items, 20 at the most"),
        ("memory_get", {"ids": ["a", 7]}, "ids.1: 7 is not of type string"),
        ("session_append", {"session": "a", "messages": [{"role": "user"}]}, "messages.0: 'content' is missing"),
        ("session_append", {"session": "a", "messages": [{"role": "cat", "content": "x"}]}, "messages.0.role"),
        ("memory_stats", {"anything": 1}, "'anything' was unexpected"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(name: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(Invalid) as caught:
        validate_arguments(TOOLS[name], given)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 300
    assert caught.value.hint.startswith(f"{name} takes: ")


def test_json_in_a_string_is_understood() -> None:
    """Some models wrap what is not text."""
    given = {"query": "7", "limit": "5", "tags": '["a", "b"]'}
    assert validate_arguments(TOOLS["memory_search"], given) == {"query": "7", "limit": 5, "tags": ["a", "b"]}


def test_no_arguments_are_none() -> None:
    assert validate_arguments(TOOLS["memory_stats"], None) == {}
