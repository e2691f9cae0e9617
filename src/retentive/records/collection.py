"""What can be done with every type of record: read, decide, and apply as one batch of guarded steps.

A change is a new version with its history, its links and its searchable text, all visible together. Who names the
version that a change was decided on is refused if it has moved on, and told what happened since; who does not has the
fields that are given changed in whatever is there.
"""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from retentive import clock
from retentive.errors import Busy, Conflict, Invalid, NotFound, Stale
from retentive.ids import new_ids
from retentive.memories.write import embedded
from retentive.model import Record, Records, Revision, from_micros
from retentive.records.fields import CONTACT, SHAPES, Shape, chunk_status
from retentive.records.fuzzy_names import folded
from retentive.records.json_patch import differences
from retentive.records.render import told
from retentive.storage import Step
from retentive.storage.damage import intact
from retentive.storage.tables import records as rows
from retentive.storage.tables.records import Past, Row, Said
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.views import writes
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.chunk import chunk

R = TypeVar("R", bound=Record)

SHOWN = 8  # differences told of a change that was refused


class Told(Said):
    """What is told of a change, checked."""

    def __new__(cls, action: str, actor: str, reason: str | None) -> Self:
        validate.why(reason, actor)
        return super().__new__(cls, action, actor, reason)


class Change(NamedTuple):
    """A version to be written, and what is told of it."""

    row: Row
    said: Said
    old: Row | None = None
    """The version before it, if it was read to decide."""


