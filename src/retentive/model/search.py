"""Search: scopes and filters, matches of keyword and vector search, hits with the explanation of their scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, overload

from retentive.errors import Invalid
from retentive.frozen_dataclass import dataclass
from retentive.model.conversation import Event
from retentive.model.files import Passage
from retentive.model.memory import Memory, Status
from retentive.model.records import Record

REFERENCE_THRESHOLD, REFERENCE_SPREAD = 0.35, 0.11  # of all-MiniLM-L6-v2: ranking was fitted on its cosines


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding model's identity. Vectors of two spaces are never compared."""

    name: str
    dimension: int
    """0: not known yet, because the provider of the model has not answered."""
    min_similarity: float
    """The cosine above which two texts are worth calling related, measured for this model."""
    spread: float = REFERENCE_SPREAD
    """The standard deviation of the cosines of questions and unrelated texts; the default is all-MiniLM-L6-v2's."""
    model: str | None = field(default=None, compare=False)
    """The setting `embedder` that opens the model again. None: not known."""

    @property
    def is_reference(self) -> bool:
        """Whether the model has the scale of cosines on which ranking was fitted."""
        return self.min_similarity == REFERENCE_THRESHOLD and self.spread == REFERENCE_SPREAD

    def calibrate(self, cosine: float) -> float:
        """Convert a cosine of this model to the scale of all-MiniLM-L6-v2, on which ranking was fitted."""
        return REFERENCE_THRESHOLD + (cosine - self.min_similarity) * REFERENCE_SPREAD / self.spread

    def uncalibrate(self, cosine: float) -> float:
        """Convert a cosine of all-MiniLM-L6-v2's scale to that of this model."""
        return self.min_similarity + (cosine - REFERENCE_THRESHOLD) * self.spread / REFERENCE_SPREAD


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on the rows of a search, beside the namespaces. An empty filter lets everything pass."""

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """A row must have all of these tags."""
    sources: tuple[str, ...] = ()
    min_importance: int | None = None
    min_confidence: float | None = None
    since: int | None = None
    """Rows that are valid from this instant on (inclusive)."""
    until: int | None = None
    """Rows that are valid from before this instant (exclusive)."""
    statuses: tuple[str, ...] = (Status.ACTIVE,)
    """The current statuses; not used in questions about the past."""
    as_of: int | None = None
    """Find what was true at this instant."""
    known_at: int | None = None
    """Find what the store knew at this instant; with `as_of`, what it then knew about that instant."""
    ignored: bool = False
    """Whether contacts of type `ignored` are found, too."""
    without_replies: bool = False
    """Whether messages of assistants are left out."""

    @property
    def past(self) -> bool:
        return self.as_of is not None or self.known_at is not None

    @property
    def messages_until(self) -> int | None:
        """The last instant whose messages are searched; None: all are."""
        return min((moment for moment in (self.as_of, self.known_at) if moment is not None), default=None)


class ItemType(StrEnum):
    """The type of item that a chunk belongs to."""

    MEMORY = "memory"
    EVENT = "event"
    FILE = "file"
    PROFILE = "profile"
    CONTACT = "contact"
    PROJECT = "project"
    SKILL = "skill"


RECORDS = (ItemType.PROFILE, ItemType.CONTACT, ItemType.PROJECT, ItemType.SKILL)


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows that a question may find.

    They are the global rows of these namespaces and those of one session. Messages are found in all sessions, or in
    one. The session belongs to the first namespace, that of the caller.
    """

    namespaces: tuple[str, ...]
    session: str | None
    now: int
    """The instant of the question: rows that have expired by then are not found."""
    filter: Filter = Filter()
    types: tuple[str, ...] = tuple(ItemType)
    events_of_session: str | None = None
    """The only session whose messages are found; None: those of all sessions."""
    asked_at: int | None = None
    """The instant from which "last week" counts, if not `now`."""
    is_session_only: bool = False
    """Whether only what belongs to the session is found: its own memories, messages and files."""


class Match(NamedTuple):
    """A chunk that keyword search or vector search found. `owner` is the id of the item that the chunk belongs to.

    Two namespaces may use the same id; the number of a chunk is unique in the store.
    """

    chunk: int
    score: float
    owner: str
    type: str
    time: int
    confidence: float
    importance: int
    namespace: str


class Matches(NamedTuple):
    """The matches of keyword search and of vector search, best first."""

    text: list[Match]
    vector: list[Match]
    cosines: dict[int, float]
    """The cosine of each text match that has a vector, by chunk."""


class ChangedChunks(NamedTuple):
    """The distinct chunks that changed, and whether the log still has every change that was asked for."""

    chunks: list[int]
    is_complete: bool


class Fusion(StrEnum):
    BLEND = "blend"
    MINMAX = "minmax"
    RRF = "rrf"


class Reach(StrEnum):
    """What a search sees: all that the caller may see, or a session alone."""

    ALL = "all"
    SESSION = "session"


class Mode(StrEnum):
    HYBRID = "hybrid"
    TEXT = "text"
    VECTOR = "vector"


