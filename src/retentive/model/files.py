"""What a file says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
