"""Dates and calendar periods: named, numbered, or counted from the moment of speaking."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from retentive.text.dates import spans
from retentive.text.dates.cascade import Saying
from retentive.text.dates.lexer import Token, full_year
from retentive.text.dates.spans import DAY, FINE, Span, around, local, midnight, step

Made = tuple[str, Any] | None

_LEAP = 9  # years: between two 29 Februaries are at most eight
_MONTHS_AHEAD = 30
_MOST_AGO = 100


def as_span(span: Span | None) -> Made:
    return None if span is None else ("span", span)


def recurring(saying: Saying, token: Token, make: Callable[[int], Span], *, past: bool | None = None) -> Span | None:
    """The last that has begun, or the next that is not over."""
    back = saying.past(token) if past is None else past
    first = saying.now.year
    for year in range(first, first - _LEAP, -1) if back else range(first - 1, first + _LEAP):
        try:
            span = make(year)
        except (ValueError, OverflowError):
            continue
        if back and span.begin and span.begin <= saying.now:
            return replace(span, said="year", bare=True)
        if not back and span.finish and span.finish > saying.now:
            return replace(span, said="year", bare=True)
    return None


def _valid_day(number: Any) -> bool:
    return isinstance(number, int) and 1 <= number <= 31  # noqa: PLR2004


def month_day(saying: Saying, weekday: Token | None, month: Token, number: Token, year: Token | None) -> Made:
    if not _valid_day(number.value):
        return None

    def make(year_: int) -> Span:
        return spans.day(local(year_, _number_of(month), number.value))

    if year:
        return as_span(make(year.value))
    found = recurring(saying, month, make)
    if weekday is None or found is None or _falls_on(found, weekday):
        return as_span(found)
    other = recurring(saying, month, make, past=not saying.past(month))
    # No year in reach has that day of the week: what is meant cannot be told.
    return as_span(other) if other and _falls_on(other, weekday) else ("word", "")


def _falls_on(span: Span, weekday: Token) -> bool:
    return _begin(span).weekday() == _number_of(weekday)


def month_day_of(_: Saying, month: Token, number: Token, year: Token) -> Made:
    """April 15 of 87."""
    short = isinstance(year.value, int) and 31 < year.value < 100  # noqa: PLR2004
    if not short or not _valid_day(number.value):
        return None
    return as_span(spans.day(local(full_year(year.value), _number_of(month), number.value)))


def day_month_of(saying: Saying, number: Token, month: Token, year: Token) -> Made:
    return month_day_of(saying, month, number, year)


def _number_of(token: Token) -> int:
    value = token.value
    return int(value[0]) if isinstance(value, tuple) else int(value)


def day_month(
    saying: Saying, weekday: Token | None, number: Token, unit: Token | None, month: Token, year: Token | None
) -> Made:
    if unit and unit.value != "day":
        return None  # the first week of May
    return month_day(saying, weekday, month, number, year)


def month_year(_: Saying, month: Token, year: Token) -> Made:
    return as_span(spans.month(year.value, _number_of(month)))


def month_of(_: Saying, month: Token, number: Token) -> Made:
    """April of 87, October two thousand."""
    value = number.value
    short = isinstance(value, int) and (31 < value < 100 or value == 2000)  # noqa: PLR2004
    return as_span(spans.month(full_year(number.value), _number_of(month))) if short else None


def bare_month(saying: Saying, month: Token) -> Made:
    return as_span(recurring(saying, month, lambda year: spans.month(year, _number_of(month))))


def rel_month(saying: Saying, rel: Token, month: Token) -> Made:
    return as_span(_chosen(saying, rel, lambda year: spans.month(year, _number_of(month))))


def _chosen(saying: Saying, rel: Token, make: Callable[[int], Span]) -> Span | None:
    """Last: the latest that is over. Next: the first to begin. This: this year's."""
    this = saying.now.year
    order = {-1: (this, this - 1), 0: (this,), 1: (this, this + 1)}[rel.value]
    for span in map(make, order):
        over = span.finish is not None and span.finish <= saying.now
        ahead = span.begin is not None and span.begin > saying.now
        if rel.value == 0 or (over if rel.value < 0 else ahead):
            return replace(span, said="relative")
    return None


def season(saying: Saying, season: Token, year: Token | None) -> Made:
    name = season.value[0] if isinstance(season.value, tuple) else season.value
    if year:
        return as_span(spans.season(name, year.value))
    return as_span(recurring(saying, season, lambda year_: spans.season(name, year_)))


def rel_season(saying: Saying, rel: Token, season: Token) -> Made:
    name = season.value[0] if isinstance(season.value, tuple) else season.value
    return as_span(_chosen(saying, rel, lambda year: spans.season(name, year)))


