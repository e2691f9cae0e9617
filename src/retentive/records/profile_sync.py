"""Facts in slots of the user flow into the profile: a correction changes it, and what is forgotten leaves it.

What flowed is written down beside the document: for each slot the memory it came from, where it was put, and the value.
A fact flows once. If somebody then sets that place to something else, it stays so until the fact is another one. What
is taken away is only what a fact brought.

It happens with every write of such a fact, and again before the profile is read: whatever changed a memory, or was cut
off in between, the profile is in step when it is looked at. Who may only read sees it in step, and nothing is written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from retentive import clock
from retentive.errors import Invalid, StorageError
from retentive.model import Memory, Profile
from retentive.records import json_patch
from retentive.records.collection import Change, Store
from retentive.records.fields import PROFILE
from retentive.storage import Step
from retentive.storage.tables.records import Row, Said, fact_step, next_row
from retentive.store import OpenStore, validate
from retentive.store.views import can_write

ID = "profile"
OF = "user."  # the slots whose facts flow
LONGEST = 500  # characters of a value
LARGEST = 200_000  # characters of a document: more than any model reads
MOST = 1000  # facts


class Profiles(Store[Profile]):
    """The one record of its type that each namespace has."""

    shape = PROFILE

    def stored(self) -> Row:
        """As it was last written; version 0 before that."""
        return self._rows.get(self._store.namespace, PROFILE.type, ID) or self._empty()

    def _empty(self) -> Row:
        return Row(self._store.namespace, PROFILE.type, ID, {"document": {}}, 0, 0, 0)

    def _row(self, _: str) -> Row:
        return self.stored()

    def _live(self, _: str) -> Row:
        return self.current()

    def current(self) -> Row:
        """In step with the facts, and written so where that can be done."""
        found, facts = self._rows.profile(self._store.namespace, ID, OF, clock.now())
        row = found or self._empty()
        flowed = row.body.get("flowed", {})
        if facts == {slot: (each["memory"], each["hash"]) for slot, each in flowed.items()}:
            return row
        new = _in_step(self._store, row, clock.now())
        if new is None or not can_write(self._store, self._store.namespace):
            return new or row
        first = [_learned(row, new)]

        def decide(now: int) -> list[Change]:
            """By what was read just now; only if another was first, read again."""
            return [first.pop() if first else self._learn(now)]

        try:
            return self._write(decide)
        except StorageError as error:
            self._store.journal.failed("profile", error)
            return new

    def _learn(self, now: int) -> Change:
        old = self.stored()
        return _learned(old, _in_step(self._store, old, now) or next_row(old, old.body, now))

    def _steps(self, changes: Sequence[Change], vectors: dict[str, bytes | None]) -> Iterator[Step]:
        """With guards for the facts that are new in it: none of them is purged meanwhile."""
        if steps := [*super()._steps(changes, vectors)]:
            known = (changes[-1].old or self.stored()).body.get("flowed", {})
            flowed: dict[str, Any] = changes[-1].row.body.get("flowed", {})
            new = (each for slot, each in flowed.items() if known.get(slot) != each)
            yield from (fact_step(self._store.namespace, each["memory"], each["hash"]) for each in new)
            yield from steps

    def _differences(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [*json_patch.differences(before.get("document", {}), after.get("document", {}))]


def sync_profile(store: OpenStore, slots: Iterable[str | None]) -> None:
    """After a write of facts in these slots."""
    if any(slot and slot.startswith(OF) for slot in slots):
        Profiles(store).current()


def _learned(old: Row, new: Row) -> Change:
    return Change(new, Said("learned", "facts", _reason(old, new)), old)


def _in_step(store: OpenStore, row: Row, now: int) -> Row | None:
    """How it should be, if it is not so."""
    facts = {
        memory.slot: memory for memory in store.tables.memories.in_slots(store.namespace, OF, now, MOST) if memory.slot
    }
    before: Mapping[str, Any] = row.body.get("flowed", {})
    flowed = {slot: each for slot, each in before.items() if slot in facts and _is_of(each, facts[slot])}
    if before.keys() == facts.keys() == flowed.keys():
        return None
    document = row.body["document"]
    for slot, each in before.items():
        if slot not in flowed and json_patch.same(json_patch.at(document, each["at"]), each["value"]):
            document = json_patch.removed(document, each["at"])
    for slot in sorted(facts.keys() - flowed.keys()):
        place = before[slot]["at"] if slot in before else _place(document, slot.removeprefix(OF))
        flowed[slot] = _written(store, facts[slot], place)
        document = _with(document, flowed[slot], row.body.get("schema"))
    body = {**row.body, "document": document, "flowed": flowed}
    return next_row(row, {name: each for name, each in body.items() if each or name == "document"}, now)


def _is_of(written: Mapping[str, Any], memory: Memory) -> bool:
    return (written["memory"], written["hash"]) == (memory.id, memory.content_hash)


def _written(store: OpenStore, memory: Memory, place: str) -> dict[str, Any]:
    return {"memory": memory.id, "hash": memory.content_hash, "at": place, "value": _value(store, memory)}


def _with(document: Any, written: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Any:
    """The document with the value of a fact, unless the schema or the document has no room for it."""
    try:
        made = json_patch.placed(document, written["at"], written["value"])
        validate.json_value(made, "the profile", LARGEST)
        json_patch.meet(made, schema)
    except Invalid:
        return document
    return made


def _place(document: Any, name: str) -> str:
    """`dog.name` is in `dog`, unless that is something else already."""
    pointer = json_patch.pointer_of(name)
    above = pointer.rpartition("/")[0]
    while above:
        if not isinstance(json_patch.at(document, above, {}), Mapping):
            return json_patch.pointer_of(name.replace(".", "_"))
        above = above.rpartition("/")[0]
    return f"{pointer}/is" if isinstance(json_patch.at(document, pointer), Mapping) else pointer


def _value(store: OpenStore, memory: Memory) -> Any:
    """What the fact says in few words: what its metadata calls its value, or what its sentence says the slot is."""
    if "value" in memory.metadata:
        return memory.metadata["value"]
    statement = store.rules().parse(memory.content)
    said = store.rules().find_slot_value(statement) if store.rules().find_slot(statement) == memory.slot else ""
    return (said or memory.content)[:LONGEST]


def _reason(old: Row, new: Row) -> str | None:
    before, after = old.body.get("flowed", {}), new.body.get("flowed", {})
    came = [each["memory"] for slot, each in after.items() if before.get(slot) != each]
    went = [each["memory"] for slot, each in before.items() if slot not in after]
    told = [f"{word} {', '.join(ids)}" for word, ids in (("from", came), ("without", went)) if ids]
    return "; ".join(told) or None
