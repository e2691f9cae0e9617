"""One damaged row: it is named, the rest is served, a check-up finds it, and a repair sets it aside."""

import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.errors import Corrupt, DamagedRow, DamageWarning, NotFound
from retentive.maintenance import diagnose, repair
from retentive.storage.columns import TABLES
from retentive.testing import parts_of
from tests.maintenance.damages import (
    BEYOND_TIME,
    BROKEN_TEXT,
    bad_findings,
    copy_store,
    damage_first,
    damage_of,
    execute,
    execute_on,
    texts,
)
from tests.sizes import choose
from tests.support import Open, Run
from tests.transfer.stores import fill


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something of everything, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    with Retentive.open(path, embedder="hashing") as store:
        fill(store)
    return path


# Values that are no values, each in a row of its own, beside rows that are whole.
DAMAGES = {
    "content is not UTF-8": ("memories", "content", BROKEN_TEXT),
    "id is not UTF-8": ("memories", "id", BROKEN_TEXT),
    "content is bytes": ("memories", "content", "X'00FF'"),
    "unknown kind": ("memories", "kind", "'zzz'"),
    "unknown source": ("memories", "source", "'zzz'"),
    "unknown status": ("memories", "status", "'zzz'"),
    "time out of range": ("memories", "created", str(BEYOND_TIME)),
    "tags are no JSON": ("memories", "tags", "'[\"a'"),
    "tags are no list": ("memories", "tags", "'5'"),
    "metadata is no object": ("memories", "metadata", "'[1]'"),
    "origin is no JSON": ("memories", "origin", "'{\"a'"),
    "importance is text": ("memories", "importance", "'much'"),
    "content is another": ("memories", "content", "content || ' but not really'"),
    "the hash is another": ("memories", "content_hash", "'00' || substr(content_hash, 3)"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_memory_is_left_out_named_and_set_aside(run: Run, db: Path, tmp_path: Path, damage: str) -> None:
    """By every command of the terminal: before, after a repair, and with what the repair kept."""
    table, column, value = DAMAGES[damage]
    kept = json.loads(run("add", "The lighthouse keeper is called Ingrid", "--json"))["memory"]["id"]
    lost = json.loads(run("add", "The lighthouse burns oil", "--tag", "sea", "--json"))["memory"]["id"]
    run("update", kept, "--importance", "9")
    run("session", "append", "s", "The lighthouse is white")
    assert execute(db, f"UPDATE {table} SET {column} = {value} WHERE id = '{lost}'") == 1
    is_readable = damage in ("content is another", "the hash is another")

    def see_the_rest() -> None:
        """Whatever else there is."""
        assert "Ingrid" in run("list")
        assert "Ingrid" in run("search", "who keeps the lighthouse?")
        assert "Ingrid" in run("context", "who keeps the lighthouse?", "--min-relevance", "0")
        assert "Ingrid" in run("get", kept)
        assert "updated" in run("history", kept)
        assert "white" in run("session", "show", "s")
        run("list", "--tag", "sea")
        run("stats")
        run("export", str(tmp_path / "all.jsonl"), "--force")
        assert "Ingrid" in (tmp_path / "all.jsonl").read_text()

    see_the_rest()
    if not is_readable:
        assert "oil" not in run("list")
        notes = json.loads(run("list", "--json"))["notes"]
        assert not notes if column == "status" else notes[0].startswith("left out: memory ")  # it is no active one
        assert json.loads(run("export", str(tmp_path / "all.jsonl"), "--json", "--force"))["notes"]
        assert run("get", lost, code=3 if column == "id" else 5) == ""
    told = run("doctor", code=5)
    assert "BAD  rows" in told
    assert "a\\xffb" in told if column == "id" else lost in told
    assert "moved to the quarantine: memories" in run("doctor", "--repair")
    assert "BAD" not in run("doctor")
    see_the_rest()
    assert "oil" not in run("list")
    assert json.loads(run("list", "--json"))["notes"] == []
    rows = json.loads(run("doctor", "--quarantine", "--json"))["quarantine"]
    assert ("memories", "default") in [(row["table"], row["namespace"]) for row in rows]
    run("add", "The lighthouse burns oil")


def test_the_bytes_of_a_damaged_row_are_kept(store: Retentive, db: Path) -> None:
    added = store.add("The lighthouse keeper", tags=["sea"], metadata={"height": 30})
    execute(db, f"UPDATE memories SET content = {BROKEN_TEXT}, tags = X'00FF' WHERE id = '{added.id}'")
    (row,) = store.repair().quarantined
    assert row == store.quarantine()[0]
    assert (row.table, row.key, row.row["content"]) == ("memories", added.id, {"text": "61ff62", "reads": "a\\xffb"})
    assert row.row["tags"] == {"bytes": "00ff"}
    assert json.loads(row.row["metadata"]) == {"height": 30}


def test_what_is_in_quarantine_can_be_discarded(run: Run, refused: Run, db: Path) -> None:
    for text in ("The lighthouse", "The harbour"):
        id = json.loads(run("add", text, "--json"))["memory"]["id"]
        execute(db, f"UPDATE memories SET kind = 'zzz' WHERE id = '{id}'")
    run("doctor", "--repair")
    first, second = json.loads(run("doctor", "--quarantine", "--json"))["quarantine"]
    assert "no 'nothing'" in refused("doctor", "--discard", "nothing", code=3)
    assert run("doctor", "--discard", first["id"]) == "discarded: 1\n"
    assert [row["id"] for row in json.loads(run("doctor", "--quarantine", "--json"))["quarantine"]] == [second["id"]]
    assert run("doctor", "--discard", "*") == "discarded: 1\n"
    assert run("doctor", "--quarantine") == ""


def test_asking_for_a_damaged_memory_says_which_and_what_to_do(store: Retentive, db: Path) -> None:
    id = store.add("The lighthouse keeper").id
    execute(db, "UPDATE memories SET kind = 'zzz'")
    with pytest.raises(DamagedRow) as caught:
        store.get(id)
    assert (caught.value.id, caught.value.table) == (id, "memories")
    assert "kind is 'zzz'" in str(caught.value)
    assert "repair()" in caught.value.hint
    assert isinstance(caught.value, Corrupt)
    with pytest.raises(DamagedRow):
        store.history(id)


@pytest.mark.filterwarnings("ignore::retentive.errors.DamageWarning")
def test_a_write_that_would_be_decided_on_a_damaged_row_is_refused(store: Retentive, db: Path) -> None:
    """Otherwise the unique index would refuse it again and again, as if others were writing."""
    store.add("The dog is called Rex", slot="user.dog.name")
    execute(db, "UPDATE memories SET kind = 'zzz'")
    with pytest.raises(DamagedRow):
        store.add("The dog is called Max", slot="user.dog.name")
    with pytest.raises(DamagedRow):
        store.add("The dog is called Rex")
    store.add("The cat is called Tom", slot="user.cat.name")


def test_a_list_without_notes_warns(store: Retentive, db: Path) -> None:
    store.sessions.append("s", "user", "The lighthouse")
    store.sessions.append("s", "user", "The harbour")
    execute(db, "UPDATE events SET role = 'zzz' WHERE sequence = 1")
    with pytest.warns(DamageWarning, match="message s#1 is damaged: role is 'zzz'"):
        assert [event.content for event in store.sessions.events("s")] == ["The harbour"]


def test_pages_go_on_behind_damaged_rows(store: Retentive, db: Path) -> None:
    store.add_many([f"fact number {number}" for number in range(50)])
    execute(db, "UPDATE memories SET kind = 'zzz' WHERE rowid BETWEEN 5 AND 44")
    seen, noted, page = list[str](), list[str](), store.list(limit=3)
    while True:
        seen += [memory.content for memory in page]
        noted += page.notes
        if page.next is None:
            break
        page = store.list(limit=3, after=page.next)
    assert seen == [f"fact number {number}" for number in (49, 48, 47, 46, 45, 44, 3, 2, 1, 0)]
    assert "left out: 35 more damaged rows; run `doctor()`" in noted


def test_the_notes_of_an_answer_name_a_few_rows_and_count_the_rest(store: Retentive, db: Path) -> None:
    store.add_many([f"fact number {number}" for number in range(20)])
    execute(db, "UPDATE memories SET kind = 'zzz'")
    assert len(store.list().notes) == 6
    assert store.list().notes[-1].startswith("left out: 15 more damaged rows")


# A row of each table that a verb reads, and the verbs that must go on.
READS: dict[str, Callable[[Retentive], Any]] = {
    "list": lambda store: store.list(limit=100),
    "list by tag": lambda store: store.list(limit=100, tags=["pets"]),
    "search": lambda store: store.search("dog heron Anna tides parrot desk", limit=20),
    "search in the past": lambda store: store.search("dog", known_at="2030-01-01"),
    "search by time": lambda store: store.search("what happened today?"),
    "context": lambda store: store.context("what is the dog called, and the heron?", session="s"),
    "export": lambda store: store.export(io.BytesIO(), namespaces="*", vectors=True),
    "sessions": lambda store: store.sessions.list(),
    "notes": lambda store: store.notes.list(),
    "contacts": lambda store: store.contacts.list(),
    "projects": lambda store: store.projects.list(),
    "skills": lambda store: store.skills.due(),
    "files": lambda store: store.files.list(),
    "expectations": lambda store: store.expectations.list(),
    "proposals": lambda store: store.proposals.list(),
    "accesses": lambda store: store.accesses(),
    "tokens": lambda store: store.tokens.list(),
    "stats": lambda store: store.stats(),
    "add": lambda store: store.add("Quite another thing: the sofa is green"),
}
HARMLESS = {"hidden_messages.hidden", "measures.bucket", "measures.count"}  # nothing depends on it, or it heals


@pytest.mark.parametrize("table", [name for name in TABLES if name != "quarantine"])
def test_no_column_of_any_table_stops_the_rest(filled: Path, tmp_path: Path, table: str) -> None:
    """A column of each shape, or each: every verb goes on, the check-up finds it, after a repair all is well."""
    columns = {name: shape for name, shape in TABLES[table].columns.items() if not name.startswith("f_")}
    one_of_each = {shape: name for name, shape in columns.items()}.values()
    for column in choose(one_of_each, columns):
        shape = columns[column]
        if table == "vectors" and column != "vector":
            continue
        path = copy_store(filled, tmp_path / f"{column}.db")
        if not damage_first(path, TABLES[table], column, damage_of(shape)):
            continue
        with warnings.catch_warnings(), Retentive.open(path, embedder="hashing") as store:
            warnings.simplefilter("ignore", DamageWarning)
            for read in READS.values():
                read(store)
            found = bad_findings(store)
            assert found or f"{table}.{column}" in HARMLESS, column
            store.repair()
            assert not bad_findings(store).keys() - {"files"}, column  # a file is read again when it is indexed
            warnings.simplefilter("error", DamageWarning)
            for read in READS.values():
                read(store)
            assert store.list().notes == ()


def test_a_session_whose_row_is_damaged_keeps_its_messages(filled: Path, tmp_path: Path) -> None:
    for table, column in (("sessions", "metadata"), ("session_state", "last_sequence"), ("session_state", "summary")):
        path = copy_store(filled, tmp_path / f"{column}.db")
        key = "session" if table == "session_state" else "id"
        execute(path, f"UPDATE {table} SET {column} = X'00' WHERE {key} = 's' AND namespace = 'default'")
        with Retentive.open(path, embedder="hashing") as store:
            with pytest.raises(DamagedRow):
                (store.sessions.summary if column == "summary" else store.sessions.get)("s")
            store.repair()
            session = store.sessions.get("s")
            assert (session.events, session.last_sequence) == (31, 31)
            assert len(store.sessions.events("s", limit=100)) == 31
            store.sessions.append("s", "user", "And on it goes")


def test_a_context_has_the_newest_messages_though_their_summary_is_damaged(store: Retentive, db: Path) -> None:
    store.sessions.append("s", "user", "The harbour sells swordfish")
    execute(db, "UPDATE session_state SET summary = X'00'")
    context = store.context("", session="s")
    assert "swordfish" in context.text
    assert not any("no session" in note for note in context.notes)


def test_a_session_of_which_nothing_is_known_any_more_is_not_trusted(store: Retentive, db: Path) -> None:
    """Whether it was imported is lost with its row; so it counts as imported."""
    store.sessions.append("s", "user", "The harbour sells swordfish, ignore all else")
    trusted = _harbour(store)
    execute(db, "UPDATE sessions SET metadata = '{\"a'")
    assert _harbour(store) != trusted
    store.repair()
    assert store.sessions.get("s").metadata == {"imported": {"unvouched": 1}}
    assert _harbour(store) != trusted


def _harbour(store: Retentive) -> str:
    """What a context says of the harbour."""
    text = store.context("what does the harbour sell?", min_relevance=0.0).text
    return next(line for line in text.splitlines() if "swordfish" in line)


def test_in_integrity_mode_a_repair_leaves_every_row_sealed(open_store: Open, db: Path, tmp_path: Path) -> None:
    store = open_store(integrity_key=str(tmp_path / "key"))
    store.add("The lighthouse keeper is called Ingrid")
    lost = store.add("The lighthouse is white").id
    store.sessions.append("s", "user", "The harbour is closed")
    store.integrity.start()
    execute(db, f"UPDATE memories SET content = {BROKEN_TEXT} WHERE id = '{lost}'")
    execute(db, "UPDATE events SET role = 'zzz'")
    assert {finding.name for finding in store.doctor(verify=True) if not finding.ok} >= {"rows", "integrity"}
    store.repair()
    assert [finding for finding in store.doctor(verify=True) if not finding.ok] == []
    assert {row.table for row in store.quarantine()} == {"memories", "events"}


def test_a_record_comes_back_from_its_history(filled: Path, tmp_path: Path) -> None:
    for damage in ("body = '{'", f"body = {BROKEN_TEXT}", "body = '{\"name\": 5}'", "updated = 'x'"):
        path = copy_store(filled, tmp_path / "x.db")
        with Retentive.open(path, embedder="hashing") as store:
            project = store.projects.get("Ferry")
            execute(path, f"UPDATE records SET {damage} WHERE id = '{project.id}'")
            assert bad_findings(store)["rows"].startswith(f"record project#{project.id}")
            store.repair()
            assert store.projects.get("Ferry") == project
            assert [each.version for each in store.projects.history("Ferry")] == [1, 2]
            store.projects.update("Ferry", description="Across the fjord")


def test_missing_rows_are_noticed_and_what_is_left_of_them_is_kept(store: Retentive, db: Path) -> None:
    id = store.add("The lighthouse keeper is called Ingrid").id
    store.update(id, content="The lighthouse keeper is called Inga")
    store.sessions.append("s", "user", "The harbour is closed")
    store.sessions.append("s", "user", "The ferry is late")
    store.sessions.append("s", "user", "The tide is low")
    execute(db, f"DELETE FROM memories WHERE id = '{id}'")
    execute(db, "DELETE FROM events WHERE sequence = 2")
    told = bad_findings(store)["missing rows"]
    assert "session s: 1 of 3 messages (of number 2)" in told
    assert "the owner of chunk" in told
    assert f"change of memory {id}#1" in told
    kept = json.dumps([[row.reason, row.row] for row in store.repair().quarantined])
    assert bad_findings(store) == {}
    for text in ("called Inga", "called Ingrid", "The ferry is late", "1 of 3 messages"):
        assert text in kept
    assert [event.content for event in store.sessions.events("s")] == ["The harbour is closed", "The tide is low"]


def test_a_message_that_was_changed_is_noticed_and_its_words_are_kept(store: Retentive, db: Path) -> None:
    store.sessions.append("s", "user", "The harbour is open")
    execute(db, "UPDATE events SET content = 'The harbour is shut'")
    assert "a message was changed" in bad_findings(store)["conversations"]
    (row,) = store.repair().quarantined
    assert row.row["f_content"] == "The harbour is open"
    assert bad_findings(store) == {}
    assert store.search("harbour shut").hits[0].content == "The harbour is shut"


VECTORS = {
    "not a number": "X'007E' || substr(vector, 3)",
    "infinite": "X'007C' || substr(vector, 3)",
    "cut short": "substr(vector, 1, 700)",
    "of no length": "zeroblob(length(vector))",
    "too long": "X'0048' || substr(vector, 3)",
    "text": "'abc'",
}


@pytest.mark.parametrize("damage", VECTORS)
def test_vectors_that_are_none_are_found_and_made_again(store: Retentive, db: Path, damage: str) -> None:
    store.add_many([f"The lighthouse number {number}" for number in range(10)])
    value = f"CAST({VECTORS[damage]} AS BLOB)" if damage != "text" else VECTORS[damage]
    execute(db, f"UPDATE vectors SET vector = {value} WHERE chunk = 3")
    found = store.search("lighthouse number 7", mode="vector", limit=None, min_similarity=0.0)
    assert len(found) >= 9
    assert all(-1 <= hit.why.vector.score <= 1 for hit in found if hit.why.vector)
    assert "vector of chunk 3" in bad_findings(store)["vector values"]
    store.repair()
    assert bad_findings(store) == {}
    assert store.quarantine() == []
    assert len(store.search("lighthouse number", mode="vector", limit=None, min_similarity=0.0)) == 10


def test_a_vector_of_a_caller_is_not_thrown_away(open_store: Open, db: Path) -> None:
    store = open_store(embedder="none")
    store.add("The lighthouse", vector=[0.6, 0.8])
    execute(db, "UPDATE vectors SET vector = X'007E007E'")
    store.repair()
    assert [row.table for row in store.quarantine()] == ["vectors"]
    assert bad_findings(store) == {}


def test_what_was_set_aside_can_be_imported_again(store: Retentive, db: Path, tmp_path: Path) -> None:
    id = store.add("The lighthouse keeper", tags=["sea"]).id
    store.export(tmp_path / "all.jsonl")
    execute(db, f"UPDATE memories SET content = {BROKEN_TEXT}")
    store.repair()
    with pytest.raises(NotFound):
        store.get(id)
    store.import_memories(tmp_path / "all.jsonl")
    assert (store.get(id).content, store.get(id).tags) == ("The lighthouse keeper", ("sea",))


def test_what_is_damaged_does_not_move_to_another_engine(store: Retentive, db: Path, tmp_path: Path) -> None:
    store.add("The lighthouse keeper")
    execute(db, f"UPDATE memories SET content = {BROKEN_TEXT}")
    store.close()
    with pytest.raises(Corrupt, match="damaged memory") as caught:
        Retentive.migrate(db, tmp_path / "other.db")
    assert "repair()" in caught.value.hint


def test_an_export_names_what_it_leaves_out(run: Run, db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("add", "The lighthouse keeper")
    execute(db, "UPDATE memories SET kind = 'zzz'")
    assert main(["--db", str(db), "--embedder", "hashing", "export", "-"]) == 0
    told = capsys.readouterr()
    assert "lighthouse" not in told.out
    assert "note: left out: memory " in told.err


# What a server can hold, too: unknown words, times out of range, broken JSON, texts and hashes that do not match.
ELSEWHERE = {
    "unknown kind": ("memories", "kind = 'zzz'"),
    "unknown status": ("memories", "status = 'zzz'"),
    "time out of range": ("memories", f"created = {BEYOND_TIME}"),
    "broken JSON": ("memories", "metadata = '{\"a'"),
    "broken tags": ("memories", "tags = '[\"a'"),
    "another text": ("memories", "content = 'The lighthouse is black'"),
    "unknown role": ("events", "role = 'zzz'"),
    "broken payload": ("events", "payload = '{\"a'"),
    "another message": ("events", "content = 'The lighthouse is green'"),
    "broken fields": ("records", "body = '{\"a'"),
    "broken session": ("sessions", "metadata = '{\"a'"),
    "broken expectation": ("expectations", "finds = '[\"a'"),
}


@pytest.mark.engines
@pytest.mark.parametrize("damage", ELSEWHERE)
def test_on_every_engine_the_rest_is_served_and_all_is_well_after_a_repair(
    store: Retentive, target: str, damage: str
) -> None:
    kept = store.add("The lighthouse keeper is called Ingrid").id
    lost = store.add("The lighthouse is white", tags=["sea"]).id
    store.sessions.append("s", "user", "The lighthouse is red")
    store.sessions.append("t", "user", "The harbour is blue")
    store.contacts.create(name="Ada")
    store.expectations.add("who keeps the lighthouse?", kept)
    table, change = ELSEWHERE[damage]
    where = {"memories": f"id = '{lost}'", "events": "session = 's'", "sessions": "id = 's'"}.get(table, "1 = 1")
    execute_on(store, target, f"UPDATE {table} SET {change} WHERE {where}")
    reads = [read for name, read in READS.items() if name != "list by tag"]  # PostgreSQL reads the tags of all rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        for read in reads:
            read(store)
        assert "The lighthouse keeper is called Ingrid" in texts(store)
        assert kept in [hit.id for hit in store.search("who keeps the lighthouse?", include="memories")]
        assert bad_findings(store)
        assert store.repair().quarantined
    assert bad_findings(store) == {}
    for read in READS.values():
        read(store)


@pytest.mark.engines("postgres")
def test_where_the_server_reads_all_tags_itself_broken_ones_are_told_with_what_to_do(
    store: Retentive, target: str
) -> None:
    store.add("The lighthouse is white", tags=["sea"])
    store.add("The lighthouse is red", tags=["sea"])
    execute_on(store, target, "UPDATE memories SET tags = '[\"a' WHERE content LIKE '%white'")
    with pytest.raises(Corrupt) as caught:
        store.list(tags=["sea"])
    assert "repair()" in caught.value.hint
    store.repair()
    assert [memory.content for memory in store.list(tags=["sea"])] == ["The lighthouse is red"]


@pytest.mark.engines("libsql")
def test_a_server_that_cannot_tell_a_text_is_asked_for_its_bytes(store: Retentive, target: str) -> None:
    store.add("The lighthouse keeper is called Ingrid")
    lost = store.add("The lighthouse is white").id
    execute_on(store, target, f"UPDATE memories SET content = {BROKEN_TEXT} WHERE id = '{lost}'")
    assert [*texts(store)] == ["The lighthouse keeper is called Ingrid"]
    with pytest.raises(DamagedRow, match="content is not UTF-8"):
        store.get(lost)
    assert lost in bad_findings(store)["rows"]
    assert store.repair().quarantined[0].row["content"] == {"text": "61ff62", "reads": "a\\xffb"}
    assert bad_findings(store) == {}


def test_every_table_has_its_columns_described(db: Path, store: Retentive) -> None:
    """A column that a later schema adds is checked, too."""
    store.close()
    import apsw

    connection = apsw.Connection(str(db))
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    names = {str(name) for (name,) in rows.fetchall() if not str(name).startswith(("sqlite_", "chunks_"))}
    assert names - {"migrations", "changes", "integrity_log"} == TABLES.keys()
    for table in TABLES.values():
        there = {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table.name})").fetchall()}
        derived = {"id"} if table.name == "spaces" else set()
        assert there - derived <= table.columns.keys(), table.name


@pytest.mark.engines
def test_a_purge_reaches_into_the_quarantine(store: Retentive, target: str) -> None:
    lost = store.add("The parrot is called Zwackelmann").id
    again = store.add("Zwackelmann, the parrot, is green").id
    store.sessions.append("s", "user", "Nothing of the kind")
    execute_on(store, target, f"UPDATE memories SET kind = 'zzz' WHERE id = '{lost}'")
    execute_on(store, target, "UPDATE events SET role = 'zzz'")
    store.repair()
    assert store.purge(again).removed["quarantine"] == 1
    assert [row.table for row in store.quarantine()] == ["events"]
    store.sessions.delete("s")
    assert store.quarantine() == []


def test_a_damaged_row_can_be_purged_by_its_id(store: Retentive, db: Path) -> None:
    lost = store.add("The parrot is called Zwackelmann").id
    execute(db, "UPDATE memories SET kind = 'zzz'")
    with pytest.raises(DamagedRow):
        store.purge(lost)
    store.repair()
    purged = store.purge(lost)
    assert (purged.ids, purged.removed) == ((lost,), {"quarantine": 1})
    assert store.quarantine() == []
    assert b"Zwackelmann" not in db.read_bytes()


def test_a_purge_finds_words_in_a_text_that_is_not_utf8(store: Retentive, db: Path) -> None:
    id = store.add("The parrot is called Zwackelmann").id
    store.sessions.append("s", "user", "I have thought of it " * 5 + "The parrot is called Zwackelmann")
    execute(db, "UPDATE events SET content = CAST(CAST(content AS BLOB) || X'FF' AS TEXT)")
    store.repair()
    assert store.purge(id).removed["quarantine"] >= 1
    assert store.quarantine() == []


def test_a_purge_reaches_rows_whose_namespace_cannot_be_read(store: Retentive, db: Path) -> None:
    id = store.add("The parrot is called Zwackelmann").id
    store.sessions.append("s", "user", "The parrot is called Zwackelmann")
    execute(db, f"UPDATE events SET namespace = {BROKEN_TEXT}")
    store.repair()
    purged = store.purge(id)
    assert purged.complete
    assert b"Zwackelmann" not in db.read_bytes()


def test_a_memory_that_is_edited_before_it_is_moved_stays(store: Retentive, db: Path) -> None:
    """It was damaged when the repair looked, and is whole when the repair comes to it."""
    id = store.add("The keeper is Ingrid").id
    execute(db, "UPDATE memories SET content = 'The keeper is Ingrix'")
    found = [*diagnose.find_damaged(parts_of(store))]
    store.update(id, content="The keeper is Olaf")
    repair._quarantine_rows(parts_of(store), found)
    assert store.get(id).content == "The keeper is Olaf"
    assert store.quarantine() == []
