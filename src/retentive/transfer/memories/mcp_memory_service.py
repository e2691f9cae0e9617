"""The database of mcp-memory-service (SQLite with sqlite-vec).

Table `memories`: `content_hash`, `content`, `tags` with commas between, `memory_type`, `metadata` as JSON, times as
seconds since 1970. Rows with `deleted_at` were deleted there, those with `superseded_by` have a successor.

Nothing is ever written to it. How it is opened depends on what lies beside it:
  a. nothing: it is complete in itself and nobody has it open, so it is read as a file that does not change;
  b. `-shm`: a process has it open, or had when it died. SQLite then reads it among others, the WAL with it;
  c. a WAL or a journal alone: whoever wrote it is gone and left work to be finished. That is done in a copy.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from retentive.conversations.formats.values import clean, label, moment
from retentive.errors import Invalid
from retentive.fs.regular_files import require_regular
from retentive.transfer.memories.items import Item, Told, attempt, kind_of, tags_of, text_of, told
from retentive.transfer.memories.source import Given, json_object

_MAGIC = b"SQLite format 3\0"
_OURS = b"RTNV"  # at byte 68 of the file
_PATIENCE = 5000  # milliseconds
_NEEDED = {"content", "content_hash"}
_READ = ("content_hash", "content", "tags", "memory_type", "metadata", "created_at", "updated_at", "confidence")
_GONE = ("deleted_at", "superseded_by")
_KINDS = {"architecture": "decision"}  # it is a kind of decision there, and background elsewhere
_USUAL = 1.0  # what the column says of every row that nobody judged


def recognise(given: Given) -> bool:
    if not given.head.startswith(_MAGIC) or given.head[68:72] == _OURS:
        return given.head[68:72] == _OURS  # which is refused with a word on what to do
    try:
        with _opened(given) as database:
            return _columns(database) >= _NEEDED
    except Invalid:
        return False


def read(given: Given) -> Iterator[Told]:
    if given.head[68:72] == _OURS:
        raise Invalid(f"{given.name} is a store of Retentive", "Open it with --db; `retentive migrate` moves it.")
    if not given.head.startswith(_MAGIC):
        raise Invalid(f"{given.name} is not an SQLite database", "It is often called sqlite_vec.db.")
    with _opened(given) as database:
        columns = _columns(database)
        if not columns >= _NEEDED:
            raise Invalid(f"{given.name} has no table of memories with content and content_hash")
        for number, row in _rows(database, columns):
            yield attempt(_item, f"{given.name}, memory {number}", row)


def _columns(database: apsw.Connection) -> set[str]:
    """None if it is a view, which may be anything."""
    database.execute("PRAGMA trusted_schema = OFF").fetchall()
    if not database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'memories'").fetchall():
        return set()
    names = database.execute("SELECT CAST(name AS BLOB) FROM pragma_table_info('memories')").fetchall()
    return {bytes(name).decode(errors="replace") for (name,) in names if isinstance(name, bytes)}


def _rows(database: apsw.Connection, columns: set[str]) -> Iterator[tuple[int, dict[str, bytes | None]]]:
    """As bytes: SQLite keeps what it was given, UTF-8 or not."""
    names = [name for name in _READ if name in columns]
    wanted = ", ".join(f"CAST({name} AS BLOB)" for name in names)
    here = " AND ".join(f"coalesce({name}, '') = ''" for name in _GONE if name in columns) or "1"
    for row in database.execute(f"SELECT rowid, {wanted} FROM memories WHERE {here} ORDER BY rowid"):
        yield int(row[0]), dict(zip(names, row[1:], strict=True))


def _item(place: str, row: Mapping[str, bytes | None]) -> Item:
    value = {name: _text(each) for name, each in row.items()}
    sort, metadata = value.get("memory_type"), json_object(value.get("metadata") or "null")
    kept = {name: each for name, each in metadata.items() if name not in ("tags", "type")}
    return Item(
        place,
        text_of(value.get("content"), "content"),
        label(value.get("content_hash")),
        {
            **kind_of(_KINDS.get(sort or "", sort)),
            **tags_of(value.get("tags") or metadata.get("tags")),
            **told(
                confidence=_confidence(_number(value.get("confidence"))), metadata=told(**{**kept, "memory_type": sort})
            ),
        },
        moment(_number(value.get("created_at")), place),
        moment(_number(value.get("updated_at")), place),
    )


def _text(value: bytes | None) -> str | None:
    if value is None:
        return None
    try:
        text: str = clean(value.decode())
    except UnicodeDecodeError as error:
        raise Invalid("its text is not UTF-8") from error
    return text


def _number(value: str | None) -> float | str | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value


def _confidence(value: float | str | None) -> float | None:
    return value if isinstance(value, float) and 0 <= value < _USUAL else None


@contextmanager
def _opened(given: Given) -> Iterator[apsw.Connection]:
    beside = [Path(f"{given.path}{end}") for end in ("-wal", "-journal")]
    for each in beside:
        require_regular(each)
    if Path(f"{given.path}-shm").exists():
        how = "mode=ro"
    elif any(each.exists() and each.stat().st_size for each in beside):
        with _copied(given) as copy, _connected(given.name, copy, "mode=rw") as database:
            yield database
        return
    else:
        how = "mode=ro&immutable=1"
    with _connected(given.name, given.path, how) as database:
        yield database


@contextmanager
def _copied(given: Given) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal", "-journal"):
            file = Path(f"{given.path}{end}")
            if file.exists():
                shutil.copyfile(file, Path(folder, f"copy{end}"))
        yield Path(folder, "copy")


@contextmanager
def _connected(name: str, path: Path, how: str) -> Iterator[apsw.Connection]:
    flags = apsw.SQLITE_OPEN_READWRITE if how == "mode=rw" else apsw.SQLITE_OPEN_READONLY
    database: apsw.Connection | None = None
    try:
        database = apsw.Connection(f"file:{quote(str(path.absolute()))}?{how}", flags | apsw.SQLITE_OPEN_URI)
        database.set_busy_timeout(_PATIENCE)
        yield database
    except (apsw.Error, UnicodeDecodeError) as error:  # the latter in names and messages of a damaged one
        hint = "Stop whatever has it open, and try again; or give a copy of it."
        raise Invalid(f"{name} cannot be read: {error}", hint) from error
    finally:
        if database is not None:
            database.close(force=True)
