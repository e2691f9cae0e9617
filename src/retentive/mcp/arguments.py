"""Arguments as models really send them: other names, a text for a list, a number as a text, null for nothing.

`parse_arguments` turns them into what the schema of a tool says, then checks them. All problems are reported at once,
so that a model needs one more attempt, not several. The other names are in no schema, because every conversation pays
for the schemas.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from retentive.errors import Invalid
from retentive.mcp.tool import Schema, Tool
from retentive.model import ROLES

SYNONYMS = (
    ("id", "ids", "memory_id", "memory_ids", "note_id"),
    ("content", "contents", "text", "texts", "memory", "memories", "message", "statement", "fact"),
    ("messages", "message"),
    ("query", "words", "q", "question", "search_query"),
    ("limit", "top_k", "k", "n", "max_results"),
    ("session", "session_id", "conversation", "conversation_id"),
    ("tags", "tag", "labels"),
    ("kind", "type", "category"),
    ("budget", "max_tokens", "token_budget"),
    ("expires", "expires_at", "valid_until"),
    ("changes", "patch", "updates"),
)
"""Each row: names that mean the same to models. The one in the tool's schema is used."""
SPLIT_AT_COMMAS = ("tags", "include")  # lists whose items have no commas
MAX_SHOWN_CHARS = 60  # characters of a wrong value that are repeated
MAX_PROBLEMS = 10  # problems of a call that are reported
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_arguments(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments as the tool's schema has them. Raise `Invalid` with all problems."""
    from jsonschema import Draft202012Validator

    problems: list[str] = []
    arguments = _rename_and_convert(given or {}, tool.input_schema, problems)
    errors = Draft202012Validator(tool.input_schema).iter_errors(arguments)
    for error in sorted(errors, key=lambda each: [str(step) for step in each.absolute_path]):
        problems += _describe_error(error)
    if problems:
        distinct = [*dict.fromkeys(problems)]
        more = [f"and {len(distinct) - MAX_PROBLEMS} more"] if len(distinct) > MAX_PROBLEMS else []
        names = ", ".join(_mark_optional(tool, name) for name in tool.takes) or "no arguments"
        raise Invalid("; ".join([*distinct[:MAX_PROBLEMS], *more]), f"{tool.name} takes: {names}.")
    return arguments


def _rename_and_convert(
    given: Mapping[str, Any], schema: Schema, problems: list[str], where: str = ""
) -> dict[str, Any]:
    """The values under the names that the schema has, without those that are null or left empty."""
    takes, required = schema["properties"], schema.get("required", ())
    found: dict[str, Any] = {}
    names = {name: name if name in takes else _find_own_name(name, takes) for name in given}
    for given_name in sorted(given, key=lambda name: names[name] != name):  # own names first
        name, value = names[given_name], given[given_name]
        own = takes.get(name, {})
        if value is None or _is_left_empty(value, own, is_required=name in required):
            continue
        converted = _convert(value, own, name, problems, f"{where}{name}")
        if name in found and found[name] != converted:
            problems.append(f"{where}{name} was given twice, also as {given_name!r}")
        found.setdefault(name, converted)
    return found


def _is_left_empty(value: Any, schema: Schema, *, is_required: bool) -> bool:
    """Whether an optional argument is an empty text or list that its schema does not take, as if it were not given."""
    return (
        not is_required
        and value in ("", [])
        and bool(schema.get("minLength") or schema.get("minItems") or schema.get("enum"))
    )


def _find_own_name(given: str, takes: Mapping[str, Schema]) -> str:
    """The name that the schema has for one of its synonyms; the given one if there is none."""
    groups = (group for group in SYNONYMS if given in group)
    return next((name for group in groups for name in group if name in takes), given)


def _convert(value: Any, schema: Schema, name: str, problems: list[str], where: str) -> Any:
    """The value in the type that the schema has, where it can only mean that; else as it was given."""
    match schema.get("type"):
        case "array":
            items = enumerate(_convert_list(value, schema["items"], name))
            return [_convert(each, schema["items"], name, problems, f"{where}.{index}") for index, each in items]
        case "object":
            return _convert_object(value, schema, problems, where)
        case "integer" | "number":
            return _convert_number(value)
        case "boolean":
            return _FLAGS.get(str(value).strip().lower(), value)
        case "string":
            return _convert_text(value, schema.get("enum", ()))
        case _:
            return value


def _convert_object(value: Any, schema: Schema, problems: list[str], where: str) -> Any:
    found = _parse_json(value) if isinstance(value, str) else value
    is_known = isinstance(found, dict) and "properties" in schema
    return _rename_and_convert(found, schema, problems, f"{where}.") if is_known else found


def _convert_list(value: Any, item: Schema, name: str) -> Sequence[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        parsed = _parse_json(value) if value.lstrip().startswith(("[", "{")) else value
        if isinstance(parsed, list):
            return parsed
        if name in SPLIT_AT_COMMAS:
            return [part.strip() for part in value.split(",") if part.strip()]
        return [parsed if item.get("type") == "object" else value]
    return [value]


def _convert_number(value: Any) -> Any:
    number = _parse_json(value) if isinstance(value, str) else value
    is_whole = isinstance(number, float) and number.is_integer()
    return int(number) if is_whole else value if isinstance(number, str | list | dict) else number


def _convert_text(value: Any, options: Sequence[str]) -> Any:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not options or value in options:
        return value
    word = value.strip().lower()
    candidates = (word, word.removesuffix("s"), str(ROLES.get(word, "")))
    return next((each for each in candidates if each in options), value)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _describe_error(error: Any) -> Iterator[str]:
    """What is wrong: the argument, what was given, what it takes."""
    where, schema, value = [str(step) for step in error.absolute_path], error.schema, error.instance
    match error.validator:
        case "required":
            for name in schema["required"]:
                if name not in value:
                    yield f"{'.'.join([*where, name])} is missing: {describe_schema(schema['properties'][name])}"
        case "additionalProperties":
            known = [*schema["properties"]]
            for name in value:
                if name not in known:
                    close = get_close_matches(str(name), known, 1)
                    hint = f", did you mean {close[0]!r}?" if close else ""
                    yield f"{'.'.join([*where, str(name)[:MAX_SHOWN_CHARS]])}: there is no such argument{hint}"
        case _:
            yield f"{'.'.join(where)}: {_describe_value(value)} was given, it takes {describe_schema(schema)}"


def _describe_value(value: Any) -> str:
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    text = repr(value)
    if len(text) <= MAX_SHOWN_CHARS:
        return text
    size = f" ({len(value):,} characters)" if isinstance(value, str) else ""
    return f"{text[:MAX_SHOWN_CHARS]}…{size}"


def describe_schema(schema: Schema) -> str:
    """What a value may be, in words."""
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    match schema.get("type"):
        case "integer" | "number":
            return f"a whole number from {schema['minimum']:,} to {schema['maximum']:,}"
        case "boolean":
            return "true or false"
        case "array":
            return f"a list of {schema.get('minItems', 0)} to {schema['maxItems']}: {describe_schema(schema['items'])}"
        case "object":
            return f"an object of {', '.join(schema['properties'])}" if "properties" in schema else "a JSON object"
        case _:
            return f"text of {schema.get('minLength', 0)} to {schema['maxLength']:,} characters"


def _mark_optional(tool: Tool, name: str) -> str:
    return name if name in tool.required else f"{name}?"
