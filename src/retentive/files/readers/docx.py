"""Read DOCX: paragraphs under their headings, from the zip by the standard library alone.

    word/document.xml             w:p paragraphs (w:pStyle names their style), w:t text, w:tbl tables, w:hyperlink
    word/styles.xml               the styles: a heading has an outline level, or the name of a built-in style
    word/_rels/document.xml.rels  the targets of hyperlinks
    docProps/core.xml             title, author and the like

Bombs are refused: a part may unpack to a limited size, and no part may declare a document type, which could declare
entities. Deleted text and field codes are left out.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import Any, NamedTuple
from xml.parsers import expat

from retentive.errors import Invalid
from retentive.files.readers.decode import split_lines
from retentive.files.readers.links import is_worth_keeping
from retentive.files.readers.sections import SourceLine, TextBlock, clean_heading, pack_sections, push_heading
from retentive.model.files import Document
from retentive.text.normalize import replace_unstorable

MAX_PART_BYTES = 100_000_000  # bytes of a part once unpacked; the document.xml of a book has some ten million

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main "
_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main "  # the same, as saved in "strict" format
_PROPERTIES = {"creator": "author", "subject": "subject", "keywords": "keywords", "description": "description"}
_MAX_LEVELS = 9


class _Damaged(Exception):
    """The file is not as Word writes it."""


class _Style(NamedTuple):
    level: int | None
    based_on: str | None


def read(name: str, data: bytes) -> Document:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return _read_document(archive)
    except (_Damaged, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, struct.error) as error:
        hint = "It seems to be damaged, encrypted or not a DOCX file; open it and save it again."
        raise Invalid(f"{name} cannot be read: {error}", hint) from error
    except (ValueError, LookupError, OverflowError) as error:  # zipfile trusts some of its numbers
        raise Invalid(f"{name} cannot be read: {error}", "It seems to be damaged; download it again.") from error


def _read_document(archive: zipfile.ZipFile) -> Document:
    styles, targets, properties = _Styles(), _Targets(), _Properties()
    _parse(archive, "word/styles.xml", styles)
    _parse(archive, "word/_rels/document.xml.rels", targets)
    _parse(archive, "docProps/core.xml", properties)
    text = _Text(styles.level, targets.found)
    if not _parse(archive, "word/document.xml", text):
        raise _Damaged("it has no word/document.xml")
    found = properties.found
    title = clean_heading(found.pop("title", "")) or text.title()
    return Document(title, found, tuple(dict.fromkeys(text.links)), tuple(pack_sections(text.blocks())), "paragraph")


class _Handler:
    """Handles the elements of a part."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


def _parse(archive: zipfile.ZipFile, part: str, handler: _Handler) -> bool:
    """Parse a part with a handler. False if there is no such part."""
    if part not in archive.NameToInfo:
        return False
    if archive.NameToInfo[part].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _Damaged(f"{part} uses a compression that Word does not use")
    with archive.open(part) as stream:
        data = stream.read(MAX_PART_BYTES + 1)
    if len(data) > MAX_PART_BYTES:
        raise _Damaged(f"{part} would unpack to more than {MAX_PART_BYTES:,} bytes")
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.buffer_text = True
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, RecursionError) as error:
        raise _Damaged(f"{part}: {error}") from error
    return True


def _refuse(*_: object) -> None:
    raise _Damaged("it declares a document type, which Word never does")


def _local_name(name: str) -> str:
    """Return a name of Word without its namespace; other names as they are."""
    return name.removeprefix(_W).removeprefix(_STRICT)


def _word_attribute(attributes: Mapping[str, str], name: str = "val") -> str:
    return attributes.get(_W + name) or attributes.get(_STRICT + name) or ""


class _Styles(_Handler):
    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._id = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        match _local_name(name):
            case "style":
                self._id = _word_attribute(attributes, "styleId")
                self._styles[self._id] = _Style(None, None)
            case "name" if self._id:
                self._set(level=_level_of_built_in(_word_attribute(attributes)))
            case "basedOn" if self._id:
                self._set(based_on=_word_attribute(attributes))
            case "outlineLvl" if self._id:
                self._set(level=_parse_level(_word_attribute(attributes)))

    def end(self, name: str) -> None:
        if _local_name(name) == "style":
            self._id = ""

    def level(self, id: str) -> int | None:
        """Return the level of a style: 0 is the outermost heading, -1 the title of the document; None is no heading."""
        for _ in range(_MAX_LEVELS):  # styles are based on styles; a ring of them ends here
            style = self._styles.get(id, _Style(_level_of_built_in(id), None))
            if style.level is not None or not style.based_on:
                return style.level
            id = style.based_on
        return None

    def _set(self, **change: Any) -> None:
        style = self._styles[self._id]
        self._styles[self._id] = style._replace(**{name: each for name, each in change.items() if each is not None})


