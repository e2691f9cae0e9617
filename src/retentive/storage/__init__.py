"""The databases that hold a store.

`Engine` is the seam: a database brings its connection (`engines/`), its schema (`schema/`) and the queries of its
dialect. The classes in `tables/` are written once for all engines, over the named queries in `queries/*.sql`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from retentive.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from retentive.config import Config
    from retentive.model import Bounds, Match, Matches, Scope, Space
    from retentive.storage.engines.postgres.deployment import Deployment
    from retentive.storage.integrity import IntegrityMode

T = TypeVar("T")
Params = Mapping[str, Any]
"""Values by name. When reading, a tuple or a list stands for a set, used as `IN {each:name}`."""
NO_PARAMS: Params = MappingProxyType({})
PageProgress = Callable[[int, int], None]
"""Progress of work on a file: called with the pages done and the pages in all."""
RowCounts = Mapping[str, int]
"""The number of rows of each table."""


@dataclass(frozen=True, slots=True)
class Step:
    """A write of a batch: a named query, run once for each row of values."""

    query: str
    rows: Iterable[Params]
    expect: int | None = None
    """How many rows of the database each run must change. With any other number, a concurrent writer won: `Stale`."""


def step(query: str, expect: int | None = None, **params: Any) -> Step:
    """A step with one row of values."""
    return Step(query, (params,), expect)


class Read(NamedTuple):
    """A read of a named query."""

    query: str
    params: Params = NO_PARAMS
    filters: Sequence[str] = ()


class Finding(NamedTuple):
    """The result of one check of a store."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


class ScrubResult(NamedTuple):
    """Whether the bytes of deleted rows were removed."""

    done: bool
    """False: they may still be where the engine can reach them. Try again later."""
    detail: str
    """The reason why they are still there; or, from a server, what its own logs may still hold."""
    files: tuple[Path, ...] = ()
    """The files that could still contain them; empty for a server, whose files cannot be read from here."""


