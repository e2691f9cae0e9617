"""The tables of memories and their history: `Memories` reads them, functions make the steps that write them.

In all tables, `get` and `load_` raise `DamagedRow` if a row cannot be read: a write depends on it. `list_` leaves
damaged rows out and reports them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from retentive.frozen_dataclass import dataclass
from retentive.model import (
    HistoryEntry,
    Kind,
    Memory,
    Scope,
    Source,
    Space,
    Status,
    Traits,
    from_micros,
    is_said,
    iso,
    to_micros,
)
from retentive.storage import Engine, Params, Step, step
from retentive.storage.damage import TEXTS, decode_intact, decodes, read_intact, read_list, read_object, require_types
from retentive.storage.scopes import chunk_filters, scope_filters
from retentive.text.retention_rules import RetentionRule

# Looking a member up by its text is three times as fast as calling the enumeration.
_KINDS = {str(each): each for each in Kind}
_SOURCES = {str(each): each for each in Source}
USER_SOURCES = tuple(str(each) for each in Source if is_said(each))
_STATUSES = {str(each): each for each in Status}


@dataclass(frozen=True, slots=True)
class Memories:
    engine: Engine

    def get(self, namespace: str, id: str, now: int) -> Memory | None:
        rows = self.engine.read("memory_get", {"namespace": namespace, "id": id})
        return decode_memory(rows[0], now) if rows else None

    def find_intact(self, namespace: str, id: str, now: int) -> Memory | None:
        """One memory. A damaged one is reported, and counts as missing."""
        found = self._list("memory_get", {"namespace": namespace, "id": id}, now)
        return found[0] if found else None

    def list_page(self, scope: Scope, limit: int, before: str | None = None) -> list[Memory]:
        """A page of memories, newest first. `before` is the id of the last one of the previous page."""
        return self._page("memory_list", scope, limit, before)

    def list_notes(self, scope: Scope, limit: int, before: str | None = None) -> list[Memory]:
        """A page of notes, newest first."""
        return self._page("note_list", scope, limit, before)

    def _page(self, query: str, scope: Scope, limit: int, before: str | None) -> list[Memory]:
        filters, params = scope_filters(scope)
        if before:
            filters.append("before")
        values = {**params, "namespace": scope.namespaces[0], "limit": limit, "before": before}
        return self._list(query, values, scope.now, filters)

    def list_of_session(self, namespace: str, session: str) -> list[tuple[str, datetime]]:
        """Id and time of creation of each memory that is local to a session."""
        rows = self.engine.read("memory_of_session", {"namespace": namespace, "session": session})
        return [*decode_intact(rows, _decode_creation)]

    def load_active_by_text(self, namespace: str, hashes: Sequence[str], now: int) -> list[Memory]:
        """Active memories with one of these texts, without notes.

        Memories that have expired since the last sweep are among them.
        """
        return self._load("memory_by_hash", {"namespace": namespace, "hashes": hashes}, now)

    def load_ended_and_notes(self, namespace: str, hashes: Sequence[str], now: int) -> list[Memory]:
        """Ended memories, and notes of any status, with one of these texts. Scans the whole namespace."""
        return self._load("memory_ended", {"namespace": namespace, "hashes": hashes}, now)

    def load_active_by_slot(self, namespace: str, slots: Sequence[str], now: int) -> list[Memory]:
        return self._load("memory_by_slot", {"namespace": namespace, "slots": slots}, now)

    def list_by_slot_prefix(self, namespace: str, prefix: str, now: int, limit: int) -> list[Memory]:
        """Active memories that the user stated, of no session, whose slot begins with the prefix."""
        values = {"namespace": namespace, "first": prefix, "beyond": after_prefix(prefix), "now": now, "limit": limit}
        return self._list("memory_in_slots", {**values, "sources": USER_SOURCES}, now)

    def load_slot_history(self, namespace: str, session: str | None, slot: str | None, now: int) -> list[Memory]:
        """The active and superseded memories of a slot in a session (None: in no session), ordered by time."""
        holders = self._load("memory_slot_history", {"namespace": namespace, "slot": slot}, now)
        return [memory for memory in holders if memory.session == session]

    def list_by_ids(self, ids: Sequence[str], scope: Scope) -> dict[tuple[str, str], Memory]:
        """Memories by namespace and id: those of these ids that the scope includes."""
        filters, params = scope_filters(scope)
        found = self._list("memory_some", {**params, "ids": ids}, scope.now, filters)
        return {(memory.namespace, memory.id): memory for memory in found}

    def load_by_ids(self, namespace: str, ids: Sequence[str], now: int) -> dict[str, Memory]:
        """Memories by their ids, of any status."""
        found = self._load("memory_some", {"namespaces": [namespace], "ids": ids}, now)
        return {memory.id: memory for memory in found}

    def list_like(
        self, words: Mapping[int, Sequence[str]], scope: Scope, limit: int, max_words: int, max_rows: int
    ) -> list[Memory]:
        """Memories that share the rarest of these words, each given by its terms; the nearest first. Of a server."""
        filters, params = chunk_filters(scope)
        pairs = [(word, term) for word, terms in words.items() for term in terms]
        numbers, terms = [word for word, _ in pairs], [term for _, term in pairs]
        values = {**params, "words": numbers, "terms": terms, "most": max_rows, "most_words": max_words, "limit": limit}
        return self._list("memories_like", values, scope.now, filters)

    def list_nearest(self, vector: Any, space: Space, scope: Scope, limit: int) -> list[Memory]:
        """The memories whose vectors are nearest. Of a server."""
        rows = self.engine.read_nearest(vector, space, scope, limit)
        return [*decode_intact(rows, lambda row: decode_memory(row, scope.now))]

    def list_most_important(self, scope: Scope, limit: int) -> list[Memory]:
        """Memories of importance 9 and 10, the most important first, then the newest."""
        filters, params = scope_filters(scope)
        return self._list("memory_most_important", {**params, "limit": limit}, scope.now, filters)

    def list_learned(
        self, namespace: str, session: str, now: int, session_namespace: str = "", limit: int = 20
    ) -> list[Memory]:
        """Memories learned from a session, the newest first. By default the session is of the same namespace."""
        values: dict[str, Any] = {"namespace": namespace, "session": session, "limit": limit}
        values["session_namespace"] = session_namespace or namespace
        return self._list("memory_from_session", values, now)

    def list_containing(self, text: str, scope: Scope, limit: int) -> Sequence[Memory]:
        """Memories that contain the text in their content or context, the most confident first."""
        filters, params = scope_filters(scope)
        values = {**params, "pattern": containing_pattern(text), "limit": limit}
        return self._list("memory_containing", values, scope.now, filters)

    def list_expired(self, now: int, limit: int) -> Sequence[Memory]:
        """Memories of all namespaces that have expired but are still marked active."""
        return self._list("memory_expired", {"now": now, "limit": limit}, now)

    def list_unretained(self, namespace: str, rule: RetentionRule, now: int, limit: int) -> list[Memory]:
        """Active memories that a retention rule no longer keeps: too old, or more than it allows."""
        values = {"namespace": namespace, "kinds": [rule.kind], "now": now, "limit": limit}
        filters = ["active", "kinds"] if rule.kind else ["active"]
        if rule.seconds is None:
            return self._list("memory_beyond_newest", {**values, "keep": rule.keep}, now, filters)
        before = now - rule.seconds * 1_000_000
        return self._list("memory_not_updated_since", {**values, "before": before}, now, filters)

    def list_created_before(self, namespace: str, until: int, now: int, after: str, limit: int) -> list[Memory]:
        """Active memories that were created before a moment, ordered by id."""
        values = {"namespace": namespace, "until": until, "now": now, "after": after, "limit": limit}
        return self._list("memory_created_before", values, now, ["active"])

    def load_of_run(self, namespace: str, run: str, now: int) -> list[Memory]:
        """The memories that a consolidation run created."""
        return self._load("memory_of_run", {"namespace": namespace, "run": run}, now)

    def list_superseded(self, namespace: str, id: str, now: int) -> list[Memory]:
        """The memories that this one superseded."""
        return self._list("memory_superseded", {"namespace": namespace, "id": id}, now)

    def list_history(self, namespace: str, id: str) -> Sequence[HistoryEntry]:
        return read_intact(self.engine, "history_list", {"namespace": namespace, "id": id}, _decode_change)

    def load_last_change(self, namespace: str, id: str) -> HistoryEntry | None:
        """The newest change."""
        rows = self.engine.read("history_list", {"namespace": namespace, "id": id})
        return _decode_change(rows[-1]) if rows else None

    def list_namespaces(self) -> Sequence[str]:
        return [name for (name,) in self.engine.read("namespace_list") if isinstance(name, str)]

    def _load(self, query: str, values: Params, now: int) -> list[Memory]:
        return [decode_memory(row, now) for row in self.engine.read(query, values)]

    def _list(self, query: str, values: Params, now: int, filters: Sequence[str] = ()) -> list[Memory]:
        return read_intact(self.engine, query, values, lambda row: decode_memory(row, now), filters)


def after_prefix(prefix: str) -> str:
    """The first text that sorts after all texts with this prefix."""
    return f"{prefix[:-1]}{chr(ord(prefix[-1]) + 1)}"


def containing_pattern(text: str) -> str:
    """A LIKE pattern that finds the text anywhere, literally."""
    return f"%{escape_pattern(text)}%"


def escape_pattern(text: str) -> str:
    """Escape a text so that LIKE takes it literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


