"""A store on a libSQL server: opening, tokens, other clients, moving."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.errors import NewerSchema, NotAStore, StorageError, Unwritable
from retentive.storage.engines.libsql import LibsqlEngine
from retentive.storage.engines.libsql.hrana import Server
from retentive.testing import parts_of
from tests.engines import Sqld, sqld_or_skip
from tests.storage.libsql.support import COUNTED, total

# A key made for these tests, and a token signed with it that never runs out.
KEY = "RipKX4wreFTr80hKpUvrto427we2gNlml6ciffTYx04"
TOKEN = (
    "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhIjoicncifQ"  # noqa: S105
    ".xi7vzUb2L8Ao1s3nzoM-DGVD8ciZHESm-wGn4H6ELkgUdV9z3PLD2eGB2MsmSNAQA3Npcc_50FITn-qw_LOsBQ"
)


def test_many_may_open_a_new_store_at_once(url: str) -> None:
    def add(number: int) -> str:
        with Retentive.open(url, embedder="hashing") as store:
            return store.add(f"memory {number}").id

    with ThreadPoolExecutor(8) as pool:
        ids = {*pool.map(add, range(8))}
    with Retentive.open(url, embedder="hashing") as store:
        assert {memory.id for memory in store.list()} == ids
        assert all(finding.ok for finding in store.doctor())


def test_two_clients_are_in_step(url: str) -> None:
    with Retentive.open(url, embedder="hashing") as one, Retentive.open(url, embedder="hashing") as two:
        first = one.add("Herons nest by the river").id
        for mode in ("text", "vector"):
            assert [hit.id for hit in two.search("herons river", mode=mode)] == [first]
        two.update(first, content="Storks nest on the chimney")
        for mode in ("text", "vector"):
            assert [hit.content for hit in one.search("chimney storks", mode=mode)] == ["Storks nest on the chimney"]
        one.forget(first)
        assert two.search("chimney storks").hits == ()


@pytest.mark.parametrize("sql", ["CREATE TABLE users (id)", "CREATE TABLE migrations (version)"])
def test_a_database_of_another_program_is_left_as_it_is(url: str, sql: str) -> None:
    server = Server(url)
    server.rows({"sql": sql})
    with pytest.raises(NotAStore, match="another program"):
        LibsqlEngine(url)
    assert len(server.rows({"sql": "SELECT * FROM sqlite_schema"})) == 1
    server.close()


def test_a_newer_schema_is_refused(engine: LibsqlEngine, url: str) -> None:
    engine._server.rows({"sql": "INSERT INTO migrations VALUES (99, 'later', 'x', 0)"})
    with pytest.raises(NewerSchema, match="schema 99"):
        LibsqlEngine(url)


def test_a_store_that_came_as_a_file_gets_what_a_server_needs(engine: LibsqlEngine, url: str) -> None:
    engine._server.rows({"sql": "DROP TABLE batches"})
    again = LibsqlEngine(url)
    again.apply([COUNTED])
    assert total(again) == 1
    again.close()


def test_a_database_that_is_not_there_is_named(sqld: Sqld) -> None:
    with pytest.raises(Unwritable, match="no such database") as error:
        LibsqlEngine(f"libsql://127.0.0.1:{sqld.port}/nowhere")
    assert "libsql://host:port/database" in error.value.hint


def test_a_server_of_another_kind_is_named(sqld: Sqld) -> None:
    with pytest.raises(StorageError, match="did not answer as libSQL servers do"):
        LibsqlEngine(f"http://127.0.0.1:{sqld._admin}")


def test_a_token_opens_and_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sqld_or_skip()
    (tmp_path / "key").write_text(KEY)
    server = Sqld(tmp_path, "--auth-jwt-key-file", str(tmp_path / "key"))
    url = f"libsql://127.0.0.1:{server.port}"
    with pytest.raises(Unwritable, match="asks for a token") as missing:
        Retentive.open(url, embedder="hashing")
    assert "RETENTIVE_AUTH_TOKEN" in missing.value.hint
    with pytest.raises(Unwritable, match="does not accept the token") as wrong:
        Retentive.open(url, embedder="hashing", auth_token=TOKEN[:-4] + "AAAA")
    assert TOKEN[:20] not in f"{wrong.value} {wrong.value.hint}"
    monkeypatch.setenv("RETENTIVE_AUTH_TOKEN", TOKEN)
    with Retentive.open(url, embedder="hashing") as store:
        assert store.add("Let in").created
        assert TOKEN not in f"{store.stats()} {store.doctor()} {parts_of(store)}"
    for arguments in (["config"], ["config", "--json"], ["stats", "--json"]):
        assert main(["--db", url, "--embedder", "hashing", *arguments]) == 0
    shown = capsys.readouterr().out
    assert TOKEN not in shown
    assert "***" in shown
    server.stop()


def test_a_store_moves_to_a_server_and_back(url: str, tmp_path: Path) -> None:
    with Retentive.open(tmp_path / "a.db", embedder="hashing") as store:
        store.add_many([f"Fact number {n} " + "word " * 200 for n in range(30)], tags=["a"])
        store.sessions.append_many("s", [{"role": "user", "content": f"Heron {n}", "x": n} for n in range(20)])
        store.search("fact")
    there = Retentive.migrate(tmp_path / "a.db", url)
    assert Retentive.migrate(url, tmp_path / "b.db") == there
    with (
        Retentive.open(url, embedder="hashing") as remote,
        Retentive.open(tmp_path / "b.db", embedder="hashing") as back,
    ):
        assert [hit.id for hit in remote.search("fact 7")] == [hit.id for hit in back.search("fact 7")]
        assert all(finding.ok for store in (remote, back) for finding in store.doctor())


def test_the_command_line_works_over_a_server(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--db", url, "--embedder", "hashing", "add", "The tide turns at noon"]) == 0
    assert main(["--db", url, "--embedder", "hashing", "search", "tide"]) == 0
    assert "The tide turns at noon" in capsys.readouterr().out
