"""The verbs that every type of record shares: create, get, list, update, delete, history, diff, rollback.

Each change is decided on the newest version and applied as one batch of guarded steps. The batch writes the new
version, its history, its links to contacts and its searchable text, so that all become visible together.

A caller may name the version that a change was decided on. If the record has a newer version, the change is refused,
and the error says what was changed since. Without a version, the change applies to the newest one.
"""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from retentive import clock
from retentive.errors import Busy, Conflict, Invalid, NotFound, Stale
from retentive.ids import new_ids
from retentive.memories.write import embed_texts
from retentive.model import Page, Record, Revision, from_micros
from retentive.records.fields import CONTACT, RECORD_TYPES, RecordType, chunk_status
from retentive.records.fuzzy_names import fold_name
from retentive.records.json_patch import diff_documents
from retentive.records.render import render_record
from retentive.storage import Step
from retentive.storage.damage import decode_intact
from retentive.storage.tables import records as record_rows
from retentive.storage.tables.records import ChangeNote, RecordRevision, RecordRow
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.views import mutates
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.chunk import chunk_text

R = TypeVar("R", bound=Record)

MAX_LISTED = 8  # differences, or records of one name, that an error message lists


class CallerNote(ChangeNote):
    """A note by a caller: its actor and reason are validated."""

    def __new__(cls, action: str, actor: str, reason: str | None) -> Self:
        validate.check_reason(reason, actor)
        return super().__new__(cls, action, actor, reason)


class Change(NamedTuple):
    """A version to be written, with its entry in the history."""

    row: RecordRow
    note: ChangeNote
    old_if_read: RecordRow | None = None
    """The version before it, if it was read to decide."""


