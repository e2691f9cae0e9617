"""A tool: a plain function, schemas of its arguments and its answer, and a description that says when to use it.

The list of tools is read by every model in every conversation, so schemas are written here by hand, and short.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from retentive.surface.field import Field

MAX_TIME_CHARS = 40  # characters of a time: `2026-12-31T18:00+01:00`, or a phrase
MAX_ITEMS = 20  # items of a list, if its declaration sets no limit

Schema = Mapping[str, Any]


class Answer(NamedTuple):
    """One answer in two forms: a short text for a model, and data for a program."""

    text: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    title: str
    description: str
    run: Callable[..., Answer]
    """Called with a `Caller` and the arguments by name."""
    takes: Mapping[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    gives: Mapping[str, str] = field(default_factory=dict)
    """The JSON type of each key that is always in the data."""
    reads: bool = False
    destroys: bool = False
    repeatable: bool = False
    """The same call again changes nothing more."""
    long: bool = False
    """Whether other calls should not wait for it."""
    is_local: bool = False
    """Whether its arguments name files of this machine. Only callers on it may use it."""

    @property
    def input_schema(self) -> dict[str, Any]:
        needed = {"required": [*self.required]} if self.required else {}
        return {"type": "object", "properties": dict(self.takes), **needed, "additionalProperties": False}

    @property
    def output_schema(self) -> dict[str, Any]:
        given = {name: {"type": kind} for name, kind in self.gives.items()}
        return {"type": "object", "properties": given}


def from_field(declared: Field, *, without: tuple[str, ...] = (), default: bool = True) -> Schema:
    """The schema of a declared field, in few words: `without` leaves out some of its choices."""
    value = declared.default if default else None
    match declared.type:
        case "choice":
            item = choice(tuple(each for each in declared.choices if each not in without), value, declared.tool_help)
        case "integer":
            item = integer(int(declared.low or 0), int(declared.high or 0), value, declared.tool_help)
        case "time":
            item = text(declared.tool_help, MAX_TIME_CHARS)
        case _:
            item = text("" if declared.many else declared.tool_help, declared.max_chars)
    return several(item, MAX_ITEMS, declared.tool_help, least=0) if declared.many else item


def text(description: str = "", most: int = 200, least: int = 1) -> Schema:
    bounds = {"minLength": least, "maxLength": most} if least else {"maxLength": most}
    return _add_description({"type": "string", **bounds}, description)


def integer(low: int, high: int, default: int | None = None, description: str = "") -> Schema:
    given = {} if default is None else {"default": default}
    return _add_description({"type": "integer", "minimum": low, "maximum": high, **given}, description)


def choice(options: tuple[str, ...], default: str | None = None, description: str = "") -> Schema:
    given = {} if default is None else {"default": default}
    return _add_description({"type": "string", "enum": [*options], **given}, description)


def flag(description: str, *, default: bool = False) -> Schema:
    return _add_description({"type": "boolean", "default": default}, description)


def several(item: Schema, most: int, description: str = "", least: int = 1) -> Schema:
    bounds = {"minItems": least, "maxItems": most} if least else {"maxItems": most}
    return _add_description({"type": "array", "items": item, **bounds}, description)


def thing(properties: Mapping[str, Schema], required: tuple[str, ...]) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [*required],
        "additionalProperties": False,
    }


def _add_description(schema: dict[str, Any], description: str) -> Schema:
    return {**schema, "description": description} if description else schema
