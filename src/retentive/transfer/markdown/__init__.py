"""Exports namespaces as a folder of Markdown pages, for people.

    index.md            a list of all pages
    memories/fact.md    active memories, a page for each kind;  past/fact.md   superseded and expired ones
    notes.md            profile.md   contacts.md   projects.md   skills.md
    sessions/NAME.md    a page for each conversation

Each of several namespaces has a folder of its own. Forgotten memories are left out; JSON Lines have them. All text is
escaped, so that Markdown shows it unchanged. The folder is written under a temporary name, and renamed when complete.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from retentive.errors import Conflict, Invalid
from retentive.fs.atomic import temporary_file
from retentive.fs.folders import make_private
from retentive.fs.paths import translate_os_error
from retentive.storage import Engine
from retentive.transfer.export_format import Row
from retentive.transfer.export_rows import ExportRequest, read_lines
from retentive.transfer.markdown import pages
from retentive.transfer.markdown.escape import escape_inline, make_file_name

SKIPPED_PARTS = ("files", "expectations", "proposals", "hidden-messages", "access-log", "purges")
PAGE_TITLES = {"contact": "Contacts", "project": "Projects", "skill": "Skills"}

Progress = Callable[[int], None]


def write_pages(
    engine: Engine, target: Path, request: ExportRequest, progress: Progress, *, force: bool
) -> dict[str, int]:
    """Write the pages. Returns how many rows of each type they show."""
    page_request = request._replace(vectors=False, without=[*request.without, *SKIPPED_PARTS])
    with _open_folder(target, force=force) as folder:
        counts: Counter[str] = Counter()
        with ExitStack() as stack:
            index = stack.enter_context(_create_file(folder / "index.md"))
            index.write("# Memory\n\n")
            for namespace in sorted(page_request.namespaces):
                own = folder if len(page_request.namespaces) == 1 else folder / make_file_name(namespace)
                done = _NamespacePages(own, progress, counts).write(engine, namespace, page_request)
                index.write(_render_index(namespace, folder, done))
    return {type: count for type, count in counts.items() if count}


def _render_index(namespace: str, folder: Path, done: "dict[Path, tuple[str, int]]") -> str:
    found = [
        f"- [{escape_inline(title)}]({path.relative_to(folder).as_posix()})" + (f": {count}" if count else "")
        for path, (title, count) in done.items()
    ]
    return f"## {escape_inline(namespace)}\n\n" + ("\n".join(found) or "Nothing yet.") + "\n\n"


class _NamespacePages:
    """The pages of one namespace. The page of a session is closed after its messages, the others at the end."""

    def __init__(self, folder: Path, progress: Progress, counts: Counter[str]) -> None:
        self._folder, self._progress, self._counts = folder, progress, counts
        self._open: dict[Path, IO[str]] = {}
        self._session: Path | None = None
        self._contact_names: dict[str, str] = {}
        self.done: dict[Path, tuple[str, int]] = {}

    def write(self, engine: Engine, namespace: str, request: ExportRequest) -> "dict[Path, tuple[str, int]]":
        with ExitStack() as stack:
            stack.callback(self._end_session)
            for line, row in read_lines(engine, namespace, request):
                self._add(stack, line.type, row)
                self._counts[line.type] += line.type not in ("namespace", "run")
                self._progress(self._counts.total())
        return dict(sorted(self.done.items(), key=lambda each: each[0].parts))

    def _add(self, stack: ExitStack, type: str, row: Row) -> None:
        match type:
            case "memory" if row["status"] != "forgotten":
                self._add_memory(stack, row)
            case "session":
                self._begin_session(stack, row)
            case "event" if self._session:
                self._open[self._session].write(f"{pages.render_event(row)}\n")
            case "profile":
                self._open_page(stack, "profile.md", "Profile").write(pages.render_profile(row))
            case "contact" | "project" | "skill" if not row["deleted"]:
                if type == "contact":
                    self._contact_names[row["id"]] = row["fields"].get("name", row["id"])
                text = pages.render_record(row, self._contact_names)
                self._open_page(stack, f"{type}s.md", PAGE_TITLES[type]).write(f"{text}\n")

    def _add_memory(self, stack: ExitStack, row: Row) -> None:
        kind = row["kind"]
        if row["status"] != "active":
            page = self._open_page(stack, f"past/{kind}.md", f"No longer: {kind}")
        elif kind == "note":
            page = self._open_page(stack, "notes.md", "Notes")
        else:
            page = self._open_page(stack, f"memories/{kind}.md", kind.capitalize())
        page.write(f"{pages.render_memory(row)}\n---\n\n")

    def _begin_session(self, stack: ExitStack, row: Row) -> None:
        self._end_session()
        self._session = self._folder / "sessions" / f"{make_file_name(row['id'])}.md"
        page = self._open_page(stack, f"sessions/{self._session.name}", f"Session {row['id']}", row["events"])
        page.writelines(f"{each}\n" for each in pages.render_session(row))

    def _end_session(self) -> None:
        if self._session:
            self._open.pop(self._session).close()

    def _open_page(self, stack: ExitStack, name: str, title: str, count: int | None = None) -> IO[str]:
        path = self._folder / name
        before = self.done.get(path, (title, 0))[1]
        self.done[path] = title, before + 1 if count is None else count
        if path not in self._open:
            file = _create_file(path)
            self._open[path] = stack.enter_context(file) if count is None else file
            self._open[path].write(f"# {escape_inline(title)}\n\n")
        return self._open[path]


def _create_file(path: Path) -> IO[str]:
    make_private(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")


@contextmanager
def _open_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """A temporary folder. Its pages are moved to the target at the end."""
    if target.exists() and not target.is_dir():
        raise Invalid(f"{target} is a file", "Give a folder for the pages.")
    if target.is_dir() and any(target.iterdir()) and not force:
        raise Conflict(f"{target} is not empty", "Choose another folder, or replace its pages: `force=True`.")
    folder = target.resolve().parent
    try:
        make_private(folder)
        with temporary_file(folder, is_folder=True) as part:
            yield part
            _publish_pages(part, target)
    except OSError as error:
        hint = "Check the folder, its permissions and the free space."
        raise translate_os_error(error, f"{target} cannot be written", hint) from error


def _publish_pages(part: Path, target: Path) -> None:
    if not target.exists():
        part.rename(target)
        return
    for page in sorted(each for each in part.rglob("*") if each.is_file()):
        place = target / page.relative_to(part)
        make_private(place.parent)
        page.replace(place)
