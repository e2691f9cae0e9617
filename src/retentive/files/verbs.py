"""Files of this machine, found by search like everything else."""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from retentive.errors import Invalid, NotFound, Stale
from retentive.model import File, Indexed, Passage
from retentive.storage.tables import files as rows
from retentive.storage.tables.files import Row, file_of
from retentive.store import OpenStore, validate
from retentive.store.views import writes

if TYPE_CHECKING:
    import builtins

    from retentive.files.walk import Tree
    from retentive.files.watch import Watch

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
LARGEST_KB = 1_000_000


class Files:
    """The index of files: it follows what is on disk, and never changes it."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._rows = store.tables.files

    @writes
    def index(
        self,
        paths: Paths,
        *,
        session: str | None = None,
        tags: Iterable[str] | None = None,
        limit_kb: int | None = None,
        ignore: str | Iterable[str] = (),
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
        waiting: Callable[[str], None] | None = None,
    ) -> Indexed:
        """Bring the index in step with files and folders: what is new, changed, renamed or gone, and nothing else.

        With a session, they are seen in that session only. `tags` are added to those that the names of a file and its
        folder make; None leaves those that it has. Larger files than `limit_kb` (setting `max_file_kb`) are left out,
        and so is what `ignore` says, in the syntax of `.gitignore`. `progress` hears how many of the files that had to
        be opened are done, `waiting` the folder that another process is indexing at this moment.
        """
        from retentive.files.index import Indexing, Options
        from retentive.files.lease import alone

        trees = self._trees(paths, limit_kb, ignore)
        given = None if tags is None else validate.tag_list(tags)
        options = Options(validate.name_of(session, "session"), given, dry_run)
        stop, places = threading.Event(), [(tree, None) for tree in trees]
        look = Indexing(self._store, options, stop, None)
        if look.idle(places):
            return look.told()  # nothing is written, and nobody waited for
        work = Indexing(self._store, options, stop, progress)
        if dry_run:
            return work.run(places)
        with alone(self._store, [tree.root for tree in trees], stop, waiting):
            return work.run(places)

    @writes
    def watch(
        self,
        paths: Paths,
        *,
        session: str | None = None,
        tags: Iterable[str] | None = None,
        limit_kb: int | None = None,
        ignore: str | Iterable[str] = (),
        poll: bool | None = None,
        told: Callable[[Indexed], None] | None = None,
    ) -> "Watch":
        """Index folders and follow what becomes of their files, in a thread: `start` and `stop` it, or use `with`.

        The options are those of `index`. `poll` looks every few seconds, for disks that do not tell of changes, such
        as those of other machines (setting `watch_poll`). `told` hears what each change came to, from that thread.
        """
        from retentive.files.index import Options
        from retentive.files.watch import Folders, Watch

        options = Options(validate.name_of(session, "session"), None if tags is None else validate.tag_list(tags))
        looks = self._store.config.watch_poll if poll is None else poll
        return Watch(self._store, Folders(self._trees(paths, limit_kb, ignore), options, looks), told)

    def watch_configured(self) -> "Watch | None":
        """Start to watch the folders of the setting `watch`, as servers do; None if it names none.

        One that is not there yet is waited for.
        """
        settings = self._store.config
        roots = dict.fromkeys(_real(each.strip()) for each in settings.watch.split(",") if each.strip())
        if not roots:
            return None

        from retentive.files.index import Options
        from retentive.files.walk import Tree
        from retentive.files.watch import Folders, Watch

        trees = [Tree(root, settings.max_file_kb * 1000) for root in roots]
        return Watch(self._store, Folders(trees, Options(), settings.watch_poll)).start()

    def list(self, limit: int = 50, after: str | None = None, session: str | None = None) -> Sequence[File]:
        """In the order of their paths, those of all sessions or of one. `after` is the id of the last one seen."""
        last = None if after is None else self._row(after, None)
        of = validate.name_of(session, "session")
        found = self._rows.page(self._store.namespace, validate.limit_of(limit), of, last)
        return [file_of(row) for row in found]

    def get(self, path: str | os.PathLike[str], session: str | None = None) -> File:
        """One of them, by its path or its id."""
        return file_of(self._row(path, validate.name_of(session, "session")))

    def passages(self, path: str | os.PathLike[str], session: str | None = None) -> Sequence[Passage]:
        """All that can be found of a file, in its order: what the index has of it, whatever the disk has by now."""
        return self._rows.all_passages(self._row(path, validate.name_of(session, "session")))

    @writes
    def remove(
        self, path: str | os.PathLike[str], session: str | None = None, *, dry_run: bool = False
    ) -> Sequence[File]:
        """Take a file, or all of a folder, out of the index; on disk it stays. The answer is what was removed."""
        of = validate.name_of(session, "session")
        found = [*self._rows.below(self._store.namespace, of, _real(path))] or [self._row(path, of)]
        if not dry_run:
            for row in found:
                self._delete(row)
        return [file_of(row) for row in found]

    def _delete(self, row: Row) -> None:
        known: Row | None = row
        while known:
            try:
                self._store.engine.apply(rows.delete_steps(known))
                self._store.journal.wrote = True
            except Stale:
                known = self._rows.get(row.namespace, row.id)
                continue
            return

    def _trees(self, paths: Paths, limit_kb: int | None, ignore: str | Iterable[str]) -> "builtins.list[Tree]":
        """The folders and files that are meant, checked."""
        from retentive.files.ignore import rules_of
        from retentive.files.walk import Tree

        given = [paths] if isinstance(paths, str | os.PathLike) else [*paths]
        if not given:
            raise Invalid("no file or folder is named", "Give at least one.")
        limit = (
            self._store.config.max_file_kb if limit_kb is None else validate.limit_of(limit_kb, "limit_kb", LARGEST_KB)
        )
        patterns = tuple(validate.plain(each, "ignore") for each in validate.each_of(ignore, "ignore"))
        roots = dict.fromkeys(_root(each) for each in given)
        rules_of("/", patterns)  # refuses what makes no sense before anything is done
        return [Tree(root, limit * 1000, patterns) for root in roots]

    def _row(self, path: str | os.PathLike[str], session: str | None) -> Row:
        named = os.fspath(path)
        found = self._rows.get(self._store.namespace, validate.plain(named, "path"))
        if found:
            return found
        at = self._rows.at(self._store.namespace, session, [_real(path)])
        if not at:
            hint = "`retentive files list` shows those that are; `retentive index` adds more."
            raise NotFound(f"{named[:200]!r} is not in the index of namespace {self._store.namespace!r}", hint)
        return at[0]


def _real(path: str | os.PathLike[str]) -> str:
    """As it is kept: absolute, without links, with slashes."""
    text = validate.plain(os.fspath(path), "path")
    if not text.strip():
        raise Invalid("the path is empty")
    try:
        return PurePath(os.path.realpath(Path(text).expanduser())).as_posix()
    except (OSError, RuntimeError, ValueError) as error:
        raise Invalid(f"cannot use the path {text[:200]!r}: {error}") from error


def _root(path: str | os.PathLike[str]) -> str:
    root = _real(path)
    if not os.path.lexists(root):
        hint = "If it is gone for good, `retentive files remove` takes it out of the index."
        raise Invalid(f"there is no {os.fspath(path)[:200]!r}", hint)
    return root
