"""Private folders: only their owner may read them."""

from pathlib import Path

from retentive.fs.paths import reraise_os_errors


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents for the owner alone: `mkdir(parents=True)` opens the parents to all."""
    for each in reversed((folder, *folder.parents)):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)


def make_data_folder(folder: Path) -> None:
    """Create the default folder of the store. Raises `Unwritable` if that fails."""
    hint = "Choose a file for the store with `Retentive.open(FILE)` or RETENTIVE_DB."
    with reraise_os_errors(f"the data folder {folder} cannot be created", hint):
        make_private(folder)
