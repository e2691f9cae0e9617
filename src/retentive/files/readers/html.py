"""HTML: its text under its headings, without scripts and styles.

A tokenizer of our own: the standard library's takes quadratic time for unclosed tags (in the versions of Python that
people have), and raises an AssertionError for some. This one never goes back, and what is broken is read as browsers
do, roughly: an unclosed comment or tag ends the page. The lines of the text are those of the source.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple

from retentive.files.readers.decode import clean, lines
from retentive.files.readers.links import worth
from retentive.files.readers.sections import Block, Line, heading, under

_NAME = re.compile(r"</?([A-Za-z][^\s/>]*)")
_STOP = re.compile(r"[>\"']")
_ATTRIBUTE = re.compile(r"([^\s=/\"'<>]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_HEADING = re.compile(r"h[1-6]")
_SKIPPED = frozenset("script style template svg math iframe object noembed noframes".split())
_RAW = frozenset({"script", "style"})  # nothing inside is markup
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol option p pre section select summary table tbody "
    "textarea tfoot thead tr ul".split()
)
_META = frozenset({"author", "description", "keywords"})
_TARGETS = {"a": "href", "area": "href", "img": "src"}


class Page(NamedTuple):
    title: str | None
    metadata: dict[str, Any]
    links: list[str]
    blocks: list[Block]


class _Tag(NamedTuple):
    name: str
    closing: bool
    source: str

    def attributes(self) -> dict[str, str]:
        found = _ATTRIBUTE.finditer(self.source, len(self.name) + 1)
        return {each[1].lower(): clean(unescape(each[2] or each[3] or each[4] or "")) for each in found}


def page(text: str) -> Page:
    reader = _Reader()
    source = "\n".join(lines(text))
    line, counted = 1, 0
    for place, token in _tokens(source):
        line, counted = line + source.count("\n", counted, place), place
        reader.read(token, line)
    reader.end()
    return Page(reader.title or reader.first_heading, reader.metadata, reader.links, reader.blocks)


def _tokens(source: str) -> Iterator[tuple[int, str | _Tag]]:
    """Runs of text and tags, with their places. Skipped elements are not among them."""
    place, unclosed = 0, set[str]()
    while place < len(source):
        opened = source.find("<", place)
        if opened != place:
            yield place, source[place : opened if opened >= 0 else len(source)]
            if opened < 0:
                return
        named = _NAME.match(source, opened)
        if named is None:
            place = _past_other(source, opened)
            if place == opened:
                yield opened, "<"
                place = opened + 1
            continue
        end = _past_tag(source, named.end())
        tag = _Tag(named[1].lower(), source[opened + 1] == "/", source[opened:end])
        yield opened, tag
        place = end
        if tag.name in _SKIPPED and not tag.closing and tag.name not in unclosed:
            place = _past_element(source, end, tag.name)
            if place < 0:
                unclosed.add(tag.name)
                place = len(source) if tag.name in _RAW else end


def _past_other(source: str, opened: int) -> int:
    """Behind a comment, a declaration or an instruction; `opened` if it is none of these."""
    if not source.startswith(("<!", "<?", "</"), opened):
        return opened
    closing = "-->" if source.startswith("<!--", opened) else ">"
    end = source.find(closing, opened + 2)
    return len(source) if end < 0 else end + len(closing)


def _past_tag(source: str, place: int) -> int:
    """Behind the `>` that is in no value between quotes; a quote that is never closed is none."""
    while stop := _STOP.search(source, place):
        place = stop.end()
        if stop[0] == ">":
            return place
        if source[max(0, stop.start() - 8) : stop.start()].rstrip().endswith("="):
            place = max(place, source.find(stop[0], place) + 1)
    return len(source)


def _past_element(source: str, place: int, name: str) -> int:
    """Before its closing tag; -1 if it has none."""
    closing = re.compile(f"</{name}", re.IGNORECASE).search(source, place)
    return closing.start() if closing else -1


class _Reader:
    """Text and tags, put together into blocks."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.first_heading: str | None = None
        self.metadata: dict[str, Any] = {}
        self.links: list[str] = []
        self.blocks: list[Block] = []
        self._levels: tuple[str, ...] = ()
        self._level = 0  # of the heading that is open
        self._verbatim = False  # inside pre
        self._titling: list[str] | None = None  # inside title
        self._held: list[tuple[int, list[str]]] = []  # texts by line
        self._written = False  # something that is not blank

    def read(self, token: str | _Tag, line: int) -> None:
        if isinstance(token, str):
            self._text(unescape(token), line)
        elif token.name == "title":
            self._title(closing=token.closing)
        elif token.name == "br":
            self._held.append((line, []))
        elif token.name in _BLOCKS:
            self._block(token)
        elif not token.closing:
            self._inline(token, line)

    def end(self) -> None:
        self._title(closing=True)
        self._flush()

    def _flush(self) -> None:
        shown = [Line(number, self._shown("".join(texts))) for number, texts in self._held]
        found = [line for line in shown if line.text.strip() or self._verbatim]
        self._held = []
        if self._level and found:
            name = heading(" ".join(line.text for line in found))
            self._levels = under(self._levels, self._level, name)
            self.first_heading = self.first_heading or (name if self._level == 1 else None)
        if any(line.text.strip() for line in found):
            self.blocks.append(Block(tuple(filter(None, self._levels)), found))
        self._level, self._written = 0, False

    def _shown(self, text: str) -> str:
        return clean(text.rstrip() if self._verbatim else " ".join(text.split()))

    def _text(self, text: str, line: int) -> None:
        if self._titling is not None:
            self._titling.append(text)
            return
        self._written = self._written or not text.isspace()
        for number, part in enumerate(text.split("\n"), line):
            if not self._held or self._held[-1][0] != number:
                self._held.append((number, []))
            self._held[-1][1].append(part)

    def _title(self, *, closing: bool) -> None:
        if not closing:
            self._titling = []
        elif self._titling is not None:
            self.title = self.title or heading(clean("".join(self._titling))) or None
            self._titling = None

    def _block(self, tag: _Tag) -> None:
        self._flush()
        self._titling = None  # a title that was never closed
        if tag.name == "pre":
            self._verbatim = not tag.closing
        elif _HEADING.fullmatch(tag.name) and not tag.closing:
            self._level = int(tag.name[1])

    def _inline(self, tag: _Tag, line: int) -> None:
        if tag.name in {"td", "th"} and self._written:
            self._text(" | ", line)
        elif tag.name in _TARGETS:
            target = tag.attributes().get(_TARGETS[tag.name], "").strip()
            self.links += [target] if worth(target) else []
        elif tag.name == "meta":
            given = tag.attributes()
            if given.get("name", "").lower() in _META and given.get("content"):
                self.metadata[given["name"].lower()] = given["content"]
