"""What is known in fields: profiles, contacts, projects, skills, and what is said about changing them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar


@dataclass(frozen=True, slots=True)
class Record:
    """One thing known in fields, as it is at a version."""

    TYPE: ClassVar[str] = ""

    id: str
    namespace: str
    version: int
    """1 for the first; each change adds one. `update(version=...)` refuses if it has moved on."""
    created: datetime
    updated: datetime

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called by."""
        return ()


class Acquaintance(StrEnum):
    WORK = "work"
    PERSONAL = "personal"
    IGNORED = "ignored"


class Stage(StrEnum):
    PLANNED = "planned"
    ACTIVE = "active"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"


class Priority(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


@dataclass(frozen=True, slots=True)
class Contact(Record):
    """Somebody who is known."""

    TYPE: ClassVar[str] = "contact"

    name: str = ""
    aliases: tuple[str, ...] = ()
    email: str | None = None
    phone: str | None = None
    company: str | None = None
    role: str | None = None
    type: Acquaintance = Acquaintance.PERSONAL
    notes: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Project(Record):
    """Something that is being done. Contacts are named by their ids."""

    TYPE: ClassVar[str] = "project"

    name: str = ""
    status: Stage = Stage.ACTIVE
    type: str | None = None
    description: str | None = None
    primary_contact: str | None = None
    participants: tuple[str, ...] = ()
    company: str | None = None
    priority: Priority = Priority.NORMAL

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Skill(Record):
    """Something that an agent knows how to do. It is kept and found here; the agent runs it."""

    TYPE: ClassVar[str] = "skill"

    name: str = ""
    description: str | None = None
    enabled: bool = True
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"type": "manual"})
    """`{"type": "manual"}`, `{"type": "schedule", "cron": "0 8 * * 1", "timezone": "Europe/Oslo"}`, or
    `{"type": "event", "event": "deploy"}`; further keys are kept."""
    instructions: str | None = None
    required_tools: tuple[str, ...] = ()
    execution_plan: tuple[str, ...] = ()
    max_steps: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Profile(Record):
    """What a namespace is about: one JSON document, at version 0 before anything was said."""

    TYPE: ClassVar[str] = "profile"

    document: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By JSON pointer: the memory that a value came from."""
    schema: Mapping[str, Any] | None = None
    """A JSON Schema that the document must meet."""


R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Revision(Generic[R]):
    """One change of a record: what happened, and how it was after that; None once it was deleted."""

    version: int
    action: str
    at: datetime
    actor: str
    reason: str | None
    record: R | None
    id: str
    """That of the record; of one that was merged into it, that one's."""


@dataclass(frozen=True, slots=True)
class Records(Sequence[R]):
    """A page of records in the order of their names. `next` goes into `list(after=...)`; None at the end."""

    records: tuple[R, ...]
    next: str | None = None

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[R]:
        return iter(self.records)

    def __getitem__(self, index: Any) -> Any:
        return self.records[index]


@dataclass(frozen=True, slots=True)
class Due:
    """A scheduled skill whose time has come: since when, and when it ran last."""

    skill: Skill
    since: datetime
    last_run: datetime | None
