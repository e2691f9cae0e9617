"""Find damage in the rows of a store: damaged values, missing rows, invalid vectors.

`doctor` reports what is found here, `repair` repairs it. Each function goes through all namespaces.
"""

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, NamedTuple

from retentive.conversations.chunks import chunk_message
from retentive.errors import DamagedRow
from retentive.model import Session
from retentive.records.fields import read_record
from retentive.storage.columns import TABLES, Table
from retentive.storage.tables.health import DamageChecks
from retentive.storage.tables.quarantine import PAGE_SIZE, read_table
from retentive.storage.tables.records import RecordRow
from retentive.store import OpenStore
from retentive.text.normalize import hash_content

HASH_DIFFERS = "its content does not match its hash"
HISTORY_DIFFERS = "its fields differ from this version in its history"
OWNER_MISSING = "the row that it belongs to is missing"


class Damaged(NamedTuple):
    """A row that is damaged, and why."""

    table: str
    values: dict[str, Any]
    reason: str

    def __str__(self) -> str:
        table = TABLES[self.table]
        return f"{table.noun} {table.name_row(self.values)}: {self.reason}"


class MissingMessages(NamedTuple):
    """A session that counts more messages than it has."""

    namespace: str
    session: str
    expected: int
    there: int
    gaps: tuple[int, ...]
    """Message numbers that do not exist. Callers may skip numbers, so not every gap is a missing message."""

    def __str__(self) -> str:
        numbers = ", ".join(map(str, self.gaps[:5])) or "unknown"
        return f"session {self.session}: {self.expected - self.there} of {self.expected} messages (of number {numbers})"


class Unsearchable(NamedTuple):
    """A session whose chunks are not those of its messages."""

    session: Session
    stale: tuple[str, ...]
    """Hashes of chunks whose text is in no message: a message was changed."""


def find_damaged(store: OpenStore) -> Iterator[Damaged]:
    """Yield the rows that are not what the store wrote."""
    changed = DamageChecks(store.engine).find_changed_records()
    for table in _list_checked_tables(store):
        for values in read_table(store.engine, table):
            reason = table.find_damage(values) or _find_deep_damage(table.name, values)
            if not reason and table.name == "records":
                key = (values["namespace"], values["type"], values["id"])
                reason = HISTORY_DIFFERS if key in changed else ""
            if reason:
                yield Damaged(table.name, values, reason)


def _list_checked_tables(store: OpenStore) -> Iterator[Table]:
    for name, table in TABLES.items():
        is_hidden = name == "tokens" and store.config.restrict_to  # restricted connections may not read it
        if name != "vectors" and not is_hidden:
            yield table


def _find_deep_damage(table: str, values: dict[str, Any]) -> str:
    """Return what is wrong between the columns of a row, or an empty text."""
    if table == "memories" and hash_content(values["content"]) != values["content_hash"]:
        return HASH_DIFFERS
    if table == "records":
        columns = {each.name: values[each.name] for each in fields(RecordRow)}
        row = RecordRow(**{**columns, "body": json.loads(values["body"])})
        try:
            read_record(row)
        except DamagedRow as error:
            return str(error).partition("is damaged: ")[2]
    return ""


def find_orphans(store: OpenStore) -> Iterator[Damaged]:
    """Yield chunks, and history entries of memories and records, whose owner does not exist."""
    health = DamageChecks(store.engine)
    for table in ("chunks", "memory_history", "record_history"):
        for values in health.orphans(table):
            yield Damaged(table, values, OWNER_MISSING)


def find_missing_messages(store: OpenStore) -> Iterator[MissingMessages]:
    """Yield the sessions that have fewer messages than they count."""
    health = DamageChecks(store.engine)
    for count in health.wrong_counts():
        is_readable = all(isinstance(number, int) for number in (count.expected, count.last, count.highest))
        if is_readable and count.expected > count.there:
            numbers = health.message_numbers(count.namespace, count.session)
            gaps = tuple(number for number in range(1, count.last + 1) if number not in numbers)
            yield MissingMessages(count.namespace, count.session, count.expected, count.there, gaps)


def find_lost_sessions(store: OpenStore) -> list[str]:
    """Return the names of sessions of which a row beside the messages is missing."""
    return DamageChecks(store.engine).incomplete_sessions()


def find_lost_namespaces(store: OpenStore) -> list[str]:
    """Return the names of namespaces that have rows but no entry of their own."""
    return DamageChecks(store.engine).missing_namespaces()


def find_bad_vectors(store: OpenStore) -> Iterator[Damaged]:
    """Yield the vectors that are cut short, not finite, or not of length one."""
    for values in DamageChecks(store.engine).bad_vectors():
        yield Damaged("vectors", values, "it is not of length one")


def find_unsearchable(store: OpenStore) -> Iterator[Unsearchable]:
    """Yield the sessions whose chunks are not exactly those of their messages."""
    rows = store.tables.conversations
    for namespace, name in rows.names():
        try:
            session = rows.get(namespace, name)
        except DamagedRow:
            continue  # found as a damaged row
        if session is None:
            continue
        indexed = rows.hashes(namespace, name)
        expected: set[str] = set()
        after = 0
        while page := rows.list_oldest(namespace, name, PAGE_SIZE, after):
            expected.update(each.hash for event in page for each in chunk_message(event))
            after = page[-1].sequence
        if expected != indexed:
            yield Unsearchable(session, tuple(indexed - expected))
