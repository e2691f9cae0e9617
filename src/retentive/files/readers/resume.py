"""Resume reading of files that grow at their end, such as logs and diaries: only what is new is read.

    mark = find_resume_point(data)                            # of all that is known
    more = resume("markdown", mark.headings, data[mark.offset:], mark.line, mark.encoding)
    sections = [each for each in document.sections if each.first < mark.line] + more.sections
    links, title = mark.links + more.links (without doubles), mark.title or more.title

The result equals reading the whole file, whatever was appended. If a file changed anywhere else, it must be read from
its start: the caller compares the bytes before the mark, or their hash.
"""

from collections.abc import Sequence
from itertools import pairwise

from retentive.errors import Invalid
from retentive.files.readers import markdown
from retentive.files.readers.decode import decode, decode_more, drop_unfinished_line, find_line_offset, split_lines
from retentive.files.readers.markdown import ResumeStart
from retentive.files.readers.read import make_document
from retentive.files.readers.sections import number_lines, pack_sections, split_paragraphs
from retentive.model.files import Document, ResumePoint, Section

RESUMABLE_KINDS = ("markdown", "text")


def resume(
    kind: str, headings: tuple[str, ...], data: bytes, first_line: int, encoding: str = "utf-8", name: str = "the file"
) -> Document:
    """Read a file from a mark on: `data` has its bytes from there, the other arguments are those of the mark.

    The mark must come from `find_resume_point`: it is never inside a fence, a comment or front matter. `Invalid` if the
    bytes are in another encoding: then the whole file must be read.
    """
    if kind not in RESUMABLE_KINDS:
        raise Invalid(f"{kind} is always read from the start", f"Only {' and '.join(RESUMABLE_KINDS)} can be resumed.")
    body = split_lines(decode(name, data).text if first_line == 1 else decode_more(name, data, encoding))
    if kind == "markdown":
        return make_document(markdown.parse_outline(body, first_line, headings))
    return Document(None, {}, (), tuple(pack_sections(split_paragraphs(number_lines(body, first_line)))))


def find_resume_point(
    data: bytes, kind: str = "markdown", after: ResumePoint | None = None, name: str = "the file"
) -> ResumePoint:
    """Return the last place of a file from which reading may resume after more was appended.

    `data` has all bytes of the file, or those from the mark `after` on. A last line without its end is not used. The
    mark is the start of the file if appended bytes may change everything: front matter is still open, the encoding is
    not certain, or the kind is neither Markdown nor text. `Invalid` as for `resume`.
    """
    known = after or ResumePoint()
    if kind not in RESUMABLE_KINDS:
        return ResumePoint()
    if known.line > 1:
        text, encoding, skipped = decode_more(name, data, known.encoding), known.encoding, 0
    else:
        text, encoding, is_certain, skipped = decode(name, data)
        if not is_certain:
            return ResumePoint()
    body = split_lines(drop_unfinished_line(text))
    found = _resume_markdown(body, known) if kind == "markdown" else _resume_text(body, known)
    if found == known or found.line == 1:
        return known
    lines_begun = known.offset + skipped + find_line_offset(data[skipped:], encoding, found.line - known.line + 1)
    return ResumePoint(lines_begun, found.line, found.headings, found.title, found.links, encoding)


def _resume_text(body: Sequence[str], known: ResumePoint) -> ResumePoint:
    blocks = number_lines(body, known.line)
    start = _last_section_start(
        tuple(pack_sections(split_paragraphs(blocks))), [ResumeStart(line.number, ()) for line in blocks]
    )
    return ResumePoint(line=start.line) if start else known


def _resume_markdown(body: Sequence[str], known: ResumePoint) -> ResumePoint:
    found = markdown.parse_outline(body, known.line, known.headings)
    start = None if found.is_open else _last_section_start(tuple(pack_sections(found.blocks)), found.starts)
    if start is None:
        return known
    links = dict.fromkeys([*known.links, *(target for line, target in found.links if line < start.line)])
    title = found.title if found.title_line < start.line else None
    return ResumePoint(0, start.line, start.levels, known.title or title, tuple(links))


def _last_section_start(sections: Sequence[Section], starts: Sequence[ResumeStart]) -> ResumeStart | None:
    """Return the start of the last section that begins with a line at which reading may resume."""
    starts_by_line = {start.line: start for start in reversed(starts)}
    clean_starts = [later.first for earlier, later in pairwise(sections) if earlier.last < later.first]
    lines_begun = [*(section.first for section in sections[:1]), *clean_starts]
    return next((starts_by_line[line] for line in reversed(lines_begun) if line in starts_by_line), None)
