"""Conversations: sessions, their events, the rolling summary; and the text that a model should read next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from retentive.model.learning import Heard


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    DEVELOPER = "developer"
    TOOL = "tool"


MESSAGE, REPLY = "event", "reply"
"""The kinds of the chunks of messages: what an assistant said is a reply."""

ROLES: Mapping[str, Role] = {
    **{role.value: role for role in Role},
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "agent": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "function": Role.TOOL,
}
"""By the words that are used for them elsewhere, too."""


class Message(NamedTuple):
    """An event about to be kept: checked input, its number not yet decided on."""

    role: Role
    content: str
    speaker: str | None
    time: datetime | None
    sequence: int | None
    payload: Any


@dataclass(frozen=True, slots=True)
class Event:
    """One message of a session, whole."""

    namespace: str
    session: str
    sequence: int
    role: Role
    speaker: str | None
    content: str
    payload: Any
    """What came with the text, as it was given: tool calls, results, anything JSON can say. None if nothing did."""
    time: datetime
    heard: tuple[Heard, ...] = ()
    """What was done about requests in it, told to who appended it."""
    is_hidden: bool = False
    """Whether a forgotten memory keeps it out of searches and contexts."""

    @property
    def id(self) -> str:
        return f"{self.session}#{self.sequence}"


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation."""

    id: str
    namespace: str
    agent: str | None
    """Who talks with the user: a name or an id of the caller's own."""
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    created: datetime
    active: datetime
    """The time of its newest event."""
    events: int
    last_sequence: int
    person: str | None = None
    """The namespace of the person who talks in it, where what is learned about them is kept. None: it is not known;
    empty: several persons talk in it.
    """


@dataclass(frozen=True, slots=True)
class Summary:
    """What a session's older messages came to. `epoch` counts its versions; 0 means there is none yet."""

    session: str
    text: str
    upto: int
    """The sequence of the last message it covers."""
    epoch: int


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of an `append_many`."""

    session: str
    first: int
    last: int
    events: int
    pending: int
    """Chunks that are kept and found by full text, whose vectors are still to come."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What went with a session, and how many global memories learned from it stayed."""

    session: str
    events: int
    memories: int
    chunks: int
    kept: int


@dataclass(frozen=True, slots=True)
class Replay:
    """A conversation rebuilt within a budget: the summary first, then the newest messages that fit, in order."""

    session: str
    summary: str
    events: tuple[Event, ...]
    text: str
    tokens: int
    left_out: int
    """Messages that are neither here nor in the summary."""


class Omission(NamedTuple):
    """Something that would have been in a context, and why it is not."""

    part: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """The text handed to a model."""

    text: str
    tokens: int
    budget: int
    cites: tuple[str, ...]
    """The ids of the memories and events that are in it, in their order."""
    left_out: tuple[Omission, ...]
    parts: Mapping[str, int] = field(default_factory=dict)
    """Tokens by part."""
    notes: tuple[str, ...] = ()
    """What was missing, where a part of the search could not be used."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an `import_log`."""

    sessions: tuple[str, ...]
    events: int
    """Messages that are new."""
    known: int
    """Messages that were there from an earlier import."""
