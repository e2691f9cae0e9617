"""Parse Markdown: blocks under their headings, front matter, links.

markdown-it-py finds headings, lists, fences and comments, and their lines. Only the outermost blocks matter. Two of its
rules are disabled, which leaves the text as it is:
  a. tables: they become paragraphs, whose lines stay together, too;
  b. definitions of references: they become paragraphs, so that every line belongs to a block.
Then a block that is followed by another never changes when text is appended, and the last one only grows. `resume.py`
needs this.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from retentive.files.readers import front_matter, links
from retentive.files.readers.sections import SourceLine, TextBlock, clean_heading, number_lines, push_heading

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_MARKED_CHARS = 1_000  # of a heading that are parsed for marks; it is shown shorter than that

_CODE_TYPES = ("fence", "code_block")
_MARK = re.compile(r"[\\`*_\[<&]")


class ResumeStart(NamedTuple):
    """A line at which reading may resume, and the headings that apply before it, by level."""

    line: int
    levels: tuple[str, ...]


class Outline(NamedTuple):
    """The parts of a Markdown text."""

    metadata: Mapping[str, Any]
    title: str | None
    blocks: Sequence[TextBlock]
    starts: Sequence[ResumeStart]
    links: Sequence[tuple[int, str]]
    """Each with its line."""
    title_line: int = 0
    """The line of the title, if it is a heading."""
    is_open: bool = False
    """Front matter began and did not end."""


def parse_outline(lines: Sequence[str], first: int = 1, levels: tuple[str, ...] = ()) -> Outline:
    """Parse lines that begin at line `first` of a file, under the headings `levels`. Line 1 may begin front matter."""
    front = front_matter.parse_front_matter(lines) if first == 1 else front_matter.FrontMatter({}, 0)
    body = number_lines(lines[front.length :], first + front.length)
    tokens = _parser().parse("\n".join(line.text for line in body))
    blocks, starts = _build_blocks(body, tokens, levels)
    title_line, title = next(_find_titles(body, tokens), (0, None))
    given_title = front_matter.find_title(front.metadata)
    if given_title:
        title_line, title = 0, given_title
    found = list(_find_links(body, tokens))
    return Outline(front.metadata, title, blocks, starts, found, title_line, front.is_open)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(["inline", "reference"])


@cache
def _inline_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _build_blocks(
    body: Sequence[SourceLine], tokens: Sequence["Token"], levels: tuple[str, ...]
) -> tuple[list[TextBlock], list[ResumeStart]]:
    blocks: list[TextBlock] = []
    starts: list[ResumeStart] = []
    for place, token in enumerate(tokens):
        if token.map is None or token.nesting < 0:
            continue
        first, last = token.map
        if token.level == 0:
            starts.append(ResumeStart(body[first].number, levels))
            if token.type == "heading_open":
                levels = push_heading(levels, int(token.tag[1]), render_heading(tokens[place + 1].content))
            parts = _list_items(body, tokens, place) if token.type.endswith("_list_open") else ()
            blocks.append(TextBlock(tuple(filter(None, levels)), body[first:last], parts))
            starts += (ResumeStart(part[0].number, levels) for part in parts[1:])
    return blocks, starts


def _list_items(body: Sequence[SourceLine], tokens: Sequence["Token"], place: int) -> list[Sequence[SourceLine]]:
    """Return the lines of each item of the list that begins at a token."""
    items = []
    for index in range(place + 1, len(tokens)):
        token = tokens[index]
        if token.level == 0:
            break
        if token.level == 1 and token.nesting > 0 and token.map:
            items.append(body[token.map[0] : token.map[1]])
    return items


def render_heading(content: str) -> str:
    """Return a heading as readers see it, without the marks of emphasis, code and links."""
    if not _MARK.search(content):
        return clean_heading(content)
    inline = _inline_parser().parseInline(content[:MAX_MARKED_CHARS])[0].children or []
    texts = (" " if each.type.endswith("break") else each.content for each in inline if each.type != "html_inline")
    return clean_heading("".join(texts))


def _find_titles(body: Sequence[SourceLine], tokens: Sequence["Token"]) -> Iterator[tuple[int, str]]:
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1" and token.level == 0 and token.map:
            text = render_heading(tokens[place + 1].content)
            if text:
                yield body[token.map[0]].number, text


def _find_links(body: Sequence[SourceLine], tokens: Sequence["Token"]) -> Iterator[tuple[int, str]]:
    code = {line for each in tokens if each.type in _CODE_TYPES and each.map for line in range(*each.map)}
    for place, line in enumerate(body):
        if place not in code:
            yield from ((line.number, target) for target in links.find_links([line.text]))
