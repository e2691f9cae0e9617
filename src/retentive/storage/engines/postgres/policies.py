"""The row policies of restricted transactions, in the form that the server needs.

One server reads the settings of a transaction in a subquery: once for a statement, not for each row (keyword search in
a namespace of 15,000 rows: 7 ms instead of 15). A cluster (Citus) distributes no table whose policy has a subquery.
"""

from collections.abc import Iterator
from typing import Any

from psycopg import sql

from retentive.storage.engines.postgres.connections import Connection
from retentive.storage.engines.postgres.transactions import SCHEMA

_NAMED = "coalesce(nullif(current_setting('retentive.{}', true), ''), '{{}}')::text[]"
_LIST = (
    f"SELECT tablename FROM pg_policies WHERE schemaname = '{SCHEMA}' AND policyname = 'restricted'"
    " AND qual LIKE '%SELECT%' = $1 ORDER BY tablename"
)


def has_other_policies(connection: Connection, *, is_cluster: bool) -> bool:
    """Whether a policy is not in the form for this kind of server."""
    return bool(connection.execute(_LIST, (is_cluster,)).fetchall())


def write_policies(connection: Connection, *, is_cluster: bool) -> None:
    """Give each policy the form for this kind of server."""
    for statement in _make_statements(connection, is_cluster=is_cluster):
        connection.execute(statement)


def _make_statements(connection: Connection, *, is_cluster: bool) -> Iterator[sql.Composed]:
    names, prefixes = (_read_setting(name, is_cluster=is_cluster) for name in ("namespaces", "subtrees"))
    rows: list[Any] = connection.execute(_LIST, (is_cluster,)).fetchall()
    for (table,) in rows:
        column = sql.Identifier("name" if table == "namespaces" else "namespace")
        yield sql.SQL(
            "ALTER POLICY restricted ON {table} USING ({column} = ANY ({names}) OR {column} ^@ ANY ({prefixes}))"
        ).format(table=sql.Identifier(SCHEMA, table), column=column, names=sql.SQL(names), prefixes=sql.SQL(prefixes))


def _read_setting(name: str, *, is_cluster: bool) -> str:  # the names are ours
    value = _NAMED.format(name)
    return value if is_cluster else f"(SELECT {value})::text[]"
