"""Arguments as models send them are understood; what is wrong is reported so that a model can correct it."""

from typing import Any

import pytest

from retentive.errors import Invalid
from retentive.mcp.arguments import SYNONYMS, parse_arguments
from retentive.mcp.catalogue import Offer, select_tools

TOOLS = select_tools(Offer.FULL)


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("memory_search", {}, "query is missing: text of 1 to 2,000 characters"),
        ("memory_search", {"query": None}, "query is missing"),
        ("memory_search", {"query": "a", "limit": 0}, "limit: 0 was given, it takes a whole number from 1 to 50"),
        ("memory_search", {"query": "a", "limit": 51}, "limit: 51 was given, it takes a whole number from 1 to 50"),
        ("memory_search", {"query": "a", "limit": "many"}, "limit: 'many' was given, it takes a whole number"),
        ("memory_search", {"query": ""}, "query: '' was given, it takes text of 1 to 2,000 characters"),
        ("memory_search", {"query": "x" * 2001}, "(2,001 characters) was given, it takes text of 1 to 2,000"),
        ("memory_search", {"query": {"a": 1}}, "query: {'a': 1} was given, it takes text"),
        ("memory_search", {"query": "a", "kind": "dream"}, "kind: 'dream' was given, it takes one of fact"),
        ("memory_search", {"query": "a", "depth": 3}, "depth: there is no such argument"),
        ("memory_search", {"query": "a", "incldue": "files"}, "did you mean 'include'?"),
        ("memory_search", {"query": "a", "q": "b"}, "query was given twice, also as 'q'"),
        ("memory_get", {"ids": []}, "ids: a list of 0 was given, it takes a list of 1 to 20: text"),
        ("memory_get", {"ids": ["a"] * 21}, "ids: a list of 21 was given, it takes a list of 1 to 20"),
        ("memory_get", {"ids": ["a", {}]}, "ids.1: {} was given, it takes text"),
        ("memory_delete", {"ids": ["a"], "confirm": "perhaps"}, "confirm: 'perhaps' was given, it takes true or false"),
        ("session_append", {"session": "a", "messages": [{"role": "user"}]}, "messages.0.content is missing"),
        ("session_append", {"session": "a", "messages": [{"role": "cat", "content": "x"}]}, "messages.0.role: 'cat'"),
        ("session_append", {"session": "a", "messages": 3}, "messages.0: 3 was given, it takes an object of role"),
        ("memory_stats", {"anything": 1}, "anything: there is no such argument"),
    ],
)
def test_a_problem_names_the_argument_what_was_given_and_what_it_takes(
    name: str, given: dict[str, Any], problem: str
) -> None:
    with pytest.raises(Invalid) as caught:
        parse_arguments(TOOLS[name], given)
    assert problem in str(caught.value)
    assert len(str(caught.value)) < 300
    assert caught.value.hint.startswith(f"{name} takes: ")


def test_all_problems_of_a_call_are_reported_at_once() -> None:
    given = {"kind": "dream", "importance": 11, "expires": ["a", "b"], "colour": "red"}
    with pytest.raises(Invalid) as caught:
        parse_arguments(TOOLS["memory_add"], given)
    for name in (
        "content is missing",
        "kind: 'dream'",
        "importance: 11",
        "expires: a list of 2",
        "colour: there is no",
    ):
        assert name in str(caught.value)


def test_of_very_many_problems_the_first_are_reported() -> None:
    with pytest.raises(Invalid, match="and 40 more"):
        parse_arguments(TOOLS["memory_stats"], {f"a{number}": 1 for number in range(50)})


@pytest.mark.parametrize(
    ("name", "given", "meant"),
    [
        # other names
        ("memory_get", {"id": "a"}, {"ids": ["a"]}),
        ("memory_get", {"memory_id": "a"}, {"ids": ["a"]}),
        ("memory_update", {"ids": ["a"], "text": "b"}, {"id": "a", "content": "b"}),
        ("memory_add", {"text": "a"}, {"content": "a"}),
        ("memory_add", {"memory": "a", "type": "preference"}, {"content": "a", "kind": "preference"}),
        ("memory_add", {"content": "a", "text": "a"}, {"content": "a"}),
        ("memory_search", {"words": "a", "top_k": 3}, {"query": "a", "limit": 3}),
        ("memory_search", {"q": "a"}, {"query": "a"}),
        ("memory_search", {"question": "a", "session_id": "b"}, {"query": "a", "session": "b"}),
        ("memory_delete", {"id": "a"}, {"ids": ["a"]}),
        ("memory_delete", {"query": "a"}, {"words": "a"}),
        ("memory_context", {"query": "a", "limit": 5}, {"query": "a", "top_k": 5}),
        ("memory_add_many", {"memories": ["a", "b"]}, {"contents": ["a", "b"]}),
        ("note", {"id": "a", "content": "b"}, {"note_id": "a", "text": "b"}),
        ("contact_save", {"name": "a", "type": "work"}, {"name": "a", "type": "work"}),
        (
            "session_append",
            {"session": "a", "message": {"role": "user", "text": "b"}},
            {"session": "a", "messages": [{"role": "user", "content": "b"}]},
        ),
        # one for a list, a text for a list
        ("memory_add", {"content": "a", "tags": "b"}, {"content": "a", "tags": ["b"]}),
        ("memory_add", {"content": "a", "tags": "b, c"}, {"content": "a", "tags": ["b", "c"]}),
        ("memory_add", {"content": "a", "tags": '["b", "c"]'}, {"content": "a", "tags": ["b", "c"]}),
        ("memory_get", {"ids": "a, b#1"}, {"ids": ["a, b#1"]}),  # a session may have a comma in its name
        ("memory_search", {"query": "a", "include": "files,events"}, {"query": "a", "include": ["files", "events"]}),
        # numbers, flags and objects as texts
        ("memory_search", {"query": 7, "limit": "5"}, {"query": "7", "limit": 5}),
        ("memory_search", {"query": "7", "limit": 5.0}, {"query": "7", "limit": 5}),
        ("memory_delete", {"ids": ["a"], "dry_run": "True"}, {"ids": ["a"], "dry_run": True}),
        ("profile", {"changes": '{"car": null}'}, {"changes": {"car": None}}),
        ("profile", {"patch": {"car": None}}, {"changes": {"car": None}}),
        # nothing, in other words
        ("memory_search", {"query": "a", "limit": None, "session": "", "tags": None}, {"query": "a"}),
        ("memory_search", {"query": "a", "kind": "", "include": []}, {"query": "a"}),
        ("memory_update", {"id": "a", "slot": "", "reason": ""}, {"id": "a", "slot": ""}),  # an empty slot clears it
        # choices in other cases and numbers
        ("memory_add", {"content": "a", "kind": "Preferences"}, {"content": "a", "kind": "preference"}),
        (
            "session_append",
            {"session": "a", "messages": '[{"role": "human", "content": "b", "speaker": null}]'},
            {"session": "a", "messages": [{"role": "user", "content": "b"}]},
        ),
        ("memory_stats", None, {}),
    ],
)
def test_what_models_send_is_understood(name: str, given: dict[str, Any] | None, meant: dict[str, Any]) -> None:
    assert parse_arguments(TOOLS[name], given) == meant


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_no_tool_has_two_names_of_one_meaning(tool: Any) -> None:
    """Otherwise a third name could mean either."""
    for group in SYNONYMS:
        own = [name for name in group if name in tool.takes]
        assert len(own) <= 1, own
