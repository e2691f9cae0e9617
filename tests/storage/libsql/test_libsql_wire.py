"""How a libSQL server is addressed, and what travels: statements, values, and more of them than fit at once."""

import pytest

from retentive.errors import Invalid, StorageError
from retentive.storage import Step, step
from retentive.storage.engines.libsql import LibsqlEngine
from retentive.storage.engines.libsql.batches import BatchStatement, split_statements
from retentive.storage.engines.libsql.hrana import encode_value, parse_address

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
    found = parse_address(target)
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
        parse_address(target)
    assert "s3cret" not in f"{refusal.value} {refusal.value.hint}"
    assert "auth_token" in refusal.value.hint


def test_an_insert_of_many_rows_is_said_once() -> None:
    sql = "INSERT INTO t (a, b) VALUES (:a, (SELECT id FROM s WHERE n = :b)) ON CONFLICT (a) DO NOTHING"
    many = BatchStatement(sql)
    assert many.insert_many_sql({"b"}) == (
        "INSERT INTO t (a, b) SELECT (r.value ->> 0), (SELECT id FROM s WHERE n = unhex(r.value ->> 1))"
        " FROM json_each(?) r WHERE true ON CONFLICT (a) DO NOTHING"
    )
    some = BatchStatement("INSERT INTO t (a) SELECT :a WHERE EXISTS (SELECT 1 FROM s WHERE n = :n)")
    assert some.insert_many_sql(()) == (
        "INSERT INTO t (a) SELECT (r.value ->> 0) FROM json_each(?) r"
        " WHERE EXISTS (SELECT 1 FROM s WHERE n = (r.value ->> 1))"
    )
    assert not BatchStatement("UPDATE t SET a = :a").can_insert_many
    assert not BatchStatement("INSERT INTO t (a) SELECT s.a FROM s WHERE n = :n").can_insert_many


def test_every_named_query_is_one_that_the_server_accepts(engine: LibsqlEngine) -> None:
    """For one row, and for many at once where it can be said so."""
    for name in engine._queries._blocks["name"]:
        for sql in split_statements(engine._queries.sql(name)):
            statement = BatchStatement(sql)
            said = [statement.sql, *([statement.insert_many_sql(())] if statement.can_insert_many else [])]
            for each in said:
                engine._server.rows({"sql": f"EXPLAIN {each}", "args": [encode_value(None)] * each.count("?")})


def test_statements_are_told_apart_by_sqlites_own_rules() -> None:
    sql = "CREATE TABLE a (b); -- not; here\nINSERT INTO a VALUES (';');\n-- a comment\nSELECT 1"
    assert [each.splitlines()[-1] for each in split_statements(sql)] == [
        "CREATE TABLE a (b); -- not; here",
        "INSERT INTO a VALUES (';')",
        "SELECT 1",
    ]


def test_values_arrive_as_they_were_one_by_one_or_many_at_once(engine: LibsqlEngine) -> None:
    engine.apply([step("meta_set", key=f"one {n}", value=value) for n, value in enumerate(VALUES)])
    engine.apply([Step("meta_set", [{"key": f"many {n}", "value": value} for n, value in enumerate(VALUES)])])
    for n, value in enumerate(VALUES):
        for how in ("one", "many"):
            assert engine.read("meta_get", {"key": f"{how} {n}"}) == [(value,)]


def test_numbers_and_blobs_arrive_as_they_were(engine: LibsqlEngine) -> None:
    values = [9007199254740993, -1, 0.1, 1e300, b"\x00\xff", b"", None]
    statement = {"sql": f"SELECT {', '.join('?' for _ in values)}", "args": [encode_value(value) for value in values]}
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