class RecordCollection(Generic[R]):
    """The records of one type in one namespace."""

    record_type: ClassVar[RecordType[Any]]

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._table = store.tables.records

    @mutates
    def create(self, /, *, reason: str | None = None, actor: str = "user", **fields: Any) -> R:
        """Create a record with these fields. `name` is required."""
        record_type = self.record_type
        if not fields.get("name"):
            raise Invalid(f"a {record_type.type} needs a name")
        note = CallerNote("created", actor, reason)
        id = new_ids(clock.now(), 1)[0]

        def decide(now: int) -> builtins.list[Change]:
            body = self._make_body({}, fields)
            return [Change(RecordRow(self._store.namespace, record_type.type, id, body, 1, now, now), note)]

        return self._write_and_read(decide)

    def get(self, id: str) -> R:
        """Return the record with this id, or with this name if only one has it."""
        return self._to_record(self._live_row(id))

    def list(self, limit: int = 50, after: str | None = None) -> Page[R]:
        """Return a page of records, ordered by name. `after` is the `next` of the page before."""
        last = None if after is None else self._find_row(after).id
        limit = validate.positive_int(limit)
        found = self._table.list_page(self._store.namespace, self.record_type.type, limit + 1, last)
        records = tuple(decode_intact(found[:limit], self._to_record))
        return Page(records, found[limit - 1].id if len(found) > limit else None)

    @mutates
    def update(
        self, /, id: str, *, version: int | None = None, reason: str | None = None, actor: str = "user", **fields: Any
    ) -> R:
        """Change the given fields and leave the rest; None empties a field.

        With `version`, the update is refused unless the record is still at that version. The error says what changed.
        """
        note = CallerNote("updated", actor, reason)
        return self.change(id, lambda old: self._make_body(old.body, fields), note, version)

    def change(
        self, id: str, make_body: Callable[[RecordRow], Mapping[str, Any]], note: ChangeNote, version: int | None = None
    ) -> R:
        """Write the body that `make_body` returns for the newest version. Fields that are None are dropped."""

        def decide(now: int) -> builtins.list[Change]:
            old = self._require_version(self._live_row(id), version)
            body = {name: value for name, value in make_body(old).items() if value is not None}
            return [Change(record_rows.next_row(old, body, now), note)]

        return self._write_and_read(decide)

    @mutates
    def delete(self, id: str, *, version: int | None = None, reason: str | None = None, actor: str = "user") -> R:
        """Delete a record and return it at the version of the deletion. Roll back to the one before to restore it."""
        note = CallerNote("deleted", actor, reason)

        def decide(now: int) -> builtins.list[Change]:
            old = self._require_version(self._live_row(id), version)
            return [*self._unlink_changes(old, now, actor), Change(make_deleted_row(old, now), note)]

        return self._write_and_read(decide)

    def history(self, id: str) -> Sequence[Revision[R]]:
        """Return every change, oldest first: who, when, why, and the record after it.

        Changes of records that were merged into this one are among them.
        """
        row = self._find_row(id)
        rows = [*self._table.list_merged(*row.key), row]
        revisions = [revision for each in rows for revision in self._load_revisions(each)]
        # Changes at the same moment: those of the record itself come first.
        return sorted(revisions, key=lambda each: (each.at, each.id != row.id, each.version))

    def diff(self, id: str, old: int, new: int | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the JSON Patch from one version to another, by default to the newest."""
        row = self._find_row(id)
        before = self.load_body(id, old)
        if new is None and not row.deleted:
            return self._diff(before, row.body)
        return self._diff(before, self.load_body(id, row.version if new is None else new))

    @mutates
    def rollback(self, id: str, to: int, *, reason: str | None = None, actor: str = "user") -> R:
        """Write the fields of an earlier version as a new version. A deleted record is restored."""
        note = CallerNote("rolled back", actor, reason or f"to version {to}")

        def decide(now: int) -> builtins.list[Change]:
            body = self._restorable_body(self.load_body(id, to))
            return [Change(record_rows.next_row(self._find_row(id), body, now), note)]

        return self._write_and_read(decide)

    def load_body(self, id: str, version: int) -> Mapping[str, Any]:
        """Return the fields that a version has."""
        row = self._find_row(id)
        number = validate.positive_int(version, "version")
        past = next((each for each in self._history(row) if each.version == number), None)
        if past is None:
            raise NotFound(f"{row.id} has no version {number}; it is at {row.version}")
        if past.body is None:
            raise Conflict(f"at version {number}, {row.id} was {past.action}", "Choose a version before it.")
        return past.body

    # Hooks: contacts and projects override these, which do nothing.

    def _restorable_body(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an earlier body; projects leave out contacts that no longer exist."""
        return body

    def _unlink_changes(self, old: RecordRow, now: int, actor: str) -> Iterator[Change]:  # noqa: ARG002 - see above
        """Yield the changes of other records that a deletion requires; contacts have some."""
        return iter(())

    def _resolve_contacts(self, given: Any) -> Any:
        """Return the ids of contacts that are given by id, name or email."""
        raise NotImplementedError

    # Writing

    def _write_and_read(self, decide: Callable[[int], Sequence[Change]]) -> R:
        return self._to_record(self._write(decide))

    def _write(self, decide: Callable[[int], Sequence[Change]]) -> RecordRow:
        """Apply the changes that `decide` returns, and return the row of the last one.

        Unlike with `store.write`, making the steps may raise `Stale`, too: a linked contact was deleted meanwhile.
        """
        vectors: dict[str, bytes | None] = {}
        for _ in range(MAX_ATTEMPTS):
            changes = decide(clock.now())
            try:
                steps = [*self._steps(changes, vectors)]
                if steps:
                    self._store.engine.apply(steps)
                    self._store.journal.note_write()
            except Stale:
                continue
            last = changes[-1].row
            if steps:
                return last
            return self._table.get(*last.key) or last  # nothing differs: the stored row has no new version
        raise Busy(f"others kept changing the same {self.record_type.plural}", "Retry in a moment.")

    def _steps(self, changes: Sequence[Change], vectors: dict[str, bytes | None]) -> Iterator[Step]:
        """Yield the steps of all changes. A change that leaves every field as it is has none."""
        for change in changes:
            row = change.row
            old = (change.old_if_read or self._table.get(*row.key)) if row.version > 1 else None
            if not old or not _is_same(old, row):
                yield from self._change_steps(row, old, change.note, vectors)

    def _change_steps(
        self, row: RecordRow, old: RecordRow | None, note: ChangeNote, vectors: dict[str, bytes | None]
    ) -> Iterator[Step]:
        record_type = RECORD_TYPES[row.type]
        if record_type.unique and not row.deleted:
            self._require_free_name(row)
        contacts = self._load_linked_contacts(row)
        naming_records = self._records_to_reindex(old, row)
        for (
            other
        ) in naming_records:  # before the contact that they name: every writer uses this order, so none deadlocks
            names = {**self._contact_names(other), row.id: row.body["name"]}
            yield record_rows.require_unchanged_step(other)
            yield from self._chunk_steps(other, names, vectors)
        yield from record_rows.save_steps(row, fold_name(row.body.get("name", "")), note)
        if record_type.links:
            yield from map(record_rows.require_unchanged_step, contacts)
            yield from record_rows.link_steps(row, [each.id for each in contacts])
        if not old or self._list_indexed_values(row) != self._list_indexed_values(old):
            yield from self._chunk_steps(row, _names_by_id(contacts), vectors)
        if record_type is CONTACT and (row.deleted or naming_records):
            yield record_rows.require_link_count_step(row, len(naming_records))

    def _require_free_name(self, row: RecordRow) -> None:
        """Refuse a name that another record of a unique type has."""
        name = row.body["name"]
        for other in self._table.find_by_key(row.namespace, row.type, fold_name(name)):
            if other.id != row.id:
                hint = f"Change that one: `{row.type}s.update({other.id!r}, ...)`."
                raise Conflict(f"there is a {row.type} {name[:60]!r} already: {other.id}", hint)

    def _load_linked_contacts(self, row: RecordRow) -> builtins.list[RecordRow]:
        """Return the contacts that a record links to; `Stale` if one of them was deleted."""
        targets = [] if row.deleted else RECORD_TYPES[row.type].list_linked_ids(row.body)
        contacts = self._table.list_by_ids(row.namespace, CONTACT.type, targets)
        if len(contacts) < len(targets):
            raise Stale(f"a contact of {row.id} was deleted meanwhile")
        return contacts

    def _records_to_reindex(self, old: RecordRow | None, row: RecordRow) -> builtins.list[RecordRow]:
        """Return the records that name a row, if it is a renamed contact: their text contains its name."""
        is_renamed = old is not None and old.body.get("name") != row.body.get("name")
        if row.type != CONTACT.type or row.deleted or not is_renamed:
            return []
        return self._table.list_naming(row.namespace, row.id)

    def _make_body(self, old: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the old body with the given fields, validated, with contacts as ids and without secrets."""
        changes = self.record_type.validate_fields(fields)
        for name in self.record_type.links:
            if changes.get(name):
                changes[name] = self._resolve_contacts(changes[name])
        filled = {name: value for name, value in changes.items() if value}
        changes |= secret_policy.apply_policy_to_json(self._store, filled, "memory")
        return {name: value for name, value in {**old, **changes}.items() if value is not None}

    # Searchable text

    def _chunk_steps(
        self, row: RecordRow, contact_names: Mapping[str, str], vectors: dict[str, bytes | None]
    ) -> Iterator[Step]:
        """Replace the chunks of a record. Texts in `vectors` are not embedded again."""
        texts = self._chunks(row, contact_names)
        new = [text for text in texts if text not in vectors]
        vectors.update(zip(new, embed_texts(self._store, new), strict=True))
        yield from record_rows.replace_chunks_steps(
            row, texts, self._store.space, [vectors[text] for text in texts], chunk_status(row)
        )

    def _chunks(self, row: RecordRow, contact_names: Mapping[str, str]) -> Sequence[str]:
        text = self._render(row, contact_names)
        return [*chunk_text(text)] if text else []

    def _render(self, row: RecordRow, contact_names: Mapping[str, str]) -> str:
        record: Record = RECORD_TYPES[row.type].read(row)
        return "" if row.deleted else render_record(record, contact_names).replace("\0", " ")

    def _list_indexed_values(self, row: RecordRow) -> tuple[Any, ...]:
        """Return the values that the chunks depend on."""
        return self._render(row, {}), *(row.body.get(name) for name in RECORD_TYPES[row.type].links)

    def _contact_names(self, row: RecordRow) -> dict[str, str]:
        """Return the names of the linked contacts, by id."""
        return _names_by_id(
            self._table.list_by_ids(row.namespace, CONTACT.type, RECORD_TYPES[row.type].list_linked_ids(row.body))
        )

    # Reading

    def _find_row(self, id: str) -> RecordRow:
        """Return the row with this id, also if it is deleted, or the live row with this name."""
        wanted = validate.require_text(id, "id").strip()
        if not fold_name(wanted):
            raise Invalid("no id", f"Give the id or the name of a {self.record_type.type}.")
        row = self._table.get(self._store.namespace, self.record_type.type, wanted)
        if row:
            return row
        matches = self._find_by_name(wanted)
        if len(matches) > 1:
            listed = ", ".join(
                f"{row.id} ({row.body.get('company') or row.body['name']})" for row in matches[:MAX_LISTED]
            )
            raise Conflict(
                f"{wanted[:60]!r} may be one of {len(matches)} {self.record_type.plural}: {listed}", "Give the id."
            )
        if not matches:
            hint = f"`{self.record_type.plural}.list()` shows the existing ones."
            raise NotFound(f"no {self.record_type.type} {wanted[:60]!r} in namespace {self._store.namespace!r}", hint)
        return matches[0]

    def _find_by_name(self, name: str) -> builtins.list[RecordRow]:
        return self._table.find_by_key(self._store.namespace, self.record_type.type, fold_name(name))

    def _live_row(self, id: str) -> RecordRow:
        """Return the row with this id or name; `NotFound` if it is deleted or merged."""
        row = self._find_row(id)
        if row.merged_into:
            raise NotFound(f"{self.record_type.type} {row.id} was merged into {row.merged_into}", "Use that one.")
        if row.deleted:
            hint = f"`{self.record_type.plural}.rollback({row.id!r}, {row.version - 1})` restores it."
            raise NotFound(
                f"{self.record_type.type} {row.id} was deleted on {from_micros(row.deleted):%Y-%m-%d %H:%M}", hint
            )
        return row

    def _require_version(self, row: RecordRow, version: int | None) -> RecordRow:
        """Return the row if it is at this version; else refuse, and say what changed since."""
        if version is None or validate.parse_sequence(version, "version") == row.version:
            return row
        if version > row.version:
            raise Conflict(f"{row.id} is at version {row.version}; there is no version {version} yet")
        history = self._history(row)
        before = next((past.body for past in history if past.version == version), None) or {}
        differences = self._diff(before, row.body)[:MAX_LISTED]
        changed = "; ".join(map(_describe_difference, differences)) or "it, and back to these fields"
        actors = ", ".join(dict.fromkeys(past.actor for past in history if past.version > version))
        hint = "Nothing was changed. Read it again, then repeat the change."
        raise Conflict(f"{row.id} is at version {row.version}, not {version}: {actors} changed {changed}", hint)

    def _history(self, row: RecordRow) -> builtins.list[RecordRevision]:
        return self._table.list_history(*row.key)

    def _diff(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> builtins.list[dict[str, Any]]:
        return [*diff_documents(before, after)]

    def _load_revisions(self, row: RecordRow) -> Iterator[Revision[R]]:
        return decode_intact(self._history(row), partial(self._make_revision, row))

    def _make_revision(self, row: RecordRow, past: RecordRevision) -> Revision[R]:
        record = None
        if past.body is not None:
            record = self._to_record(replace(row, body=past.body, version=past.version, updated=past.at))
        return Revision(past.version, past.action, from_micros(past.at), past.actor, past.reason, record, row.id)

    def _to_record(self, row: RecordRow) -> R:
        record: R = self.record_type.read(row)
        return record


def make_deleted_row(row: RecordRow, now: int, merged_into: str | None = None) -> RecordRow:
    """Return the next version of a row, as deleted."""
    return replace(row, version=row.version + 1, updated=now, deleted=now, merged_into=merged_into)


def _is_same(old: RecordRow, new: RecordRow) -> bool:
    """Whether a change has no effect. Deleting and restoring always have one."""
    return (
        not old.deleted and not new.deleted and record_rows.encode_body(old.body) == record_rows.encode_body(new.body)
    )


def _names_by_id(contacts: Sequence[RecordRow]) -> dict[str, str]:
    return {row.id: row.body["name"] for row in contacts}


def _describe_difference(operation: Mapping[str, Any]) -> str:
    name = operation["path"].removeprefix("/")
    return f"{name} (removed)" if operation["op"] == "remove" else f"{name} to {str(operation['value'])[:60]!r}"
