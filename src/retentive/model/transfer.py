"""The result of importing memories."""

from collections.abc import Mapping
from dataclasses import field

from retentive.frozen_dataclass import dataclass
from retentive.model.memory import RefusedItem


@dataclass(frozen=True, slots=True)
class ImportMemoriesResult:
    """The result of an `import_memories`, or the plan of a dry run."""

    format: str
    created: int
    """The number of new memories."""
    known: int
    """The number of memories that exist already, or existed and were forgotten or replaced."""
    superseded: int
    """The number of memories whose slots the new ones took."""
    pending: int
    """The number of new memories without a vector yet."""
    refused: int
    refusals: tuple[RefusedItem, ...]
    """The first twenty refused items."""
    kinds: Mapping[str, int]
    """The number of new memories by kind."""
    examples: tuple[str, ...]
    """The texts of the first few new memories."""
    notes: tuple[str, ...]
    """The first twenty items that were skipped on purpose, such as files that a text names."""
    dry_run: bool
    """True: nothing was changed."""
    proposed: int = 0
    """The number of the user's memories that new ones may replace: they stay until a person decides."""
    lines: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The results of the lines of a Retentive export, by type of line."""
