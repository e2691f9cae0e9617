"""What does this file say? One function for every kind."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath

from retentive.errors import Invalid
from retentive.files import kinds
from retentive.files.kinds import readable
from retentive.files.readers import code, markdown
from retentive.files.readers.decode import decode, lines
from retentive.files.readers.sections import Block, numbered, pack, paragraphs
from retentive.model.files import Document

__all__ = ["read", "readable"]


def read(name: str, data: bytes) -> Document:
    """`name` decides how it is read (`readable`).

    Invalid if it is of no kind that is read, binary, damaged or encrypted; MissingExtra if its reader is not installed.
    """
    kind = readable(PurePath(name))
    if kind is None:
        raise Invalid(f"{name} is of no kind that is read", f"These are: {', '.join(sorted(kinds.SUFFIXES))}.")
    return _READERS[kind](name, data)


def _markdown(name: str, data: bytes) -> Document:
    return from_outline(markdown.outline(lines(decode(name, data).text)))


def from_outline(found: markdown.Outline) -> Document:
    return _document(found.blocks, found.title, found.metadata, (target for _, target in found.links))


def _text(name: str, data: bytes) -> Document:
    return _document(paragraphs(numbered(lines(decode(name, data).text))))


def _code(name: str, data: bytes) -> Document:
    return _document(code.blocks(numbered(lines(decode(name, data).text))))


def _html(name: str, data: bytes) -> Document:
    from retentive.files.readers import html

    page = html.page(decode(name, data).text)
    return _document(page.blocks, page.title, page.metadata, page.links)


def _pdf(name: str, data: bytes) -> Document:
    from retentive.files.readers import pdf

    return pdf.read(name, data)


def _docx(name: str, data: bytes) -> Document:
    from retentive.files.readers import docx

    return docx.read(name, data)


def _document(
    blocks: Iterable[Block],
    title: str | None = None,
    metadata: Mapping[str, object] | None = None,
    links: Iterable[str] = (),
) -> Document:
    return Document(title, metadata or {}, tuple(dict.fromkeys(links)), tuple(pack(blocks)))


_READERS: Mapping[str, Callable[[str, bytes], Document]] = {
    "markdown": _markdown,
    "text": _text,
    "code": _code,
    "html": _html,
    "pdf": _pdf,
    "docx": _docx,
}