MEMORY_COLUMNS = (
    "id", "namespace", "session", "kind", "content", "context", "tags", "slot", "source", "origin", "confidence",
    "importance", "status", "superseded_by", "content_hash", "valid_from", "valid_to", "created", "updated", "expires",
    "access_count", "last_access", "metadata", "version",
)  # fmt: skip


@decodes("memories", " ".join(MEMORY_COLUMNS))
def decode_memory(row: Sequence[Any], now: int) -> Memory:
    (
        id, namespace, session, kind, content, context, tags, slot, source, origin, confidence, importance, status,
        superseded_by, content_hash, valid_from, valid_to, created, updated, expires, access_count, last_access,
        metadata, version,
    ) = row  # fmt: skip
    # Wrong types that nothing below would notice. A loop over the columns would take three times as long.
    if not (
        type(id) is type(namespace) is type(content) is type(content_hash) is str
        and type(importance) is type(access_count) is type(version) is int
        and (type(confidence) is float or type(confidence) is int)
        and (session is None or type(session) is str)
        and (context is None or type(context) is str)
        and (slot is None or type(slot) is str)
        and (superseded_by is None or type(superseded_by) is str)
    ):
        raise TypeError
    if expires is not None and expires <= now and status == "active":
        status = "expired"
    return Memory(
        id=id, namespace=namespace, session=session, kind=_KINDS[kind], content=content, context=context,
        tags=tuple(read_list(tags)) if tags else (), slot=slot, source=_SOURCES[source],
        origin=read_object(origin) if origin else None, confidence=confidence, importance=importance,
        status=_STATUSES[status], superseded_by=superseded_by, content_hash=content_hash,
        valid_from=from_micros(valid_from), valid_to=from_micros_or_none(valid_to), created=from_micros(created),
        updated=from_micros(updated), expires=from_micros_or_none(expires), access_count=access_count,
        last_access=from_micros_or_none(last_access), metadata=read_object(metadata) if metadata else {},
        version=version,
    )  # fmt: skip


