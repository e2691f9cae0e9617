"""Which statements distribute a store over a Citus cluster, and which take it back: pure functions on its state.

A namespace is on one machine: every table that has the column is distributed by it, and all of them are colocated, so
that a statement about one namespace runs on one machine. Small tables about the whole store are copied to every
machine (reference tables). What only the server itself reads stays on the coordinator.

Citus sets the order and the form:
  a. A policy with a subquery is refused on a distributed table. `policies.py` changes them when a store is opened.
  b. An identity column keeps `undistribute_table` from working, so it becomes a default from a sequence before.
  c. The number of shards can be given for the first table only; the others are colocated with it.
  d. The role of restricted views must be able to log in, because the coordinator connects to the workers with it.

A plan lists only what is left to do. So a run that was interrupted is repeated, and a finished one does nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from psycopg.sql import quote

from retentive.errors import Invalid, NewerSchema
from retentive.model.scale import PlannedStatement, TableKind
from retentive.storage.engines.postgres.transactions import ROLE, SCHEMA

FIRST_TABLE = "memories"
"""The table with which all others are colocated."""
DISTRIBUTED_TABLES: Mapping[str, str] = {
    FIRST_TABLE: "namespace",
    "namespaces": "name",
    **dict.fromkeys(
        (
            "memory_history", "sessions", "session_state", "events", "chunks", "texts", "postings", "statistics",
            "vectors", "access_log", "measures", "leases", "purges", "records", "record_history", "record_links",
            "skill_runs", "files", "expectations", "proposals", "hidden_messages", "quarantine",
        ),
        "namespace",
    ),
}  # fmt: skip
"""The distribution column of each table, in the order of the work."""
REFERENCE_TABLES = ("spaces", "meta", "tokens")
"""Tables about the whole store. `tokens` is looked up by a secret, before a namespace is known."""
LOCAL_TABLES = ("commits", "migrations")
"""Tables that are only read and written by statements of their own, on the coordinator."""

MAX_SHARDS = 64_000  # the limit of Citus
# A transaction that wrote to several shards can still write to one of them, as when contacts are merged.
USER_SETTINGS = {"citus.multi_shard_modify_mode": "sequential"}


@dataclass(frozen=True, slots=True)
class TableState:
    kind: TableKind
    shards: int = 0
    identity_column: str = ""
    identity_type: str = "bigint"


@dataclass(frozen=True, slots=True)
class ClusterState:
    """How a store is distributed now."""

    database: str
    user: str
    tables: Mapping[str, TableState]
    """By name; partitions of a table are not listed."""
    role_can_login: bool | None = None
    """Whether the role of restricted views can log in; None: it does not exist."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The settings of this user in this database."""


def plan_distribution(state: ClusterState, shards: int | None = None) -> list[PlannedStatement]:
    """The statements that are left to distribute the store."""
    _require_known_tables(state)
    _check_shards(state, shards)
    return [
        *_plan_settings(state),
        *_plan_sequences(state),
        *_plan_reference_tables(state),
        *_plan_distributed_tables(state, shards),
        *_plan_login(state),
    ]


def plan_undistribution(state: ClusterState) -> list[PlannedStatement]:
    """The statements that are left to bring all rows back to the coordinator."""
    spread = [name for name, table in state.tables.items() if table.kind is not TableKind.LOCAL]
    order = [name for name in (*DISTRIBUTED_TABLES, *REFERENCE_TABLES) if name in spread]
    tables = (
        PlannedStatement(f"bring {name} back", f"SELECT undistribute_table({quote_table(name)})") for name in order
    )
    return [*tables, *_plan_reset(state)]


def find_misplaced(tables: Mapping[str, TableState]) -> list[str]:
    """The tables that are not where `plan_distribution` puts them."""
    wanted = {
        **dict.fromkeys(DISTRIBUTED_TABLES, TableKind.DISTRIBUTED),
        **dict.fromkeys(REFERENCE_TABLES, TableKind.REFERENCE),
    }
    return [name for name, kind in wanted.items() if name in tables and tables[name].kind is not kind]


