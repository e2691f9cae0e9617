"""A store as a folder of Markdown, for people.

    index.md            what there is, with links
    memories/fact.md    what holds, a page for each kind;  past/fact.md   what was replaced or has run out
    notes.md            profile.md   contacts.md   projects.md   skills.md
    sessions/NAME.md    a page for each conversation

Of several namespaces each has a folder of its own. What was forgotten is not shown; the JSON Lines have it. All text is
shown as it is: nothing in it is taken for Markdown. It is written beside its place and put there when it is whole.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from retentive.errors import Conflict, Invalid
from retentive.fs.atomic import passing
from retentive.fs.folders import make_private
from retentive.fs.paths import translate_os_error
from retentive.storage import Engine
from retentive.transfer.export_format import Row
from retentive.transfer.export_rows import Wanted, rows
from retentive.transfer.markdown import pages
from retentive.transfer.markdown.escape import file_name, inline

NOT_SHOWN = ("files", "expectations", "proposals", "hidden-messages", "access-log", "purges")
TITLES = {"contact": "Contacts", "project": "Projects", "skill": "Skills"}

Progress = Callable[[int], None]


def write(engine: Engine, target: Path, wanted: Wanted, progress: Progress, *, force: bool) -> dict[str, int]:
    """How many pages and things there are of each type."""
    shown = wanted._replace(vectors=False, without=[*wanted.without, *NOT_SHOWN])
    with _placed(target, force=force) as folder:
        counts: Counter[str] = Counter()
        with ExitStack() as stack:
            index = stack.enter_context(_opened(folder / "index.md"))
            index.write("# Memory\n\n")
            for namespace in sorted(shown.namespaces):
                own = folder if len(shown.namespaces) == 1 else folder / file_name(namespace)
                done = _Namespace(own, progress, counts).write(engine, namespace, shown)
                index.write(_listed(namespace, folder, done))
    return {type: count for type, count in counts.items() if count}


def _listed(namespace: str, folder: Path, done: "dict[Path, tuple[str, int]]") -> str:
    found = [
        f"- [{inline(title)}]({path.relative_to(folder).as_posix()})" + (f": {count}" if count else "")
        for path, (title, count) in done.items()
    ]
    return f"## {inline(namespace)}\n\n" + ("\n".join(found) or "Nothing yet.") + "\n\n"


class _Namespace:
    """The pages of one namespace. Of those with many things each is open till the end, of sessions one at a time."""

    def __init__(self, folder: Path, progress: Progress, counts: Counter[str]) -> None:
        self._folder, self._progress, self._counts = folder, progress, counts
        self._open: dict[Path, IO[str]] = {}
        self._session: Path | None = None
        self._called: dict[str, str] = {}
        self.done: dict[Path, tuple[str, int]] = {}

    def write(self, engine: Engine, namespace: str, wanted: Wanted) -> "dict[Path, tuple[str, int]]":
        with ExitStack() as stack:
            stack.callback(self._end)
            for line, row in rows(engine, namespace, wanted):
                self._add(stack, line.type, row)
                self._counts[line.type] += line.type not in ("namespace", "run")
                self._progress(self._counts.total())
        return dict(sorted(self.done.items(), key=lambda each: each[0].parts))

    def _add(self, stack: ExitStack, type: str, row: Row) -> None:
        match type:
            case "memory" if row["status"] != "forgotten":
                self._memory(stack, row)
            case "session":
                self._begin(stack, row)
            case "event" if self._session:
                self._open[self._session].write(f"{pages.event(row)}\n")
            case "profile":
                self._page(stack, "profile.md", "Profile").write(pages.profile(row))
            case "contact" | "project" | "skill" if not row["deleted"]:
                if type == "contact":
                    self._called[row["id"]] = row["fields"].get("name", row["id"])
                self._page(stack, f"{type}s.md", TITLES[type]).write(f"{pages.record(row, self._called)}\n")

    def _memory(self, stack: ExitStack, row: Row) -> None:
        kind = row["kind"]
        if row["status"] != "active":
            page = self._page(stack, f"past/{kind}.md", f"No longer: {kind}")
        elif kind == "note":
            page = self._page(stack, "notes.md", "Notes")
        else:
            page = self._page(stack, f"memories/{kind}.md", kind.capitalize())
        page.write(f"{pages.memory(row)}\n---\n\n")

    def _begin(self, stack: ExitStack, row: Row) -> None:
        self._end()
        self._session = self._folder / "sessions" / f"{file_name(row['id'])}.md"
        page = self._page(stack, f"sessions/{self._session.name}", f"Session {row['id']}", row["events"])
        page.writelines(f"{each}\n" for each in pages.session(row))

    def _end(self) -> None:
        if self._session:
            self._open.pop(self._session).close()

    def _page(self, stack: ExitStack, name: str, title: str, count: int | None = None) -> IO[str]:
        path = self._folder / name
        before = self.done.get(path, (title, 0))[1]
        self.done[path] = title, before + 1 if count is None else count
        if path not in self._open:
            file = _opened(path)
            self._open[path] = stack.enter_context(file) if count is None else file
            self._open[path].write(f"# {inline(title)}\n\n")
        return self._open[path]


def _opened(path: Path) -> IO[str]:
    make_private(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")


@contextmanager
def _placed(target: Path, *, force: bool) -> Iterator[Path]:
    """A folder to write into, whose pages are put in their place at the end."""
    if target.exists() and not target.is_dir():
        raise Invalid(f"{target} is a file", "Give a folder for the pages.")
    if target.is_dir() and any(target.iterdir()) and not force:
        raise Conflict(f"{target} is not empty", "Choose another folder, or say --force: pages of the same name go.")
    folder = target.resolve().parent
    try:
        make_private(folder)
        with passing(folder, is_folder=True) as part:
            yield part
            _put(part, target)
    except OSError as error:
        hint = "See to the folder, its permissions and the room on the disk."
        raise translate_os_error(error, f"{target} cannot be written", hint) from error


def _put(part: Path, target: Path) -> None:
    if not target.exists():
        part.rename(target)
        return
    for page in sorted(each for each in part.rglob("*") if each.is_file()):
        place = target / page.relative_to(part)
        make_private(place.parent)
        page.replace(place)
