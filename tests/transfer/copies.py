"""What the tests of backups share: files that are no backup, and what a store holds."""

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw

from retentive import Retentive
from retentive.storage.migrations import load_migrations
from retentive.storage.store_file import apply_migration


def contents(store: Retentive) -> list[str]:
    return sorted(memory.content for memory in store.list(limit=100_000))


def holds(path: Path) -> list[str]:
    """Of a copy, which stays as it is; it must pass every examination."""
    scratch = path.with_name(f"{path.name}.opened")
    shutil.copy2(path, scratch)
    with Retentive.open(scratch, embedder="hashing") as store:
        assert [finding for finding in store.doctor() if not finding.ok] == []
        return contents(store)


def ids(path: Path | None) -> set[str]:
    connection = apsw.Connection(str(path))
    found = {str(id) for (id,) in connection.execute("SELECT id FROM memories").fetchall()}
    connection.close()
    return found


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def changed(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def flipped(path: Path, share: float) -> None:
    """A page's worth of other bytes."""
    data = bytearray(path.read_bytes())
    at = int(len(data) * share) // 4096 * 4096
    data[at : at + 4096] = bytes(255 - byte for byte in data[at : at + 4096])
    path.write_bytes(data)


def shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5000])


def foreign(path: Path) -> None:
    path.unlink()
    changed(path, "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)")


def newer(path: Path) -> None:
    changed(path, "INSERT INTO migrations VALUES (9999, 'later', 'x', 0); PRAGMA user_version = 9999")


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda path: path.write_text("Not a database, but long enough to be taken for one. " * 50), "NotAStore"),
    "empty": (lambda path: path.write_bytes(b""), "NotAStore"),
    "a database of others": (foreign, "NotAStore"),
    "of a newer program": (newer, "NewerSchema"),
    "a page of it changed": (lambda path: flipped(path, 0.5), "Corrupt"),
    "cut off": (shortened, "Corrupt"),
    "full text of other rows": (
        lambda path: changed(path, "UPDATE chunks_fts_content SET c0 = 'otter'"),
        "Corrupt",
    ),
    "rows without full text": (
        lambda path: changed(path, "DELETE FROM chunks_fts WHERE rowid = (SELECT min(n) FROM chunks)"),
        "Corrupt",
    ),
    "a memory without chunks": (
        lambda path: changed(path, "DELETE FROM chunks_fts; DELETE FROM vectors; DELETE FROM chunks"),
        "Corrupt",
    ),
}


def of_an_older_program(path: Path, newest: int) -> None:
    """A store with the schema of then, and one conversation in it."""
    connection = apsw.Connection(str(path))
    for migration in load_migrations("sqlite")[:newest]:
        apply_migration(connection, migration)
    connection.execute("INSERT INTO namespaces VALUES ('default', 1)")
    connection.close()
