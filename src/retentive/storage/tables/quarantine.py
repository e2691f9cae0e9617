"""The quarantine: damaged rows that a repair took out of other tables, kept as they were."""

import json
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from retentive.frozen_dataclass import dataclass
from retentive.model import QuarantinedRow, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.columns import TABLES, Table, show_text
from retentive.storage.damage import TEXTS, decodes, read_intact, read_object, require_types
from retentive.storage.non_utf8_text import NonUtf8Text
from retentive.storage.tables.memories import containing_pattern, escape_pattern

PAGE_SIZE = 500  # rows read at a time: bounds the memory, costs nothing in speed


@dataclass(frozen=True, slots=True)
class Quarantine:
    engine: Engine

    def all(self) -> list[QuarantinedRow]:
        """All entries, the oldest first."""
        return read_intact(self.engine, "quarantine_list", {}, _decode_entry)

    def list_entry_ids(self, namespace: str, key: str) -> list[str]:
        """The ids of the entries of a row, known by its key, and of changes of it."""
        values = {"namespace": namespace, "key": key, "changes": f"{escape_pattern(key)}#%"}
        return [id for (id,) in self.engine.read("quarantine_of", values)]


def read_table(engine: Engine, table: Table) -> Iterator[dict[str, Any]]:
    """All rows of a table as dicts by column, damaged or not."""
    after = table.after(None)
    while page := engine.read(f"copy_{table.name}", {**after, "limit": PAGE_SIZE}):
        yield from (dict(zip(table.columns, row, strict=True)) for row in page)
        after = table.after(page[-1])


def insert_step(table: str, values: Mapping[str, Any], reason: str, now: int) -> Step:
    """Put a row into the quarantine, or the fact that one is missing."""
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
    """Move a row from its table into the quarantine. Refused if it is gone, or was edited since."""
    yield insert_step(table, values, reason, now)
    yield remove_step(table, values)


def remove_step(table: str, values: Mapping[str, Any]) -> Step:
    """Delete a row, and what belongs to it."""
    if table in ("chunks", "vectors"):  # several statements: the last one does not count the row
        return step(f"remove_{table}", **values)
    key = {name: values[name] for name in TABLES[table].key}
    if table in ("memories", "records"):  # a damaged one may have been edited, and is whole then
        key["version"] = values["version"]
    return step(f"remove_{table}", expect=1, **key)


def discard_step(row: QuarantinedRow) -> Step:
    """Delete an entry of the quarantine permanently."""
    return step("quarantine_delete", expect=1, namespace=row.namespace, id=row.id)


def delete_step(namespace: str, ids: Iterable[str]) -> Step:
    return Step("quarantine_delete", [{"namespace": namespace, "id": id} for id in ids])


def session_step(namespace: str, session: str) -> Step:
    """Delete the entries of a session that is deleted."""
    pattern = containing_pattern(f'"session": {json.dumps(session, ensure_ascii=False)}')
    return step("quarantine_delete_of_session", namespace=namespace, session=session, pattern=pattern)


def write_row(values: Mapping[str, Any]) -> str:
    return json.dumps({name: _make_json_value(value) for name, value in values.items()}, ensure_ascii=False)


def _make_json_value(value: Any) -> Any:
    """Convert a value for JSON. Text in bytes is also written out, so that a purge finds it."""
    if isinstance(value, NonUtf8Text):
        return {"text": value.hex(), "reads": show_text(value)}
    if isinstance(value, bytes | memoryview):
        return {"bytes": bytes(value).hex(), **_read_as_text(bytes(value))}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    return value


def _read_as_text(value: bytes) -> dict[str, str]:
    try:
        return {"reads": value.decode()}
    except UnicodeDecodeError:
        return {}


@decodes("quarantine", "namespace id source row_key reason at row")
def _decode_entry(row: Sequence[Any]) -> QuarantinedRow:
    namespace, id, source, key, reason, at, values = row
    require_types((namespace, id, source, key, reason), TEXTS)
    return QuarantinedRow(id, namespace, source, key, reason, from_micros(at), read_object(values))
