"""Create the schema of a store, or migrate it to the newest version.

Everything is in a schema of its own, so a database may hold other things too. Many processes may start at once: one
at a time gets the advisory lock and checks again what is still to be done.
"""

import re
import time
from typing import Any

from psycopg import errors, sql

from retentive.errors import NotAStore, StorageError, Unwritable
from retentive.storage.engines.postgres.connections import Connection, Connections
from retentive.storage.engines.postgres.dialect import DIALECT
from retentive.storage.engines.postgres.error_map import translate_errors
from retentive.storage.engines.postgres.policies import has_other_policies, write_policies
from retentive.storage.engines.postgres.transactions import ROLE, SCHEMA, make_settings_call
from retentive.storage.migrations import Migration, find_missing, load_migrations

LOCK = 0x52544E56  # "RTNV": the key of the advisory lock
MIN_PGVECTOR = (0, 8)  # before it a graph could not be scanned for the rows of one namespace
_PARTITIONED_TABLE = re.compile(r"CREATE TABLE (\w+) \((?:(?!CREATE TABLE).)*?\) /\* by namespace \*/", re.DOTALL)
_PARTITION_MARK = "/* by namespace */"

WITH_SET_OPTION = 160000  # the version from which a member may assume a role only if that was granted by itself

_GRANT_RIGHTS = sql.SQL(
    "GRANT USAGE ON SCHEMA {schema} TO {role};"
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};"
    "REVOKE ALL ON {schema}.commits, {schema}.migrations, {schema}.tokens FROM {role};"
    "GRANT SELECT ON {schema}.migrations TO {role};"
    "REVOKE INSERT, UPDATE, DELETE ON {schema}.meta FROM {role};"
    "REVOKE UPDATE, DELETE ON {schema}.spaces FROM {role};"
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}"
).format(schema=sql.Identifier(SCHEMA), role=sql.Identifier(ROLE))


def set_up(connections: Connections, partitions: int, restricted: bool) -> None:
    connection = connections.connect()
    try:
        with translate_errors(connections.where):
            known = load_migrations(DIALECT)
            if (
                find_missing(known, _read_applied(connection), connections.where)
                or (restricted and not _has_role(connection))
                or (connections.is_cluster and has_other_policies(connection, is_cluster=True))
            ):
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock($1)", (LOCK,))
                    connection.execute(*make_settings_call(0, is_local=True))
                    _migrate(connection, connections, known, partitions)
                    if connections.is_cluster:
                        write_policies(connection, is_cluster=True)
                    if restricted:
                        _prepare_role(connection, is_cluster=connections.is_cluster)
    finally:
        connection.close()


def _migrate(connection: Connection, connections: Connections, known: list[Migration], partitions: int) -> None:
    todo = find_missing(known, _read_applied(connection), connections.where)
    if not todo:
        return
    _check_encoding(connection, connections)
    _install_pgvector(connection)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {SCHEMA}.migrations"
        " (number integer PRIMARY KEY, name text NOT NULL, hash text NOT NULL, applied bigint NOT NULL)"
    )
    for migration in todo:
        connection.execute(add_hash_partitions(migration.sql, partitions))
        connection.execute(
            f"INSERT INTO {SCHEMA}.migrations VALUES ($1, $2, $3, $4)",
            (migration.number, migration.name, migration.hash, time.time_ns() // 1000),
        )


def add_hash_partitions(schema: str, partitions: int) -> str:
    """The schema with hash partitions added after each marked table; 0: as it is."""
    if not partitions:
        return schema

    def add_partitions(match: re.Match[str]) -> str:
        table = match[1]
        parts = (
            f";\nCREATE TABLE {table}_{number} PARTITION OF {table}"
            f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
            for number in range(partitions)
        )
        return match[0].replace(_PARTITION_MARK, "PARTITION BY HASH (namespace)") + "".join(parts)

    return _PARTITIONED_TABLE.sub(add_partitions, schema)


def _read_applied(connection: Connection) -> dict[int, str]:
    if connection.execute(f"SELECT to_regclass('{SCHEMA}.migrations')").fetchall() == [(None,)]:
        return {}
    rows: list[Any] = connection.execute(f"SELECT number, hash FROM {SCHEMA}.migrations").fetchall()
    return dict(rows)


def _check_encoding(connection: Connection, connections: Connections) -> None:
    """Refuse a database in another encoding than UTF-8: it could not store every text."""
    encoding = connection.execute("SHOW server_encoding").fetchall()[0][0]
    if encoding != "UTF8":
        hint = "Make another, and give its address: createdb -E UTF8 -T template0 NAME"
        raise NotAStore(f"{connections.where}: the database is in {encoding}, a store is in UTF8", hint)


def _install_pgvector(connection: Connection) -> None:
    """Install the extension if it is missing, and require its minimum version."""
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
    if tuple(map(int, version.split(".")[:2])) < MIN_PGVECTOR:
        minimum = ".".join(map(str, MIN_PGVECTOR))
        raise StorageError(f"pgvector {version} is too old", f"Upgrade it to {minimum}: ALTER EXTENSION vector UPDATE;")


def _has_role(connection: Connection) -> bool:
    """Whether the role exists, has its rights on every table and no others, and may be assumed by this user."""
    found = connection.execute(
        "SELECT has_schema_privilege(r.oid, $2, 'USAGE') AND pg_has_role(r.oid, $3)"
        f" AND NOT has_table_privilege(r.oid, '{SCHEMA}.spaces', 'UPDATE, DELETE')"
        f" AND NOT has_table_privilege(r.oid, '{SCHEMA}.tokens', 'SELECT, INSERT, UPDATE, DELETE')"
        " AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = $2::text::regnamespace"
        "   AND c.relkind IN ('r', 'p') AND c.relname NOT IN ('commits', 'tokens')"
        "   AND NOT has_table_privilege(r.oid, c.oid, 'SELECT'))"
        " FROM pg_roles r WHERE r.rolname = $1",
        (ROLE, SCHEMA, _assuming(connection)),
    ).fetchall()
    return found == [(True,)]


def _assuming(connection: Connection) -> str:
    """The privilege of assuming a role. Whoever made a role is a member of it, and yet may not assume it."""
    return "SET" if connection.info.server_version >= WITH_SET_OPTION else "MEMBER"


def _prepare_role(connection: Connection, *, is_cluster: bool) -> None:
    """Create the role of restricted transactions, with the rights it needs and no others.

    On a cluster it may log in: the coordinator connects to the other machines as the role.
    """
    if _has_role(connection):
        return
    options = "" if _assuming(connection) == "MEMBER" else " WITH SET TRUE, INHERIT FALSE"
    creation = f"CREATE ROLE {ROLE} {'LOGIN' if is_cluster else 'NOLOGIN'}"
    try:
        with connection.transaction():
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = $1", (ROLE,)).fetchall():
                connection.execute(creation)
            may_assume = connection.execute("SELECT pg_has_role($1, $2)", (ROLE, _assuming(connection))).fetchall()
            if may_assume == [(False,)]:
                connection.execute(f"GRANT {ROLE} TO CURRENT_USER{options}")
            connection.execute(_GRANT_RIGHTS)
    except (errors.InsufficientPrivilege, errors.DuplicateObject, errors.UniqueViolation) as error:
        hint = f"Ask whoever runs the server to do this once: {creation}; GRANT {ROLE} TO <this user>{options};"
        raise Unwritable(f"cannot prepare the role of restricted connections: {error}", hint) from error
