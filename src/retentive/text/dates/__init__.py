"""Finds time expressions in English, completes relative ones, and finds how long a statement holds.

It is a cascade of rules over classes of words (`grammar.py`). python-dateutil steps by months and knows Easter. These
libraries were measured on every fifth of 490 sentences of Recognizers-Text (100 expressions):

    library                      same words   a sentence   first use
    dateparser 1.5                       18       1.9 ms      240 ms   dates only: no ranges, no open ends
    parsedatetime 2.6                    16       0.2 ms       33 ms   dates only
    recognizers-text-date-time           70        22 ms      630 ms   unmaintained, does not import beside emoji 2
    dateutil's fuzzy parser               2       0.1 ms       30 ms   one date a text, whatever it is
    this grammar                         68       0.2 ms       65 ms   and ranges, open ends, tense; developed on these

How it works: `lexer.py` splits a text into tokens of a few classes. Each rule joins tokens into one, in one pass of a
regular expression over the string of classes. A wrong date is worse than none: an expression whose time is unknown
("three weeks later") is not read in part, and an ambiguous one (`ambiguous_dates.py`) is not completed. No rule repeats
without bound and there is no recursion, so the time is linear. Days begin at midnight in the zone of `now` (UTC if it
has none), weeks on Monday.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from retentive.text.dates.lexicon import TRIGGERS

if TYPE_CHECKING:  # the grammar takes 60 ms to compile: it is loaded by the first text that has a word of time
    from retentive.text.dates.lexer import TimeToken
    from retentive.text.dates.parse_times import LocalClock
    from retentive.text.dates.spans import Period

__all__ = ["TimeExpression", "find_times", "find_validity", "make_absolute", "may_mention_time"]

_WORD = re.compile(r"[a-z]+|[0-9]")
_PLAIN_PUNCTUATION = str.maketrans({"\u2019": "'", "\u2013": "-", "\u2014": "-"})  # one for one: positions stay


class TimeExpression(NamedTuple):
    start: int
    end: int
    kind: str
    """date, range, duration, set (every Monday), time (exact to the hour or better), vague (recently)."""
    begin: datetime | None
    """The first moment, in UTC; None if it is open."""
    finish: datetime | None
    """The first moment after the end, in UTC; None if it is open."""
    length: timedelta | None = None
    """The length of a duration; for a set, the time between two occurrences."""
    grain: str = ""
    """The precision of the words: "two years ago" is a day by the calendar, but its grain is `year`."""


def find_times(text: str, now: datetime, *, past: bool = False) -> tuple[TimeExpression, ...]:
    """Find the time expressions of a text, in order and without overlaps.

    A bare "March" or "Friday" is dated by the tense of its sentence. If the tense is unclear, it is the latest one if
    `past`, else the next.
    """
    if not may_mention_time(text):
        return ()
    from retentive.text.dates.parse_times import make_clock, parse_times

    at = make_clock(now)
    return tuple(_make_expressions(parse_times(text.translate(_PLAIN_PUNCTUATION), at.local, past=past), at))


def make_absolute(text: str, now: datetime, *, past: bool = True) -> str:
    """Complete the relative times of a text, so that it can be read at any time. The function is idempotent.

    If the completed text would be read differently, the text is returned unchanged.
    """
    if not may_mention_time(text):
        return text
    completed = _complete_times(text, now, past=past)
    is_stable = completed == text or _complete_times(completed, now, past=past) == completed
    return completed if is_stable else text


def _complete_times(text: str, now: datetime, *, past: bool) -> str:
    from retentive.text.dates import absolute_dates
    from retentive.text.dates.ambiguous_dates import AmbiguousDates
    from retentive.text.dates.parse_times import make_clock, parse_times_with_tense
    from retentive.text.dates.tense import Tense

    plain, moment = text.translate(_PLAIN_PUNCTUATION), make_clock(now).local
    tense = Tense(plain, past=past)
    doubts = AmbiguousDates(plain, moment, tense)
    pieces, at = [], 0
    for token in parse_times_with_tense(tense, plain, moment):
        certain = doubts.resolve(token)
        if certain and (completion := absolute_dates.find_completion(text, certain)):
            end = absolute_dates.find_insert_position(text, certain)
            pieces += [text[at:end], completion]
            at = end
    return "".join([*pieces, text[at:]])


def find_validity(text: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Find when a statement begins and ends to hold, by its words; None where they give no time."""
    if not may_mention_time(text):
        return None, None
    from retentive.text.dates import validity
    from retentive.text.dates.parse_times import make_clock, parse_times

    at = make_clock(now)
    try:
        plain = text.translate(_PLAIN_PUNCTUATION)
        tokens = parse_times(plain, at.local, past=False)
        begin, end = validity.find_bounds(plain, tokens, at.local)
        return begin and at.to_utc(begin), end and at.to_utc(end)
    except OverflowError:  # past the year 9999
        return None, None


def may_mention_time(text: str) -> bool:
    """Whether a text has a word of time or a digit. This takes microseconds, so it is checked first."""
    return not TRIGGERS.isdisjoint(_WORD.findall(text.lower()))


def _make_expressions(tokens: "list[TimeToken]", at: "LocalClock") -> Iterator[TimeExpression]:
    for token in tokens:
        match token.name:
            case "span":
                yield from _make_dated(token, token.value, token.value.kind, at)
            case "vague":
                yield from _make_dated(token, token.value[1], "vague", at)
            case "length":
                yield TimeExpression(
                    token.start, token.end, "duration", None, None, token.value.timedelta, token.value.unit
                )
            case "set":
                yield TimeExpression(token.start, token.end, "set", None, None, token.value)


def _make_dated(token: "TimeToken", span: "Period", kind: str, at: "LocalClock") -> Iterator[TimeExpression]:
    try:
        begin, finish = span.begin and at.to_utc(span.begin), span.finish and at.to_utc(span.finish)
    except OverflowError:  # its zone puts it outside the years 1 to 9999
        return
    grain = span.edge if span.relation == "about" else span.grain
    yield TimeExpression(token.start, token.end, kind, begin, finish, None, grain)
