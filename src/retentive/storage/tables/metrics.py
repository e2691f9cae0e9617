"""The tables about use: the access log, counters, latency histograms and daily quotas; and the pruned change log."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import Access, from_micros, to_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import NUMBERS, TEXTS, WHOLE, decodes, read_intact, require_types


class Measure(NamedTuple):
    """A counter (bucket 0), or one bucket of a histogram."""

    namespace: str
    measure: str
    tier: str
    bucket: int


class MeasureCount(NamedTuple):
    """The count of a measure of one namespace."""

    measure: str
    tier: str
    bucket: int
    total: int


class MemoryCount(NamedTuple):
    """The number of memories of a kind, source and status. A damaged row may have anything in these."""

    kind: Any
    source: Any
    status: Any
    total: int


class DueWork(NamedTuple):
    """The background work that is due, in any namespace."""

    head: int
    """The newest change, on engines with a change log."""
    newest: int
    """The highest number of a chunk."""
    unlearned: bool
    expired: bool
    purges: bool


@dataclass(frozen=True, slots=True)
class Metrics:
    engine: Engine

    def measures(self, namespace: str) -> list[MeasureCount]:
        return read_intact(self.engine, "measure_list", {"namespace": namespace}, _decode_measure)

    def count_memories(self, namespace: str, now: int) -> list[MemoryCount]:
        """Count the memories by kind, source and status."""
        return [MemoryCount(*row) for row in self.engine.read("memory_count", {"namespace": namespace, "now": now})]

    def accesses(self, namespace: str, id: str | None, limit: int) -> list[Access]:
        values = {"namespace": namespace, "id": id, "limit": limit}
        return read_intact(self.engine, "access_list", values, lambda row: _decode_access(row, namespace))

    def usage(self, namespace: str, measure: str, day: int) -> int:
        """How much of a daily quota was used on a day."""
        rows = self.engine.read("usage_get", {"namespace": namespace, "measure": measure, "day": day})
        return int(rows[0][0]) if rows else 0

    def store_id(self) -> str:
        found = self.engine.read("meta_get", {"key": "store_id"})
        return str(found[0][0]) if found else ""

    def due(self, now: int, silent: int) -> DueWork:
        """Find due work. A session is due for learning if its last message is older than the moment `silent`."""
        head, newest, *flags = self.engine.read("work_due", {"now": now, "silent": silent})[0]
        return DueWork(int(head), int(newest), *map(bool, flags))

    def find_prunable(self, keep: int) -> int:
        """The change up to which the log can be pruned; 0 if there is nothing to prune."""
        floor = int(self.engine.read("change_head")[0][0]) - keep
        return floor if floor > int(self.engine.read("change_floor")[0][0]) else 0

    def prune_changes(self, keep: int) -> None:
        """Delete the oldest changes of the log. An index that is further behind loads everything again."""
        if floor := self.find_prunable(keep):
            mark = step("meta_set", key="changes_floor", value=str(floor))
            self.engine.apply([mark, step("change_prune", floor=floor)])


@decodes("measures", "measure tier bucket count")
def _decode_measure(row: Sequence[Any]) -> MeasureCount:
    found = MeasureCount(*row)
    require_types((found.measure, found.tier), TEXTS)
    require_types((found.bucket, found.total), WHOLE)
    return found


@decodes("access_log", "n memory at how query score")
def _decode_access(row: Sequence[Any], namespace: str) -> Access:
    _, memory, at, how, query, score = row
    require_types((memory, how, query), TEXTS)
    require_types((score,), NUMBERS | {type(None)})
    return Access(namespace, memory, from_micros(at), how, query, score)


def access_steps(accesses: Sequence[Access], keep: int) -> Iterator[Step]:
    yield Step("access_insert", ({**access._asdict(), "at": to_micros(access.at)} for access in accesses))
    counts = Counter((access.namespace, access.id) for access in accesses)
    latest = {(access.namespace, access.id): to_micros(access.at) for access in accesses}
    yield Step(
        "access_count",
        [  # sorted, so that two writers cannot deadlock
            {"namespace": namespace, "id": id, "count": count, "at": latest[namespace, id]}
            for (namespace, id), count in sorted(counts.items())
        ],
    )
    namespaces = {access.namespace for access in accesses}
    yield Step("access_prune", [{"namespace": namespace, "keep": keep} for namespace in namespaces])


NO_LIMIT = 1 << 62


def usage_step(namespace: str, measure: str, day: int, count: int, limit: int = NO_LIMIT) -> Step:
    """Use up some of a daily quota. Refused at its limit."""
    values = {"namespace": namespace, "measure": measure, "day": day, "count": count, "limit": limit}
    return step("usage_add", expect=1, **values)


def measure_step(counts: Mapping[Measure, int]) -> Step:
    return Step("measure_add", [{**measure._asdict(), "count": count} for measure, count in sorted(counts.items())])
