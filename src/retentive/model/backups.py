"""Copies of a store, what became of a store that was put back, and of its room."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a store, checked."""

    path: Path
    bytes: int
    schema: int
    store_id: str
    """The same as that of the store it is a copy of."""
    namespaces: int
    memories: int
    """Of all namespaces, whatever became of them."""
    sessions: int
    events: int
    removed: tuple[Path, ...] = ()
    """Older ones that had to go for it."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A store that was put back."""

    path: Path
    backup: Backup
    kept: Path | None
    """What was there before; None if nothing was, or it was a dry run."""
    same_store: bool
    """Whether the backup is one of the store that was there."""
    returned: tuple[str, ...]
    """What was purged since the backup was made, and is back."""
    done: bool
    """False: it was a dry run, and everything is as it was."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """How much room a store took, and takes."""

    before: int
    after: int
    detail: str
    """What a server does by itself, or not."""
