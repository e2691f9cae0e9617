"""Values behave as those of the standard decorator."""

import ast
import copy
import dataclasses
import pickle
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from retentive import model
from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    note: str | None = field(default=None, compare=False)
    secret: str = field(default="s", repr=False)
    tags: Mapping[str, int] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class NamedPoint(Point):
    """A point with a name."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Empty:
    pass


@dataclass(frozen=True, slots=True)
class Single:
    x: int


@dataclasses.dataclass(frozen=True, slots=True)
class StandardPoint:
    x: int
    y: int = 2
    note: str | None = field(default=None, compare=False)
    secret: str = field(default="s", repr=False)
    tags: Mapping[str, int] = field(default_factory=dict, compare=False)


def test_is_written_as_the_standard_value_is() -> None:
    assert repr(Point(1, note="n")) == repr(StandardPoint(1, note="n")).replace("StandardPoint", "Point")


def test_is_equal_by_the_fields_that_count() -> None:
    assert Point(1, note="a") == Point(1, note="b") != Point(2)
    assert Single(1) == Single(1) != Single(2)
    assert Empty() == Empty()


def test_is_not_equal_to_a_value_of_another_class() -> None:
    assert Point(1) != NamedPoint(1)
    standard: object = StandardPoint(1)
    assert Point(1) != standard


def test_equal_values_have_one_hash() -> None:
    assert {Point(1, note="a"), Point(1, note="b"), Point(2)} == {Point(1), Point(2)}
    assert len({Empty(), Empty(), Single(1), Single(1)}) == 2


def test_cannot_be_changed() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match="assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="delete field 'x'"):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.other = 2  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_each_value_has_a_default_of_its_own() -> None:
    assert Point(1).tags is not Point(1).tags


@pytest.mark.parametrize("wrong", [{}, {"x": 1, "z": 2}])
def test_refuses_wrong_arguments(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="argument"):
        Point(**wrong)


def test_inherits_fields_in_their_order() -> None:
    assert [each.name for each in fields(NamedPoint)] == ["x", "y", "note", "secret", "tags", "name"]
    assert NamedPoint(1, name="n") == NamedPoint(1, 2, None, "s", {}, "n")


def test_functions_of_dataclasses_work() -> None:
    assert replace(Point(1), y=3) == Point(1, 3)
    assert asdict(Single(1)) == {"x": 1}
    match Point(1, 5):
        case Point(x, y):
            assert (x, y) == (1, 5)


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))],  # noqa: S301 - our own
)
def test_can_be_copied(duplicate: Callable[[Any], Any]) -> None:
    value = NamedPoint(1, tags={"a": 1}, name="n")
    assert duplicate(value) == value
    assert duplicate(value).tags == {"a": 1}


def test_keeps_its_docstring_and_invents_none() -> None:
    assert NamedPoint.__doc__ == "A point with a name."
    assert Point.__doc__ is None


def test_is_only_for_frozen_classes_with_slots() -> None:
    with pytest.raises(TypeError, match="frozen classes with slots"):
        dataclass(frozen=True, slots=False)


def test_every_name_of_the_model_is_where_type_checkers_look_for_it() -> None:
    tree = ast.parse(Path(model.__file__).read_text("utf-8"))
    imported = {
        alias.name: f"{node.module}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("retentive.model.")
        for alias in node.names
    }
    assert sorted(imported) == sorted(model.__all__)
    for name, module in imported.items():
        assert getattr(model, name) is getattr(import_module(module), name)
