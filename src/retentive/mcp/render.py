"""Memories and messages in few words, for models that pay by the word."""

from collections.abc import Iterable, Mapping
from typing import Any

from retentive import serialize
from retentive.conversations.turns import is_foreign
from retentive.model import Event, Hit, Memory, Outdated, Passage, Record, Status, is_said
from retentive.text.quote import flatten, indent, quote

LINE = 200  # characters of a text shown in a list; `memory_get` has the whole
_NOISE = ("content_hash", "access_count", "last_access", "heard")


def line(text: str, most: int = LINE) -> str:
    """On one line, and not longer than that."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def hit(value: Hit) -> dict[str, Any]:
    item = value.item
    told: dict[str, Any] = {"id": value.id, "text": _said(item, value.excerpt)}
    told |= {"date": f"{value.time:%Y-%m-%d}", "score": round(value.relevance, 2)}
    kind = item.kind if isinstance(item, Memory) else "message" if isinstance(item, Event) else value.type
    mark = {"outdated": _outdated(value.outdated)} if value.outdated else {}
    return told | {"kind": kind} | _source(item) | mark


def _outdated(value: Outdated) -> dict[str, Any]:
    newer = {"newer_id": value.newer_id} if value.newer_id else {}
    return {"since": f"{value.since:%Y-%m-%d}", "is_certain": value.is_certain, **newer}


def memory(value: Memory) -> dict[str, Any]:
    told: dict[str, Any] = {"id": value.id, "text": _said(value, value.content)}
    told |= {"date": f"{value.valid_from:%Y-%m-%d}", "kind": value.kind}
    state = {} if value.status is Status.ACTIVE else {"status": value.status}
    return told | _source(value) | state


def _source(item: Memory | Event | Record | Passage) -> dict[str, Any]:
    """Where a memory came from, if the user did not say it."""
    return {"source": item.source} if isinstance(item, Memory) and not is_said(item.source) else {}


def listed(rows: Iterable[Mapping[str, Any]]) -> str:
    """`[id] 2026-03-01 fact 0.83: text`, a line each."""
    return "\n".join(f"[{row['id']}] {row['date']} {row['kind']}{_more(row)}: {row['text']}" for row in rows)


def whole(value: Memory | Event | Record | Passage) -> dict[str, Any]:
    """All of it that says something."""
    told = serialize.event(value) if isinstance(value, Event) else serialize.shown(value)
    noise = (*_NOISE, "version") if isinstance(value, Memory) else _NOISE
    told = {name: each for name, each in told.items() if name != "is_hidden" or each}
    return {name: each for name, each in told.items() if each not in (None, [], {}, "") and name not in noise}


def told(item: Memory | Event | Record | Passage, value: Mapping[str, Any]) -> str:
    """A whole one as text: its words, then the rest in one line. What is not the user's own word is quoted."""
    rest = ", ".join(f"{name}: {each}" for name, each in value.items() if name not in ("content", "id"))
    words = value.get("content") or value.get("name", "")
    return f"[{value['id']}] {quote(words) if _is_foreign(item) else indent(words)}\n  ({rest})"


def _is_foreign(item: Memory | Event | Record | Passage) -> bool:
    """Whether it is not the user's own word, or what was said in a conversation."""
    match item:
        case Memory():
            return not is_said(item.source)
        case Event():
            return is_foreign(item)
        case _:
            return isinstance(item, Passage)


def _said(item: Memory | Event | Record | Passage, text: str) -> str:
    """Its words on one line, with who said them or where they stand."""
    mark = "> " if _is_foreign(item) else ""
    if isinstance(item, Event):
        return f"{flatten(item.speaker or item.role)}: {mark}{line(text)}"
    return mark + line(f"{item.place}: {text}" if isinstance(item, Passage) else text)


def _more(row: Mapping[str, Any]) -> str:
    state = f" {row['status']}" if "status" in row else ""
    score = f" {row['score']:.2f}" if "score" in row else ""
    return f"{state}{score}{_mark(row['outdated'])}" if "outdated" in row else f"{state}{score}"


def _mark(outdated: Mapping[str, Any]) -> str:
    doubt = "" if outdated["is_certain"] else "possibly "
    see = f", see [{outdated['newer_id']}]" if "newer_id" in outdated else ""
    return f" ({doubt}outdated since {outdated['since']}{see})"