def seasons_ago(saying: Saying, count: Token, season: Token) -> Made:
    """Two summers ago: of those that are over, the second last."""
    latest = recurring(saying, season, lambda year: spans.season(season.value, year), past=True)
    if latest is None or latest.begin is None or not 1 <= count.value <= _MOST_AGO:
        return None
    over = latest.finish is None or latest.finish <= saying.now
    return as_span(replace(spans.season(season.value, latest.begin.year - int(count.value) + over), said="relative"))


def weekdays_ago(saying: Saying, count: Token, weekday: Token) -> Made:
    if not 1 <= count.value <= _MOST_AGO:
        return None
    earlier = 7 * (int(count.value) - 1) * DAY
    begin = _begin(spans.nearest(saying.now, weekday.value, past=True)) - earlier
    return as_span(replace(spans.day(begin, "relative"), weekday=weekday.value))


def holiday(saying: Saying, holiday: Token, year: Token | None) -> Made:
    if year:
        return as_span(spans.holiday(holiday.value, year.value))
    return as_span(recurring(saying, holiday, lambda year_: spans.holiday(holiday.value, year_)))


def rel_holiday(saying: Saying, rel: Token, holiday: Token) -> Made:
    return as_span(_chosen(saying, rel, lambda year: spans.holiday(holiday.value, year)))


def slash(saying: Saying, token: Token) -> Made:
    """Month first, unless that cannot be."""
    for month, number in (token.value, token.value[::-1]):
        if 1 <= month <= 12 and _valid_day(number):  # noqa: PLR2004
            found = recurring(saying, token, lambda year, m=month, d=number: spans.day(local(year, m, d)))  # type: ignore[misc]
            return as_span(found)
    return None


def rel_slash(saying: Saying, rel: Token, token: Token) -> Made:
    """Next 5/12: the year is said."""
    found = slash(saying, token)
    if found is None:
        return None
    begin = _begin(found[1])
    return as_span(_chosen(saying, rel, lambda year: spans.day(begin.replace(year=year))))


def weekday_slash(saying: Saying, rel: Token, weekday: Token, token: Token) -> Made:
    """Next Friday 5/12: only if they are the same day."""
    named, numbered = rel_weekday(saying, rel, weekday), slash(saying, token)
    if named and numbered and (named[1].begin.month, named[1].begin.day) == _month_and_day(numbered[1]):
        return named
    return "word", ""


def _month_and_day(span: Span) -> tuple[int, int]:
    return _begin(span).month, _begin(span).day


def day_of_month(saying: Saying, number: Token) -> Made:
    """On the 5th: of this month, or of the nearest before or after it."""
    if not _valid_day(number.value):
        return None
    back = saying.past(number)
    for offset in range(3):
        first = around(saying.now, "month", -offset if back else offset).begin
        try:
            found = spans.day((first or saying.now).replace(day=number.value), "relative")
        except ValueError:
            continue
        today = midnight(saying.now)
        if found.begin and (found.begin <= today if back else found.begin >= today):
            return as_span(replace(found, bare=True))
    return None


def weekday_number(saying: Saying, weekday: Token, number: Token) -> Made:
    """Tuesday the 13th: the nearest month in which it is one."""
    if not _valid_day(number.value):
        return None
    sign = -1 if saying.past(weekday) else 1
    for offset in range(_MONTHS_AHEAD):
        first = around(saying.now, "month", sign * offset).begin or saying.now
        try:
            moment = first.replace(day=number.value)
        except ValueError:
            continue
        if moment.weekday() == _number_of(weekday) and (moment - midnight(saying.now)) * sign >= 0 * DAY:
            return as_span(spans.day(moment, "relative"))
    return None


def weekday(saying: Saying, weekday: Token) -> Made:
    found = spans.nearest(saying.now, _number_of(weekday), past=saying.past(weekday))
    return as_span(replace(found, bare=True))


def rel_weekday(saying: Saying, rel: Token, weekday: Token) -> Made:
    """Last: the one before today. Next: of next week. This: of this week. This past, this coming: the nearest."""
    number = _number_of(weekday)
    if rel.name == "past" or rel.value < 0:
        found = spans.nearest(saying.now, number, past=rel.value < 0)
    else:
        week = around(saying.now, "week", rel.value)
        found = replace(spans.day((week.begin or saying.now) + number * DAY, "relative"), weekday=number)
    return as_span(found)


def previous_weekday(saying: Saying, weekday: Token) -> Made:
    """The one before today, if that is of the week before; else it may be either."""
    found = spans.nearest(saying.now, _number_of(weekday), past=True)
    this_week = around(saying.now, "week").begin
    return ("word", "") if this_week is None or _begin(found) >= this_week else as_span(found)


def with_weekday(_: Saying, span: Token) -> Made:
    return as_span(span.value) if span.value.grain == "day" else None


def deictic(saying: Saying, day: Token) -> Made:
    return as_span(around(saying.now, "day", day.value))


