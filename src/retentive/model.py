"""The values that travel between the layers. All are frozen; instants are UTC.

Inside the program and in the database an instant is an integer: microseconds since 1970. The same number means
the same on every engine, sorts, and fits an index. `Memory` and the other public values show `datetime`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def iso(moment: datetime | None) -> str | None:
    """As it is written outside: 2026-12-31T18:00:00Z."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class Kind(StrEnum):
    FACT = "fact"
    PREFERENCE = "preference"
    PERSONAL = "personal"
    BACKGROUND = "background"
    PATTERN = "pattern"
    PROJECT = "project"
    CONTACT = "contact"
    DECISION = "decision"
    INSTRUCTION = "instruction"
    OUTCOME = "outcome"
    NOTE = "note"
    FILE = "file"


class Status(StrEnum):
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    EXPIRED = "expired"


class Source(StrEnum):
    EXPLICIT = "explicit"
    EXTRACTED = "extracted"
    CONVERSATION = "conversation"
    FILE = "file"
    IMPORT = "import"


DEFAULT_CONFIDENCE: dict[Source, float] = {
    Source.EXPLICIT: 0.9,
    Source.FILE: 0.7,
    Source.EXTRACTED: 0.6,
    Source.CONVERSATION: 0.6,
    Source.IMPORT: 0.6,
}
DEFAULT_IMPORTANCE = 5


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing kept, with where it came from and what became of it."""

    id: str
    namespace: str
    session: str | None
    kind: Kind
    content: str
    context: str | None
    tags: tuple[str, ...]
    slot: str | None
    source: Source
    origin: Mapping[str, Any] | None
    confidence: float
    importance: int
    status: Status
    superseded_by: str | None
    content_hash: str
    valid_from: datetime
    valid_to: datetime | None
    created: datetime
    updated: datetime
    expires: datetime | None
    access_count: int
    last_access: datetime | None
    metadata: Mapping[str, Any]
    version: int


@dataclass(frozen=True, slots=True)
class Traits:
    """All that is said of a memory beside its text: checked, and shared by the memories of a bulk load."""

    kind: Kind
    tags: tuple[str, ...]
    importance: int
    confidence: float
    source: Source
    context: str | None
    session: str | None
    slot: str | None
    expires: datetime | None
    valid_from: datetime | None
    metadata: Mapping[str, Any]
    origin: Mapping[str, Any] | None


class Draft(NamedTuple):
    """A memory about to be kept: checked input, not yet decided on."""

    content: str
    content_hash: str
    traits: Traits
    vector: bytes | None
    """One that the caller brought, as the store keeps it."""


class Resemblance(NamedTuple):
    """A memory that says nearly the same, and the share of keywords both have."""

    id: str
    content: str
    overlap: float


@dataclass(frozen=True, slots=True)
class Added:
    """What became of an `add`."""

    memory: Memory
    created: bool
    """False: the same text was there already, and is what you got."""
    superseded: str | None = None
    """The id of the memory that held the slot before."""
    resembles: tuple[Resemblance, ...] = ()
    pending: bool = False
    """True: kept and found by full text, its vector is still to come."""

    @property
    def id(self) -> str:
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of an `add_many`."""

    ids: tuple[str, ...]
    """In the order given; the existing memory's where the text was there already."""
    created: int
    repeated: int
    superseded: int
    pending: int


@dataclass(frozen=True, slots=True)
class Backfilled:
    """What a `backfill` did, and what is still without a vector."""

    done: int
    remaining: int


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of a memory's history: what happened, and how it was before."""

    version: int
    action: str
    at: datetime
    actor: str
    reason: str | None
    before: Mapping[str, Any] | None


class Access(NamedTuple):
    """One reading of a memory: by `get`, or as a hit of a `search`."""

    namespace: str
    id: str
    at: datetime
    how: str
    query: str | None
    score: float | None


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding model's identity. Vectors of two spaces are never compared."""

    name: str
    dimension: int
    min_similarity: float
    """The cosine above which two texts are worth calling related, measured for this model."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a row must be, beyond whose it is. Empty means anything."""

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Every one of them must be there."""
    sources: tuple[str, ...] = ()
    min_importance: int | None = None
    min_confidence: float | None = None
    since: int | None = None
    """Valid from this instant on (inclusive)."""
    until: int | None = None
    """Valid from before this instant (exclusive)."""
    statuses: tuple[str, ...] = (Status.ACTIVE,)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows a question may see: these namespaces; in them what is global, and what is of this session."""

    namespaces: tuple[str, ...]
    session: str | None
    now: int
    """The instant of the question: what has expired by then is not seen."""
    filter: Filter = Filter()


class Match(NamedTuple):
    """One row from one leg of a search. `owner` is the id of the memory whose slice it is."""

    chunk: int
    score: float
    owner: str
    time: int
    confidence: float
    importance: int


class Fusion(StrEnum):
    MINMAX = "minmax"
    RRF = "rrf"


class Mode(StrEnum):
    HYBRID = "hybrid"
    TEXT = "text"
    VECTOR = "vector"


class Tier(StrEnum):
    """What a search could use, best first."""

    HYBRID = "hybrid"
    VECTOR = "vector"
    TEXT = "text"
    SUBSTRING = "substring"


@dataclass(frozen=True, slots=True)
class Query:
    """A question with its scope and the way it should be answered."""

    text: str
    scope: Scope
    vector: Any = None
    limit: int | None = 10
    mode: Mode = Mode.HYBRID
    fusion: Fusion = Fusion.MINMAX
    vector_weight: float = 0.6
    min_similarity: float | None = None


class Leg(NamedTuple):
    """One leg's view of a hit: its place, its own score, what became of that score, its weight in the sum."""

    rank: int
    score: float
    normal: float
    weight: float


@dataclass(frozen=True, slots=True)
class Why:
    """How a hit came by its score: `(sum of weight x normal over the legs) x confidence x importance`."""

    tier: Tier
    text: Leg | None
    vector: Leg | None
    confidence_factor: float
    importance_factor: float


@dataclass(frozen=True, slots=True)
class Hit:
    memory: Memory
    score: float
    excerpt: str
    """The part of the memory that matched: all of it, unless it is long."""
    why: Why

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def content(self) -> str:
        return self.memory.content


@dataclass(frozen=True, slots=True)
class Page(Sequence[Memory]):
    """Memories, newest first. `next` goes into `list(before=...)` for the page after; None at the end."""

    memories: tuple[Memory, ...]
    next: str | None = None

    def __len__(self) -> int:
        return len(self.memories)

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    def __getitem__(self, index: Any) -> Any:
        return self.memories[index]


@dataclass(frozen=True, slots=True)
class Results(Sequence[Hit]):
    """The hits of a search, best first, and how they were found."""

    query: str
    tier: Tier
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    """What was missing, where a part of the search could not be used."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by stage."""

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]
