"""Markdown: blocks under their headings, front matter, links.

markdown-it-py says what is a heading, a list, a fence or a comment, and on which lines. Only the outermost blocks
matter. Two of its rules are off, and the text is the same without them:
  a. tables, which are paragraphs then: their lines stay together as those of a paragraph do;
  b. definitions of references, which are paragraphs, too, so that every line belongs to a block.
Without these two a block that is followed by another never changes when text is appended, and the last one only
grows, which `resume.py` needs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from retentive.files.readers import front_matter, links
from retentive.files.readers.sections import Block, Line, heading, numbered, under

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST_MARKED = 1_000  # characters of which the marks are taken out; it is shown shorter than that

_CODE = ("fence", "code_block")
_MARKED = re.compile(r"[\\`*_\[<&]")


class Start(NamedTuple):
    """A line at which reading may begin, and the headings in force before it, by level."""

    line: int
    levels: tuple[str, ...]


class Outline(NamedTuple):
    """What a Markdown text is made of."""

    metadata: Mapping[str, Any]
    title: str | None
    blocks: Sequence[Block]
    starts: Sequence[Start]
    links: Sequence[tuple[int, str]]
    """With their lines."""
    titled: int = 0
    """The line of the title, if it is a heading."""
    open: bool = False
    """Front matter began and did not end."""


def outline(lines: Sequence[str], first: int = 1, levels: tuple[str, ...] = ()) -> Outline:
    """`lines` begin at line `first` of the file, under the headings `levels`; front matter is at its beginning."""
    before = front_matter.front(lines) if first == 1 else front_matter.Front({}, 0)
    body = numbered(lines[before.length :], first + before.length)
    tokens = _parser().parse("\n".join(line.text for line in body))
    blocks, starts = _blocks(body, tokens, levels)
    titled, title = next(_titles(body, tokens), (0, None))
    named = front_matter.title(before.metadata)
    found = list(_links(body, tokens))
    return Outline(
        before.metadata, named or title, blocks, starts, found, titled if title and not named else 0, before.open
    )


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(["inline", "reference"])


@cache
def _marks() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _blocks(
    body: Sequence[Line], tokens: Sequence["Token"], levels: tuple[str, ...]
) -> tuple[list[Block], list[Start]]:
    blocks: list[Block] = []
    starts: list[Start] = []
    for place, token in enumerate(tokens):
        if token.map is None or token.nesting < 0:
            continue
        first, last = token.map
        if token.level == 0:
            starts.append(Start(body[first].number, levels))
            if token.type == "heading_open":
                levels = under(levels, int(token.tag[1]), plain(tokens[place + 1].content))
            parts = _items(body, tokens, place) if token.type.endswith("_list_open") else ()
            blocks.append(Block(tuple(filter(None, levels)), body[first:last], parts))
            starts += (Start(part[0].number, levels) for part in parts[1:])
    return blocks, starts


def _items(body: Sequence[Line], tokens: Sequence["Token"], place: int) -> list[Sequence[Line]]:
    """The items of the list that begins there."""
    items = []
    for index in range(place + 1, len(tokens)):
        token = tokens[index]
        if token.level == 0:
            break
        if token.level == 1 and token.nesting > 0 and token.map:
            items.append(body[token.map[0] : token.map[1]])
    return items


def plain(content: str) -> str:
    """A heading as readers see it, without the marks of emphasis, code and links."""
    if not _MARKED.search(content):
        return heading(content)
    inline = _marks().parseInline(content[:LONGEST_MARKED])[0].children or []
    texts = (" " if each.type.endswith("break") else each.content for each in inline if each.type != "html_inline")
    return heading("".join(texts))


def _titles(body: Sequence[Line], tokens: Sequence["Token"]) -> Iterator[tuple[int, str]]:
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1" and token.level == 0 and token.map:
            text = plain(tokens[place + 1].content)
            if text:
                yield body[token.map[0]].number, text


def _links(body: Sequence[Line], tokens: Sequence["Token"]) -> Iterator[tuple[int, str]]:
    code = {line for each in tokens if each.type in _CODE and each.map for line in range(*each.map)}
    for place, line in enumerate(body):
        if place not in code:
            yield from ((line.number, target) for target in links.links([line.text]))
