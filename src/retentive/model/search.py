"""Questions and answers: scopes, matches of the legs, hits with their why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, overload

from retentive.errors import Invalid
from retentive.model.conversation import Event
from retentive.model.files import Passage
from retentive.model.memory import Memory, Status
from retentive.model.records import Record

REFERENCE_THRESHOLD, REFERENCE_SPREAD = 0.35, 0.11  # of all-MiniLM-L6-v2, whose cosines ranking was fitted on


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
    """How the model is opened again: the setting `embedder`. None: not known."""

    @property
    def is_reference(self) -> bool:
        """Whether its cosines are as those that ranking was fitted on."""
        return self.min_similarity == REFERENCE_THRESHOLD and self.spread == REFERENCE_SPREAD

    def calibrate(self, cosine: float) -> float:
        """The cosine that all-MiniLM-L6-v2 gives what is as much related, so that ranking means the same."""
        return REFERENCE_THRESHOLD + (cosine - self.min_similarity) * REFERENCE_SPREAD / self.spread

    def uncalibrate(self, cosine: float) -> float:
        """The cosine of this model that is calibrated to the given one."""
        return self.min_similarity + (cosine - REFERENCE_THRESHOLD) * self.spread / REFERENCE_SPREAD


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
    """Of now; not looked at in questions about the past."""
    as_of: int | None = None
    """What was true at this instant."""
    known_at: int | None = None
    """What the store held to be true at this instant; with `as_of`: to have been true at that one."""
    ignored: bool = False
    """Whether contacts of type `ignored` are seen, too."""
    without_replies: bool = False
    """Whether messages of assistants are left out."""

    @property
    def past(self) -> bool:
        return self.as_of is not None or self.known_at is not None

    @property
    def said_until(self) -> int | None:
        """The last instant whose messages are seen."""
        return min((moment for moment in (self.as_of, self.known_at) if moment is not None), default=None)


class Type(StrEnum):
    """Whose slice a chunk is."""

    MEMORY = "memory"
    EVENT = "event"
    FILE = "file"
    PROFILE = "profile"
    CONTACT = "contact"
    PROJECT = "project"
    SKILL = "skill"


RECORDS = (Type.PROFILE, Type.CONTACT, Type.PROJECT, Type.SKILL)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows a question may see.

    In these namespaces: what is global, and what is of this session; of events, all, or those of one session only. A
    session is one of the first namespace, the asker's own.
    """

    namespaces: tuple[str, ...]
    session: str | None
    now: int
    """The instant of the question: what has expired by then is not seen."""
    filter: Filter = Filter()
    types: tuple[str, ...] = tuple(Type)
    within: str | None = None
    """The session whose events are seen; None: those of all."""
    asked_at: int | None = None
    """The instant from which "last week" counts, if it is another than now."""


class Match(NamedTuple):
    """One row from one leg of a search. `owner` is the id of what it is a slice of.

    Ids that callers choose may be the same in two namespaces; the number of a chunk is its own in the whole store.
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
    """What keyword search and vector search found, best first, and how near the question what has its words is."""

    text: list[Match]
    vector: list[Match]
    cosines: dict[int, float]
    """By chunk, of each text match that has a vector."""


class Fusion(StrEnum):
    BLEND = "blend"
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
    fusion: Fusion = Fusion.BLEND
    vector_weight: float = 0.65
    rrf_k: int = 60
    min_similarity: float | None = None
    min_relevance: float | None = None
    fold_copies: bool = True
    """Whether hits that say the same are one."""


class Leg(NamedTuple):
    """One leg's view of a hit: its place, its own score, what became of that score, its weight in the sum."""

    rank: int
    score: float
    normal: float
    weight: float


class Relation(StrEnum):
    """How the time of a hit stands to that of the question."""

    INSIDE = "inside"
    TOLD = "told"
    """It was said at another time, but its words tell of this one."""
    NEAR = "near"
    """Said soon after."""
    HOLDS = "holds"
    """It began earlier, and held."""
    NEWEST = "newest"
    """The question asks for what is newer."""
    OUTSIDE = "outside"


class Timing(NamedTuple):
    """What a time in the question made of a hit: the words, what they were read as, and what that did to the score."""

    words: str
    since: datetime | None
    until: datetime | None
    relation: Relation
    factor: float
    bonus: float


@dataclass(frozen=True, slots=True)
class Why:
    """How a hit came by its score.

    It is `(sum of the shares) x confidence x importance x when.factor + when.bonus + pair + rerank`.
    """

    tier: Tier
    text: Leg | None
    vector: Leg | None
    confidence_factor: float
    importance_factor: float
    when: Timing | None = None
    """None if the question has no time."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """What each thing that was looked at adds or takes away, by name; those of the legs are `weight x normal`."""
    pair: float = 0.0
    """Added to a hit so that what is newer and what it replaced, or may replace, share the better score of the two."""
    rerank: float = 0.0
    """Added by a reranker, which gave the hit another place, and so the score of that place."""


class Outdated(NamedTuple):
    """A newer memory that replaced what a hit says, or may have replaced it."""

    newer_id: str | None
    """None if the newer memory is no longer active."""
    since: datetime
    """From when the newer memory holds."""
    is_certain: bool
    """False: somebody has yet to decide (`memory.proposals`)."""

    def __str__(self) -> str:
        doubt = "" if self.is_certain else "possibly "
        return f"{doubt}outdated since {self.since:%Y-%m-%d}"

    @property
    def mark(self) -> str:
        """The mark beside a hit, with the id of the newer memory."""
        return f"{self}, see [{self.newer_id}]" if self.newer_id else str(self)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory; an event, with the range of sequences at whose ends it was said; a passage of a file; or a record."""

    item: Memory | Event | Record | Passage
    score: float
    excerpt: str
    """The part of it that matched: all of it, unless it is long."""
    why: Why
    span: tuple[int, int] | None = None
    relevance: float = 0.0
    """From 0 to 1, and comparable between searches, as the score is not."""
    outdated: Outdated | None = None
    """The newer memory that replaced it or may replace it, if there is one."""
    copies: int = 0
    """How many other hits said the same, and are not shown."""

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def content(self) -> str:
        """All that it says; of a record or a file, what of it matched."""
        return self.excerpt if isinstance(self.item, Record) else self.item.content

    @property
    def type(self) -> Type:
        match self.item:
            case Memory():
                return Type.MEMORY
            case Event():
                return Type.EVENT
            case Passage():
                return Type.FILE
            case record:
                return Type(record.TYPE)

    @property
    def time(self) -> datetime:
        """Since when it is true, when it was said, or when it was last changed."""
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
    """What was missing, where a part of the search could not be used."""
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
