"""What follows from how a store is set up: pure functions from a `ServerSetup` to findings with the next step."""

from collections.abc import Iterator

from retentive.model.scale import (
    ClusterTable,
    Node,
    Pooler,
    Replica,
    ScaleFinding,
    SearchReplica,
    ServerSetup,
    TableKind,
)

FILE_FINDINGS = (
    ScaleFinding(
        "store",
        ok=True,
        detail="a file: all programs of one machine share it, and writers take turns",
        next_step="If a second machine must write, or writers queue, move it to a server: `migrate(SOURCE, TARGET)`.",
    ),
)
MEMORY_FINDINGS = (
    ScaleFinding(
        "store",
        ok=True,
        detail="in memory: it is lost when this program closes it",
        next_step="To keep it, give a file: `open(FILE)`.",
    ),
)
LIBSQL_FINDINGS = (
    ScaleFinding(
        "store",
        ok=True,
        detail="a libSQL server: several machines share one database, which takes one write at a time",
        next_step="If writers queue, use a database for each user, or PostgreSQL: `migrate(SOURCE, TARGET)`.",
    ),
)
GRAPHS_STEP = "Graphs of large namespaces are not built through a pooler: run `repair()` over the direct address."
MANY_HOSTS_STEP = "Name the primary and its standbys in the address: postgresql://user@one,two/database."
PRIVILEGE_STEP = "To see their lag: GRANT pg_monitor TO this user."
SYNCHRONOUS_STEP = (
    "All of them lag: the last writes can be lost with the primary. synchronous_standby_names prevents that."
)


def explain_server(setup: ServerSetup, where: str) -> Iterator[ScaleFinding]:
    """Explain each part of the setup. `where` is the address, without the password."""
    yield _explain_version(setup)
    yield _explain_pooler(setup.pooler, has_pooler_mode=setup.has_pooler_mode)
    yield _explain_replicas(setup, has_many_hosts="," in where)
    if setup.search_replica:
        yield _explain_search_replica(setup.search_replica)
    yield _explain_restricted_views(setup.restricted_problem)
    if setup.citus:
        yield _explain_nodes(setup)
        yield _explain_tables(setup)
    else:
        yield ScaleFinding(
            "cluster",
            ok=True,
            detail="none: this server holds every namespace",
            next_step="If memory or disk of one server are not enough: docs/scale.md.",
        )


def summarise_server(setup: ServerSetup) -> str:
    """Say in one line on what the store is."""
    parts = [f"PostgreSQL {setup.postgresql}"]
    if setup.is_standby:
        parts.append("a standby")
    if setup.pooler is not Pooler.NONE:
        parts.append(f"behind a pooler in {setup.pooler} mode")
    if setup.replicas:
        parts.append(_count(len(setup.replicas), "replica"))
    if setup.citus:
        spread = [each for each in setup.tables if each.kind is not TableKind.LOCAL]
        parts.append(f"Citus {setup.citus} on {_count(len(setup.nodes), 'machine')}, {len(spread)} tables distributed")
    return ", ".join(parts)


def _explain_version(setup: ServerSetup) -> ScaleFinding:
    detail = f"PostgreSQL {setup.postgresql}, pgvector {setup.pgvector}"
    if setup.is_standby:
        return ScaleFinding(
            "server", ok=False, detail=f"{detail}; a standby, which only reads", next_step=MANY_HOSTS_STEP
        )
    return ScaleFinding("server", ok=True, detail=detail)


def _explain_pooler(pooler: Pooler, *, has_pooler_mode: bool) -> ScaleFinding:
    match pooler:
        case Pooler.NONE:
            step = "Set pooler = auto: without a pooler, settings and prepared statements can be kept."
            detail = "none: connections go to the server itself"
            return ScaleFinding("pooler", ok=True, detail=detail, next_step=step if has_pooler_mode else "")
        case Pooler.SESSION:
            step = "Set pooler = none: in this mode, settings and prepared statements can be kept."
            detail = "session mode: it saves connecting, not connections"
            return ScaleFinding("pooler", ok=True, detail=detail, next_step=step if has_pooler_mode else "")
        case Pooler.TRANSACTION if has_pooler_mode:
            detail = "transaction mode: nothing is kept in a session, and no statement is prepared"
            return ScaleFinding("pooler", ok=True, detail=detail, next_step=GRAPHS_STEP)
        case Pooler.TRANSACTION:
            detail = "transaction mode: calls fail, because settings and prepared statements are lost"
            return ScaleFinding("pooler", ok=False, detail=detail, next_step="Set pooler = auto, or transaction.")


