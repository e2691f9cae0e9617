"""Blank out quoted, pasted, generated and role-played text, so that only the sender's own words are left.

Nothing is learned from such text, and no request in it is carried out. Layout, punctuation and verbs that announce a
text (`announcements.py`) decide, not the meaning. In doubt a part is blanked: a lost statement can be repeated, a
forged one does harm. There are three steps, each linear in the length of the message:

  1. Marked text: code fences, ">" lines and recalled memories (`mask_quoted_text`), blocks in tags, quotations.
  2. Blocks: the first line that announces a text, begins a mail or starts a role play opens a block. A block ends with
     its own mark (the sign-off of a mail, a ruler, the end of a quotation), otherwise with the message.
  3. Lines of data anywhere: transcripts, logs, tables, code.

A title, a name or a single word in quotes stays, unless a verb of speech introduces it.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from retentive.judgement.extract import announcements
from retentive.text.sentences import mask_quoted_text

MAX_HEAD_CHARS, MAX_TAIL_CHARS = 16_000, 4_000  # that are read; people do not type more, the middle is pasted
MAX_LEAD_CHARS = 200  # of an announcement, the part of a sentence before a colon
MAX_LINE_CHARS = 2000  # of a line of data or a salutation; longer lines are prose
MAX_TITLE_WORDS, MAX_TITLE_CHARS = 8, 100
MIN_VERSES, MAX_VERSE_CHARS = 3, 60  # lines of a poem or a song

Span = tuple[int, int]

_LINE_BREAKS = "\r\n\v\f\x1c-\x1e\x85\u2028\u2029"
_TEXT_BETWEEN_BREAKS = re.compile(f"[^{_LINE_BREAKS}]+")
_LINE_PATTERN = re.compile(f"[^{_LINE_BREAKS}]*(?:\r\n|[{_LINE_BREAKS}]|$)")
_TAG = re.compile(
    r"(?P<head>^[ \t]*)?<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]*)(?:\s[^<>]*)?>|\[(?P<end2>/?)(?P<name2>[A-Za-z]\w*)\]",
    re.MULTILINE,
)
_QUOTE_MARK = re.compile(r"[\"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u300c\u300d`'\u2018\u2019]")
_CLOSING_MARKS = {
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u2039": "\u203a",
    "\u300c": "\u300d",
}
_SPEECH_BEFORE = re.compile(
    r"(?:\b(?:said|says|say|saying|wrote|writes|told (?:me|us|him|her|them)|tells|goes|went|asked|asks|replied|replies"
    r"|texted|answered|shouted|sings?|sang|reads|meinte|sagte|schrieb)[,:]?|[:>])\s*$",
    re.IGNORECASE,
)
_FIRST_OR_SECOND_PERSON = re.compile(r"\b(?:i|i'm|my|me|we|our|you|your|ich|mein\w*|je|mon|ma|yo|mi)\b", re.IGNORECASE)
_SHORT_LOWER_WORD = re.compile(r"[a-z]{1,4}$")
_SENTENCE_END = re.compile(r"[.!?\u2026][\"')\]]?\s+")
_INTRODUCTION_MARK = re.compile(r":(?=\s|$|[\"'\u201c\u201e\u00ab<(*-])| [-\u2013\u2014](?=\s*$|\s+[\"\u201c])")
_APOSTROPHES = {
    re.compile(rf"\b{wrong}\b", re.IGNORECASE): right
    for wrong, right in {
        "im": "I'm", "ive": "I've", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't",
        "arent": "aren't", "wasnt": "wasn't", "werent": "weren't", "cant": "can't", "wont": "won't",
        "havent": "haven't", "hasnt": "hasn't", "couldnt": "couldn't", "wouldnt": "wouldn't", "shouldnt": "shouldn't",
    }.items()
}  # fmt: skip


class _MessageLine(NamedTuple):
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_empty(self) -> bool:
        return not self.text.strip()

    def text_to_match(self) -> str:
        """The text for patterns, or "" if it is too long for a line of data."""
        return self.text.rstrip() if len(self.text) <= MAX_LINE_CHARS else ""


def blank_quoted_text(text: str) -> str:
    """Blank out all text that is not the sender's own. Length and line breaks stay, so positions stay valid.

    A message that asks not to be stored ("off the record") is blanked as a whole.
    """
    parts = _find_quoted_parts(text)
    return _blank(parts.text, [*parts.blocks, *parts.quotations])


def blank_quoted_blocks(text: str) -> str:
    """Blank out blocks only. Quotations inside a line stay: a request may be about one."""
    parts = _find_quoted_parts(text)
    return _blank(parts.text, parts.blocks)


class _QuotedParts(NamedTuple):
    """The parts of a message that are not its sender's own."""

    text: str
    """The message; code, quoted lines and tagged blocks are blank already."""
    blocks: list[Span]
    quotations: list[Span]
    """Those inside a line; longer ones are blocks."""