def _level_of_built_in(name: str) -> int | None:
    """Return the level of `heading 1` and `Title`, as Word writes them in every language; others write `Heading1`."""
    word = name.lower().replace(" ", "")
    if word == "title":
        return -1
    return _parse_level(word.removeprefix("heading"), 1) if word.startswith("heading") else None


def _parse_level(digits: str, first: int = 0) -> int | None:
    number = int(digits) - first if digits.isascii() and digits.isdigit() and len(digits) == 1 else -1
    return number if 0 <= number < _MAX_LEVELS else None


class _Targets(_Handler):
    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name.endswith(" Relationship") and attributes.get("Type", "").endswith("/hyperlink"):
            self.found[attributes.get("Id", "")] = attributes.get("Target", "")


class _Properties(_Handler):
    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self._name = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002 - it has no attributes
        local = name.rpartition(" ")[2]
        self._name = "title" if local == "title" else _PROPERTIES.get(local, "")

    def end(self, name: str) -> None:  # noqa: ARG002 - elements are not nested
        self._name = ""

    def text(self, data: str) -> None:
        if self._name and data.strip():
            self.found[self._name] = replace_unstorable(self.found.get(self._name, "") + data).strip()


class _Paragraph:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.level: int | None = None


class _Text(_Handler):
    """Collects paragraphs. They may be nested (text boxes); a row of a table is one, with its cells side by side."""

    def __init__(self, level: Callable[[str], int | None], targets: Mapping[str, str]) -> None:
        self._level, self._targets = level, targets
        self._open: list[_Paragraph] = []
        self._done: list[_Paragraph] = []
        self._is_text = False
        self._fallbacks = 0  # open fallbacks of drawings, which repeat their text
        self._rows = 0
        self.links: list[str] = []

    def title(self) -> str | None:
        """Return the text in the style `Title`, else the first heading of the first level."""
        for level in (-1, 0):
            for paragraph in self._done:
                if paragraph.level == level:
                    title = clean_heading(replace_unstorable("".join(paragraph.texts)))
                    if title:
                        return title
        return None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        local = _local_name(name)
        match local:
            case "p" | "tr" if not self._rows or local == "tr":
                self._open.append(_Paragraph())
            case "tc" if self._open and self._open[-1].texts:
                self._write(" |")
            case "p" | "tab":
                self._write(" ")
            case "br" | "cr":
                self._write("\n")
            case "noBreakHyphen":
                self._write("-")
            case "t":
                self._is_text = True
            case "pStyle" | "outlineLvl":
                self._apply_style(local, _word_attribute(attributes))
            case "hyperlink":
                self._add_link(attributes)
        self._rows += local == "tr"
        self._fallbacks += name.endswith(" Fallback")

    def end(self, name: str) -> None:
        local = _local_name(name)
        self._rows -= local == "tr"
        self._fallbacks -= name.endswith(" Fallback")
        self._is_text = False
        if (local == "tr" or (local == "p" and not self._rows)) and self._open:
            self._done.append(self._open.pop())

    def text(self, data: str) -> None:
        if self._is_text:
            self._write(data)

    def blocks(self) -> Iterator[TextBlock]:
        levels: tuple[str, ...] = ()
        for number, paragraph in enumerate(self._done, 1):
            text = replace_unstorable("".join(paragraph.texts)).strip()
            if not text:
                continue
            if paragraph.level is not None and paragraph.level >= 0:
                levels = push_heading(levels, paragraph.level + 1, clean_heading(text))
            numbered = [SourceLine(number, line) for line in split_lines(text)]
            yield TextBlock(tuple(filter(None, levels)), numbered)

    def _write(self, text: str) -> None:
        if self._open and not self._fallbacks:
            self._open[-1].texts.append(text)

    def _apply_style(self, local: str, value: str) -> None:
        level = _parse_level(value) if local == "outlineLvl" else self._level(value)
        if self._open and level is not None and not self._rows:
            self._open[-1].level = level

    def _add_link(self, attributes: Mapping[str, str]) -> None:
        id = next((value for name, value in attributes.items() if name.endswith("/relationships id")), "")
        target = replace_unstorable(self._targets.get(id, ""))
        self.links += [target] if is_worth_keeping(target) else []
