"""Queries that find and repair damage over all namespaces: lost rows, wrong counts, bad vectors."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.storage import Engine, Step, step
from retentive.storage.columns import TABLES
from retentive.storage.engine_search import keep_unit_vectors
from retentive.storage.tables.quarantine import PAGE_SIZE

_CHUNK, _SPACE, _DIMENSION, _VECTOR = 1, 2, 3, 4  # columns of the table of vectors, after the namespace


class MessageCount(NamedTuple):
    """A session whose recorded counts differ from its messages. A damaged row may have anything in them."""

    namespace: str
    session: str
    expected: Any
    last: Any
    there: int
    highest: Any


@dataclass(frozen=True, slots=True)
class DamageChecks:
    engine: Engine

    def find_changed_records(self) -> set[tuple[str, str, str]]:
        """Return namespace, type and id of records whose fields differ from their newest history entry."""
        return {(namespace, type, id) for namespace, type, id, *_ in self.engine.read("record_list_changed")}

    def orphans(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of chunks, memory_history or record_history whose owner does not exist."""
        return self._as_values(table, self.engine.read(f"orphan_{table}"))

    def wrong_counts(self) -> list[MessageCount]:
        return [MessageCount(*row) for row in self.engine.read("session_wrong_counts")]

    def message_numbers(self, namespace: str, session: str) -> set[int]:
        rows = self.engine.read("event_list_numbers", {"namespace": namespace, "session": session})
        return {number for (number,) in rows}

    def incomplete_sessions(self) -> list[str]:
        """Return the names of sessions that lack a row of their own or of their state."""
        return [str(session) for _, session in self.engine.read("session_list_incomplete")]

    def sessions_without_row(self) -> list[tuple[str, str]]:
        """Return namespace and name of sessions that have messages but no row of their own."""
        return [(namespace, session) for namespace, session in self.engine.read("session_list_without_row")]

    def missing_namespaces(self) -> list[str]:
        return [str(name) for (name,) in self.engine.read("namespace_list_missing")]

    def bad_vectors(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of vectors that are cut short, not finite, or not of length one."""
        table = TABLES["vectors"]
        after = table.after(None)
        while page := self.engine.read("copy_vectors", {**after, "limit": PAGE_SIZE}):
            yield from self._as_values("vectors", _not_unit(page))
            after = table.after(page[-1])

    def chunks_of(self, namespace: str, session: str, hashes: Sequence[str]) -> list[dict[str, Any]]:
        """Return the chunks of a session that have these hashes."""
        key = {"namespace": namespace, "session": session, "hashes": [*hashes]}
        return [*self._as_values("chunks", self.engine.read("chunk_some", key))]

    def _as_values(self, table: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
        columns = TABLES[table].columns
        return (dict(zip(columns, row, strict=True)) for row in rows)


def _not_unit(page: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    sound: set[tuple[int, str]] = set()
    for dimension in {row[_DIMENSION] for row in page if isinstance(row[_DIMENSION], int) and row[_DIMENSION] > 0}:
        rows = [row for row in page if row[_DIMENSION] == dimension]
        sound |= {(row[_CHUNK], row[_SPACE]) for row in keep_unit_vectors(rows, _VECTOR, dimension)}
    return [row for row in page if (row[_CHUNK], row[_SPACE]) not in sound]


def check_text_step() -> Step:
    """Check the full-text index; `Corrupt` if it is damaged."""
    return step("text_check")


def rebuild_text_step() -> Step:
    return step("text_rebuild")


def rebuild_sessions_steps() -> list[Step]:
    """Rebuild the missing rows of sessions and namespaces from the messages and memories."""
    return [step("session_rebuild"), step("namespace_rebuild")]


def recount_step(count: MessageCount) -> Step:
    """Correct the counts of a session, unless they were changed since they were read."""
    return step(
        "session_set_counts",
        expect=1,
        namespace=count.namespace,
        session=count.session,
        events=count.there,
        last_sequence=max(count.last, count.highest),
        before=count.expected,
    )


def insert_record_step(values: Mapping[str, Any]) -> Step:
    """Insert a row of records, by column."""
    return Step("put_records", [dict(values)])


def new_store_id_step() -> Step:
    return step("meta_set", key="store_id", value=uuid.uuid4().hex)
