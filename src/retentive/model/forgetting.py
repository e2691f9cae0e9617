"""What was forgotten, what was purged and what still repeats it, and where a memory came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from retentive.model.conversation import Event
from retentive.model.memory import Change, Memory


@dataclass(frozen=True, slots=True)
class Candidates:
    """What "forget my old address" may be about."""

    words: str
    memories: tuple[Memory, ...]
    """Those that have every word; nothing else is ever forgotten by words."""
    nearest: tuple[Memory, ...] = ()
    """If none has: what is like it, to choose from by id."""

    @property
    def clear(self) -> Memory | None:
        """The one that is meant, if there is no doubt."""
        return self.memories[0] if len(self.memories) == 1 else None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a `forget_matching` forgot, or would forget."""

    memories: tuple[Memory, ...]
    done: bool
    """False: it was a dry run, and they are as they were."""


class Repeat(NamedTuple):
    """A place that repeats what was purged: memory, history, message, summary, claim, session, expectation, namespace,
    log, kept file; profile, contact, project, skill, or the history of one.
    """

    place: str
    id: str
    """Of the memory, the message (`session#7`), the session, the expectation or the namespace; the file."""
    namespace: str | None = None
    """The namespace of the memory or message, if it is another: a person's, or a project's."""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a `purge` removed, and what it left."""

    ids: tuple[str, ...]
    removed: Mapping[str, int]
    """How many rows by place: memories, records, files, history, slices, accesses, messages, summaries, queries,
    expectations, proposals, claims, log (lines of the daily log)."""
    remaining: tuple[Repeat, ...]
    """Places that still repeat it, or that `with_origin` would purge, too."""
    proof: str
    """What was looked at and found; or why it is not complete yet."""
    complete: bool
    """False: bytes may still be there. Upkeep sees to it."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a memory came from, and what became of it."""

    memory: Memory
    messages: tuple[Event, ...]
    """Those it was learned from, as far as they are still there."""
    missing: tuple[str, ...]
    """The ids of those that are not."""
    replaced: tuple[Memory, ...]
    """What it took the place of, and what that took the place of; the oldest first."""
    replaced_by: tuple[Memory, ...]
    """What took its place, and what took the place of that; the newest last."""
    changes: tuple[Change, ...] = field(default=())
    """From its making to its latest change."""
