"""What a file says, and what is known of files in the index."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a file that can be searched and shown by itself; no longer than one chunk."""

    headings: tuple[str, ...]
    """The headings it is under, outermost first."""
    first: int
    """Where it begins in the file, counted from 1 in the document's unit."""
    last: int
    """Where it ends, inclusive. The next section may begin in the same line if that line is too long for one."""
    text: str
    """Never blank."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file, read."""

    title: str | None
    metadata: Mapping[str, Any]
    """Its front matter or properties, fit for JSON: dates are ISO text."""
    links: tuple[str, ...]
    """What it points to, as written, in order, without doubles."""
    sections: tuple[Section, ...]
    unit: str = "line"
    """What `first` and `last` count: `line`, `page` (PDF) or `paragraph` (DOCX)."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a file from which reading may resume once the file has grown, and what is known by then.

    All sections that begin before its line stay as they are, whatever is appended.
    """

    offset: int = 0
    """In bytes."""
    line: int = 1
    headings: tuple[str, ...] = ()
    """Those in force before this line, by level: a level that was skipped is an empty text."""
    title: str | None = None
    links: tuple[str, ...] = field(default=())
    """Those before this line."""
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class File:
    """A file that is in the index."""

    id: str
    namespace: str
    path: str
    """Absolute, with slashes."""
    session: str | None
    """If it is seen in one session only."""
    kind: str
    """What reads it: `markdown`, `text`, `code`, `html`, `pdf`, `docx`."""
    title: str
    tags: tuple[str, ...]
    """Those given, the name of its folder, and its own."""
    metadata: Mapping[str, Any]
    links: tuple[str, ...]
    size: int
    hash: str
    """SHA-256 of its bytes."""
    modified: datetime
    indexed: datetime
    sections: int
    """Slices of it that can be found."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a file, as a search finds it. Its id is the file's."""

    id: str
    namespace: str
    path: str
    session: str | None
    title: str
    headings: tuple[str, ...]
    """Those it is under, outermost first."""
    first: int
    last: int
    unit: str
    """What `first` and `last` count: `line`, `page` or `paragraph`."""
    content: str
    modified: datetime
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]

    @property
    def place(self) -> str:
        """Where it stands: `/home/ana/notes/dogs.md:3-9 > Rex`; of a PDF, by pages."""
        span = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        where = f":{span}" if self.unit == "line" else f" ({self.unit} {span})"
        return " > ".join((f"{self.path}{where}", *self.headings))

    @property
    def told(self) -> str:
        """All that its words may be found in."""
        return " ".join((self.content, self.title, *self.headings, *self.tags))


class Skipped(NamedTuple):
    """A file that is not in the index, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """What indexing came to, in files."""

    added: int = 0
    updated: int = 0
    appended: int = 0
    """Files that only grew: what is new at their end was read."""
    renamed: int = 0
    removed: int = 0
    unchanged: int = 0
    ignored: int = 0
    """Left out by the rules of what to ignore; a folder counts once."""
    unknown: int = 0
    """Of no kind that is read, such as pictures."""
    embedded: int = 0
    """Slices for which a vector was made."""
    skipped: tuple[Skipped, ...] = ()

    @property
    def changed(self) -> int:
        return self.added + self.updated + self.appended + self.renamed + self.removed
