"""Making a store, and bringing one up to date.

Everything is in a schema of its own, so a database may hold other things too. Many servers may start at once: one at a
time gets the advisory lock and looks again at what is still to be done.
"""

import re
import time
from typing import Any

from psycopg import errors, sql

from retentive.errors import NotAStore, StorageError, Unwritable
from retentive.storage.engines.postgres.connections import ROLE, SCHEMA, Connection, Link
from retentive.storage.engines.postgres.error_map import translated
from retentive.storage.migrations import Migration, migrations, missing

DIALECT = "postgres"
LOCK = 0x52544E56  # "RTNV": any number that nobody else takes
OLDEST_VECTOR = (0, 8)  # before it the graph could not be looked through for the rows of one namespace
_TABLE = re.compile(r"CREATE TABLE (\w+) \((?:(?!CREATE TABLE).)*?\) /\* by namespace \*/", re.DOTALL)
_MARK = "/* by namespace */"

_RIGHTS = sql.SQL(
    "GRANT USAGE ON SCHEMA {schema} TO {role};"
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};"
    "REVOKE ALL ON commits, migrations, tokens FROM {role}; GRANT SELECT ON migrations TO {role};"
    "REVOKE INSERT, UPDATE, DELETE ON meta FROM {role}; REVOKE UPDATE, DELETE ON spaces FROM {role};"
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}"
).format(schema=sql.Identifier(SCHEMA), role=sql.Identifier(ROLE))


def set_up(link: Link, partitions: int, restricted: bool) -> None:
    connection = link.connect()
    try:
        with translated(link.where):
            known = migrations(DIALECT)
            if missing(known, _applied(connection), link.where) or (restricted and not _is_prepared(connection)):
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock($1)", (LOCK,))
                    connection.execute("SET LOCAL statement_timeout = 0")
                    _migrate(connection, link, known, partitions)
                    if restricted:
                        _prepare_role(connection)
    finally:
        connection.close()


def _migrate(connection: Connection, link: Link, known: list[Migration], partitions: int) -> None:
    todo = missing(known, _applied(connection), link.where)
    if not todo:
        return
    _check_encoding(connection, link)
    _extend(connection)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations"
        " (number integer PRIMARY KEY, name text NOT NULL, hash text NOT NULL, applied bigint NOT NULL)"
    )
    for migration in todo:
        connection.execute(partitioned(migration.sql, partitions))
        connection.execute(
            "INSERT INTO migrations VALUES ($1, $2, $3, $4)",
            (migration.number, migration.name, migration.hash, time.time_ns() // 1000),
        )


def partitioned(schema: str, partitions: int) -> str:
    """The schema with its marked tables cut into hash partitions, right behind each; 0: as it stands."""
    if not partitions:
        return schema

    def cut(match: re.Match[str]) -> str:
        table = match[1]
        parts = (
            f";\nCREATE TABLE {table}_{number} PARTITION OF {table}"
            f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
            for number in range(partitions)
        )
        return match[0].replace(_MARK, "PARTITION BY HASH (namespace)") + "".join(parts)

    return _TABLE.sub(cut, schema)


def _applied(connection: Connection) -> dict[int, str]:
    if connection.execute("SELECT to_regclass('migrations')").fetchall() == [(None,)]:
        return {}
    rows: list[Any] = connection.execute("SELECT number, hash FROM migrations").fetchall()
    return dict(rows)


def _check_encoding(connection: Connection, link: Link) -> None:
    """In another than UTF-8 there would be texts that cannot be kept."""
    encoding = connection.execute("SHOW server_encoding").fetchall()[0][0]
    if encoding != "UTF8":
        hint = "Make another, and give its address: createdb -E UTF8 -T template0 NAME"
        raise NotAStore(f"{link.where}: the database is in {encoding}, a store is in UTF8", hint)


def _extend(connection: Connection) -> None:
    """The extension, and the search path to where it is."""
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        hint = "Install pgvector on the server (https://github.com/pgvector/pgvector), or choose one that has it."
        raise StorageError(f"the server does not have pgvector: {error}", hint) from error
    except errors.InsufficientPrivilege as error:
        hint = "Ask whoever runs the database to do this once: CREATE EXTENSION vector;"
        raise Unwritable("this user may not add pgvector to the database", hint) from error
    version = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchall()[0][0]
    if tuple(map(int, version.split(".")[:2])) < OLDEST_VECTOR:
        oldest = ".".join(map(str, OLDEST_VECTOR))
        raise StorageError(f"pgvector {version} is too old", f"Upgrade it to {oldest}: ALTER EXTENSION vector UPDATE;")


def _is_prepared(connection: Connection) -> bool:
    """Is the role there, with its rights on every table there is by now and no more, and may we become it?"""
    found = connection.execute(
        "SELECT has_schema_privilege(r.oid, $2, 'USAGE') AND pg_has_role(r.oid, 'MEMBER')"
        " AND NOT has_table_privilege(r.oid, 'spaces', 'UPDATE, DELETE')"
        " AND NOT has_table_privilege(r.oid, 'tokens', 'SELECT, INSERT, UPDATE, DELETE')"
        " AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = $2::text::regnamespace"
        "   AND c.relkind IN ('r', 'p') AND c.relname NOT IN ('commits', 'tokens')"
        "   AND NOT has_table_privilege(r.oid, c.oid, 'SELECT'))"
        " FROM pg_roles r WHERE r.rolname = $1",
        (ROLE, SCHEMA),
    ).fetchall()
    return found == [(True,)]


def _prepare_role(connection: Connection) -> None:
    """The role that restricted connections become, with the rights it needs and no others."""
    if _is_prepared(connection):
        return
    try:
        with connection.transaction():
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = $1", (ROLE,)).fetchall():
                connection.execute(f"CREATE ROLE {ROLE} NOLOGIN")
            if connection.execute("SELECT pg_has_role($1, 'MEMBER')", (ROLE,)).fetchall() == [(False,)]:
                connection.execute(f"GRANT {ROLE} TO CURRENT_USER")
            connection.execute(_RIGHTS)
    except (errors.InsufficientPrivilege, errors.DuplicateObject, errors.UniqueViolation) as error:
        hint = f"Ask whoever runs the server to do this once: CREATE ROLE {ROLE} NOLOGIN; GRANT {ROLE} TO <this user>;"
        raise Unwritable(f"cannot prepare the role of restricted connections: {error}", hint) from error
