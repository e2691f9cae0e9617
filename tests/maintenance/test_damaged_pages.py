"""Damaged pages of a real file: what is said, and what a repair brings back."""

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from retentive import Retentive
from retentive.errors import Corrupt, DiskFull, NotAStore, RetentiveError
from retentive.model import RemainingCopy
from retentive.storage.btree import PageFile
from retentive.storage.salvage import begin_store
from tests.maintenance.damages import bad_findings, copy_store, execute, overwrite_pages, pages_of, texts
from tests.support import Run

MEMORIES = 400


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of some hundred pages, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    with Retentive.open(path, embedder="hashing") as store:
        store.add_many([f"memory number {number} " + "of many " * (number % 40) for number in range(MEMORIES)])
        store.add("A very long one. " * 2000)
        for number in range(60):
            store.sessions.append(f"s{number % 3}", "user", f"message number {number} " + "and on " * number)
        for number in range(80):
            store.contacts.create(name=f"Rita {number}", notes="of the harbour " * 30)
        store.profile.set("dog.name", "Rex")
    return path


@pytest.fixture
def damaged(filled: Path, db: Path) -> Callable[..., Path]:
    """The store with garbage in place of some pages of a table or index."""

    def damage(name: str, kind: str | None = None, count: int = 10_000) -> Path:
        copy_store(filled, db)
        pages = pages_of(db, name, kind)
        assert pages, name
        overwrite_pages(db, pages[len(pages) // 3 :][:count])
        return db

    return damage


def is_whole(store: Retentive) -> bool:
    """Whether all is there that was."""
    session = [len(store.sessions.events(f"s{number}", limit=100)) for number in range(3)]
    return (
        sum(text.startswith("memory number") for text in texts(store)) == MEMORIES
        and session == [20, 20, 20]
        and len(store.contacts.list(limit=100)) == 80
        and store.profile.get().document == {"dog": {"name": "Rex"}}
        and any(text.startswith("A very long one.") for text in texts(store))
    )


def _try_to_write(store: Retentive) -> bool:
    """Whether it was kept; otherwise it was said what to do."""
    told = RetentiveError("")
    try:
        store.add("Written while it was damaged")
    except Corrupt as error:
        told = error
    assert not told.hint or "repair()" in told.hint
    return not told.hint


DERIVED = [
    ("chunks_fts_data", "leaf", 3),
    ("chunks_fts_data", None, 10_000),
    ("chunks_fts_idx", None, 10_000),
    ("chunks_fts_docsize", "leaf", 1),
    ("chunks_fts_docsize", None, 10_000),
    ("chunks_fts_content", "leaf", 2),
    ("chunks_fts_content", "internal", 1),
    ("chunks_fts_config", None, 10_000),
    ("memories_hash", None, 10_000),
    ("memories_created", "leaf", 2),
    ("sqlite_autoindex_memories_1", "leaf", 2),
    ("session_state_active", None, 10_000),
    ("chunks", "leaf", 2),
    ("chunks", "internal", 1),
    ("chunks_owner", None, 10_000),
    ("vectors", "leaf", 2),
    ("vectors", "internal", 1),
    ("meta", None, 10_000),
    ("changes", None, 10_000),
]


@pytest.mark.parametrize(("name", "kind", "count"), DERIVED)
def test_pages_of_what_is_derived_are_repaired_and_nothing_is_lost(
    damaged: Callable[..., Path], name: str, kind: str | None, count: int
) -> None:
    path = damaged(name, kind, count)
    with Retentive.open(path, embedder="hashing") as store:
        written = _try_to_write(store)
        assert bad_findings(store)
        repaired = store.repair()
        assert bad_findings(store) == {}
        assert is_whole(store)
        assert ("Written while it was damaged" in texts(store)) is written
        assert repaired.kept is not None
        assert repaired.kept.read_bytes()[:15] == b"SQLite format 3"
        assert repaired.quarantined == ()
        store.add("Written afterwards: the lighthouse keeper is called Ingrid")
        assert "Ingrid" in store.search("who is the lighthouse keeper?", mode="text").hits[0].content
        assert len(store.search("message number 7", include="events")) > 0
    with Retentive.open(path, embedder="hashing") as again:
        assert is_whole(again)
        assert bad_findings(again) == {}


def test_the_terminal_tells_what_to_do_and_what_it_did(damaged: Callable[..., Path], run: Run, refused: Run) -> None:
    path = damaged("chunks_fts_idx")
    assert "doctor --repair" in refused("add", "The lighthouse", code=5)
    assert "BAD  file" in run("doctor", code=5)
    told = run("doctor", "--repair")
    assert "the store was rebuilt" in told
    (kept,) = path.parent.glob("memory.db.before-repair-*")
    assert f"the old file is {kept}" in told
    assert "BAD" not in told
    run("add", "The lighthouse keeper is called Ingrid")
    assert "Ingrid" in run("search", "who is the lighthouse keeper?")


CONTENT = [
    ("memories", "leaf", 2),
    ("memories", "internal", 1),
    ("memories", "overflow", 1),
    ("events", "leaf", 1),
    ("records", "leaf", 1),
    ("records", "internal", 1),
    ("record_history", "leaf", 1),
    ("sessions", None, 10_000),
    ("session_state", None, 10_000),
    ("namespaces", None, 10_000),
]


@pytest.mark.parametrize(("name", "kind", "count"), CONTENT)
def test_of_a_table_with_damaged_pages_all_other_rows_are_salvaged(
    damaged: Callable[..., Path], filled: Path, name: str, kind: str | None, count: int
) -> None:
    path = damaged(name, kind, count)
    with Retentive.open(path, embedder="hashing") as store:
        repaired = store.repair()
        assert bad_findings(store) == {}
        left, kept = [*texts(store)], json.dumps([dict(row.row) for row in store.quarantine()])
        assert sum(text.startswith("memory number") for text in left) >= MEMORIES - 60
        assert len(store.contacts.list(limit=100)) == 80  # also from their history, or it from them
        assert store.profile.get().document == {"dog": {"name": "Rex"}}
        assert sum(len(store.sessions.events(each.id, limit=100)) for each in store.sessions.list()) >= 40
        store.add("Written afterwards")
    with Retentive.open(filled, embedder="hashing") as whole:
        lost = {*texts(whole)} - {*left}
    # The text of a memory whose row is lost is still in its chunks: one of one chunk is known by its words.
    assert all(text in kept for text in lost if len(text) < 300)
    if kind == "leaf" and name != "record_history":
        assert repaired.unreadable == {name: count}


def find_id(store: Retentive, beginning: str) -> str:
    return next(each.id for each in store.list(limit=1000) if each.content.startswith(beginning))


def break_cell(path: Path, page: int, cell: int) -> None:
    """Let the place of a row on a page be none."""
    size = int.from_bytes(path.read_bytes()[16:18], "big")
    with path.open("r+b") as file:
        file.seek((page - 1) * size + 8 + 2 * cell)
        file.write(b"\xff\xff")


def test_one_bad_row_does_not_take_the_others_of_its_page_along(filled: Path, db: Path) -> None:
    """On whichever page it is: SQLite reads some cells outside a page as rows, depending on the bytes behind it."""
    for leaf in pages_of(filled, "memories", "leaf")[1:-1:6]:
        copy_store(filled, db)
        break_cell(db, leaf, 1)
        with Retentive.open(db, embedder="hashing") as store:
            repaired = store.repair()
            assert sum(text.startswith("memory number") for text in texts(store)) == MEMORIES - 1
            assert repaired.unreadable == {"memories": 1}
            assert [row.table for row in repaired.quarantined] == ["chunks"]


def test_a_damaged_row_on_a_page_without_its_tree_is_the_only_one_that_is_lost(filled: Path, db: Path) -> None:
    copy_store(filled, db)
    assert execute(db, "UPDATE memories SET importance = 99 WHERE content LIKE 'memory number 201 %'") == 1
    overwrite_pages(db, pages_of(db, "memories", "internal"))
    with Retentive.open(db, embedder="hashing") as store:
        (row,) = store.repair().quarantined
        assert "importance is 99" in row.reason
        assert sum(text.startswith("memory number") for text in texts(store)) == MEMORIES - 1


def test_a_disk_that_is_full_is_told_and_leaves_the_store_as_it_was(
    damaged: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = damaged("memories_hash")
    limit = path.stat().st_size * 3 // 4 // 4096

    def begin_on_a_small_disk(fresh: Path) -> None:
        begin_store(fresh)
        connect = apsw.Connection

        def open_small(*args: Any, **options: Any) -> apsw.Connection:
            connection = connect(*args, **options)
            if args[0] == str(fresh):
                connection.execute(f"PRAGMA max_page_count = {limit}").fetchall()
            return connection

        monkeypatch.setattr(apsw, "Connection", open_small)

    monkeypatch.setattr("retentive.transfer.salvage.begin_store", begin_on_a_small_disk)
    with Retentive.open(path, embedder="hashing") as store:
        with pytest.raises(DiskFull):
            store.repair()
        monkeypatch.undo()
        assert "file" in bad_findings(store)
        assert is_whole(store)
        store.repair()
        assert bad_findings(store) == {}


def test_a_purge_names_the_old_file_that_still_has_the_text(damaged: Callable[..., Path]) -> None:
    path = damaged("memories_created")
    with Retentive.open(path, embedder="hashing") as store:
        kept = store.repair().kept
        purged = store.purge(find_id(store, "A very long one"))
        assert kept
        assert RemainingCopy("kept file", str(kept)) in purged.remaining
        assert "still in 1 old files" in purged.proof
        kept.unlink()
        assert "old files" not in store.purge(find_id(store, "memory number 8")).proof


def test_what_cannot_be_read_is_told_with_what_to_do(damaged: Callable[..., Path], run: Run) -> None:
    damaged("memories", "leaf", 2)
    told = run("doctor", "--repair")
    assert "2 pages of memories could not be read in full: their missing rows are lost in this store" in told
    assert "retentive backup restore FILE" in told


def test_a_store_that_cannot_be_opened_is_salvaged(damaged: Callable[..., Path], run: Run, refused: Run) -> None:
    for name, kind in (("migrations", None), ("sqlite_schema", "leaf")):
        path = damaged(name, kind)
        assert "doctor --repair" in refused("list", code=5)
        assert "doctor --repair" in refused("doctor", code=5)
        assert "BAD" not in run("doctor", "--repair")
        with Retentive.open(path, embedder="hashing") as store:
            assert is_whole(store)


def test_a_file_without_its_beginning_is_left_as_it_is(filled: Path, db: Path, refused: Run) -> None:
    copy_store(filled, db)
    overwrite_pages(db, [1])
    before = db.read_bytes()
    with pytest.raises(NotAStore):
        Retentive.open(db)
    assert "restore a backup" in refused("doctor", "--repair", code=5)
    assert db.read_bytes() == before


def test_tables_and_indexes_that_are_missing_come_back(filled: Path, db: Path) -> None:
    copy_store(filled, db)
    execute(db, "DROP TABLE chunks_fts; DROP INDEX memories_hash; DROP TABLE measures")
    with Retentive.open(db, embedder="hashing") as store:
        assert bad_findings(store)["tables"].startswith("missing: chunks_fts")
        store.repair()
        assert bad_findings(store) == {}
        assert is_whole(store)


def test_an_index_that_is_only_out_of_step_is_rebuilt_in_place(filled: Path, db: Path) -> None:
    copy_store(filled, db)
    execute(db, "DELETE FROM chunks_fts_data WHERE id > 10")
    with Retentive.open(db, embedder="hashing") as store:
        assert store.repair().kept is None
        assert bad_findings(store) == {}


def test_in_integrity_mode_what_was_written_anew_is_still_sealed(filled: Path, db: Path, tmp_path: Path) -> None:
    copy_store(filled, db)
    key = str(tmp_path / "key")
    with Retentive.open(db, embedder="hashing", integrity_key=key) as store:
        store.integrity.start()
    overwrite_pages(db, pages_of(db, "chunks_fts_data"))
    with Retentive.open(db, embedder="hashing", integrity_key=key) as store:
        assert store.repair().kept
        assert [finding for finding in store.doctor(verify=True) if not finding.ok] == []
        store.add("Written afterwards")
        assert [*store.integrity.verify()] == []


def test_integrity_mode_that_is_lost_with_a_page_is_told(filled: Path, db: Path, tmp_path: Path) -> None:
    copy_store(filled, db)
    key = str(tmp_path / "key")
    with Retentive.open(db, embedder="hashing", integrity_key=key) as store:
        store.integrity.start()
    overwrite_pages(db, pages_of(db, "meta"))
    with Retentive.open(db, embedder="hashing", integrity_key=key) as store:
        store.repair()
        assert "nothing is sealed now" in bad_findings(store)["integrity"]
        store.integrity.start()
        assert bad_findings(store) == {}
        assert [*store.integrity.verify()] == []


def test_a_repair_does_not_seal_what_was_changed_without_the_key(filled: Path, db: Path, tmp_path: Path) -> None:
    copy_store(filled, db)
    key = str(tmp_path / "key")
    with Retentive.open(db, embedder="hashing", integrity_key=key) as store:
        store.integrity.start()
        contact = store.contacts.list(limit=1)[0].id
    execute(db, "UPDATE session_state SET summary = 'planted', events = events + 1 WHERE session = 's1'")
    execute(db, f"UPDATE record_history SET body = json_set(body, '$.notes', 'planted') WHERE id = '{contact}'")
    execute(db, f"DELETE FROM records WHERE id = '{contact}'")
    with Retentive.open(db, embedder="hashing", integrity_key=key) as store:
        moved = {(row.table, row.reason) for row in store.repair().quarantined}
        assert ("session_state", "it was changed without the key of integrity mode") in moved
        assert store.sessions.get("s1").events == 20
        assert all(each.id != contact for each in store.contacts.list(limit=100))
        assert bad_findings(store) == {}
    rows = apsw.Connection(str(db)).execute("SELECT summary FROM session_state").fetchall()
    assert ("planted",) not in rows


def test_who_reads_goes_on_and_what_is_acknowledged_is_there(damaged: Callable[..., Path]) -> None:
    """Others have the store open while it is written anew: one reads, one writes."""
    path = damaged("memories_created", "leaf", 2)
    ready, done = threading.Event(), threading.Event()
    acknowledged: list[str] = []

    def read() -> int:
        with Retentive.open(path, embedder="hashing") as store:
            reads = 0
            while not done.is_set():
                assert store.get(first).content == "The first of all"
                reads += 1
                ready.set()
            return reads

    def write() -> None:
        with Retentive.open(path, embedder="hashing") as store:
            while not done.is_set():
                try:
                    store.add(f"said meanwhile {len(acknowledged)}")
                except RetentiveError:
                    continue  # the damaged index refused it
                acknowledged.append(f"said meanwhile {len(acknowledged)}")

    with Retentive.open(path, embedder="hashing") as store:
        first = store.add("The first of all").id
        with ThreadPoolExecutor(2) as pool:
            reader, writer = pool.submit(read), pool.submit(write)
            assert ready.wait(60)
            try:
                store.repair()
                time.sleep(0.2)  # and some time after it
            finally:
                done.set()
            assert reader.result() > 0
            writer.result()
        there = {*texts(store)}
        assert {*acknowledged} <= there
        assert bad_findings(store) == {}
        assert is_whole(store)


def test_pages_are_read_as_sqlite_reads_them(filled: Path) -> None:
    """Every row of every table, with its long ones."""
    connection, pages = apsw.Connection(str(filled)), PageFile(filled)
    roots = connection.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    for name, root in roots.fetchall():
        unreadable: list[int] = []
        assert isinstance(root, int)
        found = [*pages.read_tree(root, unreadable)]
        counted = connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()
        assert (counted, unreadable) == ([(len(found),)], []), name
    pages = PageFile(filled)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memories'").fetchall()[0]
    assert isinstance(root, int)
    rows = {(row.number, *row.values) for row in pages.read_tree(root, [])}
    assert rows == {*connection.execute("SELECT rowid, * FROM memories").fetchall()}
