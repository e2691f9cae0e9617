"""Finds and removes copies of a store that were never finished, because the process that wrote them was killed.

A backup, a restore or an export is written under a temporary name (`fs/atomic.py`) in its target folder. While it is
written, the store holds a note of that folder. So the leftovers of a killed process are found by the next process that
opens the store, by maintenance and by a purge. The folder of the store itself is always searched.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from retentive.errors import StorageError
from retentive.fs import atomic
from retentive.storage.tables import store_copies
from retentive.storage.tables.store_copies import CopyNote
from retentive.store import OpenStore


class Copies(NamedTuple):
    """Unfinished copies that a search found."""

    removed: int = 0
    busy: tuple[Path, ...] = ()
    """Copies that are still being written."""
    unseen: tuple[Path, ...] = ()
    """Folders that may hold a copy, but do not exist now."""


def find(store: OpenStore) -> bool:
    """Whether there is a leftover copy, or a note of one. Removes nothing."""
    if _find_store_folder(store) is None:
        return False
    folders = _list_folders(store)
    has_notes = any(folders.values())
    return has_notes or any(_find_unfinished(folder).leftovers for folder in folders)


def sweep(store: OpenStore) -> Copies:
    """Remove leftover copies, and the notes of folders in which nothing is being written."""
    if _find_store_folder(store) is None:
        return Copies()
    removed, busy, unseen, done_notes = 0, list[Path](), list[Path](), list[str]()
    for folder, note_keys in _list_folders(store).items():
        if not folder.is_dir():
            unseen.append(folder)
            continue
        found = _remove_leftovers(folder)
        removed += len(found.leftovers)
        busy += found.busy
        if not found.busy:
            done_notes += note_keys
    if done_notes:
        store.engine.apply([store_copies.delete_copy_notes_step(done_notes)])
    return Copies(removed, tuple(busy), tuple(unseen))


def sweep_at_opening(store: OpenStore) -> None:
    """Remove leftover copies without a write to the store, which another process may block. The notes stay."""
    with suppress(StorageError):
        if _find_store_folder(store) is not None:
            for folder in _list_folders(store):
                _remove_leftovers(folder)


@contextmanager
def noted_while_writing(store: OpenStore, folder: Path) -> Iterator[None]:
    """Note in the store where a copy is being written. If that fails, as on a full disk, the copy goes on."""
    store_folder = _find_store_folder(store)
    if store_folder is None or folder.resolve() == store_folder:
        yield
        return
    note = CopyNote(f"copy_{os.urandom(16).hex()}", str(folder.resolve()))
    with suppress(StorageError):
        store.engine.apply([store_copies.insert_copy_note_step(note)])
    try:
        yield
    finally:
        with suppress(StorageError):
            store.engine.apply([store_copies.delete_copy_notes_step([note.key])])


def describe(copies: Copies) -> str:
    """The sentence about them in the proof of a purge; empty if there were none."""
    parts: list[str] = []
    if copies.removed:
        parts.append(f"removed {copies.removed} unfinished {'copy' if copies.removed == 1 else 'copies'}")
    if copies.unseen:
        parts.append(f"did not see {', '.join(map(str, copies.unseen))}, where a copy may be unfinished")
    return "".join(f"{part}; " for part in parts)


def _list_folders(store: OpenStore) -> dict[Path, list[str]]:
    """The folders to search, each with the keys of the notes that name it."""
    store_folder = _find_store_folder(store)
    folders: dict[Path, list[str]] = {store_folder: []} if store_folder else {}
    for note in store_copies.list_copy_notes(store.engine):
        folders.setdefault(Path(note.folder), []).append(note.key)
    return folders


def _find_store_folder(store: OpenStore) -> Path | None:
    """The folder of the store. None if the store has no file, or if this is a view of a part of it."""
    where = store.config.db
    if store.bounds or "://" in where or where == ":memory:":
        return None
    return Path(where).expanduser().resolve().parent


def _find_unfinished(folder: Path) -> atomic.Unfinished:
    try:
        return atomic.find_unfinished(folder)
    except OSError:
        return atomic.Unfinished([], [])


def _remove_leftovers(folder: Path) -> atomic.Unfinished:
    try:
        return atomic.remove_leftovers(folder)
    except OSError:
        return atomic.Unfinished([], [])
