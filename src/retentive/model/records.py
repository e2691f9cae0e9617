"""Structured records: profiles, contacts, projects, skills, and their revisions."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """One version of a structured record."""

    TYPE: ClassVar[str] = ""

    id: str
    namespace: str
    version: int
    """1 for the first; each change adds one. `update(version=...)` fails if the record is at a later one."""
    created: datetime
    updated: datetime

    @property
    def names(self) -> tuple[str, ...]:
        """The name and aliases of the record."""
        return ()


class ContactType(StrEnum):
    WORK = "work"
    PERSONAL = "personal"
    IGNORED = "ignored"


class ProjectStatus(StrEnum):
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
    """A person whom the user knows."""

    TYPE: ClassVar[str] = "contact"

    name: str = ""
    aliases: tuple[str, ...] = ()
    email: str | None = None
    phone: str | None = None
    company: str | None = None
    role: str | None = None
    type: ContactType = ContactType.PERSONAL
    notes: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Project(Record):
    """A project of the user. It refers to contacts by their ids."""

    TYPE: ClassVar[str] = "project"

    name: str = ""
    status: ProjectStatus = ProjectStatus.ACTIVE
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
    """Reusable instructions with a trigger. They are stored and searched here; the agent runs them."""

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
    """The profile of a namespace: one JSON document, empty at version 0."""

    TYPE: ClassVar[str] = "profile"

    document: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The source memory of each value, by JSON pointer."""
    schema: Mapping[str, Any] | None = None
    """A JSON Schema that the document must meet."""


R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Revision(Generic[R]):
    """One change of a record, and the record after it; None if it was deleted."""

    version: int
    action: str
    at: datetime
    actor: str
    reason: str | None
    record: R | None
    id: str
    """The id of the record, or of the record that was merged into it."""


@dataclass(frozen=True, slots=True)
class DueSkill:
    """A scheduled skill that should run now: since when, and when it ran last."""

    skill: Skill
    since: datetime
    last_run: datetime | None
