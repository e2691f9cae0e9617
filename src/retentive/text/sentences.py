"""Finds sentences in a message, and masks the parts that are not the sender's own words.

A sentence ends with its mark and a blank, unless the mark belongs to an initial, a day, a title or an abbreviation. A
line break ends one, too. Masked are code, quoted lines, and the recalled memories that a context puts before a
question. They are replaced by blanks, so every other character keeps its place.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

PROFILE_HEADING = "## Profile"
MEMORIES_HEADING = "## Relevant Memories"
EXCERPTS_HEADING = "## Earlier Conversation"
RECENT_HEADING = "## Recent Messages"
SUMMARY_HEADING = "Rolling session summary: "

CODE_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
LIST_MARKER = re.compile(r"^(?:(?:[-*•·>#]+|\d{1,2}[.)]) )+")
_ABBREVIATIONS = (
    "eg ie etc vs approx max min ca cf incl resp fig eq sec no nr st ave dept est tel ext dr mr mrs ms prof"
)
_NOT_ABBREVIATED = "".join(rf"(?<!\b(?i:{word})\.)" for word in _ABBREVIATIONS.split())
_EMOTICON = r"(?<=[:;=][()D])|(?<=[:;=]-[()D])"
SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\b\w\.)(?<!\b\d\d\.)(?<!\b[DMS][rst]\.)(?<!\bMrs\.)(?<!\bvs\.)(?<!\b[Pp]rof\.)\s+(?![a-z])"
    r"|(?<=[.!?…]['\")\]])\s+(?![a-z])|(?<=[。！？])|(?<=\S) · (?=\S)"  # noqa: RUF001
    rf"|(?:(?<=[!?…])|(?<=\w\w\.){_NOT_ABBREVIATED}|(?<=\.\.)|{_EMOTICON})\s+(?=[a-z])"  # typed in small letters
)

_HEADINGS = "|".join(
    map(re.escape, (PROFILE_HEADING, MEMORIES_HEADING, EXCERPTS_HEADING, RECENT_HEADING, SUMMARY_HEADING.rstrip()))
)
_RECALLED = re.compile(rf"^(?:{_HEADINGS})[^\n]*(?:\n(?!\n)[^\n]+)*", re.MULTILINE)  # up to an empty line
_TILDE_FENCE = re.compile(r"^[ \t]*~~~[^\n]*\n.*?(?:^[ \t]*~~~|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED_LINE = re.compile(r"^[ \t]*>[^\n]*", re.MULTILINE)
_LINE = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


class Sentence(NamedTuple):
    text: str
    start: int
    """The position in the message."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def mask_quoted_text(text: str) -> str:
    """Replace code, quoted lines and recalled memories by blanks."""
    if "```" in text or "~~~" in text:
        text = _TILDE_FENCE.sub(_replace_by_blanks, CODE_FENCE.sub(_replace_by_blanks, text))
    if ">" in text:
        text = _QUOTED_LINE.sub(_replace_by_blanks, text)
    return _RECALLED.sub(_replace_by_blanks, text)


def find_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences with their positions, without list markers and surrounding blanks."""
    for line in _LINE.finditer(text):
        start, line_end = line.start(), line.end()
        content = line[0].lstrip()
        start += len(line[0]) - len(content)
        marker = LIST_MARKER.match(content)
        start += marker.end() if marker else 0
        for end in SENTENCE_END.finditer(text, start, line_end):
            yield from _make_sentence(text, start, end.start())
            start = end.end()
        yield from _make_sentence(text, start, line_end)


def _make_sentence(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Yield the sentence between two positions, unless there are only blanks."""
    found = text[start:end]
    if stripped := found.strip():
        yield Sentence(stripped, start + len(found) - len(found.lstrip()))


def _replace_by_blanks(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
