"""The declarations of `surface/` are what the rest of the package does; a new field touches few files."""

import ast
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

import retentive
from retentive import Retentive
from retentive.errors import Invalid, SecretFound
from retentive.model import DEFAULT_IMPORTANCE, Fusion, Kind, Mode, Role, Source, Status
from retentive.store.scope import Filters, View
from retentive.store.validate import MemoryOptions
from retentive.surface import conversations, memory, search
from retentive.surface.field import Field
from retentive.surface.memory import ADD_FIELDS, CONTENT_FIELDS, FILTERS, FREE_TEXT_FIELDS, PAST

SOURCE_FOLDER = Path(retentive.__file__).parent
MAX_FILES_OF_A_FIELD = 10
BOUNDED = [each for each in (*CONTENT_FIELDS, *FILTERS) if each.low is not None]


def names(fields: Iterable[Field]) -> set[str]:
    return {field.name for field in fields}


@pytest.mark.parametrize(
    ("typed", "declared"),
    [(MemoryOptions, names(ADD_FIELDS) | {"origin"}), (Filters, names(FILTERS)), (View, names((*FILTERS, *PAST)))],
)
def test_what_an_editor_knows_is_what_is_declared(typed: type, declared: set[str]) -> None:
    """`origin` is for programs: the terminal and the tools set it themselves."""
    keys = {name for kind in typed.__mro__ for name in getattr(kind, "__annotations__", ())} | {*typed.__annotations__}
    assert keys == declared


@pytest.mark.parametrize(
    ("declared", "known"),
    [
        (memory.KINDS, Kind),
        (memory.SOURCES, Source),
        (memory.STATUSES, Status),
        (conversations.ROLES, Role),
        (search.MODES, Mode),
        (search.FUSIONS, Fusion),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_the_choices_are_those_of_the_model(declared: tuple[str, ...], known: type[StrEnum]) -> None:
    assert {*declared} == {str(each) for each in known}


def test_the_default_importance_is_declared() -> None:
    assert memory.IMPORTANCE.default == DEFAULT_IMPORTANCE


def choose_call(store: Retentive, field: Field) -> Callable[[Any], object]:
    if field in FILTERS:
        return lambda value: store.list(**{field.name: value})
    return lambda value: store.add("The user likes tea", **{field.name: value})


@pytest.mark.parametrize("field", BOUNDED, ids=lambda field: field.name)
def test_the_bounds_of_a_number_are_those_declared(store: Retentive, field: Field) -> None:
    call = choose_call(store, field)
    assert field.low is not None
    assert field.high is not None
    call(field.low)
    call(field.high)
    for wrong in (field.low - 1, field.high + 1, "many", None if field in CONTENT_FIELDS[:3] else True):
        with pytest.raises(Invalid):
            call(wrong)


@pytest.mark.parametrize("name", FREE_TEXT_FIELDS)
def test_a_secret_in_any_free_text_is_found(store: Retentive, name: str) -> None:
    key = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    value: dict[str, Any] = {"context": key, "tags": [key], "metadata": {"note": key}}
    with pytest.raises(SecretFound):
        store.add("The user deploys on Tuesdays", **{name: value[name]})


def named_fields(module: Path) -> set[str]:
    """The fields of a memory that a module names: as a variable, an attribute, an argument or a text."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        found |= {
            getattr(node, each) for each in ("id", "attr", "arg", "name") if isinstance(getattr(node, each, 0), str)
        }
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found & (names(CONTENT_FIELDS) - {"kind"})


def test_a_new_field_of_a_memory_touches_few_files() -> None:
    """A module that names all of these fields, or all but one, lists them. A new field belongs into each such list."""
    number = len(CONTENT_FIELDS) - 2
    lists = [module for module in SOURCE_FOLDER.rglob("*.py") if len(named_fields(module)) >= number]
    assert len(lists) <= MAX_FILES_OF_A_FIELD, [str(each.relative_to(SOURCE_FOLDER)) for each in lists]
