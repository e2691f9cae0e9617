"""Conversations: sessions, their messages, the rolling summary, and the context for a model."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model.learning import HandledRequest


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
"""The roles by name, including the names that other products use."""


class Message(NamedTuple):
    """A message to be appended: validated input, before it gets its sequence number."""

    role: Role
    content: str
    speaker: str | None
    time: datetime | None
    sequence: int | None
    payload: Any
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One stored message of a session."""

    namespace: str
    session: str
    sequence: int
    role: Role
    speaker: str | None
    content: str
    payload: Any
    """Data beside the text, unchanged: tool calls, results, any JSON value. None if there is none."""
    time: datetime
    requests: tuple[HandledRequest, ...] = ()
    """The explicit requests in the message, and what was done about them. Only `append` sets it."""
    is_hidden: bool = False
    """Whether searches and contexts leave it out, because its memory was forgotten."""
    tags: tuple[str, ...] = ()
    """Its own tags. Filters find it by these and by those of its session."""

    @property
    def id(self) -> str:
        return f"{self.session}#{self.sequence}"


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation."""

    id: str
    namespace: str
    agent: str | None
    """The agent that talks with the user: a name or an id that the caller chose."""
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    created: datetime
    active: datetime
    """The time of the newest message."""
    events: int
    last_sequence: int
    person: str | None = None
    """The namespace of the person who talks, for memories about them. None: not known; empty: several persons talk."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a session's older messages. `epoch` counts its versions; 0 means that there is none yet."""

    session: str
    text: str
    upto: int
    """The sequence of the last message that the summary covers."""
    epoch: int


@dataclass(frozen=True, slots=True)
class AppendResult:
    """The result of an `append_many`."""

    session: str
    first: int
    last: int
    events: int
    pending: int
    """The number of chunks without a vector yet. They are stored and found by keyword search."""


@dataclass(frozen=True, slots=True)
class DeleteSessionResult:
    """The numbers of items deleted with a session; `kept` counts the global memories that stayed."""

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
    """The number of messages that are neither here nor in the summary."""


class Omission(NamedTuple):
    """An item that was left out of a context, and why."""

    part: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """The text for a model's prompt."""

    text: str
    tokens: int
    budget: int
    cites: tuple[str, ...]
    """The ids of the memories and messages in the text, in order."""
    left_out: tuple[Omission, ...]
    parts: Mapping[str, int] = field(default_factory=dict)
    """The number of tokens by part."""
    notes: tuple[str, ...] = ()
    """Parts of the search that could not be used, and why."""


@dataclass(frozen=True, slots=True)
class ImportLogResult:
    """The result of an `import_log`."""

    sessions: tuple[str, ...]
    events: int
    """The number of new messages."""
    known: int
    """The number of messages that an earlier import had brought."""
