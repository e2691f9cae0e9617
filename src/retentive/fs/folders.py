"""Folders for what nobody else should read."""

from pathlib import Path

from retentive.fs.paths import translated_os_errors


def make_private(folder: Path) -> None:
    """Make it, and what is missing above it, for the owner alone; `mkdir(parents=True)` opens the upper ones to all."""
    for each in reversed((folder, *folder.parents)):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)


def make_data_folder(folder: Path) -> None:
    """Make the folder of the store that nobody chose. `Unwritable`: it cannot be made here."""
    hint = "Choose a file for the store with --db or RETENTIVE_DB."
    with translated_os_errors(f"the data folder {folder} cannot be made", hint):
        make_private(folder)
