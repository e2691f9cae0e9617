"""The result of an export."""

from collections.abc import Mapping

from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The result of an `export`."""

    format: str
    path: str | None
    """The file or folder; None for an export to a stream."""
    namespaces: tuple[str, ...]
    counts: Mapping[str, int]
    """The number of lines by type; for Markdown, the number of files by type."""
    notes: tuple[str, ...] = ()
    """Damaged items that were left out."""
