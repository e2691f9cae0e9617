"""The part of a purge that concerns records: whole records, and values that purged facts brought into the profile."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from retentive.records import json_patch
from retentive.records.contacts import Contacts
from retentive.records.fields import CONTACT, RECORD_TYPES
from retentive.records.profile_sync import Profiles
from retentive.storage import Step
from retentive.storage.tables.records import (
    ChangeNote,
    RecordRow,
    next_row,
    require_unchanged_profile_step,
    rewrite_step,
    save_steps,
)
from retentive.store import OpenStore


def find_records(store: OpenStore, id: str) -> list[RecordRow]:
    """Return the record with this id, of any type and state, and all that were merged into it."""
    rows = store.tables.records
    found = [row for type in RECORD_TYPES if (row := rows.get(store.namespace, type, id))][:1]
    for row in found:  # the list grows by what was merged into each
        found += rows.list_merged(*row.key)
    return found


def delete_if_contact(store: OpenStore, row: RecordRow, actor: str) -> RecordRow:
    """Delete a contact in a transaction of its own, so that no project names it any more, and return its new row.

    Other records are returned as they are.
    """
    if row.type != CONTACT.type or row.deleted:
        return row
    Contacts(store).delete(row.id, reason="purged", actor=actor)
    return store.tables.records.get(*row.key) or row


def iter_texts(store: OpenStore, row: RecordRow) -> Iterator[str]:
    """Yield every text of a record, in all of its versions."""
    for body in _all_bodies(store, row):
        fields = {name: value for name, value in body.items() if name != "flowed"}
        values = [each["value"] for each in body.get("flowed", {}).values()]  # its other fields are our own names
        for _, value in json_patch.iter_leaves({**fields, "values": values}):
            yield from _iter_strings(value)


def _iter_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _iter_strings(each)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _iter_strings(name)
            yield from _iter_strings(each)


def profile_steps(store: OpenStore, memories: Collection[str], now: int) -> Iterator[Step]:
    """Yield the steps that remove the values of these memories from the profile and its history.

    The guard on the profile's version lets no concurrent write bring them back, from the history or from the fact.
    """
    row = Profiles(store).load_stored()
    yield require_unchanged_profile_step(row)
    body = _without_memories(row.body, memories)
    is_touched = body != row.body
    for past in store.tables.records.list_history(*row.key):
        if past.body is None:
            continue
        past_body = _without_memories(past.body, memories)
        if past_body != past.body:
            yield rewrite_step(row, past.version, past_body)
            is_touched = True
    if is_touched:
        yield from save_steps(next_row(row, body, now), "", ChangeNote("purged", "purge", None))


def render_profile_left(store: OpenStore, memories: Collection[str]) -> str:
    """Return the profile and its history, without the values of these memories, as one text."""
    bodies = _all_bodies(store, Profiles(store).load_stored())
    return json.dumps([_without_memories(body, memories) for body in bodies], ensure_ascii=False)


def _all_bodies(store: OpenStore, row: RecordRow) -> list[Mapping[str, Any]]:
    """Return the newest body of a record, then those of its history."""
    return [row.body, *(past.body for past in store.tables.records.list_history(*row.key) if past.body)]


def _without_memories(body: Mapping[str, Any], memories: Collection[str]) -> Mapping[str, Any]:
    """Return the body of a profile without the values that came from these memories."""
    removed = {slot: each for slot, each in body.get("flowed", {}).items() if each["memory"] in memories}
    if not removed:
        return body
    document = body["document"]
    for each in removed.values():
        if json_patch.is_same_json(json_patch.get_value(document, each["at"]), each["value"]):
            document = json_patch.remove_value(document, each["at"])
    left = {name: value for name, value in body.items() if name != "flowed"}
    flowed = {slot: each for slot, each in body["flowed"].items() if slot not in removed}
    return {**left, "document": document, **({"flowed": flowed} if flowed else {})}
