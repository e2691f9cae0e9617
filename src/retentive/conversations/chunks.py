"""What of a conversation can be searched, as rows of chunks.

A slice of a message knows who said it and when, and what was said before and after it: fields of their own in the full
text, which count less than the words themselves. The same slice again in the same session is not a second row: the
range of the one that is there grows.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from retentive.model import (
    DEFAULT_CONFIDENCE,
    DEFAULT_IMPORTANCE,
    MESSAGE,
    REPLY,
    Event,
    Message,
    Role,
    Source,
    to_micros,
)
from retentive.text.chunk import CHUNK_SIZE, chunk
from retentive.text.messages import readable
from retentive.text.normalize import content_hash
from retentive.text.terms import terms

Row = dict[str, Any]

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # strftime's would follow the locale
MONTHS = "January February March April May June July August September October November December".split()


class Slice(NamedTuple):
    hash: str
    text: str


@dataclass(frozen=True, slots=True)
class Sliced:
    """Rows by the hash of their slice, and the texts to embed for the new ones."""

    fresh: dict[str, Row] = field(default_factory=dict)
    again: dict[str, Row] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def slices(message: Event | Message) -> list[Slice]:
    text = readable(message.content, message.payload)
    return [Slice(content_hash(each), each) for each in chunk(text)] if text else []


def sliced(
    events: Sequence[Event], cut: Sequence[Sequence[Slice]], previous: Event | None, known: Collection[str]
) -> Sliced:
    """`cut` are the slices of each event, `known` the hashes of those that the session has."""
    found = Sliced()
    for event, own, (before, after) in zip(events, cut, _neighbours(events, previous), strict=True):
        for ordinal, (hash, text) in enumerate(own):
            said = {"last": event.sequence, "valid_from": to_micros(event.time)}
            row = found.fresh.get(hash) or found.again.get(hash)
            if row:
                row["last"], row["valid_from"] = said["last"], max(row["valid_from"], said["valid_from"])
            elif hash in known:
                found.again[hash] = {**_key(event, hash), **said}
            else:
                found.fresh[hash] = {**_key(event, hash), **said, **_own(event, ordinal, text)} | {
                    "f_before": _field(before[-CHUNK_SIZE:]) if ordinal == 0 else None,
                    "f_after": _field(after[:CHUNK_SIZE]) if ordinal == len(own) - 1 else None,
                }
                found.texts[hash] = text
    return found


def heard(previous: Event, after: Event) -> Row:
    """What the message before hears of the one after it."""
    key = {"namespace": previous.namespace, "owner": previous.id}
    return {**key, "f_after": _field(readable(after.content, after.payload)[:CHUNK_SIZE])}


def _neighbours(events: Sequence[Event], previous: Event | None) -> Iterator[tuple[str, str]]:
    """Of each event, the text of the one before and of the one after."""
    texts = [
        readable(event.content, event.payload) if event and not event.is_hidden else "" for event in (previous, *events)
    ]
    return zip(texts, [*texts[2:], ""], strict=False)


def _key(event: Event, hash: str) -> Row:
    return {"namespace": event.namespace, "session": event.session, "hash": hash}


def _own(event: Event, ordinal: int, text: str) -> Row:
    return {
        "owner": event.id,
        "ordinal": ordinal,
        "kind": REPLY if event.role == Role.ASSISTANT else MESSAGE,
        "text": None if text == event.content else text,
        "first": event.sequence,
        "confidence": DEFAULT_CONFIDENCE[Source.CONVERSATION],
        "importance": DEFAULT_IMPORTANCE,
        "f_content": terms(text),
        "f_context": None,
        "f_tags": None,
        "f_speaker": _field(event.speaker or ""),
        "f_date": f"{DAYS[event.time.weekday()]} {event.time.day} {MONTHS[event.time.month - 1]} {event.time.year}",
    }


def _field(text: str) -> str | None:
    return terms(text) if text else None
