"""Results of forgetting and purging, and the provenance of a memory."""

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model.conversation import Event
from retentive.model.memory import HistoryEntry, Memory


@dataclass(frozen=True, slots=True)
class ForgetCandidates:
    """The memories that "forget my old address" may mean."""

    words: str
    memories: tuple[Memory, ...]
    """Memories that contain every word. No other memory is ever forgotten by words."""
    nearest: tuple[Memory, ...] = ()
    """If no memory contains every word: similar memories, to choose from by id."""

    @property
    def clear(self) -> Memory | None:
        """The only candidate, if there is exactly one."""
        return self.memories[0] if len(self.memories) == 1 else None


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """The memories that a `forget_matching` forgot, or would forget."""

    memories: tuple[Memory, ...]
    done: bool
    """False: it was a dry run, and nothing was changed."""


class RemainingCopy(NamedTuple):
    """A place that still repeats purged text.

    It is a memory, history, message, summary, claim, session, expectation, namespace, log or kept file; or a profile,
    contact, project, skill, or the history of one.
    """

    place: str
    id: str
    """The id of the memory, message (`session#7`), session, expectation or namespace; a file's path."""
    namespace: str | None = None
    """The namespace of the memory or message, if it is another one: a person's, or a project's."""


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """The rows that a `purge` removed, and the copies that remain."""

    ids: tuple[str, ...]
    removed: Mapping[str, int]
    """The number of removed rows by place: memories, records, files, history, chunks, accesses, messages, summaries,
    queries, expectations, proposals, quarantine, claims, log (lines of the daily log)."""
    remaining: tuple[RemainingCopy, ...]
    """Places that still repeat the text, or that `with_origin` would purge, too."""
    proof: str
    """The places that were checked and the findings; or why the purge is not complete yet."""
    complete: bool
    """False: bytes may still be there. Background work removes them."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The sources of a memory, and its changes."""

    memory: Memory
    messages: tuple[Event, ...]
    """The messages that it was learned from, if they still exist."""
    missing: tuple[str, ...]
    """The ids of source messages that no longer exist."""
    replaced: tuple[Memory, ...]
    """The memories that it replaced, directly and indirectly, oldest first."""
    replaced_by: tuple[Memory, ...]
    """The memories that replaced it, directly and indirectly, newest last."""
    changes: tuple[HistoryEntry, ...] = field(default=())
    """The changes of the memory, from its creation to the latest."""
