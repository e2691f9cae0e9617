"""What is known in fields, as rows: reading it, and the steps that write it. What the fields are is not known here."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from retentive.model import DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, Match, Scope, Source, Space, Status, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import (
    TEXTS,
    WHOLE,
    decodes,
    intact,
    read_intact,
    read_object,
    require_types,
)
from retentive.storage.scopes import chunk_filters
from retentive.storage.tables.chunks import chunk_values, field_values, insert_steps
from retentive.storage.tables.memories import SAID_SOURCES, after_prefix, containing_pattern, namespace_step


@dataclass(frozen=True, slots=True)
class Row:
    namespace: str
    type: str
    id: str
    body: Mapping[str, Any]
    version: int
    created: int
    updated: int
    deleted: int | None = None
    merged_into: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.namespace, self.type, self.id


class Past(NamedTuple):
    """A row of history: what happened, and the fields after it; None if it was deleted then."""

    version: int
    action: str
    at: int
    actor: str
    reason: str | None
    body: Mapping[str, Any] | None


class Said(NamedTuple):
    """What is told of a change."""

    action: str
    actor: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Rows:
    engine: Engine

    def get(self, namespace: str, type: str, id: str) -> Row | None:
        rows = self.engine.read("record_get", {"namespace": namespace, "type": type, "id": id})
        return _row(rows[0]) if rows else None

    def named(self, namespace: str, type: str, key: str) -> list[Row]:
        rows = self.engine.read("record_named", {"namespace": namespace, "type": type, "key": key})
        return [_row(row) for row in rows]

    def page(self, namespace: str, type: str, limit: int, after: str | None = None) -> list[Row]:
        """In the order of their names."""
        values = {"namespace": namespace, "type": type, "limit": limit, "after": after}
        return read_intact(self.engine, "record_list", values, _row, ["after_record"] * (after is not None))

    def some(self, matches: Iterable[Match], scope: Scope) -> dict[tuple[str, str, str], Row]:
        wanted = [*matches]
        values = {"types": [*{each.type for each in wanted}], "ids": [*{each.owner for each in wanted}]}
        rows = self.engine.read("record_some", {**values, "namespaces": scope.namespaces})
        return {row.key: row for row in intact(rows, _row)}

    def several(self, namespace: str, type: str, ids: Sequence[str]) -> list[Row]:
        """Those that are there, in this order."""
        if not ids:
            return []
        values = {"namespaces": [namespace], "types": [type], "ids": [*ids]}
        found = {row.id: row for row in intact(self.engine.read("record_some", values), _row)}
        return [found[id] for id in ids if id in found]

    def profile(self, namespace: str, id: str, slots: str, now: int) -> tuple[Row | None, dict[str, tuple[str, str]]]:
        """A profile, and the id and hash of the user's fact in each slot that begins so: in one read."""
        bounds = {"first": slots, "beyond": after_prefix(slots), "sources": SAID_SOURCES}
        values = {"namespace": namespace, "id": id, "now": now, **bounds}
        row, facts = None, {}
        for slot, text, hash, *numbers in self.engine.read("profile_and_facts", values):
            if slot:
                facts[slot] = text, hash
            else:
                row = _row((namespace, "profile", id, text, *numbers, None, None))
        return row, facts

    def history(self, namespace: str, type: str, id: str) -> list[Past]:
        rows = self.engine.read("revision_list", {"namespace": namespace, "type": type, "id": id})
        return [*intact(rows, _past)]

    def merged(self, namespace: str, type: str, id: str) -> list[Row]:
        """Those that were merged into it."""
        return read_intact(self.engine, "record_merged", {"namespace": namespace, "type": type, "id": id}, _row)

    def naming(self, namespace: str, target: str) -> list[Row]:
        """Those that name a contact."""
        links = self.engine.read("link_list", {"namespace": namespace, "target": target})
        types = dict.fromkeys(type for type, _ in links)
        return [
            row for each in types for row in self.several(namespace, each, [id for type, id in links if type == each])
        ]

    def slices(self, namespace: str, type: str, ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """For each record, the text and the status of its chunks that the full text has, in order."""
        found: dict[str, list[tuple[str, str]]] = {}
        values = {"namespace": namespace, "type": type, "ids": [*ids]}
        for id, text, status in self.engine.read("record_slices", values):
            found.setdefault(id, []).append((text, status))
        return found

    def containing(self, text: str, scope: Scope, limit: int) -> list[Match]:
        """Slices of records and files that have the words as they stand."""
        filters, params = chunk_filters(scope)
        values = {**params, "pattern": containing_pattern(text), "limit": limit}
        return [Match(*row) for row in self.engine.read("slice_containing", values, filters)]

    def last_runs(self, namespace: str, skills: Sequence[str]) -> dict[str, int]:
        values = {"namespace": namespace, "skills": [*skills]}
        return dict(intact(self.engine.read("run_last", values), _run)) if skills else {}

    def runs(self, namespace: str, skill: str, limit: int) -> list[str]:
        """The memories of what came of them, the newest first."""
        values = {"namespace": namespace, "skill": skill, "limit": limit}
        return [memory for (memory,) in self.engine.read("run_list", values)]


@decodes("records", "namespace type id body version created updated deleted merged_into")
def _row(row: Sequence[Any]) -> Row:
    namespace, type, id, body, version, created, updated, deleted, merged_into = row
    require_types((namespace, type, id, merged_into), TEXTS)
    require_types((version, deleted), WHOLE)
    from_micros(created), from_micros(updated)  # what is no time shows here
    return Row(namespace, type, id, read_object(body), version, created, updated, deleted, merged_into)


@decodes("skill_runs", "skill at")
def _run(row: Sequence[Any]) -> tuple[str, int]:
    skill, at = row
    from_micros(at)
    return skill, at


@decodes("record_history", "id version action at actor reason body")
def _past(row: Sequence[Any]) -> Past:
    _, version, action, at, actor, reason, body = row
    require_types((action, actor, reason), TEXTS)
    require_types((version,), WHOLE)
    from_micros(at)
    return Past(version, action, at, actor, reason, None if body is None else read_object(body))


def as_text(body: Mapping[str, Any]) -> str:
    """The one way a body is written, so that the same fields are the same bytes."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def save_steps(new: Row, key: str, said: Said) -> Iterator[Step]:
    """A new record, or a new version of one: refused if another was first."""
    yield namespace_step(new.namespace, new.updated)
    values: dict[str, Any] = {
        **_key(new),
        "key": key,
        "body": as_text(new.body),
        "version": new.version,
        "now": new.updated,
        "deleted": new.deleted,
        "merged_into": new.merged_into,
    }
    if new.version == 1:
        yield step("record_insert", **values)
    else:
        yield step("record_update", expect=1, **values)
    kept = None if new.deleted else values["body"]
    told: dict[str, Any] = said._asdict()
    yield step("revision_insert", **_key(new), **told, version=new.version, now=new.updated, kept=kept)


def link_steps(row: Row, targets: Sequence[str]) -> Iterator[Step]:
    """The contacts that it names."""
    yield step("link_delete", **_key(row))
    yield Step("link_insert", [{**_key(row), "target": target} for target in targets])


def unchanged_step(row: Row) -> Step:
    """A guard: it is there, as it was read."""
    return step("record_as_read", expect=1, **_key(row), version=row.version)


def named_step(row: Row, count: int) -> Step:
    """A guard: so many records name this contact."""
    return step("link_counted", expect=1, namespace=row.namespace, target=row.id, count=count)


def fact_step(namespace: str, memory: str, hash: str) -> Step:
    """A guard: the fact is there, as it was read."""
    return step("fact_as_read", expect=1, namespace=namespace, id=memory, hash=hash)


def profile_step(row: Row) -> Step:
    """A guard: the profile is at the version that was read."""
    return step("profile_as_read", expect=1, namespace=row.namespace, id=row.id, version=row.version)


def slice_steps(
    row: Row, slices: Sequence[str], space: Space | None, vectors: Sequence[bytes | None], status: str = Status.ACTIVE
) -> Iterator[Step]:
    """Replace the chunks of a record. Only active ones are seen by usual searches."""
    common = {
        "namespace": row.namespace, "owner": row.id, "owner_type": row.type, "session": None, "kind": row.type,
        "source": Source.EXPLICIT, "tags": None, "confidence": DEFAULT_CONFIDENCE[Source.EXPLICIT],
        "importance": DEFAULT_IMPORTANCE, "valid_from": row.updated, "expires": None,
        "space": space.name if space else None, **field_values(None, ()),
    }  # fmt: skip
    yield step("chunk_delete", namespace=row.namespace, owner=row.id, owner_type=row.type)
    made = zip(chunk_values(slices, vectors), slices, strict=True) if slices else ()
    yield from insert_steps([{**common, **own, "text": text} for own, text in made], space)
    if slices and status != Status.ACTIVE:
        yield step("chunk_status", namespace=row.namespace, owner=row.id, owner_type=row.type, status=status)


def run_step(namespace: str, skill: str, at: int, memory: str) -> Step:
    return step("run_insert", namespace=namespace, skill=skill, at=at, memory=memory)


def next_row(old: Row, body: Mapping[str, Any], now: int) -> Row:
    made = replace(old, body=body, version=old.version + 1, updated=now, deleted=None, merged_into=None)
    return made if old.version else replace(made, created=now)


def delete_steps(row: Row) -> Iterator[Step]:
    """For good."""
    yield step("record_delete", expect=1, **_key(row), version=row.version)
    yield step("revision_delete", **_key(row))
    yield step("link_delete", **_key(row))
    yield step("run_delete", namespace=row.namespace, skill=row.id)
    yield step("chunk_delete", namespace=row.namespace, owner=row.id, owner_type=row.type)


def _key(row: Row) -> dict[str, Any]:
    return {"namespace": row.namespace, "type": row.type, "id": row.id}
