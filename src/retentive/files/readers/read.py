"""Read a file of any kind into sections. The name of the file decides which reader is used."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath

from retentive.errors import Invalid
from retentive.files import kinds
from retentive.files.kinds import find_kind
from retentive.files.readers import code, markdown
from retentive.files.readers.decode import decode, split_lines
from retentive.files.readers.sections import TextBlock, number_lines, pack_sections, split_paragraphs
from retentive.model.files import Document


def read(name: str, data: bytes) -> Document:
    """Read a file. `Invalid` if its kind is unknown, or if it is binary, damaged or encrypted.

    `MissingExtra` if its reader is not installed.
    """
    kind = find_kind(PurePath(name))
    if kind is None:
        raise Invalid(f"{name} has a type that is not supported", f"Supported: {', '.join(sorted(kinds.SUFFIXES))}.")
    return _READERS[kind](name, data)


def _read_markdown(name: str, data: bytes) -> Document:
    return make_document(markdown.parse_outline(split_lines(decode(name, data).text)))


def make_document(found: markdown.Outline) -> Document:
    return _make_document(found.blocks, found.title, found.metadata, (target for _, target in found.links))


def _read_text(name: str, data: bytes) -> Document:
    return _make_document(split_paragraphs(number_lines(split_lines(decode(name, data).text))))


def _read_code(name: str, data: bytes) -> Document:
    return _make_document(code.split_definitions(number_lines(split_lines(decode(name, data).text))))


def _read_html(name: str, data: bytes) -> Document:
    from retentive.files.readers import html

    page = html.read_page(decode(name, data).text)
    return _make_document(page.blocks, page.title, page.metadata, page.links)


def _read_pdf(name: str, data: bytes) -> Document:
    from retentive.files.readers import pdf

    return pdf.read(name, data)


def _read_docx(name: str, data: bytes) -> Document:
    from retentive.files.readers import docx

    return docx.read(name, data)


def _make_document(
    blocks: Iterable[TextBlock],
    title: str | None = None,
    metadata: Mapping[str, object] | None = None,
    links: Iterable[str] = (),
) -> Document:
    return Document(title, metadata or {}, tuple(dict.fromkeys(links)), tuple(pack_sections(blocks)))


_READERS: Mapping[str, Callable[[str, bytes], Document]] = {
    "markdown": _read_markdown,
    "text": _read_text,
    "code": _read_code,
    "html": _read_html,
    "pdf": _read_pdf,
    "docx": _read_docx,
}
