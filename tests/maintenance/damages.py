"""What the tests of damaged stores share: SQL and bytes behind the back of the store."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from retentive import Retentive
from retentive.storage.columns import Shape, Table
from retentive.storage.engines.libsql import LibsqlEngine
from retentive.testing import parts_of

BROKEN_TEXT = "CAST(X'61FF62' AS TEXT)"  # a, a byte that is no UTF-8, b
BEYOND_TIME = 1 << 62  # microseconds: long after the year 9999


def execute(path: Path, sql: str) -> int:
    """How many rows it changed."""
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    changed = connection.changes()
    connection.close()
    return changed


def execute_on(store: Retentive, target: str, sql: str) -> None:
    """On the engine of an open store, whichever it is."""
    engine = parts_of(store).engine
    if isinstance(engine, LibsqlEngine):
        engine._server.rows({"sql": sql})
    elif "://" in target:
        from tests.storage.postgres_rows import run

        run(target, sql)
    else:
        execute(Path(target), sql)


def damage_of(shape: Shape) -> str:
    """A value, as SQL, that a column of this shape must not have."""
    if shape.name.startswith("one of"):
        return "'zzz'"
    if "time" in shape.name:
        return str(BEYOND_TIME)
    if "JSON" in shape.name:
        return "'{\"broken'"
    if "number" in shape.name:
        return "'abc'"
    if shape.name == "true or false":
        return "7"
    return "X'0001'" if shape.name == "bytes" else BROKEN_TEXT


def damage_first(path: Path, table: Table, column: str, value: str) -> bool:
    """Damage a column of the first row of a table. False: there is none, or SQLite refuses it."""
    key = ", ".join(name for name in table.key if table.name != "vectors" or name != "space")
    first = f"SELECT {key} FROM {table.name} ORDER BY {key} LIMIT 1"
    try:
        return bool(execute(path, f'UPDATE {table.name} SET "{column}" = {value} WHERE ({key}) = ({first})'))
    except apsw.MismatchError:
        return False


def pages_of(path: Path, name: str, kind: str | None = None) -> list[int]:
    """The pages of a table or index: all of them, the `leaf` ones or the `internal` ones."""
    connection = apsw.Connection(str(path))
    rows: list[Any] = connection.execute("SELECT pageno, pagetype FROM dbstat WHERE name = ?", (name,)).fetchall()
    connection.close()
    return [page for page, of in rows if kind in (None, of)]


def overwrite_pages(path: Path, pages: list[int], seed: int = 1) -> None:
    """Garbage in place of these pages."""
    size = int.from_bytes(path.read_bytes()[16:18], "big")
    noise = random.Random(seed)
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(noise.randbytes(size))


def copy_store(source: Path, target: Path) -> Path:
    shutil.copy2(source, target)
    return target


def bad_findings(store: Retentive) -> dict[str, str]:
    return {finding.name: finding.detail for finding in store.doctor() if not finding.ok}


def texts(store: Retentive) -> Iterator[str]:
    return (memory.content for memory in store.list(limit=100_000))
