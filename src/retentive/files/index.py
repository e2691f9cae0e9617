"""What is on disk, compared with what is known of it, and kept: the one way a file is written.

A file that the disk says is the same is not opened. One that is opened and has the same bytes only gets its new stamp.
One that is new and has the bytes of one that is gone is that one, by another name. Of one that grew at its end, the end
is read; of one that was changed, what is as before keeps its vector. Files are kept in batches, each in one commit that
says what it was decided on; who finds that another was first looks again, file by file.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import NamedTuple

from retentive import clock
from retentive.errors import Busy, Invalid, MissingExtra, Stale
from retentive.files.content import Read, binary, grown, whole
from retentive.files.lease import Stopped
from retentive.files.load import Loaded, load
from retentive.files.walk import Entry, Tree, Walked, reason_of
from retentive.ids import new_ids
from retentive.memories.write import embedded
from retentive.model import Indexed, Section, Skipped
from retentive.storage import Step
from retentive.storage.tables import files as rows
from retentive.storage.tables.chunks import embedded_text
from retentive.storage.tables.files import Row, context_of
from retentive.store import OpenStore
from retentive.store.write import MAX_ATTEMPTS

MOST_SECTIONS = 128  # that share a commit: embedded in a second or two, so little is lost if it is stopped
MOST_FILES = 64
REMOVED_AT_ONCE = 200

Progress = Callable[[int, int], None]
Place = tuple[Tree, str | None]
"""A root, and where in it; None: all of it."""


@dataclass(frozen=True, slots=True)
class Options:
    session: str | None = None
    tags: tuple[str, ...] | None = None
    """None: as they are."""
    dry_run: bool = False


class Draft(NamedTuple):
    """A file as it is to be kept: what it is counted as, its row, and its sections from `first` on."""

    entry: Entry
    how: str
    row: Row
    old: Row | None
    first: int = 0
    sections: tuple[Section, ...] = ()


@dataclass(slots=True)
class Compared:
    todo: list[Entry] = field(default_factory=list)
    known: dict[str, Row] = field(default_factory=dict)
    """By path."""
    gone: dict[str, Row] = field(default_factory=dict)
    """By id."""


class Indexing:
    """One run. For one thread."""

    def __init__(self, store: OpenStore, options: Options, stop: threading.Event, progress: Progress | None) -> None:
        self._store, self._options, self._stop = store, options, stop
        self._tell = progress or (lambda _, __: None)
        self._rows = store.tables.files
        self._counts = Counter[str]()
        self._skipped: dict[str, Skipped] = {}
        self._gone: dict[str, Row] = {}
        """By id: those whose file is not there, as far as is known by now."""
        self._lost: dict[str, list[Row]] = {}
        """The same by their bytes."""

    def idle(self, places: Sequence[Place]) -> bool:
        """Whether nothing is to be done there, by what the disk says."""
        compared = self._compared(places)
        return not compared.todo and not compared.gone

    def told(self) -> Indexed:
        return Indexed(**self._counts, skipped=tuple(self._skipped.values()))

    def run(self, places: Sequence[Place]) -> Indexed:
        compared = self._compared(places)
        for row in compared.gone.values():
            self._drop(row)
        for done, batch in self._batches(compared):
            self._keep(batch)
            self._tell(done, len(compared.todo))
        self._remove([*self._gone.values()])
        return self.told()

    def _compared(self, places: Iterable[Place]) -> Compared:
        found, entries, unread = Compared(), dict[str, Entry](), list[str]()
        for tree, start in places:
            walked = tree.walk(start)
            self._note(walked)
            entries |= {entry.path: entry for entry in walked.entries}
            unread += walked.unread
            found.known |= {row.path: row for row in self._known(start or tree.root)}
            self._check()
        for entry in entries.values():
            row = found.known.get(entry.path)
            if row and _same(entry, row) and self._tagged(row):
                self._counts["unchanged"] += 1
            else:
                found.todo.append(entry)
        missing = (row for path, row in found.known.items() if path not in entries)
        found.gone = {row.id: row for row in missing if not any(_within(row.path, each) for each in unread)}
        return found

    def _known(self, place: str) -> Iterator[Row]:
        yield from self._rows.at(self._store.namespace, self._options.session, [place])
        yield from self._rows.below(self._store.namespace, self._options.session, place)

    def _note(self, walked: Walked) -> None:
        self._counts["ignored"] += walked.ignored
        self._counts["unknown"] += walked.unknown
        self._skipped |= {each.path: each for each in walked.skipped}

    def _tagged(self, row: Row) -> bool:
        return self._options.tags is None or self._options.tags == row.tags

    def _check(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def _batches(self, compared: Compared) -> Iterator[tuple[int, list[Draft]]]:
        """What is to be kept, with how many files are done with it."""
        batch: list[Draft] = []
        for done, entry in enumerate(compared.todo, start=1):
            self._check()
            draft = self._draft(entry, compared.known.get(entry.path))
            if draft:
                batch.append(draft)
            full = sum(len(each.sections) for each in batch) >= MOST_SECTIONS or len(batch) >= MOST_FILES
            if full or done == len(compared.todo):
                yield done, batch
                batch = []

    def _draft(self, entry: Entry, row: Row | None) -> Draft | None:
        """None: there is nothing to be kept of it."""
        try:
            return self._decided(entry, row, load(entry.path, max(entry.size * 2, 1 << 20)))
        except FileNotFoundError:
            self._drop(row)
        except OSError as error:
            self._skip(entry, reason_of(error))
        except (Invalid, MissingExtra) as error:
            self._skip(entry, f"{error}. {error.hint}" if isinstance(error, MissingExtra) else str(error))
            self._drop(row)
        return None

    def _skip(self, entry: Entry, reason: str) -> None:
        self._skipped[entry.path] = Skipped(entry.path, reason)

    def _drop(self, row: Row | None) -> None:
        if row:
            self._gone[row.id] = row
            self._lost.setdefault(row.hash, []).append(row)

    def _decided(self, entry: Entry, row: Row | None, loaded: Loaded) -> Draft | None:
        if row and row.hash == loaded.hash and row.kind == entry.kind:
            return self._touched(entry, row, loaded)
        if binary(loaded.data, entry.kind):
            self._counts["unknown"] += 1
            self._drop(row)
            return None
        if row is None and (moved := self._moved(entry, loaded.hash)):
            return self._renamed(entry, moved, loaded)
        if row and row.kind == entry.kind and self._tagged(row) and (more := grown(self._store, row, loaded)):
            return self._made("appended", entry, row, loaded, more)
        read = whole(self._store, entry.path, entry.kind, loaded.data)
        return self._made("updated" if row else "added", entry, row, loaded, read)

    def _touched(self, entry: Entry, row: Row, loaded: Loaded) -> Draft:
        if self._tagged(row):
            return Draft(entry, "unchanged", replace(row, stamp=loaded.stamp), row)
        new = replace(row, tags=self._options.tags or (), stamp=loaded.stamp, version=row.version + 1)
        return Draft(entry, "updated", new, row)

    def _moved(self, entry: Entry, hash: str) -> Row | None:
        """One that is gone and had the same bytes; if there are several, the one of the same name."""
        name = entry.path.rpartition("/")[2]
        lost = [row for row in self._lost.get(hash, ()) if row.id in self._gone and row.kind == entry.kind]
        return min(lost, key=lambda row: row.path.rpartition("/")[2] != name, default=None)

    def _renamed(self, entry: Entry, row: Row, loaded: Loaded) -> Draft:
        del self._gone[row.id]
        title = PurePath(entry.path).stem if row.title == PurePath(row.path).stem else row.title
        tags = row.tags if self._options.tags is None else self._options.tags
        new = replace(row, path=entry.path, title=title, tags=tags, stamp=loaded.stamp, modified=loaded.modified)
        return Draft(entry, "renamed", replace(new, version=row.version + 1), row)

    def _made(self, how: str, entry: Entry, old: Row | None, loaded: Loaded, read: Read) -> Draft:
        now = clock.now()
        tags = self._options.tags if self._options.tags is not None else old.tags if old else ()
        row = Row(
            self._store.namespace, old.id if old else new_ids(now, 1)[0], entry.path, self._options.session, entry.kind,
            loaded.hash, len(loaded.data), loaded.modified, loaded.stamp, read.title or PurePath(entry.path).stem, tags,
            read.metadata, read.links, read.unit, read.first + len(read.sections), read.mark, now,
            old.version + 1 if old else 1,
        )  # fmt: skip
        return Draft(entry, how, row, old, read.first, read.sections)

    def _keep(self, batch: Sequence[Draft]) -> None:
        """All of it, or each by itself where another was first."""
        try:
            self._apply(batch)
        except Stale:
            for draft in batch:
                self._again(draft)

    def _again(self, draft: Draft) -> None:
        """With what is known of the file by now."""
        if draft.how == "renamed" and draft.old:
            self._drop(self._rows.get(draft.old.namespace, draft.old.id))
        for _ in range(MAX_ATTEMPTS):
            known = self._rows.at(self._store.namespace, self._options.session, [draft.entry.path])
            anew = self._draft(draft.entry, known[0] if known else None)
            try:
                self._apply([anew] if anew else [])
            except Stale:
                continue
            return
        raise Busy("others kept changing what is known of the same files", "Retry in a moment.")

    def _apply(self, batch: Sequence[Draft]) -> None:
        if not self._options.dry_run:
            made = self._vectors(batch)
            steps = [step for draft, vectors in zip(batch, made, strict=True) for step in self._steps(draft, vectors)]
            if steps:
                self._store.engine.apply(steps)
                self._store.journal.wrote = True
        for draft in batch:
            self._counts[draft.how] += 1

    def _steps(self, draft: Draft, vectors: Sequence[bytes | None]) -> Iterator[Step]:
        row = draft.row
        if draft.how == "unchanged":
            if draft.old and draft.old.stamp != row.stamp:
                yield rows.stamp_step(row)
            return
        yield from rows.save_steps(row)
        if draft.old and row.hash == draft.old.hash and not draft.sections:
            yield rows.refresh_step(row)
        else:
            yield from rows.slice_steps(row, draft.sections, draft.first, self._store.space, vectors)

    def _vectors(self, batch: Sequence[Draft]) -> list[list[bytes | None]]:
        """Of the sections of each: those that they had, and new ones, made all at once."""
        texts = [[embedded_text(each.text, context_of(each)) for each in draft.sections] for draft in batch]
        had = [self._had(draft) for draft in batch]
        new = [text for own, known in zip(texts, had, strict=True) for text in own if text not in known]
        wanted = [*dict.fromkeys(new)]
        made = dict(zip(wanted, embedded(self._store, wanted), strict=True))
        self._counts["embedded"] += sum(vector is not None for vector in made.values())
        return [[known.get(text) or made.get(text) for text in own] for own, known in zip(texts, had, strict=True)]

    def _had(self, draft: Draft) -> dict[str, bytes]:
        if draft.old is None or not draft.sections or self._store.space is None:
            return {}
        slices = self._rows.slices(draft.old, self._store.space)
        return {embedded_text(each.text, each.context): each.vector for each in slices if each.vector}

    def _remove(self, gone: Sequence[Row]) -> None:
        for start in range(0, len(gone), REMOVED_AT_ONCE):
            self._check()
            part = gone[start : start + REMOVED_AT_ONCE]
            if not self._options.dry_run:
                self._delete(part)
            self._counts["removed"] += len(part)

    def _delete(self, part: Sequence[Row]) -> None:
        try:
            self._store.engine.apply([step for row in part for step in rows.delete_steps(row)])
        except Stale:
            if len(part) > 1:
                for row in part:
                    self._delete([row])
            return  # of one: another has removed it, moved it, or found it again
        self._store.journal.wrote = True


def places(trees: Sequence[Tree], paths: Iterable[str], most: int) -> list[Place]:
    """Where these paths are, if nobody leaves them out: in a folder with very many, or behind a link, everywhere."""
    found: list[Place] = []
    given = [*dict.fromkeys(paths)]
    for tree in trees:
        inside = [path for path in given if _within(path, tree.root)]
        if tree.root in inside:
            found.append((tree, None))
            continue
        inside = tree.wanted(inside)
        many = len(inside) > most or any(map(tree.links_to, inside))
        found += [(tree, None)] if many else [(tree, path) for path in inside]
    return found


def _same(entry: Entry, row: Row) -> bool:
    return bool(row.stamp) and (row.stamp, row.size, row.kind) == (entry.stamp, entry.size, entry.kind)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
