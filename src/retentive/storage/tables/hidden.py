"""The table of hidden messages: those that a forgotten memory keeps out of answers. Also finds superseded facts."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import Event, Memory, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import decode_intact, decodes, read_object
from retentive.storage.tables.conversations import decode_event
from retentive.storage.tables.memories import containing_pattern

MessageKey = tuple[str, int]
"""Session and sequence of a message."""


class SupersededFact(NamedTuple):
    """A memory that was learned from a session and superseded."""

    namespace: str
    id: str
    superseded_by: str | None
    ended: datetime | None
    origin: dict[str, Any]


class OutdatedRows(NamedTuple):
    """Memories that the hits of a search are compared with."""

    older_ids: list[str]
    """Memories that are the older one of an open proposal, live or not."""
    superseded: list[SupersededFact]


@dataclass(frozen=True, slots=True)
class HiddenMessages:
    engine: Engine

    def list_messages_with(self, namespace: str, chunks: Sequence[int], word: str) -> list[Event]:
        """The messages of these chunks. If a chunk covers repeated messages, only those with the word."""
        values = {"namespace": namespace, "chunks": chunks, "pattern": containing_pattern(word)}
        return [*decode_intact(self.engine.read("message_containing", values), decode_event)]

    def find_outdated(self, namespaces: Sequence[str], ids: Sequence[str], sessions: Sequence[str]) -> OutdatedRows:
        """Find what may be outdated among the hits of a search, in one read; nearly always there is nothing."""
        values = {"namespaces": namespaces, "ids": ids, "sessions": sessions}
        older_ids, superseded = [], []
        for is_superseded, *row in self.engine.read("outdated_list", values):
            if is_superseded:
                superseded.append(row)
            else:
                older_ids.append(row[1])
        return OutdatedRows(older_ids, [*decode_intact(superseded, _decode_superseded)])

    def list_learned(
        self, namespaces: Sequence[str], sessions: Sequence[str], now: int
    ) -> list[tuple[str, dict[str, Any]]]:
        """Namespace and origin of the active memories that were learned from these sessions."""
        values = {"namespaces": namespaces, "sessions": sessions, "now": now}
        return [*decode_intact(self.engine.read("memory_learned_from", values), _decode_origin)]


@decodes("memories", "namespace id superseded_by valid_to origin")
def _decode_superseded(row: Sequence[Any]) -> SupersededFact:
    namespace, id, by, ended, origin = row
    return SupersededFact(namespace, id, by, None if ended is None else from_micros(ended), read_object(origin))


@decodes("memories", "namespace id origin")
def _decode_origin(row: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    namespace, _, origin = row
    return namespace, read_object(origin)


def hide_step(memory: Memory, places: Iterable[MessageKey], now: int) -> Step:
    """Keep messages out of answers until the memory is restored."""
    key: dict[str, Any] = {"namespace": memory.namespace, "memory": memory.id, "now": now}
    return Step("message_hide", [{**key, "session": session, "sequence": sequence} for session, sequence in places])


def show_step(memory: Memory) -> Step:
    """Show the messages again that a memory hid."""
    return step("message_show", namespace=memory.namespace, memory=memory.id)


def delete_hidden_marks_step(events: Iterable[Event]) -> Step:
    rows = [{"namespace": each.namespace, "session": each.session, "sequence": each.sequence} for each in events]
    return Step("message_unhide", rows)
