"""Documents: changed as the standards say, and never so that a reader of them breaks."""

import copy
from typing import Any

import pytest

from retentive.errors import Invalid
from retentive.records.json_patch import (
    apply_json_patch,
    apply_merge_patch,
    check_document,
    check_schema,
    diff_documents,
    get_value,
    is_same_json,
)

MERGES: list[tuple[Any, Any, Any]] = [  # appendix A of RFC 7396
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("document", "patch", "made"), MERGES)
def test_a_merge_patch_does_what_its_standard_says(document: Any, patch: Any, made: Any) -> None:
    before = copy.deepcopy(document)
    assert apply_merge_patch(document, patch) == made
    assert document == before


PATCHES: list[tuple[Any, list[dict[str, Any]], Any]] = [  # after appendix A of RFC 6902 and its known test cases
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
    ({"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "qux"}], {"foo": ["bar", "qux", "baz"]}),
    ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc"]}], {"foo": ["bar", ["abc"]]}),
    ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/1", "value": 2}], {"foo": ["bar", 2]}),  # the end may be named
    ({"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}),
    ({"foo": 1}, [{"op": "replace", "path": "", "value": {"baz": 2}}], {"baz": 2}),
    ({"foo": 1}, [{"op": "add", "path": "/", "value": 2}], {"foo": 1, "": 2}),
    ({"foo": {"a": 1}}, [{"op": "move", "from": "/foo/a", "path": "/b"}], {"foo": {}, "b": 1}),
    ({"foo": [1, 2, 3]}, [{"op": "move", "from": "/foo/0", "path": "/foo/2"}], {"foo": [2, 3, 1]}),
    ({"foo": 1}, [{"op": "move", "from": "/foo", "path": "/foo"}], {"foo": 1}),
    ({"foo": {"a": 1}}, [{"op": "copy", "from": "/foo", "path": "/b"}], {"foo": {"a": 1}, "b": {"a": 1}}),
    ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
    ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}),  # numbers are equal by value
    ({"a": {"b": 1, "c": 2}}, [{"op": "test", "path": "/a", "value": {"c": 2, "b": 1}}], {"a": {"b": 1, "c": 2}}),
    ({"a": None}, [{"op": "test", "path": "/a", "value": None}], {"a": None}),
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": 1, "xyz": 2}], {"foo": "bar", "baz": 1}),
]


@pytest.mark.parametrize(("document", "operations", "made"), PATCHES)
def test_a_patch_does_what_its_standard_says(document: Any, operations: Any, made: Any) -> None:
    before = copy.deepcopy(document)
    assert apply_json_patch(document, operations) == made
    assert document == before


REFUSED: list[tuple[Any, dict[str, Any]]] = [
    ({"baz": "qux"}, {"op": "test", "path": "/baz", "value": "bar"}),
    ({"a": True}, {"op": "test", "path": "/a", "value": 1}),
    ({"a": [1]}, {"op": "test", "path": "/a", "value": [True]}),
    ({"a": "foo"}, {"op": "test", "path": "/a/0", "value": "f"}),  # a text is no list
    ({"a": 1}, {"op": "test", "path": "/b", "value": None}),
    ({"foo": "bar"}, {"op": "add", "path": "/baz/bat", "value": "qux"}),
    ({"a": [1, 2]}, {"op": "add", "path": "/a/3", "value": 3}),
    ({"a": [1, 2]}, {"op": "add", "path": "/a/01", "value": 3}),
    ({"a": [1, 2]}, {"op": "add", "path": "/a/-1", "value": 3}),
    ({"a": [1, 2]}, {"op": "replace", "path": "/a/-", "value": 3}),
    ({"a": [1, 2]}, {"op": "remove", "path": "/a/1e0"}),
    ({"a": 1}, {"op": "replace", "path": "/b", "value": 3}),
    ({"a": {}}, {"op": "move", "from": "/a", "path": "/a/b"}),
    ({"a": 1}, {"op": "copy", "path": "/b"}),
    ({"a": 1}, {"op": "add", "path": "b", "value": 1}),
    ({"a": 1}, {"op": "add", "path": "/b~2", "value": 1}),
    ({"a": 1}, {"op": "add", "path": "/b"}),
]


@pytest.mark.parametrize(("document", "operation"), REFUSED)
def test_a_patch_that_its_standard_does_not_allow_is_refused(document: Any, operation: Any) -> None:
    with pytest.raises(Invalid):
        apply_json_patch(document, [operation])


def test_copies_of_copies_end_before_memory_does() -> None:
    double = [{"op": "copy", "from": "", "path": f"/{name}"} for name in "ab"]
    with pytest.raises(Invalid, match="copies too much"):
        apply_json_patch({"x": 1}, double * 500)
    with pytest.raises(Invalid, match="too deep"):
        apply_json_patch({"x": 1}, double[:1] * 3000)


def test_an_error_does_not_repeat_a_large_document() -> None:
    with pytest.raises(Invalid) as refused:
        apply_json_patch({"text": "x" * 100_000}, [{"op": "remove", "path": "/missing"}])
    assert len(str(refused.value)) < 500


def test_values_are_the_same_as_json() -> None:
    assert is_same_json({"a": 1, "b": [None]}, {"b": [None], "a": 1})
    assert not any((is_same_json(True, 1), is_same_json([1], [1.0]), is_same_json(None, False), is_same_json("1", 1)))
    assert [*diff_documents({"a": True}, {"a": 1})] == [{"op": "replace", "path": "/a", "value": 1}]


def test_a_place_in_a_list_is_a_number_as_it_is_written() -> None:
    assert (
        get_value({"a": [5]}, "/a/0"),
        get_value({"a": [5]}, "/a/00"),
        get_value({"a": [5]}, f"/a/{'9' * 5000}"),
    ) == (5, None, None)


ENDLESS = {"$defs": {"x": {"$ref": "#/$defs/x"}}, "$ref": "#/$defs/x"}


@pytest.mark.parametrize("schema", [{"$schema": 5}, {"$schema": []}, {"$ref": "#"}, ENDLESS])
def test_a_schema_that_cannot_be_used_is_refused(schema: Any) -> None:
    with pytest.raises(Invalid):
        check_document({"a": 1}, check_schema(schema))