_INITIAL_VALUES: dict[str, Any] = {
    "status": "active", "superseded_by": None, "valid_to": None, "access_count": 0, "last_access": None, "version": 1,
}  # fmt: skip


def make_inserted_memory(values: Mapping[str, Any], now: int) -> Memory:
    """The memory that a read would return after these values were inserted."""
    row = {**_INITIAL_VALUES, "updated": values["created"], **values}
    return decode_memory([row[name] for name in MEMORY_COLUMNS], now)


@decodes("memories", "id created")
def _decode_creation(row: Sequence[Any]) -> tuple[str, datetime]:
    id, created = row
    require_types((id,), TEXTS)
    return id, from_micros(created)


@decodes("memory_history", "memory version action at actor reason before")
def _decode_change(row: Sequence[Any]) -> HistoryEntry:
    _, version, action, at, actor, reason, before = row
    require_types((action, actor, reason), TEXTS)
    return HistoryEntry(version, action, from_micros(at), actor, reason, read_object(before))


def namespace_step(namespace: str, now: int) -> Step:
    return step("namespace_insert", namespace=namespace, now=now)


def insert_steps(current: Sequence[Params], ended: Sequence[Params]) -> Iterator[Step]:
    """Insert new memories: those that hold now, and those that a newer memory has already superseded."""
    yield Step("memory_insert", current)
    yield Step("memory_insert_ended", ended)