class Tier(StrEnum):
    """The retrievers that a search could use, best first."""

    HYBRID = "hybrid"
    VECTOR = "vector"
    TEXT = "text"
    SUBSTRING = "substring"


@dataclass(frozen=True, slots=True)
class Query:
    """A question with its scope and the options of the search."""

    text: str
    scope: Scope
    vector: Any = None
    limit: int | None = 10
    mode: Mode = Mode.HYBRID
    fusion: Fusion = Fusion.BLEND
    vector_weight: float = 0.65
    rrf_k: int = 60
    min_similarity: float | None = None
    min_relevance: float | None = None
    fold_copies: bool = True
    """Whether hits with the same text become one."""


class RetrieverScore(NamedTuple):
    """The score that one retriever gave a hit: rank, raw score, normalised score and its weight in the sum."""

    rank: int
    score: float
    normal: float
    weight: float


class TimeRelation(StrEnum):
    """How the time of a hit relates to the time in the question."""

    INSIDE = "inside"
    MENTIONED = "mentioned"
    """Said at another time, but the words mention this one."""
    NEAR = "near"
    """Said soon after."""
    HOLDS = "holds"
    """True since an earlier time, and still true then."""
    NEWEST = "newest"
    """The question asks for the newest."""
    OUTSIDE = "outside"


class TimeMatch(NamedTuple):
    """The effect of a time in the question on a hit: the words, the span that they mean, the change of the score."""

    words: str
    since: datetime | None
    until: datetime | None
    relation: TimeRelation
    factor: float
    bonus: float


@dataclass(frozen=True, slots=True)
class Why:
    """The explanation of a hit's score.

    The score is `(sum of the shares) x confidence x importance x time.factor + time.bonus + pair + rerank`.
    """

    tier: Tier
    text: RetrieverScore | None
    vector: RetrieverScore | None
    confidence_factor: float
    importance_factor: float
    time: TimeMatch | None = None
    """None if the question has no time."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """The points that each signal adds or takes away, by name; the share of a retriever is `weight x normal`."""
    pair: float = 0.0
    """Points that give a memory and the one that it replaced, or may replace, the better score of the two."""
    rerank: float = 0.0
    """Points from the reranker: it moved the hit to another place, and the hit takes the score of that place."""


class Successor(NamedTuple):
    """A newer memory that replaced what a hit says, or may have replaced it."""

    newer_id: str | None
    """None if the newer memory is no longer active."""
    since: datetime
    """When the newer memory became true."""
    is_certain: bool
    """False: somebody must still decide (`memory.proposals`)."""

    def __str__(self) -> str:
        doubt = "" if self.is_certain else "possibly "
        return f"{doubt}outdated since {self.since:%Y-%m-%d}"

    @property
    def mark(self) -> str:
        """The mark beside a hit, with the id of the newer memory."""
        return f"{self}, see [{self.newer_id}]" if self.newer_id else str(self)


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: a memory, a message, a passage of a file, or a record."""

    item: Memory | Event | Record | Passage
    score: float
    excerpt: str
    """The part of the text that matched; the whole text unless it is long."""
    why: Why
    span: tuple[int, int] | None = None
    relevance: float = 0.0
    """A number from 0 to 1. Unlike the score, it is comparable between searches."""
    outdated: Successor | None = None
    """The newer memory that replaced or may replace this hit, if there is one."""
    copies: int = 0
    """How many other hits have the same text and are not shown."""

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def content(self) -> str:
        """The text of the item; for a record or a file, the part that matched."""
        return self.excerpt if isinstance(self.item, Record) else self.item.content

    @property
    def type(self) -> ItemType:
        match self.item:
            case Memory():
                return ItemType.MEMORY
            case Event():
                return ItemType.EVENT
            case Passage():
                return ItemType.FILE
            case record:
                return ItemType(record.TYPE)

    @property
    def time(self) -> datetime:
        """When a memory became true, a message was said, or a file or record was last changed."""
        match self.item:
            case Memory(valid_from=time) | Event(time=time) | Passage(modified=time):
                return time
            case record:
                return record.updated

    @property
    def memory(self) -> Memory:
        if not isinstance(self.item, Memory):
            raise Invalid(f"the hit {self.id} is a {self.type}", "Look at hit.type; ask with include='memories'.")
        return self.item

    @property
    def event(self) -> Event:
        if not isinstance(self.item, Event):
            raise Invalid(f"the hit {self.id} is a {self.type}", "Look at hit.type; ask with include='events'.")
        return self.item

    @property
    def passage(self) -> Passage:
        if not isinstance(self.item, Passage):
            raise Invalid(f"the hit {self.id} is a {self.type}", "Look at hit.type; ask with include='files'.")
        return self.item

    @property
    def record(self) -> Record:
        if not isinstance(self.item, Record):
            raise Invalid(f"the hit {self.id} is a {self.type}", "Look at hit.type; ask with include='contacts'.")
        return self.item


@dataclass(frozen=True, slots=True)
class Results(Sequence[Hit]):
    """The hits of a search, best first, and how they were found."""

    query: str
    tier: Tier
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    """Parts of the search that could not be used, and why."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by stage."""

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...

    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]