def _explain_replicas(setup: ServerSetup, *, has_many_hosts: bool) -> ScaleFinding:
    if setup.is_standby:
        return ScaleFinding("replicas", ok=True, detail="known to the primary alone")
    if not setup.replicas:
        return ScaleFinding(
            "replicas",
            ok=True,
            detail="none: while this server is away, so is the store",
            next_step="Add a standby: docs/how-to/postgres.md.",
        )
    steps = []
    if not has_many_hosts:
        steps.append(MANY_HOSTS_STEP)
    if any(not each.state for each in setup.replicas):
        steps.append(PRIVILEGE_STEP)
    elif not any(each.is_synchronous for each in setup.replicas):
        steps.append(SYNCHRONOUS_STEP)
    detail = "; ".join(map(_describe_replica, setup.replicas))
    return ScaleFinding("replicas", ok=True, detail=detail, next_step=" ".join(steps))


def _describe_replica(replica: Replica) -> str:
    if not replica.state:
        return f"{replica.name} (no right to see more)"
    kind = "synchronous" if replica.is_synchronous else "asynchronous"
    seconds = "" if replica.lag_seconds is None else f", {replica.lag_seconds:.3f} s"
    lag = "" if replica.lag_bytes is None else f", {replica.lag_bytes} bytes behind{seconds}"
    return f"{replica.name} ({kind}, {replica.state}{lag})"


def _explain_search_replica(replica: SearchReplica) -> ScaleFinding:
    if replica.problem:
        return ScaleFinding(
            "searches",
            ok=False,
            detail=f"the replica does not answer, so the primary does: {replica.problem}",
            next_step="Look at the server of the setting `replica`.",
        )
    lag = "" if replica.lag_bytes is None else f", {replica.lag_bytes} bytes behind"
    return ScaleFinding("searches", ok=True, detail=f"on the replica at {replica.where}{lag}")


def _explain_restricted_views(problem: str) -> ScaleFinding:
    if not problem:
        return ScaleFinding("row-level security", ok=True, detail="restricted views and `restrict_to` can be used")
    return ScaleFinding(
        "row-level security",
        ok=True,
        detail=f"restricted views and `restrict_to` cannot be used: {problem}",
        next_step="Grant the role: docs/how-to/postgres.md#let-a-process-see-certain-namespaces-only.",
    )


def _explain_nodes(setup: ServerSetup) -> ScaleFinding:
    lost = [each for each in setup.nodes if not each.is_active or each.is_reachable is False]
    detail = f"Citus {setup.citus} on {_count(len(setup.nodes), 'machine')}: "
    detail += ", ".join(map(_describe_node, setup.nodes)) or "the coordinator alone"
    if lost:
        step = f"Bring back {', '.join(map(str, lost))}: namespaces on it can be neither read nor written."
        return ScaleFinding("cluster", ok=False, detail=detail, next_step=step)
    if not any(each.has_shards and not each.is_coordinator for each in setup.nodes):
        step = "Add a worker: SELECT citus_add_node('HOST', 5432). Then `scale.distribute()`."
        return ScaleFinding("cluster", ok=True, detail=detail, next_step=step)
    return ScaleFinding("cluster", ok=True, detail=detail)


def _describe_node(node: Node) -> str:
    traits = [
        *(["coordinator"] if node.is_coordinator else []),
        *([] if node.has_shards or node.is_coordinator else ["no shards"]),
        *([] if node.is_active else ["not active"]),
        *(["does not answer"] if node.is_reachable is False else []),
    ]
    return f"{node} ({', '.join(traits)})" if traits else str(node)


def _explain_tables(setup: ServerSetup) -> ScaleFinding:
    spread = [each for each in setup.tables if each.kind is not TableKind.LOCAL]
    if not spread:
        return ScaleFinding(
            "tables",
            ok=True,
            detail="none is distributed: the coordinator holds every namespace",
            next_step="`scale.distribute(dry_run=True)` shows what would be done.",
        )
    detail = _describe_tables(setup.tables)
    if setup.misplaced:
        detail += f"; still on the coordinator: {', '.join(setup.misplaced)}"
        return ScaleFinding("tables", ok=False, detail=detail, next_step="Run `scale.distribute()` again.")
    return ScaleFinding("tables", ok=True, detail=detail)


def _describe_tables(tables: tuple[ClusterTable, ...]) -> str:
    def count(kind: TableKind) -> int:
        return sum(each.kind is kind for each in tables)

    shards = max((each.shards for each in tables), default=0)
    return (
        f"{count(TableKind.DISTRIBUTED)} distributed over {_count(shards, 'shard')},"
        f" {count(TableKind.REFERENCE)} on every machine, {count(TableKind.LOCAL)} on the coordinator"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
