"""Folders for what nobody else should read."""

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make it, and what is missing above it, for the owner alone; `mkdir(parents=True)` opens the upper ones to all."""
    for each in reversed((folder, *folder.parents)):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
