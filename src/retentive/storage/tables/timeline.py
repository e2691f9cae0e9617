"""Counts by day, over the tables of memories, their history and messages."""

from collections.abc import Iterable, Mapping
from typing import Any

from retentive.frozen_dataclass import dataclass
from retentive.model import Scope, Status
from retentive.storage import Engine
from retentive.storage.scopes import scope_filters

DAY_MICROS = 86_400_000_000
ENDINGS = {Status.SUPERSEDED: "replaced", Status.FORGOTTEN: "forgotten"}
"""The action in the history, and what is counted."""


@dataclass(frozen=True, slots=True)
class Timeline:
    engine: Engine

    def count(self, scope: Scope, first_day: int) -> Mapping[int, Mapping[str, int]]:
        """Count what happened by day, from a day on. Days on which nothing happened are left out."""
        filters, params = scope_filters(scope)
        values = {**params, "namespace": scope.namespaces[0], "day": DAY_MICROS, "begin": first_day * DAY_MICROS}
        counts: dict[int, dict[str, int]] = {}
        for day, count in self.engine.read("timeline_made", values, filters):
            counts.setdefault(day, {})["made"] = count
        for day, action, count in self.engine.read("timeline_ended", values, filters):
            counts.setdefault(day, {})[ENDINGS[action]] = count
        for day, sessions, messages in self._read_messages(values):
            counts.setdefault(day, {}).update(sessions=sessions, messages=messages)
        return counts

    def _read_messages(self, values: Mapping[str, Any]) -> Iterable[tuple[Any, ...]]:
        names = ("namespace", "day", "begin", "session")
        return self.engine.read("timeline_said", {name: values[name] for name in names})
