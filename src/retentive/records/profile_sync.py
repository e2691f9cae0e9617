"""Synchronise the profile with the user's facts: memories in slots such as `user.dog.name`.

A corrected fact changes the profile, and a forgotten fact leaves it. Beside the document, the body of the profile has
`flowed`: for each slot the memory of the fact, the pointer where its value was put, and the value.

A fact is put into the profile once. If somebody then sets another value there, that value stays until the
fact changes. Only a value that came from a fact is ever removed.

The profile is synchronised after every write of such a fact, and before every change of the profile itself. A fact may
also expire, or a process may be killed between the two writes. A read therefore compares the profile with the facts,
too, and returns what synchronisation would write. It writes nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from retentive import clock
from retentive.errors import Invalid, StorageError
from retentive.model import Memory, Profile
from retentive.records import json_patch
from retentive.records.collection import Change, RecordCollection
from retentive.records.fields import PROFILE
from retentive.storage import Step
from retentive.storage.tables.records import ChangeNote, RecordRow, next_row, require_unchanged_fact_step
from retentive.store import OpenStore, validate
from retentive.store.views import can_write

PROFILE_ID = "profile"
SLOT_PREFIX = "user."  # of the slots whose facts go into the profile
MAX_VALUE_CHARS = 500  # of a fact in the profile
MAX_PROFILE_CHARS = 200_000  # more than any model reads
MAX_FACTS = 1000  # read for one profile


class Profiles(RecordCollection[Profile]):
    """The one profile that each namespace has."""

    record_type = PROFILE

    def load_stored(self) -> RecordRow:
        """Return the profile as it was last written, or version 0 if it never was."""
        return self._table.get(self._store.namespace, PROFILE.type, PROFILE_ID) or self._empty()

    def load_current(self) -> RecordRow:
        """Return the profile in step with the facts, without writing it."""
        row, synced = self._compare()
        return synced or row

    def synchronise(self) -> RecordRow:
        """Write the profile in step with the facts, where this view may write, and return it."""
        row, synced = self._compare()
        if synced is None:
            return row
        if not can_write(self._store, self._store.namespace):
            return synced
        first = [_make_change(row, synced)]

        def decide(now: int) -> list[Change]:
            """Use what was read above at the first attempt; read again after a concurrent write."""
            return [first.pop() if first else self._decide_again(now)]

        try:
            return self._write(decide)
        except StorageError as error:
            self._store.journal.record_failure("profile", error)
            return synced

    def _compare(self) -> tuple[RecordRow, RecordRow | None]:
        """Return the stored profile, and how it should be if the facts differ from it."""
        found, facts = self._table.load_profile(self._store.namespace, PROFILE_ID, SLOT_PREFIX, clock.now())
        row = found or self._empty()
        flowed = row.body.get("flowed", {})
        if facts == {slot: (each["memory"], each["hash"]) for slot, each in flowed.items()}:
            return row, None
        return row, _synchronise_row(self._store, row, clock.now())

    def _decide_again(self, now: int) -> Change:
        old = self.load_stored()
        return _make_change(old, _synchronise_row(self._store, old, now) or next_row(old, old.body, now))

    def _empty(self) -> RecordRow:
        return RecordRow(self._store.namespace, PROFILE.type, PROFILE_ID, {"document": {}}, 0, 0, 0)

    def _find_row(self, _: str) -> RecordRow:
        return self.load_stored()

    def _live_row(self, _: str) -> RecordRow:
        """Synchronise first: every change is decided on this row."""
        return self.synchronise()

    def _steps(self, changes: Sequence[Change], vectors: dict[str, bytes | None]) -> Iterator[Step]:
        """Add guards for the facts that are new in the profile, so that none of them is purged meanwhile."""
        steps = [*super()._steps(changes, vectors)]
        if not steps:
            return
        change = changes[-1]
        known = (change.old_if_read or self.load_stored()).body.get("flowed", {})
        flowed: dict[str, Any] = change.row.body.get("flowed", {})
        for slot, each in flowed.items():
            if known.get(slot) != each:
                yield require_unchanged_fact_step(self._store.namespace, each["memory"], each["hash"])
        yield from steps

    def _diff(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [*json_patch.diff_documents(before.get("document", {}), after.get("document", {}))]


def sync_profile(store: OpenStore, slots: Iterable[str | None]) -> None:
    """Synchronise the profile after a write of facts in these slots."""
    if any(slot and slot.startswith(SLOT_PREFIX) for slot in slots):
        Profiles(store).synchronise()


def _make_change(old: RecordRow, new: RecordRow) -> Change:
    return Change(new, ChangeNote("learned", "facts", _describe_change(old, new)), old)


def _synchronise_row(store: OpenStore, row: RecordRow, now: int) -> RecordRow | None:
    """Return the next version of the profile, in step with the facts; None if it is so already."""
    memories = store.tables.memories.list_by_slot_prefix(store.namespace, SLOT_PREFIX, now, MAX_FACTS)
    facts = {memory.slot: memory for memory in memories if memory.slot}
    before: Mapping[str, Any] = row.body.get("flowed", {})
    flowed = {slot: each for slot, each in before.items() if slot in facts and _is_from(each, facts[slot])}
    if before.keys() == facts.keys() == flowed.keys():
        return None
    document = row.body["document"]
    for slot, each in before.items():
        if slot not in flowed and json_patch.is_same_json(json_patch.get_value(document, each["at"]), each["value"]):
            document = json_patch.remove_value(document, each["at"])
    for slot in sorted(facts.keys() - flowed.keys()):
        pointer = before[slot]["at"] if slot in before else _choose_pointer(document, slot.removeprefix(SLOT_PREFIX))
        flowed[slot] = _make_entry(store, facts[slot], pointer)
        document = _put_value(document, flowed[slot], row.body.get("schema"))
    body = {**row.body, "document": document, "flowed": flowed}
    return next_row(row, {name: value for name, value in body.items() if value or name == "document"}, now)


def _is_from(entry: Mapping[str, Any], memory: Memory) -> bool:
    return (entry["memory"], entry["hash"]) == (memory.id, memory.content_hash)


def _make_entry(store: OpenStore, memory: Memory, pointer: str) -> dict[str, Any]:
    return {"memory": memory.id, "hash": memory.content_hash, "at": pointer, "value": _find_value(store, memory)}


def _put_value(document: Any, entry: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Any:
    """Return the document with the value of a fact, or as it is if the schema or its size does not allow it."""
    try:
        changed = json_patch.set_value(document, entry["at"], entry["value"])
        validate.require_json(changed, "the profile", MAX_PROFILE_CHARS)
        json_patch.check_document(changed, schema)
    except Invalid:
        return document
    return changed


def _choose_pointer(document: Any, name: str) -> str:
    """Return the pointer for a slot: `dog.name` goes into `dog`, unless that already is something else."""
    pointer = json_patch.to_pointer(name)
    above = pointer.rpartition("/")[0]
    while above:
        if not isinstance(json_patch.get_value(document, above, {}), Mapping):
            return json_patch.to_pointer(name.replace(".", "_"))
        above = above.rpartition("/")[0]
    return f"{pointer}/is" if isinstance(json_patch.get_value(document, pointer), Mapping) else pointer


def _find_value(store: OpenStore, memory: Memory) -> Any:
    """Return the value of a fact: from its metadata, from its sentence, or all of its text."""
    if "value" in memory.metadata:
        return memory.metadata["value"]
    rules = store.rules()
    statement = rules.parse(memory.content)
    value = rules.find_slot_value(statement) if rules.find_slot(statement) == memory.slot else ""
    return (value or memory.content)[:MAX_VALUE_CHARS]


def _describe_change(old: RecordRow, new: RecordRow) -> str | None:
    """Name the memories whose values were put into the profile, and those whose values were removed."""
    before, after = old.body.get("flowed", {}), new.body.get("flowed", {})
    added = [each["memory"] for slot, each in after.items() if before.get(slot) != each]
    removed = [each["memory"] for slot, each in before.items() if slot not in after]
    parts = [f"{word} {', '.join(ids)}" for word, ids in (("from", added), ("without", removed)) if ids]
    return "; ".join(parts) or None
