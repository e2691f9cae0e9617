"""Whole stores as rows: copied table by table into another store, or continued by one that takes their place.

The first part moves all tables into an empty store; marks in the target say how far the move has come. The second part
notes where copies of the store are being written. The third part fits a restored store to those who followed the old.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from retentive.storage import Engine, Params, Step, step
from retentive.storage.columns import Table

MOVE_SOURCE = "move_source"  # the key of the id of the store that is moved here
NO_MARK = ""


class TablePage(NamedTuple):
    """Rows of a table in the order of its columns."""

    rows: Sequence[tuple[Any, ...]]
    next_key: dict[str, Any]
    """The key of the last row: the next page begins after it."""


def read_table_page(engine: Engine, table: Table, after: Mapping[str, Any] | None, limit: int) -> TablePage | None:
    """The rows after a key, or from the first one. None if there are no more."""
    rows = engine.read(f"copy_{table.name}", {**(after or table.after(None)), "limit": limit})
    return TablePage(rows, table.after(rows[-1])) if rows else None


def insert_rows_step(table: Table, rows: Iterable[Params]) -> Step:
    return Step(f"put_{table.name}", rows)


def read_move_source(engine: Engine) -> str | None:
    """The id of the store that is being moved into this one, if any."""
    return _read_meta(engine, MOVE_SOURCE)


def read_move_mark(engine: Engine, table: Table) -> str:
    """The mark of how far the move of a table has come, as `advance_move_step` wrote it."""
    return _read_meta(engine, _name_mark(table)) or NO_MARK


def begin_move_steps(store_id: str, tables: Iterable[Table]) -> Iterator[Step]:
    yield step("meta_set", key=MOVE_SOURCE, value=store_id)
    for table in tables:
        yield step("meta_set", key=_name_mark(table), value=NO_MARK)


def advance_move_step(table: Table, old_mark: str, new_mark: str) -> Step:
    """Set the mark of a table. `Stale` if another process moves into this store, too."""
    return step("move_advance", expect=1, key=_name_mark(table), value=new_mark, before=old_mark)


def end_move_step() -> Step:
    return step("move_finish")


def _name_mark(table: Table) -> str:
    return f"move_{table.name}"


def _read_meta(engine: Engine, key: str) -> str | None:
    rows = engine.read("meta_get", {"key": key})
    return rows[0][0] if rows else None


class CopyNote(NamedTuple):
    """A note that a copy of the store is being written in a folder."""

    key: str
    folder: str


def list_copy_notes(engine: Engine) -> list[CopyNote]:
    return [CopyNote(*row) for row in engine.read("copy_note_list")]


def insert_copy_note_step(note: CopyNote) -> Step:
    """Add a note. Its key begins with `copy_`."""
    return step("meta_set", key=note.key, value=note.folder)


def delete_copy_notes_step(keys: Iterable[str]) -> Step:
    return Step("copy_note_delete", [{"key": key} for key in keys])


class LastNumbers(NamedTuple):
    """The highest numbers that a store has given."""

    change: int
    chunk: int


def read_last_numbers(engine: Engine) -> LastNumbers:
    change, chunk = (engine.read(query)[0][0] for query in ("change_head", "chunk_last"))
    return LastNumbers(int(change), int(chunk))


def continue_numbers_steps(numbers: LastNumbers) -> Iterator[Step]:
    """Give only higher numbers from now on. An index that followed the old store loads everything again."""
    yield step("change_log_restart", head=numbers.change)
    yield step("meta_set", key="changes_floor", value=str(numbers.change))
    yield step("chunk_set_last", chunk=numbers.chunk)


def revoke_tokens_step(revoked: Iterable[tuple[str, int]]) -> Step:
    """Revoke tokens, each given by its id and the time it was revoked."""
    return Step("token_revoke", [{"id": id, "at": at} for id, at in revoked])


def clear_leases_step() -> Step:
    """End all leases: their holders are processes that use another store."""
    return step("lease_clear")


def list_purged(engine: Engine) -> set[tuple[str, str]]:
    """Namespace and id of everything that was purged."""
    return {(namespace, id) for namespace, id in engine.read("purge_list")}


def is_stored(engine: Engine, namespace: str, id: str) -> bool:
    """Whether there is a memory, a record or a message (`session#sequence`) of this id."""
    session, _, number = id.rpartition("#")
    sequence = int(number) if session and number.isdecimal() else -1
    values = {"namespace": namespace, "id": id, "session": session, "sequence": sequence}
    return bool(engine.read("item_exists", values))
