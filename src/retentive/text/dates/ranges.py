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
    if span.grain != "day" or span.begin is None or span.said == "relative":
        return None
    if join.name == "and" and opening is None and number.value + 1 != span.begin.day:
        return None  # "18 and 19 June" are one stretch, "3 and 19 June" are two days
    if opening and isinstance(number.value, int) and number.value >= span.begin.day:
        return "word", ""  # from the 27th to the 3rd of April: of which month is not said
    return _between(replace(span, begin=_day(span.begin, number), finish=span.begin), span)


def number_last(
    _: Saying, opening: Token | None, first: Token, join: Token, number: Token, in_year: Token | None = None
) -> Made:
    """June 9-12, 2023."""
    span = first.value
    if span.grain != "day" or span.begin is None or span.said == "relative":
        return None
    if join.name == "and" and opening is None and number.value != span.begin.day + 1:
        return None
    if in_year:
        its = year(in_year.value) if in_year.name == "year" else in_year.value
        if its.grain != "year" or its.how or its.begin is None or span.said == "absolute":
            return None
        begin = span.begin.replace(year=its.begin.year)
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


def not_later(_: Saying, which: Token, target: Token) -> Made:
    """No later than Friday: that day counts."""
    return bounded("through" if which.value > 0 else "since", target.value)


def later(_: Saying, which: Token, target: Token) -> Made:
    """Later than 2018."""
    return bounded("after" if which.value > 0 else "before", target.value)


def as_early_as(_: Saying, stage: Token, target: Token) -> Made:
    match stage.value:
        case "early":
            return bounded("since", target.value)
        case "late":
            return bounded("through", target.value)
    return None


def or_later(_: Saying, target: Token, which: Token) -> Made:
    """2012 or later."""
    return bounded("since" if which.value > 0 else "through", target.value)


def more_than(_: Saying, which: Token, length: Token, side: Token, target: Token) -> Made:
    """More than two weeks before Easter; less than three days after it."""
    span: Span = target.value
    if span.begin is None or _open(span):
        return None
    sign = -1 if side.name == "before" else 1
    other = day(length.value.after(span.begin, sign), span.said)
    if which.value > 0:
        return bounded("before" if sign < 0 else "since", other)
    first, last = (other, span) if sign < 0 else (span, other)
    return "span", Span(first.begin, last.begin, "open", span.said, ends=(first, last), how="range", bare=span.bare)


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
            at_once = span.grain in {"minute", "now"} or span.edge == "early"
            end["begin"] = span.begin if at_once else span.finish
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
