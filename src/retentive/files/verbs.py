"""The verbs of files: index files of this machine, watch folders, list what is indexed."""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from retentive.errors import Invalid, NotFound, Stale
from retentive.model import File, IndexResult, Passage
from retentive.storage.tables import files as file_rows
from retentive.storage.tables.files import FileRow, make_file
from retentive.store import OpenStore, validate
from retentive.store.views import mutates

if TYPE_CHECKING:
    import builtins

    from retentive.files.index import IndexOptions
    from retentive.files.walk import Tree
    from retentive.files.watch import Watch

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
MAX_LIMIT_KB = 1_000_000


class Files:
    """The index of files. It follows the disk, and never changes a file."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store
        self._table = store.tables.files

    @mutates
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
        on_wait: Callable[[str], None] | None = None,
        on_file: Callable[[str], None] | None = None,
    ) -> IndexResult:
        """Bring the index in step with files and folders: what is new, changed, renamed or gone, and nothing else.

        With a session, the files are seen in that session only. `tags` are added to the tags from the names of a file
        and its folder; None keeps the tags that it has. Files larger than `limit_kb` (setting `max_file_kb`) are
        skipped. Files that match the patterns `ignore`, in the syntax of `.gitignore`, are left out. `progress` is
        called with how many files are done and how many had to be opened. `on_wait` is called with a folder that
        another process is indexing at this moment, `on_file` with the path of each file before it is read.
        """
        from retentive.files.index import index_places

        trees = self._make_trees(paths, limit_kb, ignore)
        options = _make_options(session, tags, dry_run=dry_run)
        return index_places(
            self._store, options, [(tree, None) for tree in trees], threading.Event(), progress, on_wait, on_file
        )

    @mutates
    def watch(
        self,
        paths: Paths,
        *,
        session: str | None = None,
        tags: Iterable[str] | None = None,
        limit_kb: int | None = None,
        ignore: str | Iterable[str] = (),
        poll: bool | None = None,
        on_change: Callable[[IndexResult], None] | None = None,
    ) -> "Watch":
        """Index folders and follow their changes in a thread: `start` and `stop` the watch, or use `with`.

        The options are those of `index`. `poll` looks every few seconds, for disks that do not report changes, such as
        those of other machines (setting `watch_poll`). `on_change` is called with each result, in that thread.
        """
        from retentive.files.watch import Watch, WatchedFolders

        trees = self._make_trees(paths, limit_kb, ignore)
        is_polling = self._store.config.watch_poll if poll is None else poll
        return Watch(self._store, WatchedFolders(trees, _make_options(session, tags), is_polling), on_change)

    def watch_configured(self) -> "Watch | None":
        """Start to watch the folders of the setting `watch`, as servers do; None if it names none.

        A folder that does not exist yet is waited for.
        """
        settings = self._store.config
        roots = dict.fromkeys(_resolve_path(each.strip()) for each in settings.watch.split(",") if each.strip())
        if not roots:
            return None

        from retentive.files.walk import Tree
        from retentive.files.watch import Watch, WatchedFolders

        trees = [Tree(root, settings.max_file_kb * 1000) for root in roots]
        return Watch(self._store, WatchedFolders(trees, _make_options(), settings.watch_poll)).start()

    def list(self, limit: int = 50, after: str | None = None, session: str | None = None) -> Sequence[File]:
        """Return files ordered by path, of all sessions or of one. `after` is the id of the last file seen."""
        last = None if after is None else self._find_row(after, None)
        name = validate.optional_name(session, "session")
        page = self._table.list_page(self._store.namespace, validate.positive_int(limit), name, last)
        return [make_file(row) for row in page]

    def get(self, path: str | os.PathLike[str], session: str | None = None) -> File:
        """Return the file with this path or id."""
        return make_file(self._find_row(path, validate.optional_name(session, "session")))

    def passages(self, path: str | os.PathLike[str], session: str | None = None) -> Sequence[Passage]:
        """Return all passages of a file in order, as they are in the index. The file on disk may have changed since."""
        return self._table.list_all_passages(self._find_row(path, validate.optional_name(session, "session")))

    @mutates
    def remove(
        self, path: str | os.PathLike[str], session: str | None = None, *, dry_run: bool = False
    ) -> Sequence[File]:
        """Remove a file, or all files of a folder, from the index and return them. The disk is not changed."""
        name = validate.optional_name(session, "session")
        below = self._table.list_in_folder(self._store.namespace, name, _resolve_path(path))
        found = [*below] or [self._find_row(path, name)]
        if not dry_run:
            for row in found:
                self._delete(row)
        return [make_file(row) for row in found]

    def _delete(self, row: FileRow) -> None:
        """Delete a row; after a concurrent write, the row as it is now."""
        current: FileRow | None = row
        while current:
            try:
                self._store.engine.apply(file_rows.delete_steps(current))
            except Stale:
                current = self._table.get(row.namespace, row.id)
                continue
            self._store.journal.note_write()
            return

    def _make_trees(self, paths: Paths, limit_kb: int | None, ignore: str | Iterable[str]) -> "builtins.list[Tree]":
        """Return the given folders and files, validated."""
        from retentive.files.ignore import load_rules
        from retentive.files.walk import Tree

        given = [paths] if isinstance(paths, str | os.PathLike) else [*paths]
        if not given:
            raise Invalid("no file or folder was given", "Give at least one.")
        limit = self._store.config.max_file_kb
        if limit_kb is not None:
            limit = validate.positive_int(limit_kb, "limit_kb", MAX_LIMIT_KB)
        patterns = tuple(validate.require_text(each, "ignore") for each in validate.as_list(ignore, "ignore"))
        roots = dict.fromkeys(_require_existing(each) for each in given)
        load_rules("/", patterns)  # refuses malformed patterns before anything is done
        return [Tree(root, limit * 1000, patterns) for root in roots]

    def _find_row(self, path: str | os.PathLike[str], session: str | None) -> FileRow:
        given = os.fspath(path)
        row = self._table.get(self._store.namespace, validate.require_text(given, "path"))
        if row:
            return row
        found = self._table.list_by_path(self._store.namespace, session, [_resolve_path(path)])
        if not found:
            hint = "`files.list()` shows the indexed ones; `files.index(PATH)` adds more."
            raise NotFound(f"{given[:200]!r} is not in the index of namespace {self._store.namespace!r}", hint)
        return found[0]


def _make_options(
    session: str | None = None, tags: Iterable[str] | None = None, *, dry_run: bool = False
) -> "IndexOptions":
    from retentive.files.index import IndexOptions

    given = None if tags is None else validate.parse_tags(tags)
    return IndexOptions(validate.optional_name(session, "session"), given, dry_run)


def _resolve_path(path: str | os.PathLike[str]) -> str:
    """Return a path as it is stored: absolute, without links, with slashes."""
    text = validate.require_text(os.fspath(path), "path")
    if not text.strip():
        raise Invalid("the path is empty")
    try:
        return PurePath(os.path.realpath(Path(text).expanduser())).as_posix()
    except (OSError, RuntimeError, ValueError) as error:
        raise Invalid(f"cannot use the path {text[:200]!r}: {error}") from error


def _require_existing(path: str | os.PathLike[str]) -> str:
    """Return a path as it is stored; `Invalid` if nothing is there."""
    root = _resolve_path(path)
    if not os.path.lexists(root):
        hint = "If it is permanently gone, `files.remove(PATH)` removes it from the index."
        raise Invalid(f"there is no {os.fspath(path)[:200]!r}", hint)
    return root