class Store(Generic[R]):
    """The verbs that all types share."""

    shape: ClassVar[Shape[Any]]

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._rows = store.tables.records

    @writes
    def create(self, /, *, reason: str | None = None, actor: str = "user", **fields: Any) -> R:
        """Keep a new one. The fields are those that it has; a name is always needed."""
        shape = self.shape
        if not fields.get("name"):
            raise Invalid(f"a {shape.type} needs a name")
        said = Told("created", actor, reason)
        id = new_ids(clock.now(), 1)[0]

        def decide(now: int) -> builtins.list[Change]:
            return [Change(Row(self._store.namespace, shape.type, id, self._body({}, fields), 1, now, now), said)]

        return self._done(decide)

    def get(self, id: str) -> R:
        """One of them, by its id; or by its name, if only one is called so."""
        return self._read(self._live(id))

    def list(self, limit: int = 50, after: str | None = None) -> Records[R]:
        """In the order of their names, a page at a time."""
        last = None if after is None else self._row(after).id
        found = self._rows.page(self._store.namespace, self.shape.type, validate.limit_of(limit) + 1, last)
        read = tuple(intact(found[:limit], self._read))
        return Records(read, found[limit - 1].id if len(found) > limit else None)

    @writes
    def update(
        self, /, id: str, *, version: int | None = None, reason: str | None = None, actor: str = "user", **fields: Any
    ) -> R:
        """Change the fields that are given and leave the rest; None empties one.

        With `version` it is refused, and told what changed, unless it is still that version.
        """
        told = Told("updated", actor, reason)
        return self.change(id, lambda old: self._body(old.body, fields), told, version)

    def change(self, id: str, make: Callable[[Row], Mapping[str, Any]], told: Said, version: int | None = None) -> R:
        """A new version of it, made of the newest; of what is None there is nothing kept."""

        def decide(now: int) -> builtins.list[Change]:
            old = self._expected(self._live(id), version)
            body = {name: each for name, each in make(old).items() if each is not None}
            return [Change(rows.next_row(old, body, now), told)]

        return self._done(decide)

    @writes
    def delete(self, id: str, *, version: int | None = None, reason: str | None = None, actor: str = "user") -> R:
        """Take it away, softly: its history stays, and `rollback` brings it back. The answer is how it was."""
        said = Told("deleted", actor, reason)

        def decide(now: int) -> builtins.list[Change]:
            old = self._expected(self._live(id), version)
            return [*self._unlinked(old, now, actor), Change(gone(old, now), said)]

        return self._done(decide)

    def history(self, id: str) -> Sequence[Revision[R]]:
        """Every change, the oldest first: who, when, why, and how it was after that."""
        row = self._row(id)
        merged = self._rows.merged(row.namespace, row.type, row.id)
        found = [*intact(((each, past) for each in (*merged, row) for past in self._past(each)), self._revision)]
        return sorted(found, key=lambda each: (each.at, each.id != row.id, each.version))

    def diff(self, id: str, old: int, new: int | None = None) -> Sequence[Mapping[str, Any]]:
        """What changed between two versions, the second being the newest if not given: a JSON Patch."""
        row = self._row(id)
        before = self.at(id, old)
        after = row.body if new is None and not row.deleted else self.at(id, row.version if new is None else new)
        return self._differences(before, after)

    @writes
    def rollback(self, id: str, to: int, *, reason: str | None = None, actor: str = "user") -> R:
        """Make it as it was at a version, which is itself a change. What was deleted is there again."""
        said = Told("rolled back", actor, reason or f"to version {to}")

        def decide(now: int) -> builtins.list[Change]:
            return [Change(rows.next_row(self._row(id), self._again(self.at(id, to)), now), said)]

        return self._done(decide)

    def _again(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """An earlier body as it can be again."""
        return body

    def _unlinked(self, old: Row, now: int, actor: str) -> Iterator[Change]:  # noqa: ARG002 - contacts have some
        """What must change with one that goes."""
        return iter(())

    def _done(self, decide: Callable[[int], Sequence[Change]]) -> R:
        return self._read(self._write(decide))

    def _write(self, decide: Callable[[int], Sequence[Change]]) -> Row:
        """The last of what is decided, written; again if another was first."""
        vectors: dict[str, bytes | None] = {}
        for _ in range(MAX_ATTEMPTS):
            changes = decide(clock.now())
            try:
                if steps := [*self._steps(changes, vectors)]:
                    self._store.engine.apply(steps)
                    self._store.journal.wrote = True
            except Stale:
                continue
            last = changes[-1].row
            return last if steps else self._present(last)
        raise Busy(f"others kept changing the same {self.shape.plural}", "Retry in a moment.")

    def _steps(self, changes: Sequence[Change], vectors: dict[str, bytes | None]) -> Iterator[Step]:
        for row, said, read in changes:
            old = (read or self._rows.get(*row.key)) if row.version > 1 else None
            if old and not old.deleted and not row.deleted and rows.as_text(old.body) == rows.as_text(row.body):
                continue
            shape = SHAPES[row.type]
            if shape.unique and not row.deleted:
                self._free(row)
            named = self._named_by(row)
            naming = self._naming(old, row) if shape is CONTACT else []
            for other in naming:  # before the contact, as whoever writes a project does: nobody waits for each other
                yield rows.unchanged_step(other)
                yield from self._slices(other, {**self._called(other), row.id: row.body["name"]}, vectors)
            yield from rows.save_steps(row, folded(row.body.get("name", "")), said)
            if shape.links:
                yield from map(rows.unchanged_step, named)
                yield from rows.link_steps(row, [each.id for each in named])
            if not old or self._said(row) != self._said(old):
                yield from self._slices(row, _names(named), vectors)
            if row.deleted and shape is CONTACT:
                yield rows.named_step(row, 0)
            elif naming:
                yield rows.named_step(row, len(naming))

    def _free(self, row: Row) -> None:
        """Refuse a name that another has."""
        name = row.body["name"]
        for other in self._rows.named(row.namespace, row.type, folded(name)):
            if other.id != row.id:
                hint = f"Change it: retentive {row.type} update {other.id}"
                raise Conflict(f"there is a {row.type} {name[:60]!r} already: {other.id}", hint)

    def _named_by(self, row: Row) -> builtins.list[Row]:
        """The contacts that it names, which must be there."""
        targets = [] if row.deleted else SHAPES[row.type].targets(row.body)
        found = self._rows.several(row.namespace, CONTACT.type, targets)
        if len(found) < len(targets):
            raise Stale(f"a contact of {row.id} was deleted meanwhile")
        return found

    def _naming(self, old: Row | None, row: Row) -> builtins.list[Row]:
        """What names a contact that is called otherwise now: it is found by its name."""
        renamed = old and not row.deleted and old.body.get("name") != row.body.get("name")
        return self._rows.naming(row.namespace, row.id) if renamed else []

    def _said(self, row: Row) -> tuple[Any, ...]:
        """What its slices are made of."""
        return self._text(row, {}), *(row.body.get(name) for name in SHAPES[row.type].links)

    def _slices(self, row: Row, called: Mapping[str, str], vectors: dict[str, bytes | None]) -> Iterator[Step]:
        cut = self._cut(row, called)
        new = [text for text in cut if text not in vectors]
        vectors.update(zip(new, embedded(self._store, new), strict=True))
        yield from rows.slice_steps(row, cut, self._store.space, [vectors[text] for text in cut], chunk_status(row))

    def _text(self, row: Row, called: Mapping[str, str]) -> str:
        """What is searched of it."""
        record: Record = SHAPES[row.type].read(row)
        return "" if row.deleted else told(record, called).replace("\0", " ")

    def _cut(self, row: Row, called: Mapping[str, str]) -> Sequence[str]:
        """Its text in slices."""
        text = self._text(row, called)
        return [*chunk(text)] if text else []

    def _called(self, row: Row) -> dict[str, str]:
        """The names of the contacts that it names."""
        return _names(self._rows.several(row.namespace, CONTACT.type, SHAPES[row.type].targets(row.body)))

    def _body(self, old: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
        checked = self.shape.checked(fields)
        for name in self.shape.links:
            if checked.get(name):
                checked[name] = self._contacts(checked[name])
        safe = secret_policy.guarded_json(self._store, {name: each for name, each in checked.items() if each}, "memory")
        return {name: each for name, each in {**old, **checked, **safe}.items() if each is not None}

    def _contacts(self, given: Any) -> Any:
        """The ids of contacts, who may be named."""
        raise NotImplementedError

    def _row(self, id: str) -> Row:
        """Of any state."""
        asked = validate.plain(id, "id").strip()
        if not folded(asked):
            raise Invalid("no id", f"Give the id or the name of a {self.shape.type}.")
        found = self._rows.get(self._store.namespace, self.shape.type, asked)
        if found:
            return found
        named = self._named(asked)
        if len(named) > 1:
            those = ", ".join(f"{row.id} ({row.body.get('company') or row.body['name']})" for row in named[:SHOWN])
            raise Conflict(f"{asked[:60]!r} may be one of {len(named)} {self.shape.plural}: {those}", "Give the id.")
        if not named:
            hint = f"`retentive {self.shape.type} list` shows those there are."
            raise NotFound(f"no {self.shape.type} {asked[:60]!r} in namespace {self._store.namespace!r}", hint)
        return named[0]

    def _named(self, asked: str) -> builtins.list[Row]:
        return self._rows.named(self._store.namespace, self.shape.type, folded(asked))

    def _live(self, id: str) -> Row:
        row = self._row(id)
        if row.merged_into:
            raise NotFound(f"{self.shape.type} {row.id} was merged into {row.merged_into}", "Ask for that one.")
        if row.deleted:
            hint = f"`retentive {self.shape.type} rollback {row.id} {row.version - 1}` brings it back."
            raise NotFound(f"{self.shape.type} {row.id} was deleted on {from_micros(row.deleted):%Y-%m-%d %H:%M}", hint)
        return row

    def _expected(self, row: Row, version: int | None) -> Row:
        if version is None or validate.sequence_of(version, "version") == row.version:
            return row
        if version > row.version:
            raise Conflict(f"{row.id} is at version {row.version}; there is no version {version} yet")
        since = [past for past in self._past(row) if past.version > version]
        before = next((past.body for past in self._past(row) if past.version == version), None) or {}
        told = "; ".join(_told(each) for each in self._differences(before, row.body)[:SHOWN])
        by = ", ".join(dict.fromkeys(past.actor for past in since))
        hint = "Read it again and decide anew; nothing was changed."
        what = told or "nothing that is still so"
        raise Conflict(f"{row.id} is at version {row.version}, not {version}: {by} changed {what}", hint)

    def _past(self, row: Row) -> builtins.list[Past]:
        return self._rows.history(*row.key)

    def at(self, id: str, version: int) -> Mapping[str, Any]:
        """The fields as they were kept at a version."""
        row = self._row(id)
        number = validate.limit_of(version, "version")
        past = next((each for each in self._past(row) if each.version == number), None)
        if past is None:
            raise NotFound(f"{row.id} has no version {number}; it is at {row.version}")
        if past.body is None:
            raise Conflict(f"version {number} of {row.id} is its having been {past.action}", "Choose one before it.")
        return past.body

    def _differences(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> builtins.list[dict[str, Any]]:
        return [*differences(before, after)]

    def _revision(self, change: tuple[Row, Past]) -> Revision[R]:
        row, past = change
        record = None
        if past.body is not None:
            record = self._read(replace(row, body=past.body, version=past.version, updated=past.at))
        return Revision(past.version, past.action, from_micros(past.at), past.actor, past.reason, record, row.id)

    def _present(self, row: Row) -> Row:
        return self._rows.get(*row.key) or row

    def _read(self, row: Row) -> R:
        record: R = self.shape.read(row)
        return record


def gone(row: Row, now: int, into: str | None = None) -> Row:
    return replace(row, version=row.version + 1, updated=now, deleted=now, merged_into=into)


def _names(contacts: Sequence[Row]) -> dict[str, str]:
    return {row.id: row.body["name"] for row in contacts}


def _told(change: Mapping[str, Any]) -> str:
    name = change["path"].removeprefix("/")
    return f"{name} (removed)" if change["op"] == "remove" else f"{name} to {str(change['value'])[:60]!r}"
