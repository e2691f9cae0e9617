"""What a transaction begins with: settings, and the role and the namespaces of a restricted view.

The settings of a session are made when its connection opens. Behind a pooler in transaction mode there is no session:
each transaction may run on another connection of the server. So there the settings are made in each transaction, in the
same round trip.

A cluster passes statements (`SET LOCAL`) on to the machines that run a part of the query, but no `set_config()`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import sql

from retentive.model import Bounds

SCHEMA = "retentive"
ROLE = "retentive_restricted"  # of restricted transactions; it owns nothing, so the row policies apply to it

# Generic plans do not know which index of a space to use (8 -> 108 ms). Compiling a plan takes longer than running it.
# The graph is scanned until there are enough rows of the namespace (else one with 5 % of all rows finds 18 % of its
# own). A transaction whose client vanished is ended, and its locks with it. A statement that waited for another writer
# sees what that one wrote, whatever the default of the database is.
SESSION_SETTINGS = {
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    "random_page_cost": "1.1",
    "max_parallel_workers_per_gather": "0",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "100",
    "hnsw.max_scan_tuples": "40000",
    "idle_in_transaction_session_timeout": "60s",
    "default_transaction_isolation": "read committed",
}
_SEARCH_PATH = (
    f"'{SCHEMA}, ' || coalesce((SELECT quote_ident(n.nspname) FROM pg_extension e"
    " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'), 'public')"
)
_RESTRICT = (
    "SELECT set_config('role', $1, true), set_config('retentive.namespaces', $2::text[]::text, true),"
    " set_config('retentive.subtrees', $3::text[]::text, true)"
)
READ_ONLY = "SET LOCAL transaction_read_only = on"


class Call(NamedTuple):
    """A statement and the values of its parameters."""

    sql: str
    values: Sequence[Any] = ()


def make_settings_call(statement_timeout: float, *, is_local: bool) -> Call:
    """Make the settings, of the session or of one transaction (`is_local`).

    With `is_local` the isolation is that of the transaction, which has begun already.
    """
    settings: Mapping[str, str] = {**SESSION_SETTINGS, "statement_timeout": f"{int(statement_timeout * 1000)}ms"}
    scope = "true" if is_local else "false"
    calls = [f"set_config('{name}', '{value}', {scope})" for name, value in settings.items()]
    return Call(f"SELECT set_config('search_path', {_SEARCH_PATH}, {scope}), {', '.join(calls)}")


def make_restricting_calls(bounds: Bounds, *, is_cluster: bool) -> Iterator[Call]:
    """Set the role and the visible namespaces for the rest of the transaction."""
    if is_cluster:
        yield Call("SET LOCAL citus.propagate_set_commands = 'local'")
        yield Call(f"SET LOCAL retentive.namespaces = {_quote_array(bounds.names)}")
        yield Call(f"SET LOCAL retentive.subtrees = {_quote_array(bounds.prefixes)}")
        yield Call(f"SET LOCAL ROLE {ROLE}")
    else:
        yield Call(_RESTRICT, (ROLE, [*bounds.names], [*bounds.prefixes]))
    if bounds.read_only:
        yield Call(READ_ONLY)


def _quote_array(values: Sequence[str]) -> str:
    """A literal of an array of texts. A statement SET takes no parameters."""
    quoted = ('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    return sql.Literal("{" + ",".join(quoted) + "}").as_string(None)
