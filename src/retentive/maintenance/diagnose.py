"""Finds what is wrong with the rows of a store: damaged values, rows that are missing, vectors that are none.

`doctor` counts what is found here, `repair` mends it. Each function goes through all namespaces.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from retentive.conversations.chunks import slices
from retentive.errors import DamagedRow
from retentive.model import Session
from retentive.records.fields import read_record
from retentive.storage.brute_force import keep_unit_vectors
from retentive.storage.columns import TABLES, Table
from retentive.storage.tables.quarantine import PAGE_SIZE, read_table
from retentive.storage.tables.records import Row
from retentive.store import OpenStore
from retentive.text.normalize import content_hash

OTHER_TEXT = "its content is not the one that its hash is of"
OTHER_FIELDS = "its fields are not those of this version in its history"
OWNERLESS = "what it belongs to is not there"


class Damaged(NamedTuple):
    """A row that is damaged, and why."""

    table: str
    values: dict[str, Any]
    reason: str

    def __str__(self) -> str:
        table = TABLES[self.table]
        return f"{table.noun} {table.name_row(self.values)}: {self.reason}"


class MissingMessages(NamedTuple):
    """A session that says it has more messages than there are."""

    namespace: str
    session: str
    expected: int
    there: int
    gaps: tuple[int, ...]
    """The numbers that are not there. Callers may leave some out, so these are more than are missing."""

    def __str__(self) -> str:
        numbers = ", ".join(map(str, self.gaps[:5])) or "unknown"
        return f"session {self.session}: {self.expected - self.there} of {self.expected} messages (of number {numbers})"


class Unsearchable(NamedTuple):
    """A session whose chunks are not those of its messages."""

    session: Session
    stale: tuple[str, ...]
    """The hashes of chunks that no message says: a message was changed."""


def find_damaged(store: OpenStore) -> Iterator[Damaged]:
    """Rows that are not what the store wrote."""
    changed = {row[:3] for row in store.engine.read("record_changed")}
    for table in _tables(store):
        for values in read_table(store.engine, table):
            reason = table.find_damage(values) or _find_deep_damage(table.name, values)
            if not reason and table.name == "records" and (*values.values(),)[:3] in changed:
                reason = OTHER_FIELDS
            if reason:
                yield Damaged(table.name, values, reason)


def _tables(store: OpenStore) -> Iterator[Table]:
    for name, table in TABLES.items():
        is_hidden = name == "tokens" and store.config.restrict_to  # such connections have no right to it
        if name != "vectors" and not is_hidden:
            yield table


def _find_deep_damage(table: str, values: dict[str, Any]) -> str:
    """What no single column shows."""
    if table == "memories" and content_hash(values["content"]) != values["content_hash"]:
        return OTHER_TEXT
    if table == "records":
        numbers = (values[name] for name in ("version", "created", "updated", "deleted", "merged_into"))
        row = Row(values["namespace"], values["type"], values["id"], json.loads(values["body"]), *numbers)
        try:
            read_record(row)
        except DamagedRow as error:
            return str(error).partition("is damaged: ")[2]
    return ""


def find_orphans(store: OpenStore) -> Iterator[Damaged]:
    """Chunks, and changes of memories and records, that belong to something that is not there."""
    for table in ("chunks", "memory_history", "record_history"):
        columns = TABLES[table].columns
        for row in store.engine.read(f"orphan_{table}"):
            yield Damaged(table, dict(zip(columns, row, strict=True)), OWNERLESS)


def find_missing_messages(store: OpenStore) -> Iterator[MissingMessages]:
    for namespace, session, expected, last, there, highest in store.engine.read("state_counts"):
        is_sound = isinstance(expected, int) and isinstance(last, int) and isinstance(highest, int)
        if is_sound and expected > there:
            key = {"namespace": namespace, "session": session}
            numbers = {number for (number,) in store.engine.read("event_numbers", key)}
            gaps = tuple(number for number in range(1, last + 1) if number not in numbers)
            yield MissingMessages(namespace, session, expected, there, gaps)


def find_lost_sessions(store: OpenStore) -> list[str]:
    """Sessions of which a part is missing beside the messages."""
    return [str(session) for _, session in store.engine.read("sessions_missing")]


def find_lost_namespaces(store: OpenStore) -> list[str]:
    return [str(name) for (name,) in store.engine.read("namespaces_missing")]


def find_bad_vectors(store: OpenStore) -> Iterator[Damaged]:
    """Vectors that are cut short, not finite, or not of length one."""
    table = TABLES["vectors"]
    after = table.after(None)
    while page := store.engine.read("copy_vectors", {**after, "limit": PAGE_SIZE}):
        for row in _not_unit(page):
            yield Damaged("vectors", dict(zip(table.columns, row, strict=True)), "it is not of length one")
        after = table.after(page[-1])


def _not_unit(page: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of namespace, chunk, space, dimension and vector."""
    sound: set[tuple[int, str]] = set()
    for dimension in {row[3] for row in page if isinstance(row[3], int) and row[3] > 0}:
        rows = [row for row in page if row[3] == dimension]
        sound |= {(row[1], row[2]) for row in keep_unit_vectors(rows, 4, dimension)}
    return [row for row in page if (row[1], row[2]) not in sound]


def find_unsearchable(store: OpenStore) -> Iterator[Unsearchable]:
    """Sessions of all namespaces with a message whose words are not in the index, or with words that none says."""
    rows = store.tables.conversations
    for namespace, name in rows.names():
        try:
            session = rows.get(namespace, name)
        except DamagedRow:
            continue  # found as a damaged row
        if session is None:
            continue
        known, said, after = rows.hashes(namespace, name), set[str](), 0
        while page := rows.oldest(namespace, name, PAGE_SIZE, after):
            said.update(each.hash for event in page for each in slices(event))
            after = page[-1].sequence
        if said != known:
            yield Unsearchable(session, tuple(known - said))
