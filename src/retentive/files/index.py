"""Bring the index of files in step with the disk. Indexing writes the entries of files this way only.

a. A file whose size and stamp (the times of its last changes) are as before is not opened. If only the stamp
differs, only the stamp is written.
b. A new file with the bytes of one that is gone is that file, renamed.
c. Of a file that grew at its end, the end is read. Of one that changed elsewhere, sections that stay the same keep
their vectors.
d. Files are written in batches, each in one transaction guarded by the versions it was decided on. If a concurrent
writer wins, each file of the batch is compared and written again by itself.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePath
from typing import NamedTuple

from retentive import clock
from retentive.errors import Invalid, MissingExtra, Stale
from retentive.files.content import FileContent, LoadedFile, is_binary, load_file, read_appended, read_whole
from retentive.files.lease import Stopped, hold_leases
from retentive.files.walk import FoundFile, Tree, describe_error, is_within
from retentive.ids import new_ids
from retentive.memories.write import embed_texts
from retentive.model import IndexResult, Section, SkippedFile
from retentive.storage import Step
from retentive.storage.tables import files as file_rows
from retentive.storage.tables.chunks import join_embedded_text
from retentive.storage.tables.files import FileRow, join_headings
from retentive.store import OpenStore
from retentive.store.write import Decision, write

MAX_BATCH_SECTIONS = 128  # embedded in a second or two, so little is lost if indexing is stopped
MAX_BATCH_FILES = 64
DELETE_BATCH_SIZE = 200  # files
MIN_READ_LIMIT = 1 << 20  # bytes. A file may have grown since the walk: up to this, or to twice its size

Progress = Callable[[int, int], None]
Place = tuple[Tree, str | None]
"""A tree, and the path in it to index; None for all of it."""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    session: str | None = None
    tags: tuple[str, ...] | None = None
    """None keeps the tags that a file has."""
    dry_run: bool = False


class FileOutcome(StrEnum):
    """What becomes of a file: the field of `IndexResult` that counts it."""

    ADDED = "added"
    UPDATED = "updated"
    APPENDED = "appended"
    RENAMED = "renamed"
    UNCHANGED = "unchanged"


class FileChange(NamedTuple):
    """A file to be written: its new row, the row before, and the sections that are new."""

    found: FoundFile
    outcome: FileOutcome
    row: FileRow
    old: FileRow | None
    first_ordinal: int = 0
    """Of the new sections. Those before it stay as they are."""
    sections: tuple[Section, ...] = ()


@dataclass(slots=True)
class Comparison:
    """The files on disk compared with those in the index."""

    to_read: list[FoundFile] = field(default_factory=list)
    indexed: dict[str, FileRow] = field(default_factory=dict)
    """By path."""
    gone: dict[str, FileRow] = field(default_factory=dict)
    """By id."""


class IndexRun:
    """One run of indexing, in one thread."""

    def __init__(
        self,
        store: OpenStore,
        options: IndexOptions,
        stop: threading.Event,
        progress: Progress | None = None,
        on_file: Callable[[str], None] | None = None,
    ) -> None:
        self._store, self._options, self._stop = store, options, stop
        self._progress, self._on_file = progress, on_file
        self._table = store.tables.files
        self._counts = Counter[str]()
        self._skipped: dict[str, SkippedFile] = {}
        self._gone: dict[str, FileRow] = {}
        """Rows to delete, by id: the file is gone, or can no longer be indexed."""
        self._gone_by_hash: dict[str, list[FileRow]] = {}

    def is_needed(self, places: Sequence[Place]) -> bool:
        """Return whether anything differs there between disk and index. Counts what does not, for `result`."""
        comparison = self._compare(places)
        return bool(comparison.to_read or comparison.gone)

    def result(self) -> IndexResult:
        return IndexResult(**self._counts, skipped=tuple(self._skipped.values()))

    def run(self, places: Sequence[Place]) -> IndexResult:
        """Bring the index in step with the disk. Raises `Stopped` if `stop` is set meanwhile."""
        comparison = self._compare(places)
        for row in comparison.gone.values():
            self._mark_gone(row)
        for done, batch in self._batches(comparison):
            self._write_batch(batch)
            if self._progress:
                self._progress(done, len(comparison.to_read))
        self._delete_all([*self._gone.values()])
        return self.result()

    # Comparing

    def _compare(self, places: Iterable[Place]) -> Comparison:
        comparison = Comparison()
        on_disk: dict[str, FoundFile] = {}
        unreadable: list[str] = []
        for tree, start in places:
            walk = tree.walk(start)
            self._counts["ignored"] += walk.ignored
            self._counts["unknown"] += walk.unknown
            self._skipped |= {each.path: each for each in walk.skipped}
            on_disk |= {each.path: each for each in walk.files}
            unreadable += walk.unreadable
            comparison.indexed |= {row.path: row for row in self._indexed_files(start or tree.root)}
            self._require_running()
        for found in on_disk.values():
            row = comparison.indexed.get(found.path)
            if row and _is_unchanged(found, row) and self._has_wanted_tags(row):
                self._counts["unchanged"] += 1
            else:
                comparison.to_read.append(found)
        for path, row in comparison.indexed.items():
            if path not in on_disk and not any(is_within(path, each) for each in unreadable):
                comparison.gone[row.id] = row
        return comparison

    def _indexed_files(self, path: str) -> Iterator[FileRow]:
        """Yield the file with this path, and those below it."""
        yield from self._table.list_by_path(self._store.namespace, self._options.session, [path])
        yield from self._table.list_in_folder(self._store.namespace, self._options.session, path)

    def _has_wanted_tags(self, row: FileRow) -> bool:
        return self._options.tags is None or self._options.tags == row.tags

    def _require_running(self) -> None:
        if self._stop.is_set():
            raise Stopped

    # Deciding

    def _batches(self, comparison: Comparison) -> Iterator[tuple[int, list[FileChange]]]:
        """Yield batches of changes, each with the number of files that are done after it."""
        batch: list[FileChange] = []
        for done, found in enumerate(comparison.to_read, start=1):
            self._require_running()
            if self._on_file:
                self._on_file(found.path)
            change = self._decide_change(found, comparison.indexed.get(found.path))
            if change:
                batch.append(change)
            is_full = sum(len(each.sections) for each in batch) >= MAX_BATCH_SECTIONS or len(batch) >= MAX_BATCH_FILES
            if is_full or done == len(comparison.to_read):
                yield done, batch
                batch = []

    def _decide_change(self, found: FoundFile, row: FileRow | None) -> FileChange | None:
        """Read a file and decide what to write; None if it cannot be indexed."""
        try:
            loaded = load_file(found.path, max(found.size * 2, MIN_READ_LIMIT))
            return self._compare_content(found, row, loaded)
        except FileNotFoundError:
            self._mark_gone(row)
        except OSError as error:  # perhaps readable next time, so its row stays
            self._skip(found, describe_error(error))
        except (Invalid, MissingExtra) as error:  # its new content cannot be read, and its row has the old one
            self._skip(found, f"{error}. {error.hint}" if isinstance(error, MissingExtra) else str(error))
            self._mark_gone(row)
        return None

    def _skip(self, found: FoundFile, reason: str) -> None:
        self._skipped[found.path] = SkippedFile(found.path, reason)

    def _mark_gone(self, row: FileRow | None) -> None:
        if row:
            self._gone[row.id] = row
            self._gone_by_hash.setdefault(row.hash, []).append(row)

    def _compare_content(self, found: FoundFile, row: FileRow | None, loaded: LoadedFile) -> FileChange | None:
        if row and row.hash == loaded.hash and row.kind == found.kind:
            return self._same_content_change(found, row, loaded)
        if is_binary(loaded.data, found.kind):
            self._counts["unknown"] += 1
            self._mark_gone(row)
            return None
        if row is None:
            renamed = self._claim_renamed(found, loaded.hash)
            if renamed:
                return self._rename_change(found, renamed, loaded)
        if row and row.kind == found.kind and self._has_wanted_tags(row):
            appended = read_appended(self._store, row, loaded)
            if appended:
                return self._content_change(FileOutcome.APPENDED, found, row, loaded, appended)
        content = read_whole(self._store, found.path, found.kind, loaded.data)
        outcome = FileOutcome.UPDATED if row else FileOutcome.ADDED
        return self._content_change(outcome, found, row, loaded, content)

    def _same_content_change(self, found: FoundFile, row: FileRow, loaded: LoadedFile) -> FileChange:
        """Return the change of a file with the same bytes: its stamp, and perhaps its tags."""
        if self._has_wanted_tags(row):
            return FileChange(found, FileOutcome.UNCHANGED, replace(row, stamp=loaded.stamp), row)
        new = replace(row, tags=self._options.tags or (), stamp=loaded.stamp, version=row.version + 1)
        return FileChange(found, FileOutcome.UPDATED, new, row)

    def _claim_renamed(self, found: FoundFile, hash: str) -> FileRow | None:
        """Take a row with the same bytes from those that are gone, if there is one; rather one with the same name."""
        name = PurePath(found.path).name
        gone = [row for row in self._gone_by_hash.get(hash, ()) if row.id in self._gone and row.kind == found.kind]
        same_name = [row for row in gone if PurePath(row.path).name == name]
        return self._gone.pop((same_name or gone)[0].id) if gone else None

    def _rename_change(self, found: FoundFile, row: FileRow, loaded: LoadedFile) -> FileChange:
        title = PurePath(found.path).stem if row.title == PurePath(row.path).stem else row.title
        tags = row.tags if self._options.tags is None else self._options.tags
        new = replace(row, path=found.path, title=title, tags=tags, stamp=loaded.stamp, modified=loaded.modified)
        return FileChange(found, FileOutcome.RENAMED, replace(new, version=row.version + 1), row)

    def _content_change(
        self, outcome: FileOutcome, found: FoundFile, old: FileRow | None, loaded: LoadedFile, content: FileContent
    ) -> FileChange:
        now = clock.now()
        tags = self._options.tags
        if tags is None:
            tags = old.tags if old else ()
        row = FileRow(
            namespace=self._store.namespace, id=old.id if old else new_ids(now, 1)[0],
            version=old.version + 1 if old else 1, path=found.path, session=self._options.session, kind=found.kind,
            tags=tags, hash=loaded.hash, size=len(loaded.data), modified=loaded.modified, stamp=loaded.stamp,
            title=content.title or PurePath(found.path).stem, metadata=content.metadata, links=content.links,
            unit=content.unit, sections=content.first_ordinal + len(content.sections), mark=content.resume_point,
            indexed=now,
        )  # fmt: skip
        return FileChange(found, outcome, row, old, content.first_ordinal, content.sections)

    # Writing

    def _write_batch(self, batch: Sequence[FileChange]) -> None:
        """Write a batch; after a concurrent write, each file by itself."""
        try:
            steps = self._batch_steps(batch)
            if steps:
                self._store.engine.apply(steps)
                self._store.journal.note_write()
        except Stale:
            for change in batch:
                self._write_again(change)
            return
        self._count(batch)

    def _write_again(self, change: FileChange) -> None:
        """Decide a change again on what is now stored, and write it."""
        if change.outcome is FileOutcome.RENAMED and change.old:  # may be claimed again, if it still has the bytes
            self._mark_gone(self._table.get(change.old.namespace, change.old.id))

        def decide(_now: int) -> Decision[Sequence[FileChange]]:
            stored = self._table.list_by_path(self._store.namespace, self._options.session, [change.found.path])
            again = self._decide_change(change.found, stored[0] if stored else None)
            changes = [again] if again else []
            return Decision(self._batch_steps(changes), changes)

        self._count(write(self._store, decide, "others kept changing the index entries of the same files"))

    def _count(self, batch: Sequence[FileChange]) -> None:
        for change in batch:
            self._counts[change.outcome] += 1

    def _batch_steps(self, batch: Sequence[FileChange]) -> list[Step]:
        if self._options.dry_run:
            return []
        vectors = self._load_or_make_vectors(batch)
        return [step for change, own in zip(batch, vectors, strict=True) for step in self._steps(change, own)]

    def _steps(self, change: FileChange, vectors: Sequence[bytes | None]) -> Iterator[Step]:
        row, old = change.row, change.old
        if change.outcome is FileOutcome.UNCHANGED:
            if old and old.stamp != row.stamp:
                yield file_rows.stamp_step(row)
            return
        yield from file_rows.save_steps(row)
        if old and row.hash == old.hash and not change.sections:
            yield file_rows.refresh_chunks_step(row)
        else:
            yield from file_rows.replace_chunks_steps(
                row, change.sections, change.first_ordinal, self._store.space, vectors
            )

    def _load_or_make_vectors(self, batch: Sequence[FileChange]) -> list[list[bytes | None]]:
        """Return the vectors of the sections of each change. All new sections are embedded in one call."""
        stored = [self._load_vectors(change) for change in batch]
        missing: dict[str, None] = {}
        for change, known in zip(batch, stored, strict=True):
            missing |= dict.fromkeys(text for text in _list_embedded_texts(change) if text not in known)
        made = dict(zip(missing, embed_texts(self._store, [*missing]), strict=True))
        self._counts["embedded"] += sum(vector is not None for vector in made.values())
        return [
            [known.get(text) or made.get(text) for text in _list_embedded_texts(change)]
            for change, known in zip(batch, stored, strict=True)
        ]

    def _load_vectors(self, change: FileChange) -> dict[str, bytes]:
        """Return the stored vectors of a file, by the text that was embedded."""
        if change.old is None or not change.sections or self._store.space is None:
            return {}
        chunks = self._table.list_chunks(change.old, self._store.space)
        return {join_embedded_text(each.text, each.context): each.vector for each in chunks if each.vector}

    def _delete_all(self, gone: Sequence[FileRow]) -> None:
        for start in range(0, len(gone), DELETE_BATCH_SIZE):
            self._require_running()
            batch = gone[start : start + DELETE_BATCH_SIZE]
            if not self._options.dry_run:
                self._delete(batch)
            self._counts["removed"] += len(batch)

    def _delete(self, batch: Sequence[FileRow]) -> None:
        """Delete rows together; after a concurrent write, each that is still as it was read."""
        try:
            self._store.engine.apply([step for row in batch for step in file_rows.delete_steps(row)])
        except Stale:
            if len(batch) > 1:
                for row in batch:
                    self._delete([row])
            return  # a single row: another process removed, moved or found the file
        self._store.journal.note_write()


def index_places(
    store: OpenStore,
    options: IndexOptions,
    places: Sequence[Place],
    stop: threading.Event,
    progress: Progress | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_file: Callable[[str], None] | None = None,
) -> IndexResult:
    """Index these places while no other process does. Without a difference, nothing is written or waited for."""
    check = IndexRun(store, options, stop)
    if not check.is_needed(places):
        return check.result()
    run = IndexRun(store, options, stop, progress, on_file)
    if options.dry_run:
        return run.run(places)
    roots = [*dict.fromkeys(tree.root for tree, _ in places)]
    with hold_leases(store, roots, stop, on_wait):
        return run.run(places)


def locate_paths(trees: Sequence[Tree], paths: Iterable[str], max_paths: int) -> list[Place]:
    """Return the places to index after these paths changed. Paths in ignored folders are left out.

    A tree is indexed as a whole if more than `max_paths` changed in it, or if one goes through a symbolic link.
    """
    places: list[Place] = []
    unique = [*dict.fromkeys(paths)]
    for tree in trees:
        inside = [path for path in unique if is_within(path, tree.root)]
        if tree.root in inside:
            places.append((tree, None))
            continue
        inside = tree.without_ignored(inside)
        if len(inside) > max_paths or any(map(tree.is_behind_link, inside)):
            places.append((tree, None))
        else:
            places += [(tree, path) for path in inside]
    return places


def _list_embedded_texts(change: FileChange) -> list[str]:
    return [join_embedded_text(section.text, join_headings(section)) for section in change.sections]


def _is_unchanged(found: FoundFile, row: FileRow) -> bool:
    is_stamp_known = bool(row.stamp)  # it is empty if the file changed just before it was read
    return is_stamp_known and (row.stamp, row.size, row.kind) == (found.stamp, found.size, found.kind)
