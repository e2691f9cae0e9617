"""DOCX: its paragraphs under their headings, read from the zip by the standard library alone.

    word/document.xml             w:p paragraphs (w:pStyle names their style), w:t text, w:tbl tables, w:hyperlink
    word/styles.xml               what the styles are: a heading by its outline level, or by the name of the built-in
    word/_rels/document.xml.rels  where hyperlinks go
    docProps/core.xml             title, author and the like

A bomb is refused: each part has a size it may unpack to, and a document type declaration, without which no entity can
be declared, ends the reading. What was deleted, and field codes, are not text.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import Any, NamedTuple
from xml.parsers import expat

from retentive.errors import Invalid
from retentive.files.readers.decode import clean, lines
from retentive.files.readers.links import worth
from retentive.files.readers.sections import Block, Line, heading, pack, under
from retentive.model.files import Document

LARGEST = 100_000_000  # bytes of a part once unpacked; the document.xml of a book has some ten million

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main "
_STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main "  # the same, as saved in "strict" format
_PROPERTIES = {"creator": "author", "subject": "subject", "keywords": "keywords", "description": "description"}
_LEVELS = 9


class _Broken(Exception):
    """It is not what Word writes."""


class _Style(NamedTuple):
    level: int | None
    based_on: str | None


def read(name: str, data: bytes) -> Document:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return _document(archive)
    except (_Broken, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, struct.error) as error:
        hint = "It seems to be damaged, encrypted or no DOCX; open it and save it anew."
        raise Invalid(f"{name} cannot be read: {error}", hint) from error
    except (ValueError, LookupError, OverflowError) as error:  # zipfile trusts some of its numbers
        raise Invalid(f"{name} cannot be read: {error}", "It seems to be damaged; get it anew.") from error


def _document(archive: zipfile.ZipFile) -> Document:
    styles, targets, properties = _Styles(), _Targets(), _Properties()
    _parse(archive, "word/styles.xml", styles)
    _parse(archive, "word/_rels/document.xml.rels", targets)
    _parse(archive, "docProps/core.xml", properties)
    text = _Text(styles.level, targets.found)
    if not _parse(archive, "word/document.xml", text):
        raise _Broken("it has no word/document.xml")
    found = properties.found
    title = heading(found.pop("title", "")) or text.title()
    return Document(title, found, tuple(dict.fromkeys(text.links)), tuple(pack(text.blocks())), "paragraph")


class _Handler:
    """What is called for the elements of a part."""

    def start(self, name: str, given: Mapping[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


def _parse(archive: zipfile.ZipFile, part: str, handler: _Handler) -> bool:
    """False if there is no such part."""
    if part not in archive.NameToInfo:
        return False
    if archive.NameToInfo[part].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _Broken(f"{part} is compressed as Word does not")
    with archive.open(part) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _Broken(f"{part} would unpack to more than {LARGEST:,} bytes")
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.buffer_text = True
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, RecursionError) as error:
        raise _Broken(f"{part}: {error}") from error
    return True


def _refuse(*_: object) -> None:
    raise _Broken("it declares a document type, which Word never does")


def _local(name: str) -> str:
    """Of Word's own elements and attributes, the name; else all of it."""
    return name.removeprefix(_W).removeprefix(_STRICT)


def _value(given: Mapping[str, str], name: str = "val") -> str:
    return given.get(_W + name) or given.get(_STRICT + name) or ""


class _Styles(_Handler):
    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._id = ""

    def start(self, name: str, given: Mapping[str, str]) -> None:
        match _local(name):
            case "style":
                self._id = _value(given, "styleId")
                self._styles[self._id] = _Style(None, None)
            case "name" if self._id:
                self._set(level=_built_in(_value(given)))
            case "basedOn" if self._id:
                self._set(based_on=_value(given))
            case "outlineLvl" if self._id:
                self._set(level=_number(_value(given)))

    def end(self, name: str) -> None:
        if _local(name) == "style":
            self._id = ""

    def level(self, id: str) -> int | None:
        """0 is the outermost, -1 the title of the document; None is no heading."""
        for _ in range(_LEVELS):  # styles are based on styles; a ring of them ends here
            style = self._styles.get(id, _Style(_built_in(id), None))
            if style.level is not None or not style.based_on:
                return style.level
            id = style.based_on
        return None

    def _set(self, **change: Any) -> None:
        style = self._styles[self._id]
        self._styles[self._id] = style._replace(**{name: each for name, each in change.items() if each is not None})


