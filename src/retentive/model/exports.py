"""What was written out of a store."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exported:
    """What became of an `export`."""

    format: str
    path: str | None
    """The file or the folder; None if it went to a stream."""
    namespaces: tuple[str, ...]
    counts: Mapping[str, int]
    """How many there are of each type of line; of Markdown, of each type of file."""
    notes: tuple[str, ...] = ()
    """What was left out because it is damaged."""