def _find_quoted_parts(text: str) -> _QuotedParts:
    if len(text) > MAX_HEAD_CHARS + MAX_TAIL_CHARS:
        middle = MAX_HEAD_CHARS, len(text) - MAX_TAIL_CHARS
        ends = _find_quoted_parts(f"{text[: middle[0]]}{text[middle[1] :]}")
        longer = middle[1] - middle[0]
        left = f"{ends.text[: middle[0]]}{_blank(text[slice(*middle)], [(0, longer)])}{ends.text[middle[0] :]}"
        return _QuotedParts(left, *([_shift(span, middle[0], longer) for span in spans] for spans in ends[1:]))
    marked = mask_quoted_text(text)
    marked = _blank(marked, _find_tagged(marked))
    quotations = [*_find_quotations(marked)]
    plain = _blank(marked, quotations)
    if announcements.OFF_THE_RECORD.search(plain):
        return _QuotedParts(marked, [(0, len(text))], [])
    long = [span for span in quotations if _TEXT_BETWEEN_BREAKS.sub("", text[slice(*span)])]
    return _QuotedParts(marked, [*long, *_find_blocks(plain, text, has_marked_text=marked != text)], quotations)


def _shift(span: Span, place: int, longer: int) -> Span:
    """Move a span by the length of a text that was inserted at a place."""
    start, end = span
    return start + longer * (start >= place), end + longer * (end > place)


def restore_apostrophes(text: str) -> str:
    """Restore missing apostrophes: "im" and "dont" become "I'm" and "don't"."""
    for wrong, right in _APOSTROPHES.items():
        text = wrong.sub(right, text)
    return text


def _blank(text: str, spans: Iterator[Span] | list[Span]) -> str:
    """Replace the characters of all spans with blanks. Spans may overlap."""
    pieces, done = [], 0
    for start, end in sorted(spans):
        if end > done:
            begin = max(start, done)
            pieces += [text[done:begin], _TEXT_BETWEEN_BREAKS.sub(lambda found: " " * len(found[0]), text[begin:end])]
            done = end
    return "".join([*pieces, text[done:]])


def _find_tagged(text: str) -> Iterator[Span]:
    """Find blocks from an opening to its closing tag, and from an unclosed one at the head of a line to the end."""
    opened: dict[str, list[re.Match[str]]] = {}
    closed: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        name = (tag["name"] or f"[{tag['name2']}").lower()
        if not (tag["end"] or tag["end2"]):
            if not tag[0].endswith("/>"):
                opened.setdefault(name, []).append(tag)
        elif opened.get(name):
            yield opened[name].pop().start(), tag.end()
            closed[name] = tag.end()
        elif name in closed:  # one end too many: the first one was part of the pasted text
            yield closed[name], tag.end()
            closed[name] = tag.end()
    left = [tag.start() for tags in opened.values() for tag in tags if tag["name"] and tag["head"] is not None]
    if left:
        yield min(left), len(text)


