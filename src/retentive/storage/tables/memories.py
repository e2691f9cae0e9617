"""Memories as rows: reading them, and the steps that write them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from retentive.model import Change, Kind, Memory, Scope, Source, Status, Traits, from_micros, is_said, iso, to_micros
from retentive.storage import Engine, Params, Step, step
from retentive.storage.damage import TEXTS, decodes, intact, read_intact, read_list, read_object, require_types
from retentive.storage.scopes import scope_filters
from retentive.text.retention import Rule

# Looking a member up by its text is three times as fast as calling the enumeration.
_KINDS = {str(each): each for each in Kind}
_SOURCES = {str(each): each for each in Source}
SAID_SOURCES = tuple(str(each) for each in Source if is_said(each))
_STATUSES = {str(each): each for each in Status}


@dataclass(frozen=True, slots=True)
class Memories:
    """What is shown leaves damaged memories out; what a write is decided on raises `DamagedRow`."""

    engine: Engine

    def get(self, namespace: str, id: str, now: int) -> Memory | None:
        """One memory; `DamagedRow` if it cannot be read."""
        rows = self.engine.read("memory_get", {"namespace": namespace, "id": id})
        return memory_of(rows[0], now) if rows else None

    def find_intact(self, namespace: str, id: str, now: int) -> Memory | None:
        """One memory, for who goes on without: None, and reported, if it cannot be read."""
        found = self._intact("memory_get", {"namespace": namespace, "id": id}, now)
        return found[0] if found else None

    def page(self, scope: Scope, limit: int, before: str | None = None, query: str = "memory_list") -> list[Memory]:
        filters, params = scope_filters(scope)
        if before:
            filters.append("before")
        values = {**params, "namespace": scope.namespaces[0], "limit": limit, "before": before}
        return self._intact(query, values, scope.now, filters)

    def of_session(self, namespace: str, session: str) -> list[tuple[str, datetime]]:
        """The ids of those that are local to it, and when each was made."""
        rows = self.engine.read("memory_of_session", {"namespace": namespace, "session": session})
        return [*intact(rows, _made)]

    def same_text(self, namespace: str, hashes: Sequence[str], now: int) -> list[Memory]:
        """The active ones, and those that have run out but are not marked so yet."""
        rows = self.engine.read("memory_by_hash", {"namespace": namespace, "hashes": hashes})
        return [memory_of(row, now) for row in rows]

    def ended(self, namespace: str, hashes: Sequence[str], now: int) -> list[Memory]:
        """Those that say the same and no longer hold; and notes that do. Goes through the whole namespace."""
        rows = self.engine.read("memory_ended", {"namespace": namespace, "hashes": hashes})
        return [memory_of(row, now) for row in rows]

    def same_slot(self, namespace: str, slots: Sequence[str], now: int) -> list[Memory]:
        rows = self.engine.read("memory_by_slot", {"namespace": namespace, "slots": slots})
        return [memory_of(row, now) for row in rows]

    def in_slots(self, namespace: str, prefix: str, now: int, limit: int) -> list[Memory]:
        """The active ones of no session whose slot begins so, as far as the user said them."""
        values = {"namespace": namespace, "first": prefix, "beyond": after_prefix(prefix), "now": now, "limit": limit}
        return self._intact("memory_in_slots", {**values, "sources": SAID_SOURCES}, now)

    def chain(self, namespace: str, session: str | None, slot: str | None, now: int) -> list[Memory]:
        """All that hold or held a slot, in the order of their time."""
        rows = self.engine.read("memory_chain", {"namespace": namespace, "slot": slot})
        return [memory for row in rows if (memory := memory_of(row, now)).session == session]

    def some(self, ids: Sequence[str], scope: Scope) -> dict[tuple[str, str], Memory]:
        """By namespace and id, as far as the scope still sees them."""
        filters, params = scope_filters(scope)
        found = self._intact("memory_some", {**params, "ids": ids}, scope.now, filters)
        return {(memory.namespace, memory.id): memory for memory in found}

    def named(self, namespace: str, ids: Sequence[str], now: int) -> dict[str, Memory]:
        """Memories by their ids, whatever became of them."""
        rows = self.engine.read("memory_some", {"namespaces": [namespace], "ids": ids})
        return {row[0]: memory_of(row, now) for row in rows}

    def vital(self, scope: Scope, limit: int) -> list[Memory]:
        """Those of importance 9 and 10, the most important and newest first."""
        filters, params = scope_filters(scope)
        return self._intact("memory_vital", {**params, "limit": limit}, scope.now, filters)

    def learned(self, namespace: str, session: str, now: int, talk: str = "", limit: int = 20) -> list[Memory]:
        """Those that came from a session, the newest first. `talk` is the session's namespace, if it is another."""
        values = {"namespace": namespace, "session": session, "talk": talk or namespace, "limit": limit}
        return self._intact("memory_from_session", values, now)

    def containing(self, text: str, scope: Scope, limit: int) -> Sequence[Memory]:
        filters, params = scope_filters(scope)
        values = {**params, "pattern": containing_pattern(text), "limit": limit}
        return self._intact("memory_containing", values, scope.now, filters)

    def expired(self, now: int, limit: int) -> Sequence[Memory]:
        return self._intact("memory_expired", {"now": now, "limit": limit}, now)

    def outlived(self, namespace: str, rule: Rule, now: int, limit: int) -> list[Memory]:
        """What a rule of retention does not keep."""
        values = {"namespace": namespace, "kinds": [rule.kind], "now": now, "limit": limit, "keep": rule.keep}
        values["before"] = now - (rule.seconds or 0) * 1_000_000
        query = "memory_surplus" if rule.seconds is None else "memory_older"
        return self._intact(query, values, now, ["active", "kinds"] if rule.kind else ["active"])

    def old(self, namespace: str, until: int, now: int, after: str, limit: int) -> list[Memory]:
        """Active memories that were made before a moment, in the order of their ids."""
        values = {"namespace": namespace, "until": until, "now": now, "after": after, "limit": limit}
        return self._intact("memory_old", values, now, ["active"])

    def of_run(self, namespace: str, run: str, now: int) -> list[Memory]:
        """The memories that a run of consolidation made."""
        rows = self.engine.read("memory_of_run", {"namespace": namespace, "run": run})
        return [memory_of(row, now) for row in rows]

    def superseded(self, namespace: str, id: str, now: int) -> list[Memory]:
        """Those that this one took the place of."""
        return self._intact("memory_superseded", {"namespace": namespace, "id": id}, now)

    def history(self, namespace: str, id: str) -> Sequence[Change]:
        return read_intact(self.engine, "history_of", {"namespace": namespace, "id": id}, _change)

    def last_change(self, namespace: str, id: str) -> Change | None:
        """The newest change; `DamagedRow` if it cannot be read."""
        rows = self.engine.read("history_of", {"namespace": namespace, "id": id})
        return _change(rows[-1]) if rows else None

    def namespaces(self) -> Sequence[str]:
        return [name for (name,) in self.engine.read("namespace_list") if isinstance(name, str)]

    def _intact(self, query: str, values: Params, now: int, filters: Sequence[str] = ()) -> list[Memory]:
        """The memories of a query. Those that cannot be read are left out and reported."""
        return read_intact(self.engine, query, values, lambda row: memory_of(row, now), filters)


