"""What a repair did, and what it set aside."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class QuarantinedRow:
    """A damaged row that was taken out of its table, as it was."""

    id: str
    """Of the entry in the quarantine."""
    namespace: str
    """Empty if it could not be read."""
    table: str
    key: str
    """How the row was known in its table, such as the id of a memory."""
    reason: str
    at: datetime
    row: Mapping[str, Any]
    """By column. `{"text": "..."}` and `{"bytes": "..."}` have bytes, as hexadecimal digits, that are no text."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a `repair` did beside rebuilding indexes."""

    quarantined: tuple[QuarantinedRow, ...] = ()
    """The rows that it set aside."""
    kept: Path | None = None
    """The old file, if pages of it were damaged and the store was written anew."""
    salvaged: Mapping[str, int] | None = None
    """By table, how many rows could be read of the old file."""
    unreadable: Mapping[str, int] | None = None
    """By table, how many pages of it could not be read. What was on them is lost, unless a backup has it."""
