"""Memories, the drafts from which they are made, and the results of writing them."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model.proposals import Proposal, ReplacedMemory


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
VITAL_IMPORTANCE = 9
"""Memories of at least this importance are in every context."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered statement, with its source, its validity and its status."""

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
    """The validated attributes of a memory, without its text. The memories of a bulk load share them."""

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
    """An older memory that a newer one replaces, or may replace, and why."""

    id: str
    """The id of the older memory."""
    rule: str
    """The name of the rule or of the judge that decided, such as `same attribute`."""
    reason: str
    """The evidence in the two texts, in plain words, for people."""


class Move(NamedTuple):
    """A move of a memory from its namespace to the one that it may belong to: by which rule, and why."""

    source: str
    target: str
    rule: str
    reason: str


class Draft(NamedTuple):
    """A memory to be written: validated input, before the decision whether it is new."""

    content: str
    content_hash: str
    traits: Traits
    vector: bytes | None
    """The vector that the caller gave, in the stored form."""
    corrects: tuple[Replacement, ...] = ()
    """The memories that it certainly replaces, in the same transaction."""
    proposes: tuple[Replacement, ...] = ()
    """The memories that it may replace: both stay, and a proposal is made for each."""
    ended_by: str | None = None
    """The id of a memory that is true from a later time on and has already replaced it."""
    untrusted_replacements: tuple[Replacement, ...] = ()
    """The memories that it would replace if its source were trusted as much: they are proposed."""
    untrusted_successors: tuple[Replacement, ...] = ()
    """The later memories that would replace it if their source were trusted as much: they are proposed."""
    proposed_move: Move | None = None
    """The namespace that it may belong to: a proposal to move it there is made."""


class SimilarMemory(NamedTuple):
    """A memory with nearly the same text, and the share of keywords that both have."""

    id: str
    content: str
    overlap: float


@dataclass(frozen=True, slots=True)
class AddResult:
    """The result of an `add`."""

    memory: Memory
    created: bool
    """False: a memory with the same text existed already, and is returned."""
    superseded: tuple[str, ...] = ()
    """The ids of the memories that it replaced: they had its slot, or its words contradict them."""
    similar: tuple[SimilarMemory, ...] = ()
    pending: bool = False
    """True: it is stored and found by keyword search, but has no vector yet."""
    replaced: tuple[ReplacedMemory, ...] = ()
    """The same memories as `superseded`, with their texts and why they ended."""
    proposals: tuple[Proposal, ...] = ()
    """Proposals to replace memories: these stay until somebody decides."""

    @property
    def id(self) -> str:
        return self.memory.id


class RefusedItem(NamedTuple):
    """An item that was not kept: its number in a list or its place in a file, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class AddManyResult:
    """The result of an `add_many`."""

    ids: tuple[str, ...]
    """The ids of the memories, in the order given; for a text that existed already, the id of the existing memory."""
    created: int
    repeated: int
    superseded: int
    pending: int
    refusals: tuple[RefusedItem, ...] = ()
    """The items that contain a secret; `place` is the number of each, such as `item 2`."""


@dataclass(frozen=True, slots=True)
class BackfillResult:
    """The number of vectors that a `backfill` made, and of those still missing."""

    done: int
    remaining: int


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of a memory, and the memory before it."""

    version: int
    action: str
    at: datetime
    actor: str
    reason: str | None
    before: Mapping[str, Any] | None


class Access(NamedTuple):
    """One access to a memory: by `get`, as a hit of a `search`, or by a hook that showed it."""

    namespace: str
    id: str
    at: datetime
    how: str
    query: str | None
    score: float | None
