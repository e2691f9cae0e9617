"""The result of a repair, and the damaged rows in quarantine."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class QuarantinedRow:
    """A damaged row, unchanged, that was moved out of its table."""

    id: str
    """The id of the entry in the quarantine."""
    namespace: str
    """Empty if it could not be read."""
    table: str
    key: str
    """The key of the row in its table, such as the id of a memory."""
    reason: str
    at: datetime
    row: Mapping[str, Any]
    """The values by column. `{"text": "..."}` and `{"bytes": "..."}` hold hexadecimal bytes that are not text."""


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of a `repair`, beside the rebuilt indexes."""

    quarantined: tuple[QuarantinedRow, ...] = ()
    """The rows that were moved to the quarantine."""
    kept: Path | None = None
    """The old file, if pages of it were damaged and the store was rewritten."""
    salvaged: Mapping[str, int] | None = None
    """The number of rows that could be read from the old file, by table."""
    unreadable: Mapping[str, int] | None = None
    """The number of unreadable pages of the old file, by table. Their rows are lost, unless a backup has them."""
