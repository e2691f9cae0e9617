"""Files that grow at their end, such as logs and diaries: only what is new is read.

    mark = resumable(data)                                    # of all that is known
    more = resume("markdown", mark.headings, data[mark.offset:], mark.line, mark.encoding)
    sections = [each for each in document.sections if each.first < mark.line] + more.sections
    links, title = mark.links + more.links (without doubles), mark.title or more.title

That is what reading the whole file would give, whatever was appended. It is not for files that were changed anywhere
else: the caller compares what is before the mark, or its hash.
"""

from collections.abc import Sequence
from itertools import pairwise

from retentive.errors import Invalid
from retentive.files.readers import markdown
from retentive.files.readers.decode import complete, decode, decode_more, lines, offset
from retentive.files.readers.markdown import Start
from retentive.files.readers.read import from_outline
from retentive.files.readers.sections import numbered, pack, paragraphs
from retentive.model.files import Document, Mark, Section

KINDS = ("markdown", "text")


def resume(
    kind: str, headings: tuple[str, ...], data: bytes, first_line: int, encoding: str = "utf-8", name: str = "the file"
) -> Document:
    """What is in a file from a mark on: `data` are its bytes from there, the rest are the mark's.

    Only from a mark of `resumable`, which is never inside a fence, a comment or front matter. Invalid if the bytes are
    not of the mark's encoding: then the whole file is to be read.
    """
    if kind not in KINDS:
        raise Invalid(f"{kind} is always read from the start", f"Only {' and '.join(KINDS)} can be resumed.")
    body = lines(decode(name, data).text if first_line == 1 else decode_more(name, data, encoding))
    if kind == "markdown":
        return from_outline(markdown.outline(body, first_line, headings))
    return Document(None, {}, (), tuple(pack(paragraphs(numbered(body, first_line)))))


def resumable(data: bytes, kind: str = "markdown", after: Mark | None = None, name: str = "the file") -> Mark:
    """The last place of a file from which its reading may be resumed after more was appended.

    `data` is all of it, or what is there from the mark `after` on. A last line without its end is not relied on. The
    mark is the beginning of the file where what is appended may change everything: front matter that is still open,
    an encoding that is not certain, another kind than Markdown and text. Invalid as for `resume`.
    """
    known = after or Mark()
    if kind not in KINDS:
        return Mark()
    if known.line > 1:
        text, encoding, skipped = decode_more(name, data, known.encoding), known.encoding, 0
    else:
        text, encoding, sure, skipped = decode(name, data)
        if not sure:
            return Mark()
    body = lines(complete(text))
    found = _markdown(body, known) if kind == "markdown" else _text(body, known)
    if found == known or found.line == 1:
        return known
    begun = known.offset + skipped + offset(data[skipped:], encoding, found.line - known.line + 1)
    return Mark(begun, found.line, found.headings, found.title, found.links, encoding)


def _text(body: Sequence[str], known: Mark) -> Mark:
    blocks = numbered(body, known.line)
    start = _last(tuple(pack(paragraphs(blocks))), [Start(line.number, ()) for line in blocks])
    return Mark(line=start.line) if start else known


def _markdown(body: Sequence[str], known: Mark) -> Mark:
    found = markdown.outline(body, known.line, known.headings)
    start = None if found.open else _last(tuple(pack(found.blocks)), found.starts)
    if start is None:
        return known
    links = dict.fromkeys([*known.links, *(target for line, target in found.links if line < start.line)])
    title = found.title if found.titled < start.line else None
    return Mark(0, start.line, start.levels, known.title or title, tuple(links))


def _last(sections: Sequence[Section], starts: Sequence[Start]) -> Start | None:
    """The last section that begins with a line at which reading may begin."""
    at = {start.line: start for start in reversed(starts)}
    clean = [later.first for earlier, later in pairwise(sections) if earlier.last < later.first]
    begun = [*(section.first for section in sections[:1]), *clean]
    return next((at[line] for line in reversed(begun) if line in at), None)