class Engine(Protocol):
    """A database that holds one store.

    Safe to use from many threads; other processes (or machines) may use the same store at the same time. Errors are
    `StorageError`s, never the driver's. An engine knows rows and scopes. It must not know how answers are ranked, what
    is worth keeping, or that embedders exist.
    """

    uses_local_index: bool
    """Whether searches use the indexes in this process (`retentive.index`), which read the rows of chunks.
    False: the server has the indexes, and `search_both` answers in one round trip."""

    def read(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """All rows of a named query, from one consistent state. `filters` are the fragments for `{filters}`."""
        ...

    def read_many(self, reads: Sequence[Read]) -> list[list[tuple[Any, ...]]]:
        """The rows of each of these reads, from a server in one round trip."""
        ...

    def together(self, works: "Sequence[Callable[[Engine], T]]") -> "list[T]":
        """Run works that only read and return their results. On a server they run side by side, in threads: what they
        ask at the same time is one round trip.
        """
        ...

    def apply(self, steps: Iterable[Step]) -> None:
        """Apply all steps in one transaction, or none; durable on return.

        Raises `Stale` when a step changed a different number of rows than it expected, or broke a unique key. A
        concurrent writer won: read again and decide again.
        """
        ...

    def search_text(self, words: Sequence[str], scope: "Scope", limit: int) -> "list[Match]":
        """The chunks of the scope that have any of the words, best BM25 first, the newer first among equals."""
        ...

    def search_vectors(
        self, vector: Any, space: "Space", scope: "Scope", limit: int | None, min_score: float | None
    ) -> "list[Match]":
        """The chunks of the scope nearest by exact cosine. Those below `min_score` are left out."""
        ...

    def read_nearest(self, vector: Any, space: "Space", scope: "Scope", limit: int) -> list[tuple[Any, ...]]:
        """The rows of the memories of `search_vectors`. Only of an engine without local indexes: in one round trip."""
        ...

    def search_both(
        self, words: Sequence[str], vector: Any, space: "Space", scope: "Scope", limit: int, min_score: float | None
    ) -> "Matches":
        """`search_text` and `search_vectors` on one consistent state, with the cosine of each text match."""
        ...

    def tokens(self, text: str) -> list[str]:
        """The stemmed tokens of a text, as the full-text index has them."""
        ...

    def migrate(self) -> None:
        """Bring the schema up to date. Safe when many start at once; refuses a schema newer than this program's."""
        ...

    def check(self) -> list[Finding]:
        """Check that the database is undamaged and that its tables agree. Reads everything."""
        ...

    def rebuild(self) -> None:
        """Rebuild the full-text index from its rows, and drop chunks and vectors that belong to nothing."""
        ...

    def backup(self, target: Path, progress: PageProgress) -> RowCounts:
        """Copy the store, as of one moment, into this empty SQLite file.

        Reads and writes go on meanwhile. The caller cleans the file up, also if the copy fails half-way. Raises
        `Invalid` and writes nothing if the database has its own means of backup: the hint names them.
        """
        ...

    def scrub(self, patience: float, *, reclaim: bool = False) -> ScrubResult:
        """Remove the bytes of deleted rows from the full-text index, free pages and logs, as far as possible.

        Waits `patience` seconds for readers of an old state. Other reads and writes go on, or wait. `reclaim` also
        frees their space for reuse, on servers that would otherwise do that in their own time.
        """
        ...

    def facts(self) -> Mapping[str, Any]:
        """Location, size and versions, for `stats` and `doctor`."""
        ...

    @property
    def integrity(self) -> "IntegrityMode | None":
        """Integrity mode: it seals rows with a key outside the store. None if the engine does not offer it."""
        ...

    @property
    def deployment(self) -> "Deployment | None":
        """The machines that hold the store. None if one machine holds it by nature."""
        ...

    def within(self, bounds: "Bounds") -> "Engine":
        """A view of the same database that is restricted to these namespaces, over the same connections.

        Access to other namespaces or to the whole store is `Forbidden`, and so is a write to a read-only namespace.
        """
        ...

    def close(self) -> None: ...


def open_engine(config: "Config") -> Engine:
    """Open the engine for `config.db`: a path, `:memory:`, or the address of a server."""
    from retentive.fs.paths import reraise_os_errors

    with reraise_os_errors("the store cannot be opened"):
        return _open_engine(config)


def _open_engine(config: "Config") -> Engine:
    from retentive.errors import Invalid
    from retentive.storage.engines.sqlite import SqliteEngine

    scheme, colon, _ = config.db.partition("://")
    match scheme.lower() if colon else "":
        case "":
            key = Path(config.integrity_key).expanduser().absolute() if config.integrity_key else None
            return SqliteEngine(config.db, durability=config.durability, integrity_key=key)
        case "libsql" | "http" | "https":
            from retentive.storage.engines.libsql import LibsqlEngine

            return LibsqlEngine(config.db, config.auth_token, config.ca_file)
        case "postgresql" | "postgres":
            return _open_postgres(config)
        case other:
            raise Invalid(
                f"cannot open {other}:// stores", "Give a file's path, :memory:, libsql://... or postgresql://..."
            )


def _open_postgres(config: "Config") -> Engine:
    from retentive.errors import MissingExtra

    try:
        import psycopg  # noqa: F401 - to report here if it is missing
        import psycopg_pool  # noqa: F401 - likewise
    except ImportError as error:
        hint = "Install it: pip install 'retentive[postgres]'"
        raise MissingExtra(f"PostgreSQL needs an extra that is not installed: {error}", hint) from error
    from retentive.storage.engines.postgres import Options, PostgresEngine

    namespaces = tuple(name.strip() for name in config.restrict_to.split(",") if name.strip())
    options = Options(config.pool_size, config.statement_timeout, namespaces, pooler=config.pooler)
    return PostgresEngine(config.db, options, replica=config.replica, partitions=config.partitions)
