"""Memories that come from elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from retentive.model.memory import Refusal


@dataclass(frozen=True, slots=True)
class ImportedMemories:
    """What became of an `import_memories`, or would become of it."""

    format: str
    created: int
    """Memories that are new."""
    known: int
    """Those that are here already, or were and have been forgotten or replaced since."""
    superseded: int
    """Memories whose slots the new ones took."""
    pending: int
    """New ones whose vectors are still to come."""
    refused: int
    refusals: tuple[Refusal, ...]
    """The first twenty of them."""
    kinds: Mapping[str, int]
    """How many of the new ones are of which kind."""
    examples: tuple[str, ...]
    """The texts of the first few that are new."""
    notes: tuple[str, ...]
    """What was passed over on purpose, such as files that a text names; the first twenty."""
    dry_run: bool
    """True: nothing was changed."""
    proposed: int = 0
    """Memories of the user that new ones may replace: they stay until a person decides."""
    lines: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of an export of our own: what became of its lines, by their types."""