def tonight(saying: Saying) -> Made:
    return "span", part(around(saying.now, "day"), "evening")


def now(saying: Saying) -> Made:
    return "span", Span(saying.now, step(saying.now, 1, "minute"), "now", "relative")


# Hours, as people use the words rather than as clocks divide the day; a night ends after midnight.
_HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (20, 28), "lunch": (11, 14)}


def part(span: Span, name: str) -> Span:
    begin = _begin(span)
    first, last = (step(begin, hour, "hour") for hour in _HOURS[name])
    return replace(span, begin=first, finish=last, grain="part", edge="", whole=span)


def rel_part(saying: Saying, rel: Token, name: Token) -> Made:
    if rel.value < 0 and name.value not in {"night", "evening"}:
        return None
    return "span", part(around(saying.now, "day", rel.value), name.value)


def day_part(_: Saying, span: Token, name: Token) -> Made:
    return ("span", part(span.value, name.value)) if span.value.grain == "day" else None


def part_day(saying: Saying, name: Token, span: Token) -> Made:
    return day_part(saying, span, name)


def rel_unit(saying: Saying, rel: Token, unit: Token) -> Made:
    name, offset = str(unit.value), int(rel.value)
    if offset and (name in {"day", "minute", "second"}):
        return None  # "the last day of school", "at the last minute", "the next day"
    if rel.name == "past" and offset < 0 and name != "weekend":
        return rolling(saying, step(saying.now, -1, name), name)
    this = around(saying.now, name, offset)
    if name == "weekend" and not offset and this.begin and this.begin > saying.now and saying.looks_back(rel):
        this = around(saying.now, name, -1)  # "I went there this weekend", said on Wednesday
    return as_span(this)


def rolling(saying: Saying, other: datetime, unit: str) -> Made:
    """From now to another moment: whole days if the unit is at least a day."""
    if other < saying.now:
        begin = other if unit in FINE else midnight(other)
        return "span", Span(begin, saying.now, "open", "relative", how="past")
    finish = other if unit in FINE else midnight(other) + DAY
    return "span", Span(saying.now, finish, "open", "relative", how="next")


def rel_length(saying: Saying, rel: Token, length: Token) -> Made:
    if rel.value == 0:
        return None
    if length.value.unit == "quarter":
        return _quarters(saying, rel.value * int(length.value.parts[0][0]))
    return rolling(saying, length.value.after(saying.now, rel.value), length.value.unit)


def _quarters(saying: Saying, count: int) -> Made:
    first, last = sorted(
        (around(saying.now, "quarter", count), around(saying.now, "quarter", 1 if count > 0 else -1)), key=_begin
    )
    return "span", replace(first, finish=last.finish, grain="open", how="range")


def _begin(span: Span) -> datetime:
    return span.begin or datetime.min  # noqa: DTZ901 - all times here are without a zone


def counted_rel(saying: Saying, count: Token, rel: Token, unit: Token) -> Made:
    if rel.value == 0:
        return None
    return rolling(saying, step(saying.now, rel.value * count.value, unit.value), unit.value)


def school_year(saying: Saying, rel: Token) -> Made:
    return as_span(spans.school_year(saying.now, rel.value))


def semester(saying: Saying, rel: Token | None) -> Made:
    return as_span(spans.semester(saying.now, rel.value if rel else 0))


def weekend(saying: Saying, unit: Token) -> Made:
    if unit.value != "weekend":
        return None
    this = around(saying.now, "weekend")
    back = saying.past(unit) and this.begin is not None and this.begin > saying.now
    return as_span(replace(around(saying.now, "weekend", -1) if back else this, bare=True))


def before_last(saying: Saying, unit: Token, which: Token, rel: Token) -> Made:
    """The week before last, the month after next."""
    sign = -1 if which.name == "before" else 1
    return as_span(around(saying.now, unit.value, 2 * sign)) if rel.value == sign else None


def year(_: Saying, year: Token) -> Made:
    return as_span(spans.year(year.value))


def decade(_: Saying, decade: Token) -> Made:
    return as_span(spans.years(decade.value, 10))


def century(_: Saying, number: Token, unit: Token) -> Made:
    if unit.value != "century" or not 1 <= number.value <= 30:  # noqa: PLR2004
        return None
    first = max(100 * (number.value - 1), 1)
    return as_span(spans.years(first, 100 * number.value - first))


def quarter(saying: Saying, which: Token, year: Token | None) -> Made:
    letter, number = which.value
    months = 3 if letter == "q" else 6
    if months * number > 12:  # noqa: PLR2004
        return None
    if year:
        return as_span(spans.quarter(year.value, number, "absolute", months))
    return as_span(recurring(saying, which, lambda year_: spans.quarter(year_, number, "absolute", months)))


def quarter_back(saying: Saying, year: Token, which: Token) -> Made:
    return quarter(saying, which, year)
