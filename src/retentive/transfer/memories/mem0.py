"""Mem0: the answers of `get_all` and `search`, and exports of the same form.

A file is a list of memories, an object with `results` (and `relations` of a graph), pages of such objects, or one
memory per line.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from retentive.conversations.formats.values import clean_name, json_type_name, parse_time
from retentive.errors import Invalid
from retentive.model import RefusedItem
from retentive.transfer.memories.items import (
    ImportItem,
    ReadResult,
    clean_text,
    drop_empty,
    guess_kind,
    make_refusal,
    make_tags,
    render_relation,
    try_make,
)
from retentive.transfer.memories.source import ImportSource

_LISTS = ("results", "memories")
_READ_FIELDS = {
    "id",
    "memory",
    "hash",
    "metadata",
    "categories",
    "created_at",
    "updated_at",
    "expiration_date",
    "score",
}


def recognise(source: ImportSource) -> bool:
    return any(_is_memory(each) for each in _list_first(source.first_value))


def _list_first(value: Any) -> list[Any]:
    """The value itself and the first memory of each list in it."""
    if isinstance(value, dict):
        inside = [each for name in _LISTS if isinstance(each := value.get(name), list)]
        return [value, *chain.from_iterable(each[:1] for each in inside)]
    return value[:1] if isinstance(value, list) else []


def _is_memory(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("memory"), str)


def read(source: ImportSource) -> Iterator[ReadResult]:
    for place, value in source.records():
        if isinstance(value, Invalid):
            yield make_refusal(place, value)
        elif isinstance(value, list):
            for number, each in enumerate(value, 1):
                yield from _read_page(f"{place}, item {number}", each)
        else:
            yield from _read_page(place, value)


def _read_page(place: str, value: Any) -> Iterator[ReadResult]:
    """Read a memory, or an object with lists of memories."""
    if not isinstance(value, dict):
        yield RefusedItem(place, f"an object was expected, not {json_type_name(value)}")
        return
    lists = [name for name in _LISTS if isinstance(value.get(name), list)]
    if not lists:
        yield try_make(_make_item, place, value)
    for name in lists:
        for number, each in enumerate(value[name], 1):
            yield from _read_memory(f"{place}, {name} {number}", each)
    edges = value.get("relations")
    if lists and isinstance(edges, list):
        for number, each in enumerate(edges, 1):
            yield from _read_relation(f"{place}, relations {number}", each)


def _read_memory(place: str, value: Any) -> Iterator[ReadResult]:
    if isinstance(value, dict):
        yield try_make(_make_item, place, value)
    else:
        yield RefusedItem(place, f"an object was expected, not {json_type_name(value)}")


def _make_item(place: str, value: Mapping[str, Any]) -> ImportItem:
    raw_metadata = value.get("metadata")
    metadata = raw_metadata if isinstance(raw_metadata, dict) else drop_empty(metadata=raw_metadata)
    rest = {name: each for name, each in value.items() if name not in _READ_FIELDS}
    categories = value.get("categories")
    return ImportItem(
        place,
        clean_text(value.get("memory"), "memory"),
        clean_name(value.get("id")),
        {
            **guess_kind(*_as_list(categories), metadata.get("type"), metadata.get("category")),
            **make_tags(categories),
            **drop_empty(
                confidence=_valid_confidence(metadata.get("confidence")),
                expires=parse_time(value.get("expiration_date"), place),
                metadata=drop_empty(**{**rest, **metadata}),
            ),
        },
        parse_time(value.get("created_at"), place),
        parse_time(value.get("updated_at"), place),
    )


def _as_list(categories: Any) -> list[Any]:
    return categories if isinstance(categories, list) else [categories]


def _valid_confidence(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def _read_relation(place: str, value: Any) -> Iterator[ReadResult]:
    if not isinstance(value, dict):
        yield RefusedItem(place, f"an object was expected, not {json_type_name(value)}")
        return
    ends = [clean_name(value.get(name)) for name in ("source", "relationship", "target")]
    ends[2] = ends[2] or clean_name(value.get("destination"))
    if not all(ends):
        yield RefusedItem(place, "a relation needs a source, a relationship and a target")
        return
    source, verb, target = (str(end) for end in ends)
    yield ImportItem(
        place, render_relation(source, verb, target), f"{source} {verb} {target}", make_tags([source, target])
    )
