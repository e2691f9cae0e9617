"""The database of mcp-memory-service (SQLite with sqlite-vec).

Table `memories`: `content_hash`, `content`, `tags` separated by commas, `memory_type`, `metadata` as JSON, times as
seconds since 1970. Rows with `deleted_at` were deleted there, rows with `superseded_by` have a successor.

The database is never written to. How it is opened depends on the files beside it:
  a. none: it is complete and nobody has it open, so it is read as a file that does not change;
  b. `-shm`: a process has it open, or had when it died. SQLite then reads it with its WAL, beside others;
  c. only a WAL or a journal: its writer died and left a transaction to finish. SQLite does that in a copy.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from retentive.conversations.formats.values import clean_name, clean_value, parse_time
from retentive.errors import Invalid
from retentive.fs.regular_files import require_regular
from retentive.transfer.memories.items import (
    ImportItem,
    ReadResult,
    clean_text,
    drop_empty,
    guess_kind,
    make_tags,
    try_make,
)
from retentive.transfer.memories.source import ImportSource, parse_json_object

_SQLITE_MAGIC = b"SQLite format 3\0"
_OWN_APPLICATION_ID = b"RTNV"  # at byte 68 of the file
_BUSY_TIMEOUT_MS = 5000
_REQUIRED_COLUMNS = {"content", "content_hash"}
_READ_COLUMNS = ("content_hash", "content", "tags", "memory_type", "metadata", "created_at", "updated_at", "confidence")
_REMOVED_COLUMNS = ("deleted_at", "superseded_by")
_KIND_BY_TYPE = {"architecture": "decision"}  # elsewhere the word means background
_DEFAULT_CONFIDENCE = 1.0  # of rows that nobody rated


def recognise(source: ImportSource) -> bool:
    if not source.head.startswith(_SQLITE_MAGIC) or source.head[68:72] == _OWN_APPLICATION_ID:
        return source.head[68:72] == _OWN_APPLICATION_ID  # `read` refuses it with a hint
    try:
        with _open_database(source) as database:
            return _list_columns(database) >= _REQUIRED_COLUMNS
    except Invalid:
        return False


def read(source: ImportSource) -> Iterator[ReadResult]:
    if source.head[68:72] == _OWN_APPLICATION_ID:
        raise Invalid(
            f"{source.name} is a store of Retentive", "Open it, or move it: `Retentive.migrate(FILE, TARGET)`."
        )
    if not source.head.startswith(_SQLITE_MAGIC):
        raise Invalid(f"{source.name} is not an SQLite database", "It is often called sqlite_vec.db.")
    with _open_database(source) as database:
        columns = _list_columns(database)
        if not columns >= _REQUIRED_COLUMNS:
            raise Invalid(f"{source.name} has no table of memories with content and content_hash")
        for number, row in _read_rows(database, columns):
            yield try_make(_make_item, f"{source.name}, memory {number}", row)


def _list_columns(database: apsw.Connection) -> set[str]:
    """The columns of the table. Empty if `memories` is a view, which may be anything."""
    database.execute("PRAGMA trusted_schema = OFF").fetchall()
    if not database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'memories'").fetchall():
        return set()
    names = database.execute("SELECT CAST(name AS BLOB) FROM pragma_table_info('memories')").fetchall()
    return {bytes(name).decode(errors="replace") for (name,) in names if isinstance(name, bytes)}


def _read_rows(database: apsw.Connection, columns: set[str]) -> Iterator[tuple[int, dict[str, bytes | None]]]:
    """The current memories with their row ids. Values are bytes: SQLite does not check that text is UTF-8."""
    names = [name for name in _READ_COLUMNS if name in columns]
    selected = ", ".join(f"CAST({name} AS BLOB)" for name in names)
    is_current = " AND ".join(f"coalesce({name}, '') = ''" for name in _REMOVED_COLUMNS if name in columns) or "1"
    for number, *values in database.execute(
        f"SELECT rowid, {selected} FROM memories WHERE {is_current} ORDER BY rowid"
    ):
        yield int(number), dict(zip(names, values, strict=True))


def _make_item(place: str, row: Mapping[str, bytes | None]) -> ImportItem:
    value = {name: _decode(each) for name, each in row.items()}
    memory_type, metadata = value.get("memory_type"), parse_json_object(value.get("metadata") or "null")
    kept = {name: each for name, each in metadata.items() if name not in ("tags", "type")}
    return ImportItem(
        place,
        clean_text(value.get("content"), "content"),
        clean_name(value.get("content_hash")),
        {
            **guess_kind(_KIND_BY_TYPE.get(memory_type or "", memory_type)),
            **make_tags(value.get("tags") or metadata.get("tags")),
            **drop_empty(
                confidence=_valid_confidence(_parse_number(value.get("confidence"))),
                metadata=drop_empty(**{**kept, "memory_type": memory_type}),
            ),
        },
        parse_time(_parse_number(value.get("created_at")), place),
        parse_time(_parse_number(value.get("updated_at")), place),
    )


def _decode(value: bytes | None) -> str | None:
    if value is None:
        return None
    try:
        text: str = clean_value(value.decode())
    except UnicodeDecodeError as error:
        raise Invalid("its text is not UTF-8") from error
    return text


def _parse_number(value: str | None) -> float | str | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value


def _valid_confidence(value: float | str | None) -> float | None:
    return value if isinstance(value, float) and 0 <= value < _DEFAULT_CONFIDENCE else None


@contextmanager
def _open_database(source: ImportSource) -> Iterator[apsw.Connection]:
    logs = [Path(f"{source.path}{end}") for end in ("-wal", "-journal")]
    for each in logs:
        require_regular(each)
    if Path(f"{source.path}-shm").exists():
        mode = "mode=ro"
    elif any(each.exists() and each.stat().st_size for each in logs):
        with _copy_database(source) as copy, _connect(source.name, copy, "mode=rw") as database:
            yield database
        return
    else:
        mode = "mode=ro&immutable=1"
    with _connect(source.name, source.path, mode) as database:
        yield database


@contextmanager
def _copy_database(source: ImportSource) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal", "-journal"):
            file = Path(f"{source.path}{end}")
            if file.exists():
                shutil.copyfile(file, Path(folder, f"copy{end}"))
        yield Path(folder, "copy")


@contextmanager
def _connect(name: str, path: Path, mode: str) -> Iterator[apsw.Connection]:
    flags = apsw.SQLITE_OPEN_READWRITE if mode == "mode=rw" else apsw.SQLITE_OPEN_READONLY
    database: apsw.Connection | None = None
    try:
        database = apsw.Connection(f"file:{quote(str(path.absolute()))}?{mode}", flags | apsw.SQLITE_OPEN_URI)
        database.set_busy_timeout(_BUSY_TIMEOUT_MS)
        yield database
    except (apsw.Error, UnicodeDecodeError) as error:  # a damaged database has names that are not UTF-8
        hint = "Stop the program that has it open and try again, or give a copy of it."
        raise Invalid(f"{name} cannot be read: {error}", hint) from error
    finally:
        if database is not None:
            database.close(force=True)
