"""Purges as rows: what goes with a memory or a message, where a text is repeated, what is still to be seen to."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from retentive.model import Event, Memory, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import TEXTS, decodes, require_types
from retentive.storage.tables import proposals
from retentive.storage.tables.conversations import event_values
from retentive.storage.tables.memories import containing_pattern

MOST = 1000  # places that are named for one text


class Place(NamedTuple):
    """Where a text stands: a memory's id or a session's name, and the number of the message or of the log's entry."""

    place: str
    name: str
    number: int


class Sizes(NamedTuple):
    history: int
    slices: int
    accesses: int
    proposals: int


class Line(NamedTuple):
    """What stays on record of a purge."""

    at: int
    actor: str
    reason: str | None
    gone: int | None


@dataclass(frozen=True, slots=True)
class Purges:
    engine: Engine

    def sizes(self, memory: Memory) -> Sizes:
        key = {"namespace": memory.namespace, "id": memory.id, "content_hash": memory.content_hash}
        return Sizes(*self.engine.read("purge_sizes", key)[0])

    def of(self, namespace: str, id: str) -> Line | None:
        rows = self.engine.read("purge_of", {"namespace": namespace, "id": id})
        return _line((id, *rows[0])) if rows else None

    def due(self) -> list[tuple[Any, ...]]:
        """Namespace, id and time of those whose bytes may still be there."""
        return self.engine.read("purge_due")

    def repeats(self, namespace: str, text: str) -> list[Place]:
        values = {"namespace": namespace, "pattern": containing_pattern(text), "limit": MOST}
        return [Place(*row) for row in self.engine.read("repeats", values)]

    def questions(self, namespace: str) -> Iterator[tuple[Place, str]]:
        """Those of the access log, each with its place."""
        for memory, number, question in self.engine.read("question_list", {"namespace": namespace}):
            yield Place("query", memory, number), question

    def is_name(self, text: str) -> bool:
        """Whether a file has it as a name of its own: of a table, a model, a namespace."""
        return bool(self.engine.read("named_by_us", {"pattern": containing_pattern(text)}))

    def vectors(self, namespace: str, session: str, space: str) -> dict[str, bytes | None]:
        """Of a session's slices, by their hash, as rows have them."""
        rows = self.engine.read("session_vectors", {"namespace": namespace, "session": session, "space": space})
        return dict(rows)


@decodes("purges", "id at actor reason gone")
def _line(row: Sequence[Any]) -> Line:
    _, at, actor, reason, gone = row
    require_types((actor, reason), TEXTS)
    from_micros(at)
    return Line(at, actor, reason, gone)


def memory_steps(memory: Memory) -> Iterator[Step]:
    """All there is of it; refused if it was changed since it was read."""
    key: dict[str, Any] = {"namespace": memory.namespace, "id": memory.id}
    yield step("memory_delete", expect=1, **key, version=memory.version)
    yield step("log_delete", **key)
    yield step("chunk_delete", namespace=memory.namespace, owner=memory.id, owner_type="memory")
    yield step("history_delete", **key)
    yield proposals.delete_step(memory)
    link = containing_pattern(f'"superseded_by": {json.dumps(memory.id, ensure_ascii=False)}')
    yield step("history_unquote", **key, pattern=link)


def event_step(events: Sequence[Event]) -> Step:
    """Each in place of the one of its number."""
    return Step("event_blank", [event_values(event) for event in events], expect=1)


def line_step(namespace: str, ids: Sequence[str], now: int, actor: str, reason: str | None) -> Step:
    return Step(
        "purge_insert",
        [{"namespace": namespace, "id": id, "now": now, "actor": actor, "reason": reason} for id in ids],
    )


def gone_step(due: Sequence[tuple[Any, ...]], now: int) -> Step:
    rows = [{"namespace": namespace, "id": id, "at": at, "now": now} for namespace, id, at in due]
    return Step("purge_gone", rows)


def told(line: Line) -> str:
    why = f" ({line.reason})" if line.reason else ""
    return f"purged on {from_micros(line.at):%Y-%m-%d %H:%M} by {line.actor}{why}"
