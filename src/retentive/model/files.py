"""Files: their parsed content, their entries in the index, and the result of indexing."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a file that is searched and shown on its own; no longer than one chunk."""

    headings: tuple[str, ...]
    """The headings above it, outermost first."""
    first: int
    """Its first line, page or paragraph, counted from 1 in the document's unit."""
    last: int
    """Its last one, inclusive. If a line is too long for one section, the next section begins in the same line."""
    text: str
    """Never blank."""


@dataclass(frozen=True, slots=True)
class Document:
    """The parsed content of a file."""

    title: str | None
    metadata: Mapping[str, Any]
    """Its front matter or properties as JSON values: dates are ISO text."""
    links: tuple[str, ...]
    """The targets of its links, as written, in order, without duplicates."""
    sections: tuple[Section, ...]
    unit: str = "line"
    """The unit of `first` and `last`: `line`, `page` (PDF) or `paragraph` (DOCX)."""


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """A position from which reading resumes after the file has grown, and the state of the reader there.

    Sections that begin before its line do not change when text is appended.
    """

    offset: int = 0
    """The position in bytes."""
    line: int = 1
    headings: tuple[str, ...] = ()
    """The headings above this line, by level: a skipped level is an empty text."""
    title: str | None = None
    links: tuple[str, ...] = field(default=())
    """The links before this line."""
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class File:
    """A file that is in the index."""

    id: str
    namespace: str
    path: str
    """Absolute, with slashes."""
    session: str | None
    """The only session that finds it; None: all sessions do."""
    kind: str
    """The reader of its format: `markdown`, `text`, `code`, `html`, `pdf`, `docx`."""
    title: str
    tags: tuple[str, ...]
    """The given tags, the name of its folder, and the name of the file."""
    metadata: Mapping[str, Any]
    links: tuple[str, ...]
    size: int
    hash: str
    """SHA-256 of its bytes."""
    modified: datetime
    indexed: datetime
    sections: int
    """The number of its searchable chunks."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a file that a search found. Its id is that of the file."""

    id: str
    namespace: str
    path: str
    session: str | None
    title: str
    headings: tuple[str, ...]
    """The headings above it, outermost first."""
    first: int
    last: int
    unit: str
    """The unit of `first` and `last`: `line`, `page` or `paragraph`."""
    content: str
    modified: datetime
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]

    @property
    def place(self) -> str:
        """Its path and lines: `/home/ana/notes/dogs.md:3-9 > Rex`; pages for a PDF."""
        span = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        where = f":{span}" if self.unit == "line" else f" ({self.unit} {span})"
        return " > ".join((f"{self.path}{where}", *self.headings))

    @property
    def searchable_text(self) -> str:
        """All text that keyword search looks at."""
        return " ".join((self.content, self.title, *self.headings, *self.tags))


class SkippedFile(NamedTuple):
    """A file that is not in the index, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IndexResult:
    """The result of indexing, as numbers of files."""

    added: int = 0
    updated: int = 0
    appended: int = 0
    """Files that only grew: only their new end was read."""
    renamed: int = 0
    removed: int = 0
    unchanged: int = 0
    ignored: int = 0
    """Files left out by the ignore rules; a folder counts once."""
    unknown: int = 0
    """Files without a reader, such as pictures."""
    embedded: int = 0
    """The number of chunks that got a vector."""
    skipped: tuple[SkippedFile, ...] = ()

    @property
    def changes(self) -> int:
        """The number of files whose index changed."""
        return self.added + self.updated + self.appended + self.renamed + self.removed
