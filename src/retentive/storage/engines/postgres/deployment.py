"""What a PostgreSQL server says of its setup: replicas, poolers, restricted views, the machines of a cluster."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors

from retentive.errors import Invalid, RetentiveError
from retentive.model.scale import (
    ClusterTable,
    Node,
    PlannedStatement,
    Pooler,
    Replica,
    SearchReplica,
    ServerSetup,
    TableKind,
)
from retentive.storage.engines.postgres import cluster
from retentive.storage.engines.postgres.connections import Connection, Connections
from retentive.storage.engines.postgres.error_map import translate_errors
from retentive.storage.engines.postgres.transactions import ROLE, SCHEMA

MAX_PROBES = 5  # transactions of each of two clients that are compared to find a pooler's mode
NO_CITUS_HINT = (
    "Install Citus on every machine (https://docs.citusdata.com), add it to shared_preload_libraries, run"
    " CREATE EXTENSION citus and add the workers. Without it, one server holds the store: see `scale.check()`."
)

_VERSIONS = (
    "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector'),"
    " pg_is_in_recovery()"
)
_CITUS_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'citus'"
_REPLICAS = (
    "SELECT coalesce(nullif(application_name, ''), client_addr::text, 'replica'), coalesce(state, ''),"
    " coalesce(sync_state IN ('sync', 'quorum'), false),"
    " pg_wal_lsn_diff(pg_current_wal_insert_lsn(), replay_lsn)::bigint, extract(epoch FROM replay_lag)::float8"
    " FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup' ORDER BY 1"
)
_ROLE = "SELECT rolcanlogin FROM pg_roles WHERE rolname = $1"
_MAY_CREATE_ROLES = "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user"
_TABLES = (
    "SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_class c"
    " LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> ''"
    " WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1"
)
# A reference table and one that only the coordinator has are both without a method; `t` marks the first.
_PLACED_TABLES = (
    "SELECT c.relname, p.partmethod, p.repmodel,"
    " (SELECT count(*) FROM pg_dist_shard s WHERE s.logicalrelid = p.logicalrelid)"
    " FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid"
    " WHERE c.relnamespace = $1::regnamespace AND NOT c.relispartition"
)
_NODES = "SELECT nodename, nodeport, isactive, shouldhaveshards, groupid = 0 FROM pg_dist_node ORDER BY groupid, nodeid"
_NODE_HEALTH = (
    "SELECT to_nodename, to_nodeport, bool_and(coalesce(result, false)) FROM citus_check_cluster_node_health()"
    " GROUP BY 1, 2"
)
_USER_SETTINGS = (
    "SELECT current_database(), current_user, (SELECT s.setconfig FROM pg_db_role_setting s"
    " JOIN pg_database d ON d.oid = s.setdatabase JOIN pg_roles r ON r.oid = s.setrole"
    " WHERE d.datname = current_database() AND r.rolname = current_user)"
)


class Deployment:
    """The machines that hold a store, described and changed over connections outside the pool."""

    def __init__(self, primary: Connections, search_replica: Connections | None) -> None:
        self._primary = primary
        self._search_replica = search_replica

    def describe(self) -> ServerSetup:
        with self._connect() as connection:
            version, pgvector, is_standby = _fetch(connection, _VERSIONS)[0]
            citus = _read_citus_version(connection)
            state = _read_state(connection, citus)
            return ServerSetup(
                postgresql=version.split()[0],
                pgvector=pgvector or "",
                is_standby=is_standby,
                pooler=self._find_pooler(connection),
                has_pooler_mode=self._primary.has_pooler,
                restricted_problem=_find_restricted_problem(connection),
                replicas=() if is_standby else tuple(Replica(*row) for row in _fetch(connection, _REPLICAS)),
                search_replica=self._describe_search_replica(connection, is_standby),
                citus=citus,
                nodes=_read_nodes(connection) if citus else (),
                tables=_list_tables(state) if citus else (),
                misplaced=tuple(cluster.find_misplaced(state.tables)) if citus else (),
            )

    def plan_distribution(self, shards: int | None = None) -> list[PlannedStatement]:
        return cluster.plan_distribution(self._read_cluster_state(), shards)

    def plan_undistribution(self) -> list[PlannedStatement]:
        return cluster.plan_undistribution(self._read_cluster_state())

    def run(self, plan: list[PlannedStatement], progress: Callable[[str], None]) -> None:
        """Run the statements, each in a transaction of its own, so that an interrupted run can be repeated."""
        with self._connect() as connection:
            for statement in plan:
                progress(statement.what)
                with connection.transaction():
                    connection.execute("SET LOCAL statement_timeout = 0")
                    connection.execute(statement.sql)

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        with closing(self._primary.connect()) as connection, translate_errors(self._primary.where):
            yield connection

    def _read_cluster_state(self) -> cluster.ClusterState:
        with self._connect() as connection:
            citus = _read_citus_version(connection)
            if not citus:
                raise Invalid(f"{self._primary.where} is not a cluster: it does not have Citus", NO_CITUS_HINT)
            return _read_state(connection, citus)

    def _find_pooler(self, connection: Connection) -> Pooler:
        """What is between this process and the server.

        A pooler answers a new client itself, with a process number that is no server's. If two clients that are both
        connected meet the same process of the server, connections are given out for one transaction at a time.
        """
        process = _read_process(connection)
        if connection.info.backend_pid == process:
            return Pooler.NONE
        with self._connect() as other:
            ours, others = {process}, set[int]()
            for _ in range(MAX_PROBES):
                others.add(_read_process(other))
                ours.add(_read_process(connection))
                if ours & others or len(ours) > 1 or len(others) > 1:
                    return Pooler.TRANSACTION
        return Pooler.SESSION

    def _describe_search_replica(self, primary: Connection, is_standby: bool) -> SearchReplica | None:
        if self._search_replica is None:
            return None
        where = self._search_replica.where
        try:
            with closing(self._search_replica.connect()) as replica, translate_errors(where):
                position = "NULL::text" if is_standby else "pg_current_wal_insert_lsn()::text"
                newest = _fetch(primary, f"SELECT {position}")[0][0]
                difference = "SELECT pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn())::bigint"
                lag = _fetch(replica, difference, newest)[0][0]
                return SearchReplica(where, None if lag is None else max(0, lag))
        except RetentiveError as error:
            return SearchReplica(where, None, str(error))


def _fetch(connection: Connection, sql: str, *values: Any) -> list[Any]:
    return connection.execute(sql, values or None).fetchall()


def _read_process(connection: Connection) -> int:
    return int(_fetch(connection, "SELECT pg_backend_pid()")[0][0])


def _read_citus_version(connection: Connection) -> str:
    rows = _fetch(connection, _CITUS_VERSION)
    return str(rows[0][0]) if rows else ""


def _read_state(connection: Connection, citus: str) -> cluster.ClusterState:
    database, user, given = _fetch(connection, _USER_SETTINGS)[0]
    placed = _read_placed_tables(connection) if citus else {}
    tables = {
        name: cluster.TableState(*placed.get(name, (TableKind.LOCAL, 0)), column or "", type or "bigint")
        for name, column, type in _fetch(connection, _TABLES, SCHEMA)
    }
    roles = _fetch(connection, _ROLE, ROLE)
    return cluster.ClusterState(
        database,
        user,
        tables,
        role_can_login=roles[0][0] if roles else None,
        settings=dict(each.split("=", 1) for each in given or ()),
    )


def _read_placed_tables(connection: Connection) -> dict[str, tuple[TableKind, int]]:
    placed = {}
    for name, method, model, shards in _fetch(connection, _PLACED_TABLES, SCHEMA):
        if method == "n":
            placed[name] = (TableKind.REFERENCE if model == "t" else TableKind.LOCAL, 0)
        else:
            placed[name] = (TableKind.DISTRIBUTED, shards)
    return placed


def _list_tables(state: cluster.ClusterState) -> tuple[ClusterTable, ...]:
    return tuple(ClusterTable(name, table.kind, table.shards) for name, table in state.tables.items())


def _read_nodes(connection: Connection) -> tuple[Node, ...]:
    health: dict[tuple[str, int], bool] = {}
    with suppress(errors.InsufficientPrivilege, errors.UndefinedFunction):  # then it is not known
        health = {(name, port): is_well for name, port, is_well in _fetch(connection, _NODE_HEALTH)}
    return tuple(
        Node(name, port, is_active, has_shards, health.get((name, port)), is_coordinator)
        for name, port, is_active, has_shards, is_coordinator in _fetch(connection, _NODES)
    )


def _find_restricted_problem(connection: Connection) -> str:
    """Try the role of restricted views in a transaction that is rolled back."""
    roles = _fetch(connection, _ROLE, ROLE)
    if not roles:
        may_create = _fetch(connection, _MAY_CREATE_ROLES)[0][0]
        return "" if may_create else f"the role {ROLE} does not exist, and this user may not create it"
    try:
        with connection.transaction(force_rollback=True):
            connection.execute("SELECT set_config('role', $1, true)", (ROLE,))
    except psycopg.Error as error:
        if error.sqlstate is None:
            raise
        return error.diag.message_primary or str(error)
    return ""
