"""Hidden messages as rows: what forgotten memories keep out of answers; and messages whose fact was superseded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from retentive.model import Event, Memory, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import decodes, intact, read_object
from retentive.storage.tables.conversations import event_of
from retentive.storage.tables.memories import containing_pattern

Place = tuple[str, int]
"""Session and sequence of a message."""


class SupersededFact(NamedTuple):
    """A memory that was learned from a session and superseded."""

    namespace: str
    id: str
    superseded_by: str | None
    ended: datetime | None
    origin: dict[str, Any]


class OutdatedRows(NamedTuple):
    """What the hits of a search must be compared with."""

    older_ids: list[str]
    """Memories that are the older one of an open proposal, live or not."""
    superseded: list[SupersededFact]


@dataclass(frozen=True, slots=True)
class HiddenMessages:
    engine: Engine

    def saying(self, namespace: str, chunks: Sequence[int], word: str) -> list[Event]:
        """The messages of these chunks; of a slice that was said again and again, those that have the word."""
        values = {"namespace": namespace, "chunks": chunks, "pattern": containing_pattern(word)}
        return [*intact(self.engine.read("message_saying", values), event_of)]

    def outdated(self, namespaces: Sequence[str], ids: Sequence[str], sessions: Sequence[str]) -> OutdatedRows:
        """One lookup for all hits of a search; nearly always it finds nothing."""
        values = {"namespaces": namespaces, "ids": ids, "sessions": sessions}
        rows = self.engine.read("outdated_of", values)
        older_ids = [row[2] for row in rows if not row[0]]
        return OutdatedRows(older_ids, [*intact([row[1:] for row in rows if row[0]], _superseded)])

    def learned(self, namespaces: Sequence[str], sessions: Sequence[str], now: int) -> list[tuple[str, dict[str, Any]]]:
        """Namespace and origin of the active memories that were learned from these sessions."""
        values = {"namespaces": namespaces, "sessions": sessions, "now": now}
        return [*intact(self.engine.read("memory_learned_from", values), _origin)]


@decodes("memories", "namespace id superseded_by valid_to origin")
def _superseded(row: Sequence[Any]) -> SupersededFact:
    namespace, id, by, ended, origin = row
    return SupersededFact(namespace, id, by, None if ended is None else from_micros(ended), read_object(origin))


@decodes("memories", "namespace id origin")
def _origin(row: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    return row[0], read_object(row[2])


def hide_step(memory: Memory, places: Iterable[Place], now: int) -> Step:
    """Keep messages out of answers until the memory is restored."""
    key: dict[str, Any] = {"namespace": memory.namespace, "memory": memory.id, "now": now}
    return Step("message_hide", [{**key, "session": session, "sequence": sequence} for session, sequence in places])


def show_step(memory: Memory) -> Step:
    """Let answers have what a memory hid."""
    return step("message_show", namespace=memory.namespace, memory=memory.id)


def unhide_step(events: Iterable[Event]) -> Step:
    """Delete the rows of messages that were purged."""
    rows = [{"namespace": each.namespace, "session": each.session, "sequence": each.sequence} for each in events]
    return Step("message_unhide", rows)
