"""How a store is set up: on which machines it is, and what follows from that."""

from enum import StrEnum
from typing import NamedTuple

from retentive.frozen_dataclass import dataclass


class StoreKind(StrEnum):
    """What holds a store."""

    FILE = "file"
    LIBSQL = "libsql"
    POSTGRES = "postgresql"
    CLUSTER = "cluster"
    """PostgreSQL with the extension Citus."""


class TableKind(StrEnum):
    """Where the rows of a table are on a cluster."""

    LOCAL = "local"
    """On the coordinator alone."""
    REFERENCE = "reference"
    """All rows on every machine."""
    DISTRIBUTED = "distributed"
    """Each row on one machine, by its namespace."""


class Pooler(StrEnum):
    """What is between this process and the server."""

    NONE = "none"
    SESSION = "session"
    """A pooler that gives a client one connection of the server for as long as the client is connected."""
    TRANSACTION = "transaction"
    """A pooler that may use another connection of the server for each transaction."""


@dataclass(frozen=True, slots=True)
class Replica:
    """A server that follows the primary."""

    name: str
    """Its `application_name`, or its address."""
    state: str
    """`streaming` if it follows; empty if this user may not see it."""
    is_synchronous: bool
    lag_bytes: int | None
    """How much of the write-ahead log it has not replayed; None if this user may not see it."""
    lag_seconds: float | None = None
    """How long the newest write took to be replayed there; None if nothing was written lately."""


@dataclass(frozen=True, slots=True)
class SearchReplica:
    """The server of the setting `replica`."""

    where: str
    lag_bytes: int | None
    """None: it could not be read."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of a cluster."""

    name: str
    port: int
    is_active: bool
    has_shards: bool
    is_reachable: bool | None
    """None: this user may not ask for it."""
    is_coordinator: bool = False

    def __str__(self) -> str:
        return f"{self.name}:{self.port}"


@dataclass(frozen=True, slots=True)
class ClusterTable:
    name: str
    kind: TableKind
    shards: int = 0


@dataclass(frozen=True, slots=True)
class ServerSetup:
    """What a PostgreSQL server says of itself."""

    postgresql: str
    pgvector: str
    is_standby: bool
    pooler: Pooler
    has_pooler_mode: bool
    """Whether this process keeps nothing in a session, as a pooler in transaction mode needs it."""
    restricted_problem: str
    """Why restricted views cannot be used; empty if they can."""
    replicas: tuple[Replica, ...] = ()
    search_replica: SearchReplica | None = None
    citus: str = ""
    """The version of Citus; empty: this is no cluster."""
    nodes: tuple[Node, ...] = ()
    tables: tuple[ClusterTable, ...] = ()
    """The tables of the store on a cluster."""
    misplaced: tuple[str, ...] = ()
    """Tables that are not yet where `distribute` puts them."""


class ScaleFinding(NamedTuple):
    """One fact about how a store is set up, and what follows from it."""

    name: str
    ok: bool
    detail: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class ScaleReport:
    kind: StoreKind
    where: str
    findings: tuple[ScaleFinding, ...]
    server: ServerSetup | None = None
    """None for a file and for libSQL."""

    @property
    def is_well(self) -> bool:
        return all(each.ok for each in self.findings)


class PlannedStatement(NamedTuple):
    """A statement of a change of a cluster."""

    what: str
    """What it does, in words."""
    sql: str
