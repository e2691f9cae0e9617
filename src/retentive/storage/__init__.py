"""Where do things live?

`Engine` is the seam to a database. What is above it (`memories`, `chunks`, `conversations`, `upkeep`) is written once,
over the named queries of `queries/*.sql`; a database brings its connection, its dialect's own queries, and its schema.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from retentive.config import Config
    from retentive.model import Bounds, Match, Matches, Scope, Space
    from retentive.storage.integrity import IntegrityMode

Params = Mapping[str, Any]
"""Values by name. When reading, a tuple or a list stands for a set, used as `IN {each:name}`."""
NOTHING: Params = MappingProxyType({})
Pages = Callable[[int, int], None]
"""Hears how much of a file is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Step:
    """A write of a batch: a named query, run once for each of the rows of values."""

    query: str
    rows: Iterable[Params]
    expect: int | None = None
    """How many rows of the database each must change. Another number means that someone was first."""


def step(query: str, expect: int | None = None, **params: Any) -> Step:
    """One row of values."""
    return Step(query, (params,), expect)


class Finding(NamedTuple):
    """One line of a check-up."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


class Scrubbed(NamedTuple):
    """What became of the bytes of deleted rows."""

    done: bool
    """False: they may still be where the engine can reach them. Try again later."""
    detail: str
    """What keeps them; or, from a server, what its own logs may keep."""
    files: tuple[Path, ...] = ()
    """Where they would be found if they were still there; none that can be read from here for a server."""


class Engine(Protocol):
    """A database that holds one store.

    Safe to use from many threads; other processes (or machines) may use the same store at the same time. Errors are
    `StorageError`s, never the driver's. It knows rows and scopes; it must not know how answers are ranked, what is
    worth keeping, or that embedders exist.
    """

    in_process: bool
    """Whether questions are best answered by images of the rows in this process (`retentive.index`), which read it
    through the queries of chunks. False: the server has the indexes, and `search_both` answers in one round trip."""

    def read(self, query: str, params: Params = NOTHING, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """All rows of a named query, from one consistent state. `filters` name the fragments to put in `{filters}`."""
        ...

    def apply(self, steps: Iterable[Step]) -> None:
        """All of it or nothing, durable on return.

        Raises `Stale` when a step changed another number of rows than it expected, or broke a unique key: someone
        else was first, so read again and decide again.
        """
        ...

    def search_text(self, words: Sequence[str], scope: "Scope", limit: int) -> "list[Match]":
        """The rows of the scope that have any of the words, best BM25 first, ties to the newer."""
        ...

    def search_vectors(
        self, vector: Any, space: "Space", scope: "Scope", limit: int | None, floor: float | None
    ) -> "list[Match]":
        """The rows of the scope nearest by cosine, exactly; `floor` leaves out what is below it."""
        ...

    def search_both(
        self, words: Sequence[str], vector: Any, space: "Space", scope: "Scope", limit: int, floor: float | None
    ) -> "Matches":
        """`search_text` and `search_vectors` of one consistent state, with the cosine of each text match."""
        ...

    def tokens(self, text: str) -> list[str]:
        """The text as the full-text index breaks it up, stemmed."""
        ...

    def migrate(self) -> None:
        """Bring the schema up to date. Safe when many start at once; refuses a schema newer than this program's."""
        ...

    def check(self) -> list[Finding]:
        """Is everything whole, and do the parts agree? Reads all of it."""
        ...

    def rebuild(self) -> None:
        """Make the full-text index anew from its rows, and drop chunks and vectors that belong to nothing."""
        ...

    def backup(self, target: Path, progress: Pages) -> Mapping[str, int]:
        """Fill this empty file of SQLite's with the store as it is at one moment; how many rows each table had then.

        Reads and writes go on meanwhile. Whoever calls it sees to the file, also if it fails half-way. `Invalid`, and
        nothing in the file, where the database has means of its own: the hint names them.
        """
        ...

    def scrub(self, patience: float, *, reclaim: bool = False) -> Scrubbed:
        """Remove what deleted rows left behind: in the full-text index, in free pages, in logs, as far as it can.

        Waits `patience` seconds for others who hold an old state. Reads and writes go on meanwhile, or wait. `reclaim`
        makes their room free for others, too, where a server would otherwise do that in its own time.
        """
        ...

    def facts(self) -> Mapping[str, Any]:
        """Where it is, how large, which version: for `stats` and `doctor`."""
        ...

    @property
    def integrity(self) -> "IntegrityMode | None":
        """Seals what is written with a key outside the store; None where that is not offered."""
        ...

    def within(self, bounds: "Bounds") -> "Engine":
        """The same database for these namespaces alone, over the same connections; costs nothing.

        What is about others, or about the whole store, is `Forbidden`, and so is a write where only reading is allowed.
        """
        ...

    def close(self) -> None: ...


def open_engine(config: "Config") -> Engine:
    """The engine that the target names: a path, `:memory:`, or the address of a server."""
    from retentive.fs.paths import translated_os_errors

    with translated_os_errors("the store cannot be opened"):
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
        import psycopg  # noqa: F401 - to say so here, if it is missing
        import psycopg_pool  # noqa: F401 - likewise
    except ImportError as error:
        hint = "Install it: pip install 'retentive[postgres]'"
        raise MissingExtra(f"PostgreSQL needs an extra that is not installed: {error}", hint) from error
    from retentive.storage.engines.postgres import Options, PostgresEngine

    namespaces = tuple(name.strip() for name in config.restrict_to.split(",") if name.strip())
    options = Options(config.pool_size, config.statement_timeout, namespaces)
    return PostgresEngine(config.db, options, replica=config.replica, partitions=config.partitions)
