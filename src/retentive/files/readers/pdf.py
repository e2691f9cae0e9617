"""PDF: the text of its pages, by pypdf (an extra). What is a picture of text has none."""

import logging
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from retentive.errors import Invalid, MissingExtra
from retentive.files.readers.decode import clean, lines
from retentive.files.readers.links import worth
from retentive.files.readers.sections import Line, heading, pack, paragraphs
from retentive.model.files import Document

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

LARGEST = 50_000_000  # characters of all pages; a book has one million

_PROPERTIES = ("author", "subject", "keywords")
_DAMAGED = "It seems to be damaged; open it in a viewer and save it anew."


def read(name: str, data: bytes) -> Document:
    """Pages that cannot be read are left out and named in the metadata (`unread_pages`); Invalid if none can."""
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtra("pypdf is not installed.", "pip install 'retentive[pdf]'") from error
    _hushed()
    try:
        return _document(name, _unlocked(name, pypdf.PdfReader(BytesIO(data))))
    except Invalid:
        raise
    except pypdf.errors.DependencyError as error:
        raise Invalid(f"{name} is encrypted", "Save it without a password.") from error
    except Exception as error:
        raise Invalid(f"{name} cannot be read: {type(error).__name__}: {str(error)[:200]}", _DAMAGED) from error


@cache
def _hushed() -> None:
    """Its complaints go to whoever listens to its logger, and not to the terminal."""
    logging.getLogger("pypdf").addHandler(logging.NullHandler())


def _unlocked(name: str, reader: "PdfReader") -> "PdfReader":
    """Many are encrypted against changes only, with an empty password."""
    if reader.is_encrypted and not reader.decrypt(""):
        raise Invalid(f"{name} is encrypted", "Save it without a password.")
    return reader


def _document(name: str, reader: "PdfReader") -> Document:
    found: list[Line] = []
    links: dict[str, None] = {}
    unread: dict[int, str] = {}
    size = 0
    for number, page in enumerate(reader.pages, 1):
        try:
            text = clean(page.extract_text())
            links |= dict.fromkeys(_links(page))
        except Exception as error:  # noqa: BLE001 - as above; the other pages may be whole
            unread[number] = f"{type(error).__name__}: {error}"
            continue
        size += len(text)
        if size > LARGEST:
            raise Invalid(f"{name} has more than {LARGEST:,} characters", "Divide it.")
        found += (Line(number, line) for line in (*lines(text), ""))
    if unread and len(unread) == len(reader.pages):
        raise Invalid(f"{name} cannot be read: {next(iter(unread.values()))[:200]}", _DAMAGED)
    title, metadata = _properties(reader)
    metadata |= {"unread_pages": list(unread)} if unread else {}
    return Document(title, metadata, tuple(links), tuple(pack(paragraphs(found))), "page")


def _properties(reader: "PdfReader") -> tuple[str | None, dict[str, Any]]:
    given = reader.metadata
    if given is None:
        return None, {}
    texts = {name: clean(str(getattr(given, name) or "")).strip() for name in ("title", *_PROPERTIES)}
    return heading(texts.pop("title")) or None, {name: text for name, text in texts.items() if text}


def _links(page: "PageObject") -> Iterator[str]:
    for each in page.annotations or ():
        action = each.get_object().get("/A")
        target = action.get_object().get("/URI") if action is not None else None
        if isinstance(target, str) and worth(clean(target)):
            yield clean(target)