def update_steps(old: Memory, new: Memory, actor: str, reason: str | None) -> Iterator[Step]:
    """Replace all columns of a memory that can change, and record the old ones in its history."""
    values = _memory_values(new)
    yield step("memory_update", expect=1, **{**values, "now": values["updated"], "version": old.version})
    yield _history_step(old, "updated", values["updated"], actor, reason)


def status_steps(old: Memory, new: Memory, actor: str, reason: str | None) -> Iterator[Step]:
    """Change status, successor and end of validity of a memory, record that, and give its chunks the status."""
    now, status = to_micros(new.updated), new.status
    key = {"namespace": old.namespace, "id": old.id, "version": old.version}
    ended = {"superseded_by": new.superseded_by, "valid_to": to_micros_or_none(new.valid_to)}
    yield step("memory_set_status", expect=1, **key, **ended, status=status, now=now)
    action = "restored" if old.status is Status.FORGOTTEN else _ACTIONS[status]
    yield _history_step(old, action, now, actor, reason)
    yield chunk_status_step(old.namespace, old.id, status)


def chunk_status_step(namespace: str, id: str, status: str) -> Step:
    return step("chunk_set_status", namespace=namespace, owner=id, owner_type="memory", status=status)


_ACTIONS = {
    Status.ACTIVE: "restored",
    Status.FORGOTTEN: "forgotten",
    Status.SUPERSEDED: "superseded",
    Status.EXPIRED: "expired",
}


def restated_step(memory: Memory, now: int) -> Step:
    """Set the time of update of a memory whose text was stated again."""
    return step("memory_restate", expect=1, namespace=memory.namespace, id=memory.id, now=now)


def require_unchanged_step(memory: Memory) -> Step:
    return step("memory_unchanged", expect=1, namespace=memory.namespace, id=memory.id, version=memory.version)


def snapshot(memory: Memory) -> dict[str, Any]:
    """The parts of a memory that a change may change, as the history stores them."""
    return {
        "content": memory.content,
        "context": memory.context,
        "session": memory.session,
        "kind": memory.kind,
        "tags": [*memory.tags],
        "slot": memory.slot,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "status": memory.status,
        "superseded_by": memory.superseded_by,
        "valid_from": iso(memory.valid_from),
        "valid_to": iso(memory.valid_to),
        "expires": iso(memory.expires),
        "metadata": memory.metadata,
    }


def trait_values(traits: Traits | Memory) -> dict[str, Any]:
    """The columns of a memory that do not depend on its text."""
    return {
        "session": traits.session,
        "kind": traits.kind,
        "source": traits.source,
        "tags": json_or_none(traits.tags),
        "confidence": traits.confidence,
        "importance": traits.importance,
        "context": traits.context,
        "slot": traits.slot,
        "origin": json_or_none(traits.origin),
        "expires": to_micros_or_none(traits.expires),
        "metadata": json_or_none(traits.metadata),
    }


def _memory_values(memory: Memory) -> dict[str, Any]:
    return {
        **trait_values(memory),
        "namespace": memory.namespace,
        "id": memory.id,
        "status": memory.status,
        "superseded_by": memory.superseded_by,
        "valid_to": to_micros_or_none(memory.valid_to),
        "content": memory.content,
        "content_hash": memory.content_hash,
        "valid_from": to_micros(memory.valid_from),
        "updated": to_micros(memory.updated),
    }


def _history_step(old: Memory, action: str, now: int, actor: str, reason: str | None) -> Step:
    values: dict[str, Any] = {"namespace": old.namespace, "id": old.id, "version": old.version, "action": action}
    before = json.dumps(snapshot(old), ensure_ascii=False)
    return step("history_insert", **values, now=now, actor=actor, reason=reason, snapshot=before)


def json_or_none(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


def from_micros_or_none(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def to_micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)
