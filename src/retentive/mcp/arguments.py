"""Validate the arguments that a model gave against a tool's schema, with errors that help it to correct them."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from retentive.errors import Invalid
from retentive.mcp.tool import Tool

MAX_SHOWN_CHARS = 60  # characters of a wrong value that are repeated
_PARSED_TYPES = ("array", "object", "integer", "boolean", "number")


def validate_arguments(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments, parsed; raise `Invalid` for the most telling error."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    arguments = {name: _parse_json_string(value, tool.takes.get(name)) for name, value in (given or {}).items()}
    wrong = best_match(Draft202012Validator(tool.input_schema).iter_errors(arguments))
    if wrong is not None:
        where = ".".join(str(step) for step in wrong.absolute_path)
        hint = f"{tool.name} takes: {', '.join(_mark_optional(tool, name) for name in tool.takes) or 'no arguments'}."
        raise Invalid(
            _describe_error(wrong.validator, wrong.validator_value, wrong.instance, where, wrong.message), hint
        )
    return arguments


def _parse_json_string(value: Any, schema: Mapping[str, Any] | None) -> Any:
    """Parse a list or a number that a model gave as a string of JSON."""
    if not isinstance(value, str) or not schema or schema.get("type") not in _PARSED_TYPES:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _describe_error(rule: str, bound: Any, value: Any, where: str, message: str) -> str:
    fault = _ERROR_MESSAGES[rule](bound, value) if rule in _ERROR_MESSAGES else message[: 4 * MAX_SHOWN_CHARS]
    return f"{where or 'arguments'}: {fault}"


_ERROR_MESSAGES: Mapping[str, Callable[[Any, Any], str]] = {
    "required": lambda names, given: f"{next(name for name in names if name not in given)!r} is missing",
    "type": lambda kind, given: f"{_shorten(given)} is not of type {kind}",
    "enum": lambda known, given: f"{_shorten(given)} is not one of {', '.join(known)}",
    "minLength": lambda _, __: "is empty",
    "maxLength": lambda most, given: f"{len(given):,} characters, {most:,} at the most",
    "minItems": lambda least, given: f"{len(given):,} items, {least:,} at the least",
    "maxItems": lambda most, given: f"{len(given):,} items, {most:,} at the most",
    "minimum": lambda least, given: f"{_shorten(given)} is below {least}",
    "maximum": lambda most, given: f"{_shorten(given)} is above {most}",
}


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"


def _mark_optional(tool: Tool, name: str) -> str:
    return name if name in tool.required else f"{name}?"
