"""Mem0: the answers of `get_all` and `search`, and exports in their form.

A list of memories, an object with `results` (and, of a graph, `relations`), pages of such objects, or a memory a line.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from retentive.conversations.formats.values import kind, label, moment
from retentive.errors import Invalid
from retentive.model import Refusal
from retentive.transfer.memories.items import Item, Told, attempt, kind_of, refused, relation, tags_of, text_of, told
from retentive.transfer.memories.source import Given

_LISTS = ("results", "memories")
_READ = {"id", "memory", "hash", "metadata", "categories", "created_at", "updated_at", "expiration_date", "score"}


def recognise(given: Given) -> bool:
    return any(_is_memory(each) for each in _first(given.first))


def _first(value: Any) -> list[Any]:
    """The first of the memories in it."""
    if isinstance(value, dict):
        inside = [each for name in _LISTS if isinstance(each := value.get(name), list)]
        return [value, *chain.from_iterable(each[:1] for each in inside)]
    return value[:1] if isinstance(value, list) else []


def _is_memory(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("memory"), str)


def read(given: Given) -> Iterator[Told]:
    for place, value in given.records():
        if isinstance(value, Invalid):
            yield refused(place, value)
        elif isinstance(value, list):
            for number, each in enumerate(value, 1):
                yield from _page(f"{place}, item {number}", each)
        else:
            yield from _page(place, value)


def _page(place: str, value: Any) -> Iterator[Told]:
    """A memory, or an object with many."""
    if not isinstance(value, dict):
        yield Refusal(place, f"an object was expected, not {kind(value)}")
        return
    lists = [name for name in _LISTS if isinstance(value.get(name), list)]
    if not lists:
        yield attempt(_item, place, value)
    for name in lists:
        for number, each in enumerate(value[name], 1):
            yield from _one(f"{place}, {name} {number}", each)
    edges = value.get("relations")
    if lists and isinstance(edges, list):
        for number, each in enumerate(edges, 1):
            yield from _edge(f"{place}, relations {number}", each)


def _one(place: str, value: Any) -> Iterator[Told]:
    if isinstance(value, dict):
        yield attempt(_item, place, value)
    else:
        yield Refusal(place, f"an object was expected, not {kind(value)}")


def _item(place: str, value: Mapping[str, Any]) -> Item:
    given = value.get("metadata")
    metadata = given if isinstance(given, dict) else told(metadata=given)
    rest = {name: each for name, each in value.items() if name not in _READ}
    categories = value.get("categories")
    return Item(
        place,
        text_of(value.get("memory"), "memory"),
        label(value.get("id")),
        {
            **kind_of(*_names(categories), metadata.get("type"), metadata.get("category")),
            **tags_of(categories),
            **told(
                confidence=_confidence(metadata.get("confidence")),
                expires=moment(value.get("expiration_date"), place),
                metadata=told(**{**rest, **metadata}),
            ),
        },
        moment(value.get("created_at"), place),
        moment(value.get("updated_at"), place),
    )


def _names(categories: Any) -> list[Any]:
    return categories if isinstance(categories, list) else [categories]


def _confidence(value: Any) -> float | None:
    is_one = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_one else None


def _edge(place: str, value: Any) -> Iterator[Told]:
    if not isinstance(value, dict):
        yield Refusal(place, f"an object was expected, not {kind(value)}")
        return
    ends = [label(value.get(name)) for name in ("source", "relationship", "target")]
    ends[2] = ends[2] or label(value.get("destination"))
    if not all(ends):
        yield Refusal(place, "a relation needs a source, a relationship and a target")
        return
    source, verb, target = (str(end) for end in ends)
    yield Item(place, relation(source, verb, target), f"{source} {verb} {target}", tags_of([source, target]))