def _built_in(name: str) -> int | None:
    """`heading 1` and `Title`, as every language of Word has them inside; `Heading1` is what others write."""
    word = name.lower().replace(" ", "")
    if word == "title":
        return -1
    return _number(word.removeprefix("heading"), 1) if word.startswith("heading") else None


def _number(digits: str, first: int = 0) -> int | None:
    number = int(digits) - first if digits.isascii() and digits.isdigit() and len(digits) == 1 else -1
    return number if 0 <= number < _LEVELS else None


class _Targets(_Handler):
    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def start(self, name: str, given: Mapping[str, str]) -> None:
        if name.endswith(" Relationship") and given.get("Type", "").endswith("/hyperlink"):
            self.found[given.get("Id", "")] = given.get("Target", "")


class _Properties(_Handler):
    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self._name = ""

    def start(self, name: str, given: Mapping[str, str]) -> None:  # noqa: ARG002 - it has no attributes
        local = name.rpartition(" ")[2]
        self._name = "title" if local == "title" else _PROPERTIES.get(local, "")

    def end(self, name: str) -> None:  # noqa: ARG002 - elements are not nested
        self._name = ""

    def text(self, data: str) -> None:
        if self._name and data.strip():
            self.found[self._name] = clean(self.found.get(self._name, "") + data).strip()


class _Paragraph:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.level: int | None = None


class _Text(_Handler):
    """Paragraphs may be inside paragraphs (text boxes); a row of a table is one, with its cells side by side."""

    def __init__(self, level: Callable[[str], int | None], targets: Mapping[str, str]) -> None:
        self._level, self._targets = level, targets
        self._open: list[_Paragraph] = []
        self._done: list[_Paragraph] = []
        self._writing = False
        self._repeated = 0  # inside the fallback of a drawing, which says the same again
        self._rows = 0
        self.links: list[str] = []

    def title(self) -> str | None:
        """What is in the style `Title`, else the first heading of the first level."""
        named = (heading(clean("".join(each.texts))) for level in (-1, 0) for each in self._done if each.level == level)
        return next(filter(None, named), None)

    def start(self, name: str, given: Mapping[str, str]) -> None:
        local = _local(name)
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
                self._writing = True
            case "pStyle" | "outlineLvl":
                self._styled(local, _value(given))
            case "hyperlink":
                self._linked(given)
        self._rows += local == "tr"
        self._repeated += name.endswith(" Fallback")

    def end(self, name: str) -> None:
        local = _local(name)
        self._rows -= local == "tr"
        self._repeated -= name.endswith(" Fallback")
        self._writing = False
        if (local == "tr" or (local == "p" and not self._rows)) and self._open:
            self._done.append(self._open.pop())

    def text(self, data: str) -> None:
        if self._writing:
            self._write(data)

    def blocks(self) -> Iterator[Block]:
        levels: tuple[str, ...] = ()
        for number, paragraph in enumerate(self._done, 1):
            text = clean("".join(paragraph.texts)).strip()
            if not text:
                continue
            if paragraph.level is not None and paragraph.level >= 0:
                levels = under(levels, paragraph.level + 1, heading(text))
            shown = [Line(number, line) for line in lines(text)]
            yield Block(tuple(filter(None, levels)), shown)

    def _write(self, text: str) -> None:
        if self._open and not self._repeated:
            self._open[-1].texts.append(text)

    def _styled(self, local: str, value: str) -> None:
        level = _number(value) if local == "outlineLvl" else self._level(value)
        if self._open and level is not None and not self._rows:
            self._open[-1].level = level

    def _linked(self, given: Mapping[str, str]) -> None:
        id = next((value for name, value in given.items() if name.endswith("/relationships id")), "")
        target = clean(self._targets.get(id, ""))
        self.links += [target] if worth(target) else []
