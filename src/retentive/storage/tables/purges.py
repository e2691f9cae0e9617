"""The table of purges: where a purged text is repeated, the steps that delete it, and what stays on record."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import Event, Memory, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import TEXTS, decodes, require_types
from retentive.storage.tables import proposals
from retentive.storage.tables.conversations import event_values
from retentive.storage.tables.memories import containing_pattern

MAX_PLACES = 1000  # listed for one text


class TextPlace(NamedTuple):
    """A place where a text occurs: a memory's id or a session's name, and the number of the message or log entry."""

    place: str
    name: str
    number: int


class PurgeSizes(NamedTuple):
    """How many rows belong to a memory."""

    history: int
    chunks: int
    accesses: int
    proposals: int


class PurgeRecord(NamedTuple):
    """The record that stays of a purge."""

    at: int
    actor: str
    reason: str | None
    gone: int | None
    """When the bytes were overwritten; None: not yet."""


@dataclass(frozen=True, slots=True)
class Purges:
    engine: Engine

    def count_rows(self, memory: Memory) -> PurgeSizes:
        key = {"namespace": memory.namespace, "id": memory.id, "content_hash": memory.content_hash}
        return PurgeSizes(*self.engine.read("memory_sizes", key)[0])

    def get(self, namespace: str, id: str) -> PurgeRecord | None:
        rows = self.engine.read("purge_get", {"namespace": namespace, "id": id})
        return _decode_record((id, *rows[0])) if rows else None

    def list_due(self) -> list[tuple[Any, ...]]:
        """Namespace, id and time of the purges whose bytes may still be in the file."""
        return self.engine.read("purge_due")

    def list_repeats(self, namespace: str, text: str) -> list[TextPlace]:
        """Other places of the namespace that contain the text."""
        values = {"namespace": namespace, "pattern": containing_pattern(text), "limit": MAX_PLACES}
        return [TextPlace(*row) for row in self.engine.read("text_places", values)]

    def list_questions(self, namespace: str) -> Iterator[tuple[TextPlace, str]]:
        """The questions in the access log, each with its place."""
        for memory, number, question in self.engine.read("question_list", {"namespace": namespace}):
            yield TextPlace("query", memory, number), question

    def is_own_name(self, text: str) -> bool:
        """Whether the store itself uses the text as a name: of a table, a model, a namespace."""
        return bool(self.engine.read("own_name_find", {"pattern": containing_pattern(text)}))

    def vectors(self, namespace: str, session: str, space: str) -> dict[str, bytes | None]:
        """The stored vectors of a session's chunks, by the chunks' hashes."""
        rows = self.engine.read("session_vectors", {"namespace": namespace, "session": session, "space": space})
        return dict(rows)


@decodes("purges", "id at actor reason gone")
def _decode_record(row: Sequence[Any]) -> PurgeRecord:
    _, at, actor, reason, gone = row
    require_types((actor, reason), TEXTS)
    from_micros(at)
    return PurgeRecord(at, actor, reason, gone)


def delete_memory_steps(memory: Memory) -> Iterator[Step]:
    """Delete a memory and everything that belongs to it. Refused if it changed since it was read."""
    key: dict[str, Any] = {"namespace": memory.namespace, "id": memory.id}
    yield step("memory_delete", expect=1, **key, version=memory.version)
    yield step("access_delete_of_memory", **key)
    yield step("chunk_delete", namespace=memory.namespace, owner=memory.id, owner_type="memory")
    yield step("history_delete", **key)
    yield proposals.delete_step(memory)
    link = containing_pattern(f'"superseded_by": {json.dumps(memory.id, ensure_ascii=False)}')
    yield step("history_clear_reasons", **key, pattern=link)


def replace_events_step(events: Sequence[Event]) -> Step:
    """Replace each event by the one with its sequence. Refused if there is none."""
    return Step("event_replace", [event_values(event) for event in events], expect=1)


def cancel_summaries_step(namespace: str, sessions: Sequence[str]) -> Step:
    """Make the summaries that are being written of these sessions stale."""
    return Step("summary_invalidate", [{"namespace": namespace, "session": name} for name in sessions])


def clear_summaries_step(namespace: str, sessions: Sequence[str]) -> Step:
    return Step("summary_clear", [{"namespace": namespace, "session": name} for name in sessions])


def delete_questions_step(namespace: str, places: Sequence[TextPlace]) -> Step:
    """Delete logged questions."""
    return Step("access_delete", [{"namespace": namespace, "n": place.number} for place in places])


def log_purges_step(namespace: str, ids: Sequence[str], now: int, actor: str, reason: str | None) -> Step:
    rows = [{"namespace": namespace, "id": id, "now": now, "actor": actor, "reason": reason} for id in ids]
    return Step("purge_insert", rows)


def finish_step(due: Sequence[tuple[Any, ...]], now: int) -> Step:
    """Note that the bytes of these purges were overwritten."""
    rows = [{"namespace": namespace, "id": id, "at": at, "now": now} for namespace, id, at in due]
    return Step("purge_finish", rows)


def describe_purge(record: PurgeRecord) -> str:
    """Say to people when, by whom and why something was purged."""
    reason = f" ({record.reason})" if record.reason else ""
    return f"purged on {from_micros(record.at):%Y-%m-%d %H:%M} by {record.actor}{reason}"
