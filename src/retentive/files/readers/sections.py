"""Pack blocks of lines into sections of at most one chunk.

Sections are filled from the front: a block joins the section before it if both have the same headings and it fits. A
block that is too long begins a new section and is cut: at its parts (items of a list) if it has any, else between
lines, preferably at a blank line or after a sentence. A line that is too long is cut after sentences, words, or
anywhere. So the cuts depend only on what follows the beginning of a section, and reading may resume at any section
(`resume.py`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model.files import Section
from retentive.text.chunk import CHUNK_SIZE, chunk_text

MAX_HEADING_CHARS = 200  # each section repeats its headings

_LINE_ENDS_SENTENCE = re.compile(r"[.!?。！？…:;]['\")\]*_`]*\s*$")  # noqa: RUF001 - the full-width marks are meant


class SourceLine(NamedTuple):
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Lines that belong together, under headings. Its parts, if any, contain all of its lines."""

    headings: tuple[str, ...]
    lines: Sequence[SourceLine]
    parts: Sequence[Sequence[SourceLine]] = ()


class _Piece(NamedTuple):
    lines: Sequence[SourceLine]
    is_new: bool
    """It begins a new section."""


def clean_heading(text: str) -> str:
    """Return a heading in one line, and not longer than is useful."""
    return " ".join(text[: 4 * MAX_HEADING_CHARS].split())[:MAX_HEADING_CHARS].strip()


def push_heading(levels: tuple[str, ...], level: int, text: str) -> tuple[str, ...]:
    """Return the headings, by level, that apply after one more."""
    above = levels[: level - 1]
    return (*above, *("",) * (level - 1 - len(above)), text)


def number_lines(lines: Iterable[str], first: int = 1) -> list[SourceLine]:
    return [SourceLine(number, text) for number, text in enumerate(lines, first)]


def strip_blank_lines(lines: Sequence[SourceLine]) -> Sequence[SourceLine]:
    """Return the lines without blank ones at both ends."""
    first, last = 0, len(lines)
    while first < last and not lines[first].text.strip():
        first += 1
    while last > first and not lines[last - 1].text.strip():
        last -= 1
    return lines[first:last]


def split_paragraphs(lines: Sequence[SourceLine], headings: tuple[str, ...] = ()) -> Iterator[TextBlock]:
    """Yield the runs of lines that are not blank, as blocks."""
    pending: list[SourceLine] = []
    for line in lines:
        if line.text.strip():
            pending.append(line)
        elif pending:
            yield TextBlock(headings, pending)
            pending = []
    if pending:
        yield TextBlock(headings, pending)


def fits_in_chunk(lines: Sequence[SourceLine]) -> bool:
    return sum(len(line.text) + 1 for line in lines) - 1 <= CHUNK_SIZE


def pack_sections(blocks: Iterable[TextBlock]) -> Iterator[Section]:
    """Yield the sections that blocks make."""
    headings: tuple[str, ...] = ()
    pending: list[str] = []
    first = last = size = 0
    for block in blocks:
        for lines, is_new in _split_block(block):
            gap = "\n\n" if lines[0].number > last + 1 else "\n"
            text = "\n".join(line.text for line in lines)
            if pending and (is_new or block.headings != headings or size + len(gap) + len(text) > CHUNK_SIZE):
                yield Section(headings, first, last, "".join(pending))
                pending = []
            if not pending:
                headings, first, size, gap = block.headings, lines[0].number, 0, ""
            pending += gap, text
            last, size = lines[-1].number, size + len(gap) + len(text)
    if pending:
        yield Section(headings, first, last, "".join(pending))


def _split_block(block: TextBlock) -> Iterator[_Piece]:
    lines = strip_blank_lines(block.lines)
    if not lines:
        return
    if fits_in_chunk(lines):
        yield _Piece(lines, is_new=False)
        return
    is_new = True
    for part in map(strip_blank_lines, block.parts or [lines]):
        if not part:
            continue
        if fits_in_chunk(part):
            yield _Piece(part, is_new)
        else:
            yield from (_Piece(piece, is_new=True) for piece in _cut_lines(part))
        is_new = False


def _cut_lines(lines: Sequence[SourceLine]) -> Iterator[Sequence[SourceLine]]:
    start = 0
    while start < len(lines):
        end = _find_end(lines, start)
        if end == start:
            yield from ([SourceLine(lines[start].number, piece)] for piece in _cut_line(lines[start].text))
            end = start + 1
        elif piece := strip_blank_lines(lines[start:end]):
            yield piece
        start = end


def _find_end(lines: Sequence[SourceLine], start: int) -> int:
    """Return the end of the piece that begins here; `start` if not even one line fits."""
    room = CHUNK_SIZE
    blank = sentence = end = start
    while end < len(lines) and (room := room - len(lines[end].text)) >= 0:
        end, room = end + 1, room - 1
        if room < CHUNK_SIZE // 2 and end < len(lines):
            blank = end if not lines[end].text.strip() else blank
            sentence = end if _LINE_ENDS_SENTENCE.search(lines[end - 1].text[-20:]) else sentence
    if end == len(lines):
        return end
    return next((place for place in (blank, sentence) if place > start), end)


def _cut_line(text: str) -> Iterator[str]:
    return (piece for piece in chunk_text(text, CHUNK_SIZE, 0) if piece.strip())
