"""What is a libSQL server's own: addresses, tokens, answers that are lost, servers that go and come back."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.errors import Busy, Invalid, NewerSchema, NotAStore, RetentiveError, StorageError, Unwritable
from retentive.storage import Step, libsql, step
from retentive.storage.batches import Statement, statements
from retentive.storage.hrana import Server, address, sent
from retentive.storage.libsql import LibsqlEngine
from tests.engines import Sqld, sqld_or_skip
from tests.proxy import Proxy

# A key made for these tests, and a token signed with it that never runs out.
KEY = "RipKX4wreFTr80hKpUvrto427we2gNlml6ciffTYx04"
TOKEN = (
    "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhIjoicncifQ"  # noqa: S105
    ".xi7vzUb2L8Ao1s3nzoM-DGVD8ciZHESm-wGn4H6ELkgUdV9z3PLD2eGB2MsmSNAQA3Npcc_50FITn-qw_LOsBQ"
)
COUNTED = step("measure_add", namespace="n", measure="m", tier="", bucket=0, count=1)


@pytest.fixture
def url(sqld: Sqld) -> str:
    return sqld.database()


@pytest.fixture
def engine(url: str) -> Iterator[LibsqlEngine]:
    opened = LibsqlEngine(url)
    yield opened
    opened.close()


@pytest.fixture
def proxy(sqld: Sqld) -> Iterator[Proxy]:
    between = Proxy(sqld.port)
    yield between
    between.close()


@pytest.fixture
def through(url: str, sqld: Sqld, proxy: Proxy) -> Iterator[LibsqlEngine]:
    """The same store as `engine`, by way of the proxy."""
    opened = LibsqlEngine(url.replace(str(sqld.port), str(proxy.port)))
    yield opened
    opened.close()


@pytest.fixture
def own_sqld(tmp_path: Path) -> Iterator[Sqld]:
    """A server that a test may kill."""
    sqld_or_skip()
    server = Sqld(tmp_path)
    yield server
    server.stop()


def total(engine: LibsqlEngine) -> int:
    return sum(count for *_, count in engine.read("measure_list", {"namespace": "n"}))


@pytest.mark.parametrize(
    ("target", "url", "host"),
    [
        ("libsql://db.example.com", "https://db.example.com:443", None),
        ("libsql://db.example.com/team", "https://db.example.com:443", "team.db.example.com"),
        ("libsql://db.example.com:9000?tls=0", "http://db.example.com:9000", None),
        ("libsql://localhost", "http://localhost:8080", None),
        ("libsql://localhost/team", "http://localhost:8080", "team.localhost"),
        ("libsql://localhost:8080?tls=1", "https://localhost:8080", None),
        ("libsql://127.0.0.1:9000/", "http://127.0.0.1:9000", "default.localhost"),
        ("libsql://[::1]:9000/team", "http://[::1]:9000", "team.localhost"),
        ("libsql://10.0.0.7:9000/team", "https://10.0.0.7:9000", "team.localhost"),
        ("http://db.example.com:8080/team", "http://db.example.com:8080", "team.db.example.com"),
        ("https://db.example.com", "https://db.example.com", None),
    ],
)
def test_an_address_says_where_whether_encrypted_and_which_database(target: str, url: str, host: str | None) -> None:
    found = address(target)
    assert (found.url, found.host) == (url, host)


@pytest.mark.parametrize(
    "target",
    [
        "libsql://",
        "libsql://host:port",
        "libsql://host/a/b",
        "libsql://host?authToken=s3cret",
        "libsql://u:s3cret@host",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused_without_its_secrets(target: str) -> None:
    with pytest.raises(Invalid) as refusal:
        address(target)
    assert "s3cret" not in f"{refusal.value} {refusal.value.hint}"
    assert "auth_token" in refusal.value.hint


def test_an_insert_of_many_rows_is_said_once() -> None:
    many = Statement("INSERT INTO t (a, b) VALUES (:a, (SELECT id FROM s WHERE n = :b)) ON CONFLICT (a) DO NOTHING")
    assert many.for_all({"b"}) == (
        "INSERT INTO t (a, b) SELECT (r.value ->> 0), (SELECT id FROM s WHERE n = unhex(r.value ->> 1))"
        " FROM json_each(?) r WHERE true ON CONFLICT (a) DO NOTHING"
    )
    some = Statement("INSERT INTO t (a) SELECT :a WHERE EXISTS (SELECT 1 FROM s WHERE n = :n)")
    assert some.for_all(()) == (
        "INSERT INTO t (a) SELECT (r.value ->> 0) FROM json_each(?) r"
        " WHERE EXISTS (SELECT 1 FROM s WHERE n = (r.value ->> 1))"
    )
    assert not Statement("UPDATE t SET a = :a").can_take_all
    assert not Statement("INSERT INTO t (a) SELECT s.a FROM s WHERE n = :n").can_take_all


def test_statements_are_told_apart_by_sqlites_own_rules() -> None:
    sql = "CREATE TABLE a (b); -- not; here\nINSERT INTO a VALUES (';');\n-- a comment\nSELECT 1"
    assert [each.splitlines()[-1] for each in statements(sql)] == [
        "CREATE TABLE a (b); -- not; here",
        "INSERT INTO a VALUES (';')",
        "SELECT 1",
    ]


VALUES = [
    "",
    "'\"\\",
    "a\nb\t\x01",
    "ünï 漢字 🦋",
    "[1, 2]",
    '{"a": null}',
    "123",
    "1e5",
    "null",
    "x" * 5000,
]


def test_values_arrive_as_they_were_one_by_one_or_many_at_once(engine: LibsqlEngine) -> None:
    engine.apply([step("meta_set", key=f"one {n}", value=value) for n, value in enumerate(VALUES)])
    engine.apply([Step("meta_set", [{"key": f"many {n}", "value": value} for n, value in enumerate(VALUES)])])
    for n, value in enumerate(VALUES):
        for how in ("one", "many"):
            assert engine.read("meta_get", {"key": f"{how} {n}"}) == [(value,)]


def test_numbers_and_blobs_arrive_as_they_were(engine: LibsqlEngine) -> None:
    values = [9007199254740993, -1, 0.1, 1e300, b"\x00\xff", b"", None]
    statement = {"sql": f"SELECT {', '.join('?' for _ in values)}", "args": [sent(value) for value in values]}
    assert engine._server.rows(statement) == [tuple(values)]


def test_an_answer_larger_than_the_server_sends_at_once_is_read(engine: LibsqlEngine) -> None:
    rows = engine._server.rows({"sql": "SELECT value, hex(zeroblob(2000000)) FROM json_each('[1, 2, 3, 4]')"})
    assert [(number, len(text)) for number, text in rows] == [(n, 4_000_000) for n in (1, 2, 3, 4)]


def test_rows_larger_than_a_value_may_be_are_sent_in_parts(engine: LibsqlEngine) -> None:
    rows = [{"key": f"k{n}", "value": "ä" * 700_000} for n in range(5)] + [{"key": "long", "value": "\n" * 4_500_000}]
    engine.apply([Step("meta_set", rows)])
    assert [len(engine.read("meta_get", {"key": row["key"]})[0][0]) for row in rows] == [700_000] * 5 + [4_500_000]


def test_a_value_larger_than_the_server_takes_is_refused_with_a_hint(engine: LibsqlEngine) -> None:
    with pytest.raises(StorageError, match="too large") as refusal:
        engine.apply([step("meta_set", key="k", value="x" * 6_000_000)])
    assert "5 MB" in refusal.value.hint
    assert engine.read("meta_get", {"key": "k"}) == []


@pytest.mark.parametrize("lost", ["request", "answer", "late"])
def test_a_write_is_kept_exactly_once_whatever_is_lost(
    engine: LibsqlEngine, through: LibsqlEngine, proxy: Proxy, lost: str
) -> None:
    proxy.lose = lost
    through.apply([COUNTED])
    assert total(engine) == 1
    if lost == "late":
        proxy.released.set()
        assert proxy.arrived.wait(10)
        assert b"UNIQUE constraint failed: batches.id" in proxy.late
        assert total(engine) == 1


def test_a_guard_that_fails_unheard_is_still_stale(through: LibsqlEngine, proxy: Proxy) -> None:
    proxy.lose = "answer"
    with pytest.raises(RetentiveError, match="found another state"):
        through.apply([COUNTED, step("memory_touch", expect=1, namespace="n", id="none", now=1)])
    assert total(through) == 0


def test_what_cannot_be_known_is_said_and_not_repeated(
    engine: LibsqlEngine, through: LibsqlEngine, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libsql, "LOST_SECONDS", 0.2)
    proxy.lose = "everything"
    with pytest.raises(StorageError, match="did not say whether the write was kept") as error:
        through.apply([COUNTED])
    assert not error.value.retryable
    assert "before you write it again" in error.value.hint
    assert total(engine) == 1


def test_the_names_of_batches_are_forgotten_after_a_day(engine: LibsqlEngine) -> None:
    engine.apply([COUNTED])
    engine._server.rows({"sql": "UPDATE batches SET at = at - 100000"})
    engine.apply([COUNTED])
    assert engine._server.rows({"sql": "SELECT count(*) FROM batches"}) == [(1,)]


def test_a_server_that_is_down_is_named(own_sqld: Sqld, monkeypatch: pytest.MonkeyPatch) -> None:
    url = own_sqld.database()
    store = Retentive.open(url, embedder="hashing")
    own_sqld.stop()
    monkeypatch.setattr(libsql, "PATIENCE", 0.2)
    with pytest.raises(Busy, match="does not answer") as error:
        Retentive.open(url, embedder="hashing")
    assert error.value.retryable
    assert "is up" in error.value.hint
    with pytest.raises(Busy, match=r"127\.0\.0\.1"):
        store.add("Nobody hears it")
    store.close()


def test_nothing_acknowledged_is_lost_and_clients_recover_when_the_server_is_killed(own_sqld: Sqld) -> None:
    store = Retentive.open(own_sqld.database(), embedder="hashing")
    other = Retentive.open(f"libsql://127.0.0.1:{own_sqld.port}", embedder="hashing")
    acknowledged: list[str] = []
    enough = threading.Event()

    def write() -> None:
        for number in count():
            acknowledged.append(store.add(f"memory number {number}").id)
            if enough.is_set():
                return

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        for _ in range(2):
            seen = len(acknowledged)
            while len(acknowledged) < seen + 5 and not writing.done():
                time.sleep(0.01)
            own_sqld.stop()
            time.sleep(0.2)
            own_sqld.start()
        enough.set()
        writing.result(timeout=60)
    assert {memory.id for memory in store.list(limit=10_000)} == set(acknowledged)
    assert all(finding.ok for finding in store.doctor())
    assert other.add("The other client is back, too").created
    store.close()
    other.close()


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
        assert TOKEN not in f"{store.stats()} {store.doctor()} {store._parts}"
    for arguments in (["config"], ["config", "--json"], ["stats", "--json"]):
        assert main(["--db", url, "--embedder", "hashing", *arguments]) == 0
    shown = capsys.readouterr().out
    assert TOKEN not in shown
    assert "***" in shown
    server.stop()


def test_the_command_line_works_over_a_server(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--db", url, "--embedder", "hashing", "add", "The tide turns at noon"]) == 0
    assert main(["--db", url, "--embedder", "hashing", "search", "tide"]) == 0
    assert "The tide turns at noon" in capsys.readouterr().out
