"""Ranges: two ends, an end and a length, or one end only."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from retentive.text.dates.cascade import Saying
from retentive.text.dates.days import Made
from retentive.text.dates.lexer import Token
from retentive.text.dates.spans import DAY, Span, day, midnight, step, year

_CLOCK = frozenset(("minute", "hour", "part", "now"))
_DAYS = frozenset(("day", *_CLOCK))


def two(_: Saying, opening: Token | None, first: Token, join: Token, second: Token) -> Made:
    """From May to July: both are meant whole."""
    if join.name == "and" and (opening is None or opening.name != "between"):
        return None
    return _between(*_aligned(first.value, second.value))


def _between(first: Span, second: Span) -> Made:
    if (
        first.begin is None
        or second.finish is None
        or (_end(first) or first.begin) >= second.finish
        or _open(first)
        or _open(second)
    ):
        return None
    begin, finish = _end(first) or first.begin, second.finish
    if second.grain in {"minute", "now"} and second.begin and second.begin > begin:
        finish = second.begin
    said = "relative" if "relative" in {first.said, second.said} else second.said
    grain = "hour" if {first.grain, second.grain} <= _CLOCK else "open"
    return "span", Span(begin, finish, grain, said, ends=(first, second), how="range" if grain == "open" else "")


def _end(span: Span) -> datetime | None:
    """From the end of March: from where March ends."""
    return span.finish if span.edge == "end" else None


def _open(span: Span) -> bool:
    return span.how not in {"", "about"}


def _aligned(first: Span, second: Span) -> tuple[Span, Span]:
    """A bare end goes by the other: the last Monday before Friday, the first July after May."""
    if first.bare and second.begin:
        return _turned(first, second.begin, -1), second
    if second.bare and first.begin:
        return first, _turned(second, first.begin, 1)
    return first, second


def _turned(span: Span, other: datetime, sign: int) -> Span:
    """The turn of a name that is nearest to a moment, on the side of it that `sign` says."""
    if span.begin is None or span.finish is None:
        return span
    begin, unit = _near(span, other)
    if (begin - other) * sign < timedelta(0):
        begin = step(begin, sign, unit)
    months = 12 * (begin.year - span.begin.year) + begin.month - span.begin.month
    if span.grain in _DAYS or not months:
        return replace(span, begin=begin, finish=begin + (span.finish - span.begin))
    return replace(span, begin=begin, finish=step(span.finish, months, "month"))  # months differ in length


def _near(span: Span, other: datetime) -> tuple[datetime, str]:
    begin = span.begin or other
    if span.grain in _CLOCK:
        return begin.replace(year=other.year, month=other.month, day=other.day), "day"
    if span.weekday is not None or span.grain == "weekend":
        return midnight(other) + (begin.weekday() - other.weekday()) * DAY, "week"
    if span.said == "year":
        return begin.replace(year=other.year), "year"
    return begin.replace(year=other.year, month=other.month), "month"


def number_first(_: Saying, opening: Token | None, number: Token, join: Token, second: Token) -> Made:
    """9 to 12 June."""
    span = second.value
    if (join.name == "and" and opening is None) or span.grain != "day" or span.begin is None or span.said == "relative":
        return None
    return _between(replace(span, begin=_day(span.begin, number), finish=span.begin), span)


def number_last(
    _: Saying, opening: Token | None, first: Token, join: Token, number: Token, in_year: Token | None = None
) -> Made:
    """June 9-12, 2023."""
    span = first.value
    if (join.name == "and" and opening is None) or span.grain != "day" or span.begin is None or span.said == "relative":
        return None
    if in_year:
        if in_year.value.grain != "year" or in_year.value.how or span.said == "absolute":
            return None
        begin = span.begin.replace(year=in_year.value.begin.year)
        span = replace(span, begin=begin, finish=begin + DAY, said="absolute", bare=False)
    return _between(span, replace(day(_day(span.begin, number)), said=span.said))


def _day(moment: datetime, number: Token) -> datetime:
    return moment.replace(day=int(number.value))  # 31 June raises what the cascade expects


def lasting(_: Saying, first: Token, second: Token) -> Made:
    """Two weeks starting June 1; from June 1 for two weeks."""
    length, start = (first, second) if first.name == "length" else (second, first)
    span: Span = start.value
    if span.begin is None or span.ends:
        return None
    return "span", Span(span.begin, length.value.after(span.begin), "open", span.said, ends=(span,), how="lasting")


def open_ended(_: Saying, word: Token, target: Token) -> Made:
    return bounded(str(word.name), target.value)


def starting(_: Saying, target: Token) -> Made:
    return bounded("since", target.value)


def bounded(word: str, span: Span) -> Made:
    """One end only. Until a day, and by it, count that day; until June stops where June begins."""
    if _open(span):
        return None
    end: dict[str, Any] = {"begin": None, "finish": None}
    match word:
        case "since" | "from":
            end["begin"] = span.begin
        case "after":
            end["begin"] = span.begin if span.grain in {"minute", "now"} else span.finish
        case "before":
            end["finish"] = span.finish if span.edge == "end" else span.begin
        case "through":
            end["finish"] = span.finish
        case _:
            end["finish"] = span.finish if span.grain in _DAYS or span.edge == "end" else span.begin
    return "span", Span(**end, grain="open", said=span.said, ends=(span,), how=word, bare=span.bare)


def years(_: Saying, first: Token, second: Token) -> Made:
    """2014-2018."""
    return _between(year(first.value), year(second.value)) if first.value < second.value else None
