"""Memories and messages in few words, for models that pay by the word."""

from collections.abc import Iterable, Mapping
from typing import Any

from retentive import serialize
from retentive.conversations.turns import is_foreign
from retentive.model import Event, Hit, Memory, Passage, Record, Status, Successor, is_said
from retentive.text.quote import indent_lines, join_lines, quote_lines

MAX_LINE_CHARS = 200  # of a text in a list; `memory_get` has the whole
_OMITTED_FIELDS = ("content_hash", "access_count", "last_access", "requests")


def shorten(text: str, most: int = MAX_LINE_CHARS) -> str:
    """The text on one line, cut at `most` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def serialize_hit(value: Hit) -> dict[str, Any]:
    item = value.item
    row: dict[str, Any] = {"id": value.id, "text": _quote_item(item, value.excerpt)}
    row |= {"date": f"{value.time:%Y-%m-%d}", "score": round(value.relevance, 2)}
    kind = item.kind if isinstance(item, Memory) else "message" if isinstance(item, Event) else value.type
    mark = {"outdated": _serialize_successor(value.outdated)} if value.outdated else {}
    return row | {"kind": kind} | _serialize_source(item) | mark


def _serialize_successor(value: Successor) -> dict[str, Any]:
    newer = {"newer_id": value.newer_id} if value.newer_id else {}
    return {"since": f"{value.since:%Y-%m-%d}", "is_certain": value.is_certain, **newer}


def serialize_memory(value: Memory) -> dict[str, Any]:
    row: dict[str, Any] = {"id": value.id, "text": _quote_item(value, value.content)}
    row |= {"date": f"{value.valid_from:%Y-%m-%d}", "kind": value.kind}
    state = {} if value.status is Status.ACTIVE else {"status": value.status}
    return row | _serialize_source(value) | state


def _serialize_source(item: Memory | Event | Record | Passage) -> dict[str, Any]:
    """Where a memory came from, if the user did not say it."""
    return {"source": item.source} if isinstance(item, Memory) and not is_said(item.source) else {}


def join_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """`[id] 2026-03-01 fact 0.83: text`, a line each."""
    return "\n".join(f"[{row['id']}] {row['date']} {row['kind']}{_describe_state(row)}: {row['text']}" for row in rows)


def serialize_item(value: Memory | Event | Record | Passage) -> dict[str, Any]:
    """All fields of the item that are not empty."""
    fields = serialize.event(value) if isinstance(value, Event) else serialize.encode_fields(value)
    noise = (*_OMITTED_FIELDS, "version") if isinstance(value, Memory) else _OMITTED_FIELDS
    fields = {name: each for name, each in fields.items() if name != "is_hidden" or each}
    return {name: each for name, each in fields.items() if each not in (None, [], {}, "") and name not in noise}


def describe_item(item: Memory | Event | Record | Passage, value: Mapping[str, Any]) -> str:
    """A whole item as text: its words, then its other fields on one line. Foreign words are quoted."""
    rest = ", ".join(f"{name}: {each}" for name, each in value.items() if name not in ("content", "id"))
    words = value.get("content") or value.get("name", "")
    return f"[{value['id']}] {quote_lines(words) if _is_foreign(item) else indent_lines(words)}\n  ({rest})"


def _is_foreign(item: Memory | Event | Record | Passage) -> bool:
    """Whether the words are neither the user's own nor said in a conversation."""
    match item:
        case Memory():
            return not is_said(item.source)
        case Event():
            return is_foreign(item)
        case _:
            return isinstance(item, Passage)


def _quote_item(item: Memory | Event | Record | Passage, text: str) -> str:
    """The words on one line, with the speaker or the place in a file. Foreign words are marked as a quote."""
    mark = "> " if _is_foreign(item) else ""
    if isinstance(item, Event):
        return f"{join_lines(item.speaker or item.role)}: {mark}{shorten(text)}"
    return mark + shorten(f"{item.place}: {text}" if isinstance(item, Passage) else text)


def _describe_state(row: Mapping[str, Any]) -> str:
    state = f" {row['status']}" if "status" in row else ""
    score = f" {row['score']:.2f}" if "score" in row else ""
    return f"{state}{score}{_describe_outdated(row['outdated'])}" if "outdated" in row else f"{state}{score}"


def _describe_outdated(outdated: Mapping[str, Any]) -> str:
    doubt = "" if outdated["is_certain"] else "possibly "
    see = f", see [{outdated['newer_id']}]" if "newer_id" in outdated else ""
    return f" ({doubt}outdated since {outdated['since']}{see})"