def _find_quotations(text: str) -> Iterator[Span]:
    """Find text between quotation marks, except titles, names and single words."""
    opened, closing, limit = -1, "", 0
    for mark in _QUOTE_MARK.finditer(text):
        at = mark.start()
        if at > limit:
            opened = -1
        if opened >= 0:
            if mark[0] in closing and (mark[0] not in "\"'\u2019`" or _closes(text, at)):
                if not _is_title(text, opened, at):
                    yield opened, at + 1
                opened = -1
        elif mark[0] in _CLOSING_MARKS:
            opened, closing, limit = at, _CLOSING_MARKS[mark[0]], len(text)
        elif mark[0] in "\"'\u2018`" and _opens(text, at):
            opened, closing = at, {"\u2018": "\u2019"}.get(mark[0], mark[0])
            limit = len(text) if closing == '"' else _find_line_end(text, at)
    if opened >= 0 and limit == len(text) and _SPEECH_BEFORE.search(text[max(0, opened - 80) : opened]):
        yield opened, len(text)


def _find_line_end(text: str, at: int) -> int:
    """The end of the line, which is how far a quotation in single marks may reach."""
    found = text.find("\n", at, at + MAX_LINE_CHARS)
    return found if found >= 0 else min(at + MAX_LINE_CHARS, len(text) - 1)


