"""Read the values of options and arguments: numbers, choices, lists."""

from typing import Any

from retentive.errors import Invalid
from retentive.surface.field import Field


def convert(field: Field, value: Any, name: str) -> Any:
    """Convert what was typed for a field. `Invalid` if it is not of the type that the field declares.

    `name` is that of the option, or of the argument's place.
    """
    if field.type == "flag":
        return value
    if field.type == "words":
        return " ".join(value)
    if field.many:
        return [_convert_one(field, part, name) for each in value for part in _split(field, each)]
    return _convert_one(field, value, name)


def _split(field: Field, text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if field.has_commas else [text]


def _convert_one(field: Field, text: str, name: str) -> Any:
    if field.is_clearable and text == "":
        return text
    match field.type:
        case "integer":
            return _parse_integer(text, name)
        case "number":
            return _parse_number(text, name)
        case "choice" if text not in field.choices:
            raise _refuse_choice(field, text, name)
    return text


def _parse_integer(text: str, name: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Invalid(f"{name} {text!r} is not a whole number", "Give one such as 5.") from None


def _parse_number(text: str, name: str) -> float:
    """Parse a number, and keep whole numbers integers. The store refuses NaN and infinity."""
    try:
        value = float(text)
        return int(value) if value.is_integer() else value
    except ValueError:
        raise Invalid(f"{name} {text!r} is not a number", "Give one such as 0.5.") from None


def _refuse_choice(field: Field, text: str, name: str) -> Invalid:
    from difflib import get_close_matches

    close = get_close_matches(text.lower(), field.choices, 1)
    question = f"Did you mean {close[0]}? " if close else ""
    return Invalid(f"{name} {text!r} is unknown", f"{question}Choose one of: {', '.join(field.choices)}.")
