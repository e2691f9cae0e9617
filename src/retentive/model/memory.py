"""Memories: what is kept, what became of it, and what is said about keeping it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from retentive.model.proposals import Ended, Proposal


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
    ASSISTANT = "assistant"
    TOOL = "tool"


DEFAULT_CONFIDENCE: dict[Source, float] = {
    Source.EXPLICIT: 0.9,
    Source.FILE: 0.7,
    Source.EXTRACTED: 0.6,
    Source.CONVERSATION: 0.6,
    Source.IMPORT: 0.6,
    Source.ASSISTANT: 0.5,
    Source.TOOL: 0.5,
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


class Replacement(NamedTuple):
    """An older memory that a newer one ends, or may end, and why."""

    id: str
    """Of the older one."""
    rule: str
    """The name of the rule or of the judge that decided, such as `same attribute`."""
    reason: str
    """In plain words, for people: what in the two texts decided."""


class Move(NamedTuple):
    """From the namespace of a memory to the one that it may belong to, by which rule, and why."""

    source: str
    target: str
    rule: str
    reason: str


class Draft(NamedTuple):
    """A memory about to be kept: checked input, not yet decided on."""

    content: str
    content_hash: str
    traits: Traits
    vector: bytes | None
    """One that the caller brought, as the store keeps it."""
    corrects: tuple[Replacement, ...] = ()
    """The memories that it surely replaces: they are ended with it."""
    proposes: tuple[Replacement, ...] = ()
    """The memories that it may replace: both stay, and a proposal is kept for each."""
    ended_by: str | None = None
    """The id of a memory that tells of a later time and has taken its place already."""
    held: tuple[Replacement, ...] = ()
    """The memories that it would replace if its source were trusted as much: they are proposed."""
    outlived: tuple[Replacement, ...] = ()
    """Memories of a later time that would replace it if their source were trusted as much: they are proposed."""
    move: Move | None = None
    """Where it may belong instead: a proposal to move it there is kept with it."""


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
    superseded: tuple[str, ...] = ()
    """The ids of the memories whose place it took: they held its slot, or its words put an end to them."""
    resembles: tuple[Resemblance, ...] = ()
    pending: bool = False
    """True: kept and found by full text, its vector is still to come."""
    ended: tuple[Ended, ...] = ()
    """The same memories as `superseded`, with their texts and why they ended."""
    proposals: tuple[Proposal, ...] = ()
    """Memories that it may replace: they stay until somebody decides."""

    @property
    def id(self) -> str:
        return self.memory.id


class Refusal(NamedTuple):
    """Something that was not kept: the item of a list or the place in a file, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of an `add_many`."""

    ids: tuple[str, ...]
    """Of what was kept, in the order given; the existing memory's where the text was there already."""
    created: int
    repeated: int
    superseded: int
    pending: int
    refusals: tuple[Refusal, ...] = ()
    """Items that hold a secret; `place` is the number of each, such as `item 2`."""


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
class Page(Sequence[Memory]):
    """Memories, newest first. `next` goes into `list(before=...)` for the page after; None at the end."""

    memories: tuple[Memory, ...]
    next: str | None = None
    notes: tuple[str, ...] = ()
    """What was left out because it is damaged."""

    def __len__(self) -> int:
        return len(self.memories)

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    def __getitem__(self, index: Any) -> Any:
        return self.memories[index]
