"""What a purge takes of records: those that it names, and what the facts that go brought into the profile."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from retentive.records import json_patch
from retentive.records.contacts import Contacts
from retentive.records.fields import CONTACT, SHAPES
from retentive.records.profile_sync import Profiles
from retentive.storage import Step, step
from retentive.storage.tables.records import Row, Said, as_text, next_row, profile_step, save_steps
from retentive.store import OpenStore


def found(store: OpenStore, id: str) -> list[Row]:
    """The record of this id, of whatever type and state, and those that were merged into it."""
    rows = store.tables.records
    going = [row for type in SHAPES if (row := rows.get(store.namespace, type, id))][:1]
    for row in going:  # which grows by what was merged into what was merged
        going += rows.merged(*row.key)
    return going


def unlinked(store: OpenStore, row: Row, actor: str) -> Row:
    """A record that nothing names any more."""
    if row.type != CONTACT.type or row.deleted:
        return row
    Contacts(store).delete(row.id, reason="purged", actor=actor)
    return store.tables.records.get(*row.key) or row


def texts(store: OpenStore, row: Row) -> Iterator[str]:
    """Whatever it said, in any version."""
    bodies = [row.body, *(past.body for past in store.tables.records.history(*row.key) if past.body)]
    for body in bodies:
        brought = (each["value"] for each in body.get("flowed", {}).values())  # the rest of that is names of our own
        said = {**{name: each for name, each in body.items() if name != "flowed"}, "values": [*brought]}
        yield from (text for _, value in json_patch.leaves(said) for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (text for each in value for text in _texts(each))
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for each in pair for text in _texts(each))


def profile_steps(store: OpenStore, memories: Collection[str], now: int) -> Iterator[Step]:
    """The profile and its history without what these memories brought.

    Whoever brings it back at this moment, from the history or from the fact, is refused, or refuses this.
    """
    row = Profiles(store).stored()
    yield profile_step(row)
    touched = _without(row.body, memories) != row.body
    for past in store.tables.records.history(*row.key):
        if past.body is not None and (left := _without(past.body, memories)) != past.body:
            key = {"namespace": row.namespace, "type": row.type, "id": row.id, "version": past.version}
            yield step("revision_rewrite", expect=1, **key, body=as_text(left))
            touched = True
    if touched:
        yield from save_steps(next_row(row, _without(row.body, memories), now), "", Said("purged", "purge", None))


def profile_left(store: OpenStore, memories: Collection[str]) -> str:
    """What the profile and its history say without them."""
    row = Profiles(store).stored()
    bodies = [row.body, *(past.body for past in store.tables.records.history(*row.key) if past.body)]
    return json.dumps([_without(body, memories) for body in bodies], ensure_ascii=False)


def _without(body: Mapping[str, Any], memories: Collection[str]) -> Mapping[str, Any]:
    going = {slot: each for slot, each in body.get("flowed", {}).items() if each["memory"] in memories}
    if not going:
        return body
    document = body["document"]
    for each in going.values():
        if json_patch.same(json_patch.at(document, each["at"]), each["value"]):
            document = json_patch.removed(document, each["at"])
    flowed = {slot: each for slot, each in body["flowed"].items() if slot not in going}
    rest = {name: each for name, each in body.items() if name != "flowed"}
    return {**rest, "document": document, **({"flowed": flowed} if flowed else {})}
