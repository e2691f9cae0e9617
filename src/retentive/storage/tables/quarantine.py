"""Rows of the quarantine: what a repair takes out of other tables because it is damaged, kept as it was."""

import json
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retentive.model import QuarantinedRow, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.broken_text import BrokenText
from retentive.storage.columns import TABLES, Table, show_text
from retentive.storage.damage import TEXTS, decodes, read_intact, read_object, require_types
from retentive.storage.tables.memories import containing_pattern, escape_pattern

PAGE_SIZE = 500  # rows read at a time: bounds the memory, costs nothing in speed


@dataclass(frozen=True, slots=True)
class Quarantine:
    engine: Engine

    def all(self) -> list[QuarantinedRow]:
        """The oldest first."""
        return read_intact(self.engine, "quarantine_list", {}, _quarantined)

    def of(self, namespace: str, key: str) -> list[str]:
        """The ids of entries for what was known by this key, such as a memory and changes of it."""
        values = {"namespace": namespace, "key": key, "changes": f"{escape_pattern(key)}#%"}
        return [id for (id,) in self.engine.read("quarantine_of", values)]


def read_table(engine: Engine, table: Table) -> Iterator[dict[str, Any]]:
    """All rows of a table by column, whatever is in them."""
    after = table.after(None)
    while page := engine.read(f"copy_{table.name}", {**after, "limit": PAGE_SIZE}):
        yield from (dict(zip(table.columns, row, strict=True)) for row in page)
        after = table.after(page[-1])


def insert_step(table: str, values: Mapping[str, Any], reason: str, now: int) -> Step:
    """Keep a row in the quarantine, or the fact that one is missing."""
    namespace = values.get("namespace")
    return step(
        "quarantine_insert",
        namespace=namespace if isinstance(namespace, str) else "",
        id=uuid.uuid4().hex,
        source=table,
        row_key=TABLES[table].name_row(values),
        reason=reason,
        at=now,
        row=write_row(values),
    )


def move_steps(table: str, values: Mapping[str, Any], reason: str, now: int) -> Iterator[Step]:
    """Take a row out of its table and keep it in the quarantine. Refused if it is gone, or was edited since."""
    yield insert_step(table, values, reason, now)
    yield remove_step(table, values)


def remove_step(table: str, values: Mapping[str, Any]) -> Step:
    """Delete a row, and what hangs on it."""
    if table in ("chunks", "vectors"):  # several statements, of which the last says nothing about the row
        return step(f"remove_{table}", **values)
    key = {name: values[name] for name in TABLES[table].key}
    if table in ("memories", "records"):  # one whose text was changed can be edited, and is whole then
        key["version"] = values["version"]
    return step(f"remove_{table}", expect=1, **key)


def discard_step(row: QuarantinedRow) -> Step:
    """Delete an entry of the quarantine for good."""
    return step("quarantine_delete", expect=1, namespace=row.namespace, id=row.id)


def delete_step(namespace: str, ids: Iterable[str]) -> Step:
    return Step("quarantine_delete", [{"namespace": namespace, "id": id} for id in ids])


def session_step(namespace: str, session: str) -> Step:
    """Those of a session that is deleted."""
    pattern = containing_pattern(f'"session": {json.dumps(session, ensure_ascii=False)}')
    return step("quarantine_delete_of_session", namespace=namespace, session=session, pattern=pattern)


def write_row(values: Mapping[str, Any]) -> str:
    return json.dumps({name: _plain(value) for name, value in values.items()}, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value as JSON can have it. Words in bytes are written out, too, so that a purge finds them."""
    if isinstance(value, BrokenText):
        return {"text": value.hex(), "reads": show_text(value)}
    if isinstance(value, bytes | memoryview):
        return {"bytes": bytes(value).hex(), **_words(bytes(value))}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    return value


def _words(value: bytes) -> dict[str, str]:
    try:
        return {"reads": value.decode()}
    except UnicodeDecodeError:
        return {}


@decodes("quarantine", "namespace id source row_key reason at row")
def _quarantined(row: Sequence[Any]) -> QuarantinedRow:
    namespace, id, source, key, reason, at, kept = row
    require_types((namespace, id, source, key, reason), TEXTS)
    return QuarantinedRow(id, namespace, source, key, reason, from_micros(at), read_object(kept))
