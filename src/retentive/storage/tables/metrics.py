"""What is written about the use of memories: the access log, counters and latencies; and what is pruned."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from retentive.model import Access, from_micros, to_micros
from retentive.storage import Engine, Step, step
from retentive.storage.damage import NUMBERS, TEXTS, WHOLE, decodes, read_intact, require_types


class Measure(NamedTuple):
    """A counter (bucket 0), or one bucket of a histogram."""

    namespace: str
    measure: str
    tier: str
    bucket: int


class Due(NamedTuple):
    """Whether there is anything to do in the background, in any namespace."""

    head: int
    """The newest change, where there is a log of them."""
    newest: int
    """The highest number that a chunk has."""
    unlearned: bool
    expired: bool
    purges: bool


@dataclass(frozen=True, slots=True)
class Upkeep:
    engine: Engine

    def measures(self, namespace: str) -> list[tuple[Any, ...]]:
        """Measure, tier, bucket and count of each."""
        return read_intact(self.engine, "measure_list", {"namespace": namespace}, _measure)

    def counts(self, namespace: str, now: int) -> list[tuple[Any, ...]]:
        return self.engine.read("count_by", {"namespace": namespace, "now": now})

    def accesses(self, namespace: str, id: str | None, limit: int) -> list[Access]:
        values = {"namespace": namespace, "id": id, "limit": limit}
        return read_intact(self.engine, "access_list", values, lambda row: _access(row, namespace))

    def usage(self, namespace: str, measure: str, day: int) -> int:
        """What was used of it on a day."""
        rows = self.engine.read("usage_get", {"namespace": namespace, "measure": measure, "day": day})
        return int(rows[0][0]) if rows else 0

    def store_id(self) -> str:
        found = self.engine.read("meta_get", {"key": "store_id"})
        return str(found[0][0]) if found else ""

    def due(self, now: int, silent: int) -> Due:
        """`silent` is the moment before which the last message of a session must have been said."""
        head, newest, *flags = self.engine.read("work_due", {"now": now, "silent": silent})[0]
        return Due(int(head), int(newest), *map(bool, flags))

    def prunable(self, keep: int) -> int:
        """The change up to which the log is longer than it need be; 0 if it is not."""
        floor = int(self.engine.read("change_head")[0][0]) - keep
        return floor if floor > int(self.engine.read("change_floor")[0][0]) else 0

    def prune_changes(self, keep: int) -> None:
        """Forget the oldest of the change log. An index further behind than that loads anew."""
        if floor := self.prunable(keep):
            mark = step("meta_set", key="changes_floor", value=str(floor))
            self.engine.apply([mark, step("change_prune", floor=floor)])


@decodes("measures", "measure tier bucket count")
def _measure(row: Sequence[Any]) -> tuple[Any, ...]:
    require_types(row[:2], TEXTS)
    require_types(row[2:], WHOLE)
    return (*row,)


@decodes("access_log", "n memory at how query score")
def _access(row: Sequence[Any], namespace: str) -> Access:
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
        [  # in one order, so that no two writers wait for each other
            {"namespace": namespace, "id": id, "count": count, "at": latest[namespace, id]}
            for (namespace, id), count in sorted(counts.items())
        ],
    )
    namespaces = {access.namespace for access in accesses}
    yield Step("access_prune", [{"namespace": namespace, "keep": keep} for namespace in namespaces])


NO_LIMIT = 1 << 62


def usage_step(namespace: str, measure: str, day: int, count: int, limit: int = NO_LIMIT) -> Step:
    """More of something that is counted by days; refused at its limit."""
    values = {"namespace": namespace, "measure": measure, "day": day, "count": count, "limit": limit}
    return step("usage_add", expect=1, **values)


def measure_step(counts: Mapping[Measure, int]) -> Step:
    return Step("measure_add", [{**measure._asdict(), "count": count} for measure, count in sorted(counts.items())])