def after_prefix(prefix: str) -> str:
    """What sorts after all that begins so."""
    return f"{prefix[:-1]}{chr(ord(prefix[-1]) + 1)}"


def containing_pattern(text: str) -> str:
    """For LIKE: the text as it stands, anywhere."""
    return f"%{escape_pattern(text)}%"


def escape_pattern(text: str) -> str:
    """For LIKE: the text as it stands."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


@decodes(
    "memories",
    "id namespace session kind content context tags slot source origin confidence importance status superseded_by"
    " content_hash valid_from valid_to created updated expires access_count last_access metadata version",
)
def memory_of(row: Sequence[Any], now: int) -> Memory:
    (
        id, namespace, session, kind, content, context, tags, slot, source, origin, confidence, importance, status,
        superseded_by, content_hash, valid_from, valid_to, created, updated, expires, access_count, last_access,
        metadata, version,
    ) = row  # fmt: skip
    # What nothing below would notice. A loop over the columns would take three times as long.
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
        id, namespace, session, _KINDS[kind], content, context, tuple(read_list(tags)) if tags else (), slot,
        _SOURCES[source], read_object(origin) if origin else None, confidence, importance, _STATUSES[status],
        superseded_by, content_hash, from_micros(valid_from), _moment(valid_to), from_micros(created),
        from_micros(updated), _moment(expires), access_count, _moment(last_access),
        read_object(metadata) if metadata else {}, version,
    )  # fmt: skip


_COLUMNS = (
    "id", "namespace", "session", "kind", "content", "context", "tags", "slot", "source", "origin", "confidence",
    "importance", "status", "superseded_by", "content_hash", "valid_from", "valid_to", "created", "updated", "expires",
    "access_count", "last_access", "metadata", "version",
)  # fmt: skip
_NEW: dict[str, Any] = {
    "status": "active", "superseded_by": None, "valid_to": None, "access_count": 0, "last_access": None, "version": 1,
}  # fmt: skip


def inserted_memory(values: Mapping[str, Any], now: int) -> Memory:
    """The memory that these values were just inserted as; to read it back would give the same."""
    row = {**_NEW, "updated": values["created"], **values}
    return memory_of([row[name] for name in _COLUMNS], now)


@decodes("memories", "id created")
def _made(row: Sequence[Any]) -> tuple[str, datetime]:
    id, created = row
    require_types((id,), TEXTS)
    return id, from_micros(created)


@decodes("memory_history", "memory version action at actor reason before")
def _change(row: Sequence[Any]) -> Change:
    _, version, action, at, actor, reason, before = row
    require_types((action, actor, reason), TEXTS)
    return Change(version, action, from_micros(at), actor, reason, read_object(before))


def namespace_step(namespace: str, now: int) -> Step:
    return step("namespace_insert", namespace=namespace, now=now)


def update_steps(old: Memory, new: Memory, actor: str, reason: str | None) -> Iterator[Step]:
    values = _values(new)
    yield step("memory_update", expect=1, **{**values, "now": values["updated"], "version": old.version})
    yield _history(old, "updated", values["updated"], actor, reason)


def status_steps(old: Memory, new: Memory, actor: str, reason: str | None) -> Iterator[Step]:
    """The status, successor and end of validity of `new` for the memory, and the status for its chunks."""
    now, status = to_micros(new.updated), new.status
    key = {"namespace": old.namespace, "id": old.id, "version": old.version}
    ended = {"superseded_by": new.superseded_by, "valid_to": _micros(new.valid_to)}
    yield step("memory_status", expect=1, **key, **ended, status=status, now=now)
    yield _history(old, "restored" if old.status is Status.FORGOTTEN else _ACTIONS[status], now, actor, reason)
    yield chunk_status_step(old, status)


def chunk_status_step(memory: Memory, status: Status) -> Step:
    return _chunk_status(memory.namespace, memory.id, status)


def ended_step(namespace: str, id: str) -> Step:
    """For the chunks of a memory that was superseded before it came."""
    return _chunk_status(namespace, id, Status.SUPERSEDED)


def _chunk_status(namespace: str, id: str, status: Status) -> Step:
    return step("chunk_status", namespace=namespace, owner=id, owner_type="memory", status=status)


_ACTIONS = {
    Status.ACTIVE: "restored",
    Status.FORGOTTEN: "forgotten",
    Status.SUPERSEDED: "superseded",
    Status.EXPIRED: "expired",
}


def touch_step(memory: Memory, now: int) -> Step:
    return step("memory_touch", expect=1, namespace=memory.namespace, id=memory.id, now=now)


def unchanged_step(memory: Memory) -> Step:
    return step("memory_unchanged", expect=1, namespace=memory.namespace, id=memory.id, version=memory.version)


def snapshot(memory: Memory) -> dict[str, Any]:
    """The parts of a memory that a change may change."""
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
    """What many memories may have in common, as it is written."""
    return {
        "session": traits.session,
        "kind": traits.kind,
        "source": traits.source,
        "tags": as_json(traits.tags),
        "confidence": traits.confidence,
        "importance": traits.importance,
        "context": traits.context,
        "slot": traits.slot,
        "origin": as_json(traits.origin),
        "expires": _micros(traits.expires),
        "metadata": as_json(traits.metadata),
    }


def _values(memory: Memory) -> dict[str, Any]:
    return {
        **trait_values(memory),
        "namespace": memory.namespace,
        "id": memory.id,
        "status": memory.status,
        "superseded_by": memory.superseded_by,
        "valid_to": _micros(memory.valid_to),
        "content": memory.content,
        "content_hash": memory.content_hash,
        "valid_from": to_micros(memory.valid_from),
        "updated": to_micros(memory.updated),
    }


def _history(old: Memory, action: str, now: int, actor: str, reason: str | None) -> Step:
    values: dict[str, Any] = {"namespace": old.namespace, "id": old.id, "version": old.version, "action": action}
    before = json.dumps(snapshot(old), ensure_ascii=False)
    return step("history_insert", **values, now=now, actor=actor, reason=reason, snapshot=before)


def as_json(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)
