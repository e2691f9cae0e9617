"""Calls of a tool, made from the schema that it is listed with: what is new there is called, too.

A call has what the tool requires, and beside it nothing, each optional argument alone, each two of them, or all. An
argument that is a choice is called with each of its values.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

Known = Mapping[str, Sequence[Any]]
"""Values that make sense, by `tool.argument`, or by `argument` for all tools."""

FEW = 5  # values that are combined with other arguments, such as the four actions of a note; of more, the first is


def calls_of(tool: Mapping[str, Any], known: Known) -> Iterator[dict[str, Any]]:
    """The arguments of each call."""
    schema = tool["inputSchema"]
    values = {
        name: _values_of(f"{tool['name']}.{name}", name, each, known) for name, each in schema["properties"].items()
    }
    required = {name: values[name] for name in schema.get("required", ())}
    optional = {name: some for name, some in values.items() if name not in required}
    base = {name: some[0] for name, some in required.items()}
    yield base
    yield from ({**base, name: value} for name, some in required.items() for value in some[1:])
    yield from ({**base, name: value} for name, some in optional.items() for value in some)
    for first, second in combinations(optional, 2):
        ones, others = _choices(optional[first]), _choices(optional[second])
        yield from ({**base, first: one, second: others[0]} for one in ones)
        yield from ({**base, first: ones[0], second: other} for other in others[1:])
    if len(optional) < 3:  # then all of them were together already
        return
    everything = {**base, **{name: some[0] for name, some in optional.items()}}
    yield everything
    yield from ({**everything, name: value} for name, some in optional.items() for value in _choices(some)[1:])


def _choices(values: Sequence[Any]) -> Sequence[Any]:
    return values if len(values) <= FEW else values[:1]


def _values_of(path: str, name: str, schema: Mapping[str, Any], known: Known) -> Sequence[Any]:
    """Those that are known for an argument, or else some that its schema allows."""
    if path in known or name in known:
        return known[path] if path in known else known[name]
    match schema:
        case {"enum": choices}:
            return [*choices]
        case {"type": "array", "items": items}:
            return [[each] for each in _values_of(f"{path}.item", "", items, known)]
        case {"type": "object", "properties": fields}:
            return [{field: _values_of(f"{path}.{field}", field, each, known)[0] for field, each in fields.items()}]
        case _:
            return _plain_values(schema)


def _plain_values(schema: Mapping[str, Any]) -> Sequence[Any]:
    match schema["type"]:
        case "boolean":
            return [True, False]
        case "integer":
            return [schema["minimum"], schema["maximum"]]
        case "string":
            return ["Some words", ""]
        case _:
            return [{"city": "Oslo"}]
