"""Hidden messages as rows: what forgotten memories keep out of answers; and messages whose fact was superseded."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from retentive.model import Event, Memory, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.conversations import event_of
from retentive.storage.memories import containing_pattern

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
        return [event_of(row) for row in self.engine.read("message_saying", values)]

    def outdated(self, namespaces: Sequence[str], ids: Sequence[str], sessions: Sequence[str]) -> OutdatedRows:
        """One lookup for all hits of a search; nearly always it finds nothing."""
        values = {"namespaces": namespaces, "ids": ids, "sessions": sessions}
        found = OutdatedRows([], [])
        for is_fact, namespace, id, by, ended, origin in self.engine.read("outdated_of", values):
            if is_fact:
                time = None if ended is None else from_micros(ended)
                found.superseded.append(SupersededFact(namespace, id, by, time, json.loads(origin)))
            else:
                found.older_ids.append(id)
        return found

    def learned(self, namespaces: Sequence[str], sessions: Sequence[str], now: int) -> list[tuple[str, dict[str, Any]]]:
        """Namespace and origin of the active memories that were learned from these sessions."""
        values = {"namespaces": namespaces, "sessions": sessions, "now": now}
        return [(row[0], json.loads(row[2])) for row in self.engine.read("memory_learned_from", values)]


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
