"""Where sentences end; and which words of a message are the speaker's own.

A sentence ends with its mark and a blank, unless the mark is that of an initial, a day, a title or an abbreviation. A
line ends one, too. `own` blanks out what a message only carries: code, quoted lines, and the blocks of recalled
memories that a context puts before a question. Every character keeps its place.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

PROFILE_HEADING = "## Profile"
MEMORIES_HEADING = "## Relevant Memories"
EXCERPTS_HEADING = "## Earlier Conversation"
RECENT_HEADING = "## Recent Messages"
SUMMARY_HEADING = "Rolling session summary: "

FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
BULLET = re.compile(r"^(?:(?:[-*•·>#]+|\d{1,2}[.)]) )+")
_ABBREVIATIONS = (
    "eg ie etc vs approx max min ca cf incl resp fig eq sec no nr st ave dept est tel ext dr mr mrs ms prof"
)
_NOT_ABBREVIATED = "".join(rf"(?<!\b(?i:{word})\.)" for word in _ABBREVIATIONS.split())
_EMOTICON = r"(?<=[:;=][()D])|(?<=[:;=]-[()D])"
END = re.compile(
    r"(?<=[.!?…])(?<!\b\w\.)(?<!\b\d\d\.)(?<!\b[DMS][rst]\.)(?<!\bMrs\.)(?<!\bvs\.)(?<!\b[Pp]rof\.)\s+(?![a-z])"
    r"|(?<=[.!?…]['\")\]])\s+(?![a-z])|(?<=[。！？])|(?<=\S) · (?=\S)"  # noqa: RUF001
    rf"|(?:(?<=[!?…])|(?<=\w\w\.){_NOT_ABBREVIATED}|(?<=\.\.)|{_EMOTICON})\s+(?=[a-z])"  # typed in small letters
)

_HEADINGS = "|".join(
    map(re.escape, (PROFILE_HEADING, MEMORIES_HEADING, EXCERPTS_HEADING, RECENT_HEADING, SUMMARY_HEADING.rstrip()))
)
_RECALLED = re.compile(rf"^(?:{_HEADINGS})[^\n]*(?:\n(?!\n)[^\n]+)*", re.MULTILINE)  # up to an empty line
_TILDES = re.compile(r"^[ \t]*~~~[^\n]*\n.*?(?:^[ \t]*~~~|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]*>[^\n]*", re.MULTILINE)
_LINE = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


class Sentence(NamedTuple):
    text: str
    start: int
    """Where it stands in the message."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def own(text: str) -> str:
    """The message with blanks for what its sender only passes on."""
    if "```" in text or "~~~" in text:
        text = _TILDES.sub(_blank, FENCE.sub(_blank, text))
    if ">" in text:
        text = _QUOTED.sub(_blank, text)
    return _RECALLED.sub(_blank, text)


def spans(text: str) -> Iterator[Sentence]:
    """The sentences as they stand, without bullets and the blanks around them."""
    for line in _LINE.finditer(text):
        start, last = line.start(), line.end()
        bullet = BULLET.match(line[0].lstrip())
        start += (len(line[0]) - len(line[0].lstrip())) + (bullet.end() if bullet else 0)
        for end in END.finditer(text, start, last):
            yield from _trimmed(text, start, end.start())
            start = end.end()
        yield from _trimmed(text, start, last)


def _trimmed(text: str, start: int, end: int) -> Iterator[Sentence]:
    found = text[start:end]
    if bare := found.strip():
        yield Sentence(bare, start + len(found) - len(found.lstrip()))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