def quote_table(name: str) -> str:
    """A table of the store as a literal, for functions that take its name."""
    return quote(f"{SCHEMA}.{name}")


def _require_known_tables(state: ClusterState) -> None:
    known = {*DISTRIBUTED_TABLES, *REFERENCE_TABLES, *LOCAL_TABLES}
    if unknown := sorted({*state.tables} - known):
        hint = "Use the version of Retentive that made them."
        raise NewerSchema(f"the store has tables that this version cannot distribute: {', '.join(unknown)}", hint)


def _check_shards(state: ClusterState, shards: int | None) -> None:
    if shards is None:
        return
    if not 1 <= shards <= MAX_SHARDS:
        raise Invalid(f"shards must be between 1 and {MAX_SHARDS}, not {shards}")
    first = state.tables[FIRST_TABLE]
    if first.kind is TableKind.DISTRIBUTED and first.shards != shards:
        hint = "Leave `shards` out to go on; or run `scale.undistribute()` first."
        raise Invalid(f"the store is distributed over {first.shards} shards already", hint)


def _plan_settings(state: ClusterState) -> Iterator[PlannedStatement]:
    for name, value in USER_SETTINGS.items():
        if state.settings.get(name) != value:
            sql = f"ALTER ROLE {_of_user(state)} SET {name} = {quote(value)}"
            yield PlannedStatement(f"set {name} for this user in this database", sql)


def _plan_reset(state: ClusterState) -> Iterator[PlannedStatement]:
    for name in USER_SETTINGS:
        if name in state.settings:
            yield PlannedStatement(f"reset {name}", f"ALTER ROLE {_of_user(state)} RESET {name}")


def _of_user(state: ClusterState) -> str:
    return f"{_quote_name(state.user)} IN DATABASE {_quote_name(state.database)}"


def _plan_sequences(state: ClusterState) -> Iterator[PlannedStatement]:
    """Replace each identity by a default from a sequence of the same name, in one transaction."""
    has_role = state.role_can_login is not None
    for name, table in state.tables.items():
        if column := table.identity_column:
            place, sequence = f"{SCHEMA}.{name}", f"{SCHEMA}.{name}_{column}_seq"
            sql = (
                f"ALTER TABLE {place} ALTER COLUMN {column} DROP IDENTITY;"
                f" CREATE SEQUENCE {sequence} AS {table.identity_type} OWNED BY {place}.{column};"
                f" SELECT setval({quote(sequence)}, coalesce(max({column}), 0) + 1, false) FROM {place};"
                f" ALTER TABLE {place} ALTER COLUMN {column} SET DEFAULT nextval({quote(sequence)})"
                + (f"; GRANT USAGE, SELECT ON SEQUENCE {sequence} TO {ROLE}" if has_role else "")
            )
            yield PlannedStatement(f"numbers of {name} from a sequence", sql)


def _plan_reference_tables(state: ClusterState) -> Iterator[PlannedStatement]:
    for name in REFERENCE_TABLES:
        if state.tables[name].kind is TableKind.LOCAL:
            sql = f"SELECT create_reference_table({quote_table(name)})"
            yield PlannedStatement(f"copy {name} to every machine", sql)


def _plan_distributed_tables(state: ClusterState, shards: int | None) -> Iterator[PlannedStatement]:
    for name, column in DISTRIBUTED_TABLES.items():
        if state.tables[name].kind is TableKind.LOCAL:
            is_first = name == FIRST_TABLE
            colocation = "'none'" if is_first else quote_table(FIRST_TABLE)
            count = f", shard_count => {shards}" if is_first and shards else ""
            sql = (
                f"SELECT create_distributed_table({quote_table(name)}, {quote(column)},"
                f" colocate_with => {colocation}{count})"
            )
            yield PlannedStatement(f"distribute {name} by {column}", sql)


def _plan_login(state: ClusterState) -> Iterator[PlannedStatement]:
    """Let the role log in. It is never taken back: other stores of the server may need it."""
    if state.role_can_login is False:
        yield PlannedStatement("let the role of restricted views log in", f"ALTER ROLE {ROLE} LOGIN")


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
