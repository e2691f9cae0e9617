"""Overwrites the bytes of deleted rows, and looks for their text in the files of a store."""

from collections.abc import Callable, Iterator, Sequence
from glob import escape
from pathlib import Path
from typing import NamedTuple

from retentive import clock
from retentive.errors import StorageError
from retentive.memories.fingerprints import Fingerprints
from retentive.model import RemainingCopy
from retentive.storage.byte_scan import scan_files
from retentive.storage.tables import purges
from retentive.store import OpenStore
from retentive.transfer import leftover_files
from retentive.transfer.backups import store_file

MAX_SCRUB_WAIT = 2.0  # seconds to wait for others who read an older state: their questions take milliseconds
UNKNOWN_TEXT = "the store was rewritten; its old text is no longer known, so it was not searched for"

Progress = Callable[[str, int, int], None]


class Proof(NamedTuple):
    """The result of looking for purged bytes, as a sentence for people."""

    text: str
    is_complete: bool
    remaining: Sequence[RemainingCopy] = ()


def scrub_and_prove(store: OpenStore, fingerprints: Fingerprints, progress: Progress) -> Proof:
    """Overwrite the bytes of deleted rows, then scan the files of the store for the fingerprints."""
    due = store.tables.purges.list_due()
    copies = leftover_files.sweep(store)
    progress("rewriting", 0, 1)
    try:
        scrubbed = store.engine.scrub(MAX_SCRUB_WAIT)
    except StorageError as error:  # no room, no time: the rows are gone, and maintenance tries again
        return _make_incomplete(str(error))
    progress("rewriting", 1, 1)
    if not scrubbed.done:
        return _make_incomplete(scrubbed.detail)
    proof = Proof(scrubbed.detail, is_complete=True)
    if scrubbed.files:
        proof = _scan(store, [*scrubbed.files, *_list_graph_files(store)], fingerprints, progress)
    if copies.busy:
        is_written = f"another process writes a copy of the store, {copies.busy[0].name}"
        proof = _make_incomplete(is_written)._replace(remaining=proof.remaining)
    if not proof.is_complete:
        return proof
    store.engine.apply([purges.finish_step(due, clock.now())])
    return proof._replace(text=leftover_files.describe(copies) + proof.text)


def scrub_pending(store: OpenStore) -> tuple[int, str]:
    """Overwrite the bytes of earlier purges. Their text is no longer known, so it is not looked for.

    Returns how many purges are complete now, or what keeps them from it.
    """
    due = store.tables.purges.list_due()
    if not due:
        return 0, ""
    if leftover_files.sweep(store).busy:
        return 0, "in a copy of the store that is being written"
    scrubbed = store.engine.scrub(patience=0)
    if not scrubbed.done:
        return 0, scrubbed.detail
    store.engine.apply([purges.finish_step(due, clock.now())])
    return len(due), ""


def _make_incomplete(reason: str) -> Proof:
    return Proof(f"incomplete: {reason}", is_complete=False)


def _scan(store: OpenStore, files: Sequence[Path], fingerprints: Fingerprints, progress: Progress) -> Proof:
    """Look for the text in files. Bytes are a remnant if no row has them and they are no name of the store itself."""
    if not fingerprints.pieces:
        return Proof(UNKNOWN_TEXT, is_complete=True)
    scan = scan_files(files, fingerprints.pieces, lambda done, of: progress("scanning", done, of))
    namespaces_with = {piece: [*_find_namespaces_with(store, piece.decode())] for piece in scan.found}
    scanned = f"scanned {scan.files} files, {scan.size} bytes"
    for piece, namespaces in namespaces_with.items():
        if not namespaces and not store.tables.purges.is_own_name(piece.decode()):
            return _make_incomplete(f"{scanned}: still in {scan.found[piece].name}")
    others = {name for names in namespaces_with.values() for name in names} - {store.namespace}
    gone = [piece for piece in fingerprints.pieces if piece not in scan.found]
    kept = [path for path in _list_kept_files(store) if scan_files([path], gone, lambda _, __: None).found]
    is_repeated = any(namespaces_with.values())
    text = f"{scanned}: found only in rows that still contain it" if is_repeated else f"{scanned}: nothing found"
    if kept:
        text += f"; still in {len(kept)} old files that a repair or restore left: delete them"
    remaining = [
        *(RemainingCopy("namespace", name) for name in sorted(others)),
        *(RemainingCopy("kept file", str(path)) for path in kept),
    ]
    return Proof(text, is_complete=True, remaining=remaining)


def _find_namespaces_with(store: OpenStore, text: str) -> Iterator[str]:
    """The namespaces that have the text in a row. What is found in a file is then no remnant."""
    tables = store.tables
    return (name for name in tables.memories.list_namespaces() if tables.purges.list_repeats(name, text))


def _list_kept_files(store: OpenStore) -> list[Path]:
    """Old states of the store that repairs and restores kept, with their logs."""
    file = store_file(store)
    return sorted(file.parent.glob(f"{escape(file.name)}.before-*")) if file else []


def _list_graph_files(store: OpenStore) -> list[Path]:
    """The saved graphs of the vector index."""
    folder = Path(store.config.cache).expanduser() / "index"
    return [*folder.glob("*.hnsw")] if folder.is_dir() else []
