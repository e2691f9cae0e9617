"""The tables of records (profiles, contacts, projects, skills): `RecordRows` reads them, functions make the steps.

A record is a JSON object here. `retentive.records` knows its fields.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, Match, Scope, Source, Space, Status, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import (
    TEXTS,
    WHOLE,
    decode_intact,
    decodes,
    read_intact,
    read_object,
    require_types,
)
from retentive.storage.scopes import chunk_filters
from retentive.storage.tables.chunks import chunk_values, field_values, insert_steps
from retentive.storage.tables.memories import USER_SOURCES, after_prefix, containing_pattern, namespace_step


@dataclass(frozen=True, slots=True)
class RecordRow:
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


class RecordRevision(NamedTuple):
    """A change of a record, and its fields after the change; None if it was deleted."""

    version: int
    action: str
    at: int
    actor: str
    reason: str | None
    body: Mapping[str, Any] | None


class ChangeNote(NamedTuple):
    """The action, actor and reason of a change, for the history."""

    action: str
    actor: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class RecordRows:
    engine: Engine

    def get(self, namespace: str, type: str, id: str) -> RecordRow | None:
        rows = self.engine.read("record_get", {"namespace": namespace, "type": type, "id": id})
        return _decode_record(rows[0]) if rows else None

    def find_by_key(self, namespace: str, type: str, key: str) -> list[RecordRow]:
        rows = self.engine.read("record_by_key", {"namespace": namespace, "type": type, "key": key})
        return [_decode_record(row) for row in rows]

    def list_page(self, namespace: str, type: str, limit: int, after: str | None = None) -> list[RecordRow]:
        """Records ordered by name."""
        values = {"namespace": namespace, "type": type, "limit": limit, "after": after}
        filters = [] if after is None else ["after_record"]
        return read_intact(self.engine, "record_list", values, _decode_record, filters)

    def list_of_matches(self, matches: Iterable[Match], scope: Scope) -> dict[tuple[str, str, str], RecordRow]:
        """The records that these matches belong to, by namespace, type and id."""
        wanted = [*matches]
        values = {"types": [*{each.type for each in wanted}], "ids": [*{each.owner for each in wanted}]}
        rows = self.engine.read("record_some", {**values, "namespaces": scope.namespaces})
        return {row.key: row for row in decode_intact(rows, _decode_record)}

    def list_by_ids(self, namespace: str, type: str, ids: Sequence[str]) -> list[RecordRow]:
        """The records of these ids that exist, in this order."""
        if not ids:
            return []
        values = {"namespaces": [namespace], "types": [type], "ids": [*ids]}
        found = {row.id: row for row in decode_intact(self.engine.read("record_some", values), _decode_record)}
        return [found[id] for id in ids if id in found]

    def load_profile(
        self, namespace: str, id: str, slots: str, now: int
    ) -> tuple[RecordRow | None, dict[str, tuple[str, str]]]:
        """A profile, and id and hash of the user's fact in each slot that begins with `slots`, in one read."""
        bounds = {"first": slots, "beyond": after_prefix(slots), "sources": USER_SOURCES}
        values = {"namespace": namespace, "id": id, "now": now, **bounds}
        row, facts = None, {}
        for slot, text, hash, *numbers in self.engine.read("profile_and_facts", values):
            if slot:
                facts[slot] = text, hash
            else:
                row = _decode_record((namespace, "profile", id, text, *numbers, None, None))
        return row, facts

    def list_history(self, namespace: str, type: str, id: str) -> list[RecordRevision]:
        rows = self.engine.read("revision_list", {"namespace": namespace, "type": type, "id": id})
        return [*decode_intact(rows, _decode_revision)]

    def list_merged(self, namespace: str, type: str, id: str) -> list[RecordRow]:
        """The records that were merged into this one."""
        values = {"namespace": namespace, "type": type, "id": id}
        return read_intact(self.engine, "record_list_merged", values, _decode_record)

    def list_naming(self, namespace: str, target: str) -> list[RecordRow]:
        """The records that name a contact."""
        ids_by_type: dict[str, list[str]] = {}
        for type, id in self.engine.read("link_list", {"namespace": namespace, "target": target}):
            ids_by_type.setdefault(type, []).append(id)
        return [row for type, ids in ids_by_type.items() for row in self.list_by_ids(namespace, type, ids)]

    def list_chunks(self, namespace: str, type: str, ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """Text and status of the chunks of each record that the full text has, in order."""
        found: dict[str, list[tuple[str, str]]] = {}
        values = {"namespace": namespace, "type": type, "ids": [*ids]}
        for id, text, status in self.engine.read("record_chunks", values):
            found.setdefault(id, []).append((text, status))
        return found

    def list_containing(self, text: str, scope: Scope, limit: int) -> list[Match]:
        """Chunks of records and files that contain the text literally."""
        filters, params = chunk_filters(scope)
        values = {**params, "pattern": containing_pattern(text), "limit": limit}
        return [Match(*row) for row in self.engine.read("chunk_containing", values, filters)]

    def list_last_runs(self, namespace: str, skills: Sequence[str]) -> dict[str, int]:
        values = {"namespace": namespace, "skills": [*skills]}
        return dict(decode_intact(self.engine.read("run_last", values), _decode_run)) if skills else {}

    def list_runs(self, namespace: str, skill: str, limit: int) -> list[str]:
        """The memories that hold the results of a skill's runs, the newest first."""
        values = {"namespace": namespace, "skill": skill, "limit": limit}
        return [memory for (memory,) in self.engine.read("run_list", values)]


@decodes("records", "namespace type id body version created updated deleted merged_into")
def _decode_record(row: Sequence[Any]) -> RecordRow:
    namespace, type, id, body, version, created, updated, deleted, merged_into = row
    require_types((namespace, type, id, merged_into), TEXTS)
    require_types((version, deleted), WHOLE)
    from_micros(created), from_micros(updated)  # raises if it is not a time
    return RecordRow(namespace, type, id, read_object(body), version, created, updated, deleted, merged_into)


@decodes("skill_runs", "skill at")
def _decode_run(row: Sequence[Any]) -> tuple[str, int]:
    skill, at = row
    from_micros(at)
    return skill, at


@decodes("record_history", "id version action at actor reason body")
def _decode_revision(row: Sequence[Any]) -> RecordRevision:
    _, version, action, at, actor, reason, body = row
    require_types((action, actor, reason), TEXTS)
    require_types((version,), WHOLE)
    from_micros(at)
    return RecordRevision(version, action, at, actor, reason, None if body is None else read_object(body))


def encode_body(body: Mapping[str, Any]) -> str:
    """Encode a body as JSON, always in one form: the same fields give the same bytes."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def save_steps(new: RecordRow, key: str, note: ChangeNote) -> Iterator[Step]:
    """Insert a record, or a new version of one. Refused if a concurrent writer was first."""
    yield namespace_step(new.namespace, new.updated)
    values: dict[str, Any] = {
        **_key(new),
        "key": key,
        "body": encode_body(new.body),
        "version": new.version,
        "now": new.updated,
        "deleted": new.deleted,
        "merged_into": new.merged_into,
    }
    if new.version == 1:
        yield step("record_insert", **values)
    else:
        yield step("record_update", expect=1, **values)
    body = None if new.deleted else values["body"]
    noted: dict[str, Any] = note._asdict()
    yield step("revision_insert", **_key(new), **noted, version=new.version, now=new.updated, kept=body)


def rewrite_step(row: RecordRow, version: int, body: Mapping[str, Any]) -> Step:
    """Replace the body of one version in the history."""
    return step("revision_rewrite", expect=1, **_key(row), version=version, body=encode_body(body))


def link_steps(row: RecordRow, targets: Sequence[str]) -> Iterator[Step]:
    """Replace the links of a record to the contacts that it names."""
    yield step("link_delete", **_key(row))
    yield Step("link_insert", [{**_key(row), "target": target} for target in targets])


def require_unchanged_step(row: RecordRow) -> Step:
    """A guard: the record exists, at the version that was read."""
    return step("record_unchanged", expect=1, **_key(row), version=row.version)


def require_link_count_step(row: RecordRow, count: int) -> Step:
    """A guard: exactly `count` records name this contact."""
    return step("link_count_unchanged", expect=1, namespace=row.namespace, target=row.id, count=count)


def require_unchanged_fact_step(namespace: str, memory: str, hash: str) -> Step:
    """A guard: the fact still has the text that was read."""
    return step("fact_unchanged", expect=1, namespace=namespace, id=memory, hash=hash)


def require_unchanged_profile_step(row: RecordRow) -> Step:
    """A guard: the profile is at the version that was read."""
    return step("profile_unchanged", expect=1, namespace=row.namespace, id=row.id, version=row.version)


def replace_chunks_steps(
    row: RecordRow,
    texts: Sequence[str],
    space: Space | None,
    vectors: Sequence[bytes | None],
    status: str = Status.ACTIVE,
) -> Iterator[Step]:
    """Replace the chunks of a record. Only active ones are seen by usual searches."""
    common = {
        "namespace": row.namespace, "owner": row.id, "owner_type": row.type, "session": None, "kind": row.type,
        "source": Source.EXPLICIT, "tags": None, "confidence": DEFAULT_CONFIDENCE[Source.EXPLICIT],
        "importance": DEFAULT_IMPORTANCE, "valid_from": row.updated, "expires": None,
        "space": space.name if space else None, **field_values(None, ()),
    }  # fmt: skip
    yield step("chunk_delete", namespace=row.namespace, owner=row.id, owner_type=row.type)
    chunks = zip(chunk_values(texts, vectors), texts, strict=True) if texts else ()
    yield from insert_steps([{**common, **own, "text": text} for own, text in chunks], space)
    if texts and status != Status.ACTIVE:
        yield step("chunk_set_status", namespace=row.namespace, owner=row.id, owner_type=row.type, status=status)


def run_step(namespace: str, skill: str, at: int, memory: str) -> Step:
    return step("run_insert", namespace=namespace, skill=skill, at=at, memory=memory)


def next_row(old: RecordRow, body: Mapping[str, Any], now: int) -> RecordRow:
    """The next version of a record. Version 0 is a record that does not exist yet."""
    new = replace(old, body=body, version=old.version + 1, updated=now, deleted=None, merged_into=None)
    return new if old.version else replace(new, created=now)


def delete_steps(row: RecordRow) -> Iterator[Step]:
    """Delete a record permanently, with its history, links, runs and chunks."""
    yield step("record_delete", expect=1, **_key(row), version=row.version)
    yield step("revision_delete", **_key(row))
    yield step("link_delete", **_key(row))
    yield step("run_delete", namespace=row.namespace, skill=row.id)
    yield step("chunk_delete", namespace=row.namespace, owner=row.id, owner_type=row.type)


def _key(row: RecordRow) -> dict[str, Any]:
    return {"namespace": row.namespace, "type": row.type, "id": row.id}
