"""Blocks of lines as sections of at most one chunk.

Sections are filled from the front: a block joins the one before if it is under the same headings and has room. A
block that is too long begins a section of its own and is cut: at its parts (items of a list) if it has any, else
between lines, at best at a blank line or behind a sentence; a line that is too long is cut behind sentences, words,
or anywhere. So where a section begins and ends depends only on what comes after its beginning, and reading may be
resumed at the beginning of any (`resume.py`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from retentive.model.files import Section
from retentive.text.chunk import CHUNK_SIZE, chunk

LONGEST_HEADING = 200  # characters; each section repeats its headings

_SENTENCE_END = re.compile(r"[.!?。！？…:;]['\")\]*_`]*\s*$")  # noqa: RUF001 - the full-width marks are meant


class Line(NamedTuple):
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together, under headings. Its parts, if any, are all of its lines."""

    headings: tuple[str, ...]
    lines: Sequence[Line]
    parts: Sequence[Sequence[Line]] = ()


class _Piece(NamedTuple):
    lines: Sequence[Line]
    fresh: bool
    """It does not join what is before it."""


def heading(text: str) -> str:
    """In one line, and not longer than is useful."""
    return " ".join(text[: 4 * LONGEST_HEADING].split())[:LONGEST_HEADING].strip()


def under(levels: tuple[str, ...], level: int, text: str) -> tuple[str, ...]:
    """The headings in force after one more."""
    above = levels[: level - 1]
    return (*above, *("",) * (level - 1 - len(above)), text)


def numbered(lines: Iterable[str], first: int = 1) -> list[Line]:
    return [Line(number, text) for number, text in enumerate(lines, first)]


def trimmed(lines: Sequence[Line]) -> Sequence[Line]:
    """Without the blank lines at both ends."""
    first, last = 0, len(lines)
    while first < last and not lines[first].text.strip():
        first += 1
    while last > first and not lines[last - 1].text.strip():
        last -= 1
    return lines[first:last]


def paragraphs(lines: Sequence[Line], headings: tuple[str, ...] = ()) -> Iterator[Block]:
    """Runs of lines that are not blank."""
    held: list[Line] = []
    for line in lines:
        if line.text.strip():
            held.append(line)
        elif held:
            yield Block(headings, held)
            held = []
    if held:
        yield Block(headings, held)


def fits(lines: Sequence[Line]) -> bool:
    return sum(len(line.text) + 1 for line in lines) - 1 <= CHUNK_SIZE


def pack(blocks: Iterable[Block]) -> Iterator[Section]:
    headings: tuple[str, ...] = ()
    held: list[str] = []
    first = last = size = 0
    for block in blocks:
        for lines, fresh in _pieces(block):
            gap = "\n\n" if lines[0].number > last + 1 else "\n"
            text = "\n".join(line.text for line in lines)
            if held and (fresh or block.headings != headings or size + len(gap) + len(text) > CHUNK_SIZE):
                yield Section(headings, first, last, "".join(held))
                held = []
            if not held:
                headings, first, size, gap = block.headings, lines[0].number, 0, ""
            held += gap, text
            last, size = lines[-1].number, size + len(gap) + len(text)
    if held:
        yield Section(headings, first, last, "".join(held))


def _pieces(block: Block) -> Iterator[_Piece]:
    lines = trimmed(block.lines)
    if not lines:
        return
    if fits(lines):
        yield _Piece(lines, fresh=False)
        return
    fresh = True
    for part in map(trimmed, block.parts or [lines]):
        if not part:
            continue
        if fits(part):
            yield _Piece(part, fresh)
        else:
            yield from (_Piece(piece, fresh=True) for piece in _cut(part))
        fresh = False


def _cut(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    start = 0
    while start < len(lines):
        end = _end(lines, start)
        if end == start:
            yield from ([Line(lines[start].number, piece)] for piece in _slices(lines[start].text))
            end = start + 1
        elif piece := trimmed(lines[start:end]):
            yield piece
        start = end


def _end(lines: Sequence[Line], start: int) -> int:
    """Behind the last line of the piece that begins here; `start` if not even one has room."""
    room = CHUNK_SIZE
    blank = sentence = end = start
    while end < len(lines) and (room := room - len(lines[end].text)) >= 0:
        end, room = end + 1, room - 1
        if room < CHUNK_SIZE // 2 and end < len(lines):
            blank = end if not lines[end].text.strip() else blank
            sentence = end if _SENTENCE_END.search(lines[end - 1].text[-20:]) else sentence
    if end == len(lines):
        return end
    return next((place for place in (blank, sentence) if place > start), end)


def _slices(text: str) -> Iterator[str]:
    return (piece for piece in chunk(text, CHUNK_SIZE, 0) if piece.strip())
