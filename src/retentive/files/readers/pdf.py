"""Read PDF: the text of its pages, by pypdf (an extra). A picture of text has no text."""

import logging
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from retentive.errors import Invalid, MissingExtra
from retentive.files.readers.decode import split_lines
from retentive.files.readers.links import is_worth_keeping
from retentive.files.readers.sections import SourceLine, clean_heading, pack_sections, split_paragraphs
from retentive.model.files import Document
from retentive.text.normalize import replace_unstorable

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_TEXT_CHARS = 50_000_000  # of all pages; a book has one million

_PROPERTIES = ("author", "subject", "keywords")
_DAMAGED = "It seems to be damaged; open it in a viewer and save it again."


def read(name: str, data: bytes) -> Document:
    """Read a PDF. Unreadable pages are left out and listed in the metadata (`unread_pages`); `Invalid` if all are."""
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtra("pypdf is not installed.", "pip install 'retentive[pdf]'") from error
    _silence_pypdf()
    try:
        return _read_document(name, _unlock(name, pypdf.PdfReader(BytesIO(data))))
    except Invalid:
        raise
    except pypdf.errors.DependencyError as error:
        raise Invalid(f"{name} is encrypted", "Save it without a password.") from error
    except Exception as error:
        raise Invalid(f"{name} cannot be read: {type(error).__name__}: {str(error)[:200]}", _DAMAGED) from error


@cache
def _silence_pypdf() -> None:
    """Keep the warnings of pypdf from the terminal. Those who listen to its logger still get them."""
    logging.getLogger("pypdf").addHandler(logging.NullHandler())


def _unlock(name: str, reader: "PdfReader") -> "PdfReader":
    """Decrypt a file with the empty password: many are encrypted against changes only."""
    if reader.is_encrypted and not reader.decrypt(""):
        raise Invalid(f"{name} is encrypted", "Save it without a password.")
    return reader


def _read_document(name: str, reader: "PdfReader") -> Document:
    text_lines: list[SourceLine] = []
    links: dict[str, None] = {}
    unread: dict[int, str] = {}
    size = 0
    for number, page in enumerate(reader.pages, 1):
        try:
            text = replace_unstorable(page.extract_text())
            links |= dict.fromkeys(_find_links(page))
        except Exception as error:  # noqa: BLE001 - as above; the other pages may be whole
            unread[number] = f"{type(error).__name__}: {error}"
            continue
        size += len(text)
        if size > MAX_TEXT_CHARS:
            raise Invalid(f"{name} has more than {MAX_TEXT_CHARS:,} characters", "Split it.")
        text_lines += (SourceLine(number, line) for line in (*split_lines(text), ""))
    if unread and len(unread) == len(reader.pages):
        raise Invalid(f"{name} cannot be read: {next(iter(unread.values()))[:200]}", _DAMAGED)
    title, metadata = _read_properties(reader)
    metadata |= {"unread_pages": list(unread)} if unread else {}
    return Document(title, metadata, tuple(links), tuple(pack_sections(split_paragraphs(text_lines))), "page")


def _read_properties(reader: "PdfReader") -> tuple[str | None, dict[str, Any]]:
    metadata = reader.metadata
    if metadata is None:
        return None, {}
    texts = {name: replace_unstorable(str(getattr(metadata, name) or "")).strip() for name in ("title", *_PROPERTIES)}
    return clean_heading(texts.pop("title")) or None, {name: text for name, text in texts.items() if text}


def _find_links(page: "PageObject") -> Iterator[str]:
    for each in page.annotations or ():
        action = each.get_object().get("/A")
        target = action.get_object().get("/URI") if action is not None else None
        if isinstance(target, str) and is_worth_keeping(replace_unstorable(target)):
            yield replace_unstorable(target)
