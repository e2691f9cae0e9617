"""Results of consolidating memories, and of undoing a consolidation."""

from datetime import datetime
from enum import StrEnum

from retentive.frozen_dataclass import dataclass


class ConsolidationRule(StrEnum):
    """The rule by which several memories became one."""

    RESTATEMENT = "restatement"
    """The memories say the same in other words."""
    REFINEMENT = "refinement"
    """One memory gives the same value in more detail: "I live in Oslo", and "I live in Oslo, Norway"."""
    OUTCOMES = "outcomes"
    """Many small outcomes of one project and month are summarised."""


@dataclass(frozen=True, slots=True)
class MergedMemory:
    """A memory that became part of another."""

    id: str
    content: str
    time: datetime
    """When it became true."""


@dataclass(frozen=True, slots=True)
class ConsolidatedGroup:
    """Memories that became one, or would become one."""

    rule: ConsolidationRule
    text: str
    """The text of the new memory."""
    cited: tuple[MergedMemory, ...]
    """The memories that the new one replaces, oldest first."""
    by: str = "form"
    """The origin of the text: `form` (one of the texts unchanged), `sentences` (chosen ones), or the language model."""
    id: str | None = None
    """The id of the new memory; None in a dry run."""


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The result of a `consolidate`, or the plan of a dry run."""

    run: str | None
    """The id by which `undo_consolidation` undoes it; None if nothing was changed."""
    done: bool
    """False: it was a dry run."""
    groups: tuple[ConsolidatedGroup, ...]
    scanned: int
    """The number of memories that were compared."""
    complete: bool
    """False: the limit was reached, and another run finds more."""
    notes: tuple[str, ...] = ()
    """Memories that were left unchanged, and why."""


@dataclass(frozen=True, slots=True)
class UndoConsolidationResult:
    """The result of undoing a run."""

    run: str
    forgotten: tuple[str, ...]
    """The ids of the memories that the run had made."""
    restored: tuple[str, ...]
    """The ids of the memories that are active again."""
    left: tuple[str, ...]
    """Memories that were left unchanged, and why: they were changed or forgotten after the run."""
