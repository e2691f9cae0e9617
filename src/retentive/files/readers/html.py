"""Read HTML: its text under its headings, without scripts and styles.

The tokenizer is our own: the standard library's takes quadratic time for unclosed tags (in the versions of Python that
people have), and raises an AssertionError for some. This one never goes back. Broken HTML is read roughly as browsers
do: an unclosed comment or tag ends the page. The lines of the text are those of the source.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple

from retentive.files.readers.decode import split_lines
from retentive.files.readers.links import is_worth_keeping
from retentive.files.readers.sections import SourceLine, TextBlock, clean_heading, push_heading
from retentive.text.normalize import replace_unstorable

_TAG_NAME = re.compile(r"</?([A-Za-z][^\s/>]*)")
_TAG_STOP = re.compile(r"[>\"']")
_ATTRIBUTE = re.compile(r"([^\s=/\"'<>]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_HEADING = re.compile(r"h[1-6]")
_SKIPPED_ELEMENTS = frozenset("script style template svg math iframe object noembed noframes".split())
_RAW_ELEMENTS = frozenset({"script", "style"})  # nothing inside is markup
_BLOCK_ELEMENTS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol option p pre section select summary table tbody "
    "textarea tfoot thead tr ul".split()
)
_META_NAMES = frozenset({"author", "description", "keywords"})
_TARGET_ATTRIBUTES = {"a": "href", "area": "href", "img": "src"}


class HtmlPage(NamedTuple):
    title: str | None
    metadata: dict[str, Any]
    links: list[str]
    blocks: list[TextBlock]


class _Tag(NamedTuple):
    name: str
    closing: bool
    source: str

    def attributes(self) -> dict[str, str]:
        found = _ATTRIBUTE.finditer(self.source, len(self.name) + 1)
        return {each[1].lower(): replace_unstorable(unescape(each[2] or each[3] or each[4] or "")) for each in found}


def read_page(text: str) -> HtmlPage:
    reader = _PageReader()
    source = "\n".join(split_lines(text))
    line, counted = 1, 0
    for place, token in _iter_tokens(source):
        line, counted = line + source.count("\n", counted, place), place
        reader.read(token, line)
    reader.end()
    return HtmlPage(reader.title or reader.first_heading, reader.metadata, reader.links, reader.blocks)


def _iter_tokens(source: str) -> Iterator[tuple[int, str | _Tag]]:
    """Yield runs of text and tags with their positions, without skipped elements."""
    place, unclosed = 0, set[str]()
    while place < len(source):
        opened = source.find("<", place)
        if opened != place:
            yield place, source[place : opened if opened >= 0 else len(source)]
            if opened < 0:
                return
        named = _TAG_NAME.match(source, opened)
        if named is None:
            place = _skip_other(source, opened)
            if place == opened:
                yield opened, "<"
                place = opened + 1
            continue
        end = _skip_tag(source, named.end())
        tag = _Tag(named[1].lower(), source[opened + 1] == "/", source[opened:end])
        yield opened, tag
        place = end
        if tag.name in _SKIPPED_ELEMENTS and not tag.closing and tag.name not in unclosed:
            place = _skip_element(source, end, tag.name)
            if place < 0:
                unclosed.add(tag.name)
                place = len(source) if tag.name in _RAW_ELEMENTS else end


def _skip_other(source: str, opened: int) -> int:
    """Return the end of a comment, a declaration or an instruction; `opened` if it is none of these."""
    if not source.startswith(("<!", "<?", "</"), opened):
        return opened
    closing = "-->" if source.startswith("<!--", opened) else ">"
    end = source.find(closing, opened + 2)
    return len(source) if end < 0 else end + len(closing)


def _skip_tag(source: str, place: int) -> int:
    """Return the end of a tag: after the `>` outside of quoted values. A quote that is never closed is none."""
    while stop := _TAG_STOP.search(source, place):
        place = stop.end()
        if stop[0] == ">":
            return place
        if source[max(0, stop.start() - 8) : stop.start()].rstrip().endswith("="):
            place = max(place, source.find(stop[0], place) + 1)
    return len(source)


def _skip_element(source: str, place: int, name: str) -> int:
    """Return the position of the closing tag; -1 if there is none."""
    closing = re.compile(f"</{name}", re.IGNORECASE).search(source, place)
    return closing.start() if closing else -1


class _PageReader:
    """Builds blocks from text and tags."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.first_heading: str | None = None
        self.metadata: dict[str, Any] = {}
        self.links: list[str] = []
        self.blocks: list[TextBlock] = []
        self._levels: tuple[str, ...] = ()
        self._open_level = 0  # of the heading that is open
        self._is_preformatted = False  # inside pre
        self._title_texts: list[str] | None = None  # inside title
        self._pending: list[tuple[int, list[str]]] = []  # texts by line
        self._has_text = False  # something that is not blank

    def read(self, token: str | _Tag, line: int) -> None:
        if isinstance(token, str):
            self._text(unescape(token), line)
        elif token.name == "title":
            self._title(closing=token.closing)
        elif token.name == "br":
            self._pending.append((line, []))
        elif token.name in _BLOCK_ELEMENTS:
            self._block(token)
        elif not token.closing:
            self._inline(token, line)

    def end(self) -> None:
        self._title(closing=True)
        self._flush()

    def _flush(self) -> None:
        cleaned = [SourceLine(number, self._clean_line("".join(texts))) for number, texts in self._pending]
        found = [line for line in cleaned if line.text.strip() or self._is_preformatted]
        self._pending = []
        if self._open_level and found:
            name = clean_heading(" ".join(line.text for line in found))
            self._levels = push_heading(self._levels, self._open_level, name)
            self.first_heading = self.first_heading or (name if self._open_level == 1 else None)
        if any(line.text.strip() for line in found):
            self.blocks.append(TextBlock(tuple(filter(None, self._levels)), found))
        self._open_level, self._has_text = 0, False

    def _clean_line(self, text: str) -> str:
        return replace_unstorable(text.rstrip() if self._is_preformatted else " ".join(text.split()))

    def _text(self, text: str, line: int) -> None:
        if self._title_texts is not None:
            self._title_texts.append(text)
            return
        self._has_text = self._has_text or not text.isspace()
        for number, part in enumerate(text.split("\n"), line):
            if not self._pending or self._pending[-1][0] != number:
                self._pending.append((number, []))
            self._pending[-1][1].append(part)

    def _title(self, *, closing: bool) -> None:
        if not closing:
            self._title_texts = []
        elif self._title_texts is not None:
            self.title = self.title or clean_heading(replace_unstorable("".join(self._title_texts))) or None
            self._title_texts = None

    def _block(self, tag: _Tag) -> None:
        self._flush()
        self._title_texts = None  # a title that was never closed
        if tag.name == "pre":
            self._is_preformatted = not tag.closing
        elif _HEADING.fullmatch(tag.name) and not tag.closing:
            self._open_level = int(tag.name[1])

    def _inline(self, tag: _Tag, line: int) -> None:
        if tag.name in {"td", "th"} and self._has_text:
            self._text(" | ", line)
        elif tag.name in _TARGET_ATTRIBUTES:
            target = tag.attributes().get(_TARGET_ATTRIBUTES[tag.name], "").strip()
            self.links += [target] if is_worth_keeping(target) else []
        elif tag.name == "meta":
            given = tag.attributes()
            if given.get("name", "").lower() in _META_NAMES and given.get("content"):
                self.metadata[given["name"].lower()] = given["content"]