def _opens(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    is_word_start = not before or before.isspace() or before in "([{:,;=>\u2013\u2014-/*_"
    return is_word_start and bool(after) and not after.isspace()


def _closes(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return not before.isspace() and not after.isalnum()


def _is_title(text: str, opened: int, closed: int) -> bool:
    """Whether the marks enclose a title, a name or a single word rather than a quoted statement."""
    inside = text[opened + 1 : min(closed, opened + MAX_TITLE_CHARS + 1)]
    words = inside.split()
    if (
        len(words) > MAX_TITLE_WORDS
        or "\n" in inside
        or closed - opened > MAX_TITLE_CHARS
        or re.search(r"[.!?;:]\s|[.!?;:]$", inside)
    ):
        return False
    if len(words) <= 1:
        return True
    if _SPEECH_BEFORE.search(text[max(0, opened - 40) : opened]):
        return False
    if all(word[0].isupper() or not word[0].isalpha() or _SHORT_LOWER_WORD.match(word) for word in words):
        return words[0][0].isupper()
    return len(words) == 2 and not _FIRST_OR_SECOND_PERSON.search(inside)  # noqa: PLR2004


def _split_lines(text: str) -> list[_MessageLine]:
    return [
        _MessageLine(found[0].rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"), found.start())
        for found in _LINE_PATTERN.finditer(text)
        if found[0]
    ]


def _find_blocks(text: str, original: str, *, has_marked_text: bool) -> Iterator[Span]:
    """Find blocks of lines. Marked text and quotations are blanked in `text`, not in `original`."""
    yield from (found.span() for found in announcements.EXAMPLE_LEAD.finditer(text))
    yield from (found.span("text") for found in announcements.ORDER_AND_TEXT.finditer(text))
    lines = _split_lines(text)
    yield from _find_data_lines(lines, original)
    yield from _BlockFinder(lines, original, has_marked_text=has_marked_text).find_spans()


class _BlockFinder:
    """Finds the mails, announced texts and role play among the lines of a message."""

    def __init__(self, lines: list[_MessageLine], original: str, *, has_marked_text: bool) -> None:
        self.lines = lines
        self.original = original
        self.has_marked_text = has_marked_text
        self.farewells = [bool(announcements.FAREWELL.match(line.text_to_match())) for line in lines]
        self.thanks = [bool(announcements.THANKS.match(line.text_to_match())) for line in lines]
        self.next_signoff = self._find_next([a or b for a, b in zip(self.farewells, self.thanks, strict=True)])
        self.next_farewell = self._find_next(self.farewells)
        self.next_filled = self._find_next([not line.is_empty for line in lines])
        self.next_empty = self._find_next([line.is_empty for line in lines])

    def _find_next(self, is_one: list[bool]) -> list[int]:
        """For each line, the number of the next marked line at or after it; without one, the number of lines."""
        found = [len(is_one)] * (len(is_one) + 1)
        for number in range(len(is_one) - 1, -1, -1):
            found[number] = number if is_one[number] else found[number + 1]
        return found

    def find_spans(self) -> Iterator[Span]:
        if (last := self._find_final_request()) is not None:
            yield 0, self.lines[last].start
            return
        yield from self._find_foreign_paragraphs()
        number = 0
        while number < len(self.lines):
            block = self._find_block(number)
            if block is None:
                number += 1
                continue
            start, after = block
            yield start, self.lines[after].start if after < len(self.lines) else len(self.original)
            number = max(after, number + 1)

    def _find_block(self, number: int) -> tuple[int, int] | None:
        """The start of the block that a line opens, and the number of the line after the block."""
        line = self.lines[number]
        if line.is_empty:
            return None
        if ruler := announcements.RULER.match(line.text):
            return self._find_ruled_block(number, ruler["mark"])
        is_mail = announcements.FORWARD_LINE.match(line.text_to_match()) or announcements.MAIL_HEADER.match(
            line.text_to_match()
        )
        if is_mail or self._is_salutation(number) or self.next_farewell[number] < self.next_empty[number]:
            return line.start, self._find_mail_end(number)
        is_first = self.next_filled[0] == number
        if (announcements.LETTER.match(line.text) and not is_first) or announcements.HEADING.match(line.text):
            return line.start, self._leave_out_question(number + 1, len(self.lines))
        played = announcements.ROLE_PLAY.search(line.text)
        announced = self._find_announced_text(number)
        if played and (announced is None or line.start + played.start() < announced[0]):
            return line.start + played.start(), len(self.lines)
        return announced

    def _find_ruled_block(self, number: int, mark: str) -> tuple[int, int] | None:
        for other in range(number + 1, min(len(self.lines), number + 400)):
            ruler = announcements.RULER.match(self.lines[other].text)
            if ruler and ruler["mark"][0] == mark[0]:
                return self.lines[number].start, other + 1
        return None

    def _is_salutation(self, number: int) -> bool:
        """Whether a line is a greeting with a sign-off below. On the first line it may greet the assistant instead."""
        text = self.lines[number].text_to_match()
        if not text or not announcements.SALUTATION.match(text):
            return False
        is_first = self.next_filled[0] == number
        if is_first and announcements.GENERAL_SALUTATION.match(text):
            return self.next_farewell[number + 1] < len(self.lines)
        return self.next_signoff[number + 1] < len(self.lines)

    def _find_mail_end(self, number: int) -> int:
        """The line after the sign-off, the name below it and postscripts; the last one if there is no sign-off."""
        signoff = self.next_signoff[number + 1] if number + 1 < len(self.lines) else len(self.lines)
        if signoff == len(self.lines):
            return signoff
        after = self.next_empty[signoff]
        following = self.next_filled[after]
        if following == signoff + 2 < len(self.lines) and len(self.lines[following].text.split()) <= 3:  # noqa: PLR2004 - the name
            after = self.next_empty[following]
            following = self.next_filled[after]
        if following < len(self.lines) and announcements.POSTSCRIPT.match(self.lines[following].text):
            return self.next_empty[following]
        return after

    def _find_announced_text(self, number: int) -> tuple[int, int] | None:
        """Find the text that a line announces: after a colon in it, or on the lines below."""
        line = self.lines[number]
        start = 0
        for colon in _INTRODUCTION_MARK.finditer(line.text):
            before = line.text[max(start, colon.start() - MAX_LEAD_CHARS) : colon.start()]
            start = colon.end()
            lead = _find_last_sentence(before) if line.text[start:].strip() else before
            reported = announcements.SPEECH_LEAD.search(lead) and not announcements.OWN_SPEECH_LEAD.search(lead)
            asks = announcements.COLON_LEAD.search(lead) or (not line.text[start:].strip() and _has_order(lead))
            asks = (
                asks and not announcements.OWN_REQUEST.search(lead) and not announcements.OWN_CONTEXT.match(line.text)
            )
            if reported or asks:
                return self._find_text_after_colon(number, line.start + colon.end(), is_speech=bool(reported))
        following = self.next_filled[number + 1] if number + 1 < len(self.lines) else len(self.lines)
        lead = _find_last_sentence(line.text[-MAX_LEAD_CHARS:].rstrip(" .!?\u2026"))
        has_work = len(line.text) <= MAX_LEAD_CHARS and bool(announcements.ORDER_ABOUT_TEXT.match(line.text))
        if following == len(self.lines) or not (announcements.LINE_LEAD.search(lead) or has_work):
            return None
        if self._has_marked_text(line.end, self.lines[following].start):
            return None
        return self.lines[following].start, self._find_text_end(following)

    def _find_text_after_colon(self, number: int, start: int, *, is_speech: bool) -> tuple[int, int] | None:
        rest = self.lines[number].text[start - self.lines[number].start :]
        following = self.next_filled[number + 1] if number + 1 < len(self.lines) else len(self.lines)
        first = self.lines[following].start if following < len(self.lines) else len(self.original)
        if self._has_marked_text(start, start + len(rest) - len(rest.lstrip()) if rest.strip() else first):
            return None
        if not rest.strip():
            return (first, self._find_text_end(following)) if following < len(self.lines) else None
        if following == len(self.lines) and len(rest.split()) == 1:  # an address or a number is no text
            return None
        if is_speech and not rest.rstrip().endswith(","):
            return start, self._leave_out_question(number + 1, self.next_empty[number])
        return start, self._find_text_end(number)

    def _has_marked_text(self, start: int, end: int) -> bool:
        """Whether the announced text is a quotation, a tagged block or a fence, which is already blank."""
        return bool(self.original[start:end].strip())

    def _find_text_end(self, number: int) -> int:
        """The end of a pasted text: of its mail, of its rulers, otherwise of the message."""
        line = self.lines[number]
        if ruler := announcements.RULER.match(line.text):
            between = self._find_ruled_block(number, ruler["mark"])
            return between[1] if between else len(self.lines)
        if announcements.SALUTATION.match(line.text_to_match()) or announcements.MAIL_HEADER.match(
            line.text_to_match()
        ):
            return self._find_mail_end(number)
        return self._leave_out_question(number + 1, len(self.lines))

    def _leave_out_question(self, first: int, end: int) -> int:
        """The end of a block without a last line that only asks: there the sender speaks again."""
        last = end - 1
        while last > first and self.lines[last].is_empty:
            last -= 1
        if last < first or last >= len(self.lines):
            return end
        text = self.lines[last].text_to_match()
        is_question = bool(announcements.CLOSING_QUESTION.match(text)) and not announcements.REQUEST_WORD.search(text)
        return last if is_question else end

    def _find_foreign_paragraphs(self) -> Iterator[Span]:
        """Find pasted paragraphs beside a request that does not mention its sender.

        An example is "What chords would fit this?" above "I was born by the railroad". If a text is marked as pasted,
        the request is about that text.
        """
        if self.has_marked_text:
            return
        paragraphs = self._split_paragraphs()
        if len(paragraphs) < 2:  # noqa: PLR2004
            return
        first, last = paragraphs[0], paragraphs[-1]
        if self._is_impersonal_request(first) and (self._points_at_text(first) or self._is_prose(paragraphs[1:])):
            yield from (span for span in paragraphs[1:] if not self._is_impersonal_request(span))
        elif self._is_impersonal_request(last) and (self._points_at_text(last) or self._is_verse(paragraphs[:-1])):
            yield from paragraphs[:-1]

    def _points_at_text(self, span: Span) -> bool:
        """Whether a request is about a text rather than the world."""
        return bool(announcements.POINTER_TO_TEXT.search(self.original[slice(*span)]))

    def _is_verse(self, spans: list[Span]) -> bool:
        """Whether the paragraphs are verse: short lines, no list, mostly without full stops."""
        lines = "\n".join(self.original[slice(*span)] for span in spans).splitlines()
        text_to_match = [
            line for line in lines if len(line) <= MAX_VERSE_CHARS and not line.rstrip().endswith((".", ":"))
        ]
        is_list = any(announcements.LIST_ITEM.match(line) for line in lines)
        return len(lines) >= MIN_VERSES and len(text_to_match) >= len(lines) - 1 and not is_list

    def _is_prose(self, spans: list[Span]) -> bool:
        """Whether the paragraphs are several sentences or verses rather than a list of points."""
        text = "\n".join(self.original[slice(*span)] for span in spans)
        lines = text.splitlines()
        if any(announcements.LIST_ITEM.match(line) for line in lines):
            return False
        return len(_SENTENCE_END.findall(f"{text} ")) > 1 or len(lines) > 2  # noqa: PLR2004

    def _split_paragraphs(self) -> list[Span]:
        """Where paragraphs begin and end. Where no line is empty, the first and the last line count as paragraphs."""
        filled = [line for line in self.lines if not line.is_empty]
        if len(filled) > 2 and len(filled) == len(self.lines):  # noqa: PLR2004
            parts = [[filled[0]], filled[1:-1], [filled[-1]]]
        else:
            groups = groupby(self.lines, key=lambda line: line.is_empty)
            parts = [[*lines] for is_empty, lines in groups if not is_empty]
        return [(part[0].start, part[-1].end) for part in parts] or [(0, 0)]

    def _is_impersonal_request(self, span: Span) -> bool:
        """Tell a short question or order in which the sender does not speak of themselves."""
        text = self.original[slice(*span)].strip()
        if not text or len(text) > MAX_LEAD_CHARS or announcements.OWN_REQUEST.search(text):
            return False
        return ("?" in text or _has_order(text)) and not announcements.FIRST_PERSON.search(
            announcements.REPLY_TO_SENDER.sub(" ", text)
        )

    def _find_final_request(self) -> int | None:
        """The number of the last line, if it asks for work on the text above it."""
        filled = [number for number, line in enumerate(self.lines) if not line.is_empty]
        if len(filled) < 2:  # noqa: PLR2004
            return None
        line = self.lines[filled[-1]]
        asks = len(line.text) <= MAX_LEAD_CHARS and announcements.ORDER_ABOUT_TEXT_ABOVE.match(line.text)
        return filled[-1] if asks and self._find_announced_text(filled[-1]) is None else None


def _has_order(text: str) -> bool:
    """Whether a clause of the line before a text is an order: "Fact check please:"."""
    return any(announcements.ORDER_START.match(clause) for clause in re.split(r"[.,;!]\s", text))


def _find_last_sentence(text: str) -> str:
    """The part after the last end of a sentence."""
    start = 0
    for found in _SENTENCE_END.finditer(text):
        start = found.end()
    return text[start:].strip()


def _find_data_lines(lines: list[_MessageLine], original: str) -> Iterator[Span]:
    """Find transcripts, logs, tables, code, data and lyrics, whatever stands around them."""
    texts = [line.text_to_match() for line in lines]
    speakers = [
        bool(announcements.STAMPED_SPEAKER.match(text) or announcements.SPEAKER_ROLE.match(text)) for text in texts
    ]
    named = [_names_speaker(text) for text in texts]
    if sum(named) + sum(speakers) > 1:
        speakers = [a or b for a, b in zip(speakers, named, strict=True)]
    in_run = in_song = in_data = False
    for number, line in enumerate(lines):
        text = texts[number]
        is_empty = line.is_empty
        in_run = speakers[number] or (in_run and not is_empty)
        in_song = in_song or bool(announcements.SONG_PART.match(text))
        in_data = not is_empty and (in_data or bool(announcements.JSON_START.match(text)))
        is_indented = bool(announcements.INDENTED_LINE.match(original, line.start, line.end))
        if in_run or in_song or in_data or is_indented or _is_data(texts, number):
            yield line.start, line.end


def _names_speaker(text: str) -> bool:
    found = announcements.SPEAKER_NAME.match(text)
    return bool(found) and not announcements.OWN_LABEL.match(found["name"].rstrip("."))  # type: ignore[index]


def _is_data(texts: list[str], number: int) -> bool:
    text = texts[number]
    if (
        announcements.LOG_LINE.match(text)
        or announcements.TABLE_ROW.match(text)
        or announcements.STAGE_DIRECTION.match(text)
    ):
        return True
    around = [*texts[max(0, number - 1) : number], *texts[number + 1 : number + 2]]
    if announcements.CSV_ROW.match(text):
        return any(announcements.CSV_ROW.match(other) for other in around)
    if announcements.CODE_LINE.match(text):
        return any(announcements.CODE_LINE.match(other) or announcements.CODE_COMMENT.match(other) for other in around)
    return bool(announcements.CODE_COMMENT.match(text)) and any(
        announcements.CODE_LINE.match(other) for other in around
    )
