"""Copies of a store that were never finished, because the process that wrote them was killed.

A backup, a restore or an export is written under a passing name (`fs/atomic.py`) in the folder it is for. Where
that is, the store remembers while it is being written, so that what a killed process left is found again: by the next
one that opens the store, by upkeep, and by a purge. The folder of the store itself is always looked at.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from retentive.errors import StorageError
from retentive.fs import atomic
from retentive.storage import Step, step
from retentive.store import OpenStore


class Copies(NamedTuple):
    """What there was of unfinished copies."""

    removed: int = 0
    busy: tuple[Path, ...] = ()
    """Those that are being written."""
    unseen: tuple[Path, ...] = ()
    """Folders in which one may be, and which are not there now."""


def find(store: OpenStore) -> bool:
    """Whether there is one that nobody writes any more, or a note of one. Removes nothing."""
    if _store_folder(store) is None:
        return False
    folders = _folders(store)
    return any(keys for keys in folders.values()) or any(_look(folder).left for folder in folders)


def sweep(store: OpenStore) -> Copies:
    """Remove those that nobody writes any more; forget the notes of what is gone."""
    if _store_folder(store) is None:
        return Copies()
    removed, busy, unseen, done = 0, list[Path](), list[Path](), list[str]()
    for folder, keys in _folders(store).items():
        if not folder.is_dir():
            unseen.append(folder)
            continue
        found = _remove_left(folder)
        removed += len(found.left)
        busy += found.busy
        if not found.busy:
            done += keys
    if done:
        store.engine.apply([Step("copy_forget", [{"key": key} for key in done])])
    return Copies(removed, tuple(busy), tuple(unseen))


def sweep_at_opening(store: OpenStore) -> None:
    """Remove them without a write to the store, which others may hold for a while; the notes are left to upkeep."""
    with suppress(StorageError):
        if _store_folder(store) is not None:
            for folder in _folders(store):
                _remove_left(folder)


@contextmanager
def note_copy(store: OpenStore, folder: Path) -> Iterator[None]:
    """Remember where a copy is being written. What cannot be noted, as on a full disk, is copied all the same."""
    own = _store_folder(store)
    if own is None or folder.resolve() == own:
        yield
        return
    key = f"copy_{uuid.uuid4().hex}"
    with suppress(StorageError):
        store.engine.apply([step("meta_set", key=key, value=str(folder.resolve()))])
    try:
        yield
    finally:
        with suppress(StorageError):
            store.engine.apply([step("copy_forget", key=key)])


def describe(copies: Copies) -> str:
    """What a purge says of them in its proof; nothing if there were none."""
    said: list[str] = []
    if copies.removed:
        said.append(f"removed {copies.removed} unfinished {'copy' if copies.removed == 1 else 'copies'}")
    if copies.unseen:
        said.append(f"did not see {', '.join(map(str, copies.unseen))}, where a copy may be unfinished")
    return "".join(f"{each}; " for each in said)


def _folders(store: OpenStore) -> dict[Path, list[str]]:
    """The folders to look at, each with the notes that name it."""
    own = _store_folder(store)
    folders: dict[Path, list[str]] = {own: []} if own else {}
    for key, folder in store.engine.read("copy_list"):
        folders.setdefault(Path(folder), []).append(key)
    return folders


def _store_folder(store: OpenStore) -> Path | None:
    """None: the store has no file, or this is a view of a part of it."""
    where = store.config.db
    if store.bounds or "://" in where or where == ":memory:":
        return None
    return Path(where).expanduser().resolve().parent


def _look(folder: Path) -> atomic.Unfinished:
    try:
        return atomic.find_unfinished(folder)
    except OSError:
        return atomic.Unfinished([], [])


def _remove_left(folder: Path) -> atomic.Unfinished:
    try:
        return atomic.sweep(folder)
    except OSError:
        return atomic.Unfinished([], [])
