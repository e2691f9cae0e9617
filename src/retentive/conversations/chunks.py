"""Chunk rows of messages: the part of a conversation that search reads.

A chunk has its speaker, its date, and the messages before and after it as full-text fields of their own. These count
less than its own words. If a session repeats a chunk, no second row is written: the existing row's range grows.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
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
from retentive.text.chunk import CHUNK_SIZE, chunk_text
from retentive.text.messages import extract_text
from retentive.text.normalize import hash_content
from retentive.text.terms import segment_text

Row = dict[str, Any]

DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # strftime's would follow the locale
MONTH_NAMES = "January February March April May June July August September October November December".split()


class MessageChunk(NamedTuple):
    hash: str
    text: str


@dataclass(frozen=True, slots=True)
class ChunkRows:
    """Rows by the hash of their chunk: new ones, those that extend an existing row, and the texts to embed."""

    new_rows: dict[str, Row] = field(default_factory=dict)
    extended_rows: dict[str, Row] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def chunk_message(message: Event | Message) -> list[MessageChunk]:
    """Split the readable text of a message into chunks."""
    text = extract_text(message.content, message.payload)
    return [MessageChunk(hash_content(each), each) for each in chunk_text(text)] if text else []


def chunk_rows(
    events: Sequence[Event],
    chunks_by_message: Sequence[Sequence[MessageChunk]],
    previous: Event | None,
    known: Collection[str],
) -> ChunkRows:
    """Make the rows of events. `known` has the hashes of the chunks that the session has already."""
    rows = ChunkRows()
    neighbours = _neighbour_texts(events, previous)
    for event, chunks, (before, after) in zip(events, chunks_by_message, neighbours, strict=True):
        for ordinal, (hash, text) in enumerate(chunks):
            said = {"last": event.sequence, "valid_from": to_micros(event.time), "tags": _encode_tags(event.tags)}
            row = rows.new_rows.get(hash) or rows.extended_rows.get(hash)
            if row:
                row["last"], row["valid_from"] = said["last"], max(row["valid_from"], said["valid_from"])
                row["tags"] = _join_tags(row["tags"], event.tags)
            elif hash in known:
                rows.extended_rows[hash] = {**_row_key(event, hash), **said}
            else:
                rows.new_rows[hash] = {**_row_key(event, hash), **said, **_new_row_fields(event, ordinal, text)} | {
                    "f_before": _index_terms(before[-CHUNK_SIZE:]) if ordinal == 0 else None,
                    "f_after": _index_terms(after[:CHUNK_SIZE]) if ordinal == len(chunks) - 1 else None,
                }
                rows.texts[hash] = text
    return rows


def _join_tags(known: str | None, more: Sequence[str]) -> str | None:
    return _encode_tags([*dict.fromkeys([*(json.loads(known) if known else ()), *more])])


def _encode_tags(tags: Sequence[str]) -> str | None:
    return json.dumps([*tags], ensure_ascii=False) if tags else None


def following_row(previous: Event, after: Event) -> Row:
    """Make the update that gives the previous message the text of the one after it."""
    key = {"namespace": previous.namespace, "owner": previous.id}
    return {**key, "f_after": _index_terms(extract_text(after.content, after.payload)[:CHUNK_SIZE])}


def _neighbour_texts(events: Sequence[Event], previous: Event | None) -> Iterator[tuple[str, str]]:
    """Yield for each event the text of the event before it and of the event after it."""
    texts = [
        extract_text(event.content, event.payload) if event and not event.is_hidden else ""
        for event in (previous, *events)
    ]
    return zip(texts, [*texts[2:], ""], strict=False)


def _row_key(event: Event, hash: str) -> Row:
    return {"namespace": event.namespace, "session": event.session, "hash": hash}


def _new_row_fields(event: Event, ordinal: int, text: str) -> Row:
    return {
        "owner": event.id,
        "ordinal": ordinal,
        "kind": REPLY if event.role == Role.ASSISTANT else MESSAGE,
        "text": None if text == event.content else text,
        "first": event.sequence,
        "confidence": DEFAULT_CONFIDENCE[Source.CONVERSATION],
        "importance": DEFAULT_IMPORTANCE,
        "f_content": segment_text(text),
        "f_context": None,
        "f_tags": None,
        "f_speaker": _index_terms(event.speaker or ""),
        "f_date": _spell_date(event.time),
    }


def _spell_date(time: datetime) -> str:
    return f"{DAY_NAMES[time.weekday()]} {time.day} {MONTH_NAMES[time.month - 1]} {time.year}"


def _index_terms(text: str) -> str | None:
    return segment_text(text) if text else None
