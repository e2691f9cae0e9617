"""Time expressions in English: where they are, what they mean, and what they say about how long a statement holds.

A cascade of rules over classes of words (`grammar.py`), with python-dateutil under it for steps of months and for
Easter. Libraries that search text for dates were measured on every fifth of 490 sentences of Recognizers-Text (100
expressions):

    library                      same words   a sentence   first use
    dateparser 1.5                       18       1.9 ms      240 ms   dates only: no ranges, no open ends
    parsedatetime 2.6                    16       0.2 ms       33 ms   dates only
    recognizers-text-date-time           70        22 ms      630 ms   unmaintained, does not import beside emoji 2
    dateutil's fuzzy parser               2       0.1 ms       30 ms   one date a text, whatever it is
    this grammar                         68       0.2 ms       65 ms   and ranges, open ends, tense; made on these

How it works: `lexer.py` cuts a text into tokens of a few classes, and each rule joins tokens into one, in passes of one
regular expression over the string of classes. A wrong date is worse than none: words that mean a time which is not
known ("three weeks later") are not read in part, and where two readings are open (`doubts.py`) a statement keeps its
words. No rule repeats without bound and there is no recursion, so the time is
linear. Days begin where the zone of `now` has midnight (UTC if it has none), weeks on Monday.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from retentive.text.dates.lexicon import TRIGGERS

if TYPE_CHECKING:  # the grammar takes 60 ms to compile: it is loaded by the first text that has a word of time
    from retentive.text.dates.lexer import Token
    from retentive.text.dates.reading import Clock
    from retentive.text.dates.spans import Span

__all__ = ["Expression", "absolute", "ends", "find", "mentioned"]

_WORD = re.compile(r"[a-z]+|[0-9]")
_PLAIN = str.maketrans({"\u2019": "'", "\u2013": "-", "\u2014": "-"})  # one for one: places stay


class Expression(NamedTuple):
    start: int
    end: int
    kind: str
    """date, range, duration, set (every Monday), time (exact to the hour or better), vague (recently)."""
    begin: datetime | None
    """The first moment that it covers, in UTC; None if it is open."""
    finish: datetime | None
    """The first moment after it; None if it is open."""
    length: timedelta | None = None
    """Of a duration; of a set, from one time to the next."""
    grain: str = ""
    """How exactly it was meant: "two years ago" is a day by the calendar, but its grain is `year`."""


def find(text: str, now: datetime, *, past: bool = False) -> tuple[Expression, ...]:
    """The time expressions of a text, in their order. They do not overlap.

    A bare "March" or "Friday" goes by the tense of its sentence; where that does not show, it is the latest one if
    `past`, else the next.
    """
    if not mentioned(text):
        return ()
    from retentive.text.dates.reading import clock, read

    at = clock(now)
    return tuple(_expressions(read(text.translate(_PLAIN), at.local, past=past), at))


def absolute(text: str, now: datetime, *, past: bool = True) -> str:
    """The text with its relative times completed, so that it can be read at any time. Twice is the same as once.

    A text in which what was added would be read as something new is left as it is.
    """
    if not mentioned(text):
        return text
    whole = _completed(text, now, past=past)
    return whole if whole == text or _completed(whole, now, past=past) == whole else text


def _completed(text: str, now: datetime, *, past: bool) -> str:
    from retentive.text.dates import absolute_dates
    from retentive.text.dates.doubts import Doubts
    from retentive.text.dates.reading import clock, read_by
    from retentive.text.dates.tense import Tense

    plain, moment = text.translate(_PLAIN), clock(now).local
    tense = Tense(plain, past=past)
    doubts = Doubts(plain, moment, tense)
    pieces, at = [], 0
    for token in read_by(tense, plain, moment):
        sure = doubts.settle(token)
        if sure and (added := absolute_dates.completed(text, sure)):
            end = absolute_dates.end_of(text, sure)
            pieces += [text[at:end], added]
            at = end
    return "".join([*pieces, text[at:]])


def ends(text: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """(valid from, expires) as the words give them; None where they do not."""
    if not mentioned(text):
        return None, None
    from retentive.text.dates import validity
    from retentive.text.dates.reading import clock, read

    at = clock(now)
    try:
        first, last = validity.bounds(
            text.translate(_PLAIN), read(text.translate(_PLAIN), at.local, past=False), at.local
        )
        return first and at.utc(first), last and at.utc(last)
    except OverflowError:  # past the year 9999
        return None, None


def mentioned(text: str) -> bool:
    """Whether any word of time, or a digit, is in a text: microseconds for those that have none."""
    return not TRIGGERS.isdisjoint(_WORD.findall(text.lower()))


def _expressions(tokens: "list[Token]", at: "Clock") -> Iterator[Expression]:
    for token in tokens:
        match token.name:
            case "span":
                yield from _dated(token, token.value, token.value.kind, at)
            case "vague":
                yield from _dated(token, token.value[1], "vague", at)
            case "length":
                yield Expression(
                    token.start, token.end, "duration", None, None, token.value.timedelta, token.value.unit
                )
            case "set":
                yield Expression(token.start, token.end, "set", None, None, token.value)


def _dated(token: "Token", span: "Span", kind: str, at: "Clock") -> Iterator[Expression]:
    try:
        begin, finish = span.begin and at.utc(span.begin), span.finish and at.utc(span.finish)
    except OverflowError:  # its zone puts it outside the years 1 to 9999
        return
    grain = span.edge if span.how == "about" else span.grain
    yield Expression(token.start, token.end, kind, begin, finish, None, grain)
