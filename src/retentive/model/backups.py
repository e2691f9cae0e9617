"""Results of backing up, restoring and compacting a store."""

from pathlib import Path

from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Backup:
    """A verified copy of a store."""

    path: Path
    bytes: int
    schema: int
    store_id: str
    """The id of the store; the copy has the same one."""
    namespaces: int
    memories: int
    """The number of memories of all namespaces, whatever their status."""
    sessions: int
    events: int
    removed: tuple[Path, ...] = ()
    """Older backups that were removed."""


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The result of restoring a backup."""

    path: Path
    backup: Backup
    kept: Path | None
    """The file that was there before; None if there was none, or in a dry run."""
    same_store: bool
    """Whether the backup was made of the store that was there."""
    returned: tuple[str, ...]
    """Items that were purged after the backup was made, and are back."""
    done: bool
    """False: it was a dry run, and nothing was changed."""


@dataclass(frozen=True, slots=True)
class CompactResult:
    """The size of a store before and after compaction, in bytes."""

    before: int
    after: int
    detail: str
    """A note on what a database server does by itself."""
