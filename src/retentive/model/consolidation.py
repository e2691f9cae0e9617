"""What a consolidation made of old memories, and what undoing it did."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ConsolidationRule(StrEnum):
    """Why several memories became one."""

    RESTATEMENT = "restatement"
    """They say the same in other words."""
    REFINEMENT = "refinement"
    """One says more of the same value: "I live in Oslo", and "I live in Oslo, Norway"."""
    OUTCOMES = "outcomes"
    """Many small outcomes of one project and month, summed up."""


@dataclass(frozen=True, slots=True)
class CitedMemory:
    """A memory that became part of another."""

    id: str
    content: str
    time: datetime
    """From when it held."""


@dataclass(frozen=True, slots=True)
class ConsolidatedGroup:
    """Memories that became one, or would."""

    rule: ConsolidationRule
    text: str
    """Of the memory that was made."""
    cited: tuple[CitedMemory, ...]
    """The memories that it replaces, the oldest first."""
    by: str = "form"
    """Who wrote the text: `form` (one of the texts as it stands), `sentences` (chosen), or the language model."""
    id: str | None = None
    """Of the memory that was made; None in a dry run."""


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What a `consolidate` did, or would do."""

    run: str | None
    """The id by which `undo_consolidation` undoes it; None if nothing was changed."""
    done: bool
    """False: it was a dry run."""
    groups: tuple[ConsolidatedGroup, ...]
    scanned: int
    """The number of memories that were looked at."""
    complete: bool
    """False: the limit was reached, and another run finds more."""
    notes: tuple[str, ...] = ()
    """What was left as it is, and why."""


@dataclass(frozen=True, slots=True)
class UndoneConsolidation:
    """What undoing a run did."""

    run: str
    forgotten: tuple[str, ...]
    """The ids of the memories that the run had made."""
    restored: tuple[str, ...]
    """The ids of the memories that are active again."""
    left: tuple[str, ...]
    """What was left as it is, and why: changed or forgotten since."""
