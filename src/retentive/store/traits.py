"""Check the fields of a memory by their declarations in `surface/memory.py`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from retentive.errors import Invalid
from retentive.model import DEFAULT_CONFIDENCE, Kind, Source, Traits
from retentive.store import validate
from retentive.surface.field import Field
from retentive.surface.memory import CONTENT_FIELDS, SESSION, SOURCE
from retentive.text.instants import Side

CHOICES: dict[str, type[StrEnum]] = {"kind": Kind, "source": Source}
TRAIT_FIELDS = {field.name: field for field in (*CONTENT_FIELDS, SESSION, SOURCE)}
"""The fields of a memory beside its text, by their names."""
_SIDES: dict[bool, Side] = {True: "after", False: "first"}
_DEFAULTS = {field.name: () if field.many else field.default for field in TRAIT_FIELDS.values()}


def parse_traits(*, max_content: int, origin: Mapping[str, Any] | None = None, **options: Any) -> Traits:
    """Check the options of a memory. What is not given has its default; confidence has one for each source."""
    if options.get("confidence") is None:
        source = validate.parse_choice(Source, options.get("source", SOURCE.default), "source")
        options["confidence"] = DEFAULT_CONFIDENCE[source]
    given = {**_DEFAULTS, **options}
    values = {name: parse_field(field, given[name], max_content) for name, field in TRAIT_FIELDS.items()}
    return Traits(**values, origin=validate.require_json_object(origin, "origin"))


def parse_field(field: Field, given: Any, max_content: int) -> Any:
    """Return the checked value. `Invalid` if it is none that the declaration allows."""
    match field.type:
        case "choice":
            return validate.parse_choice(CHOICES[field.name], given, field.name)
        case "integer" | "number":
            return parse_bounded(field, given)
        case "time":
            return validate.parse_time(given, field.name, past=not field.is_end, side=_SIDES[field.is_end])
        case "object":
            return validate.require_json_object(given, field.name) or {}
        case "text":
            return validate.require_content(given, field.name, max_content) if given else None
    return validate.parse_tags(given) if field.many else validate.optional_name(given, field.name)


def parse_change(field: Field, given: Any, max_content: int) -> Any:
    """Return the checked new value of a field. An empty value clears the field, if it can be cleared."""
    if field.many:
        given = given or ()
    elif field.is_clearable:
        given = given or None
    elif field.type == "time":
        given = given or ""  # refused: a memory has a beginning
    return parse_field(field, given, max_content)


def parse_bounded(field: Field, given: Any) -> Any:
    """Return a number inside the bounds of its declaration; an integer if it is declared as one."""
    value = validate.parse_number(given, field.name)
    is_integer = field.type == "integer"
    if (is_integer and value != int(value)) or not (field.low or 0) <= value <= (field.high or 0):
        raise Invalid(f"{field.name} is {given}", f"Give a {'whole number' if is_integer else 'number'}: {field.help}.")
    return int(value) if is_integer else value
