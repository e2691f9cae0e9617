"""Arguments as a model gave them, checked against a tool's schema; what is wrong is said so that it can be mended."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from retentive.errors import Invalid
from retentive.mcp.tool import Tool

SHOWN = 60  # characters of a wrong value that are repeated
_PARSED = ("array", "object", "integer", "boolean", "number")


def checked(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    arguments = {name: _unwrapped(value, tool.takes.get(name)) for name, value in (given or {}).items()}
    wrong = best_match(Draft202012Validator(tool.input_schema).iter_errors(arguments))
    if wrong is not None:
        where = ".".join(str(step) for step in wrong.absolute_path)
        hint = f"{tool.name} takes: {', '.join(_shown(tool, name) for name in tool.takes) or 'no arguments'}."
        raise Invalid(_complaint(wrong.validator, wrong.validator_value, wrong.instance, where, wrong.message), hint)
    return arguments


def _unwrapped(value: Any, schema: Mapping[str, Any] | None) -> Any:
    """Some models give a list or a number as a string of JSON."""
    if not isinstance(value, str) or not schema or schema.get("type") not in _PARSED:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _complaint(rule: str, bound: Any, value: Any, where: str, message: str) -> str:
    told = _COMPLAINTS[rule](bound, value) if rule in _COMPLAINTS else message[: 4 * SHOWN]
    return f"{where or 'arguments'}: {told}"


_COMPLAINTS: Mapping[str, Callable[[Any, Any], str]] = {
    "required": lambda names, given: f"{next(name for name in names if name not in given)!r} is missing",
    "type": lambda kind, given: f"{_cut(given)} is not of type {kind}",
    "enum": lambda known, given: f"{_cut(given)} is not one of {', '.join(known)}",
    "minLength": lambda _, __: "is empty",
    "maxLength": lambda most, given: f"{len(given):,} characters, {most:,} at the most",
    "minItems": lambda least, given: f"{len(given):,} items, {least:,} at the least",
    "maxItems": lambda most, given: f"{len(given):,} items, {most:,} at the most",
    "minimum": lambda least, given: f"{_cut(given)} is below {least}",
    "maximum": lambda most, given: f"{_cut(given)} is above {most}",
}


def _cut(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= SHOWN else f"{told[:SHOWN]}…"


def _shown(tool: Tool, name: str) -> str:
    return name if name in tool.required else f"{name}?"
