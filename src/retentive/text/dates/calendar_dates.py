"""Rules for dates and calendar periods: named, numbered, or counted from now."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from retentive.text.dates import spans
from retentive.text.dates.cascade import NewToken, Utterance
from retentive.text.dates.lexer import TimeToken, expand_year
from retentive.text.dates.spans import CLOCK_UNITS, DAY, Period, add_units, find_midnight, find_period, make_local

_MAX_YEARS_TRIED = 9  # between two 29 Februaries are at most eight
_MAX_MONTHS_TRIED = 30
_MAX_AGO = 100


def as_span(span: Period | None) -> NewToken:
    return None if span is None else ("span", span)


def find_nearest_occurrence(
    utterance: Utterance, token: TimeToken, make: Callable[[int], Period], *, past: bool | None = None
) -> Period | None:
    """Find the latest occurrence that has begun, or the next that is not over."""
    back = utterance.is_past(token) if past is None else past
    first = utterance.now.year
    for year in range(first, first - _MAX_YEARS_TRIED, -1) if back else range(first - 1, first + _MAX_YEARS_TRIED):
        try:
            span = make(year)
        except (ValueError, OverflowError):
            continue
        if back and span.begin and span.begin <= utterance.now:
            return replace(span, reference="year", is_bare=True)
        if not back and span.finish and span.finish > utterance.now:
            return replace(span, reference="year", is_bare=True)
    return None


def _is_valid_day(number: Any) -> bool:
    return isinstance(number, int) and 1 <= number <= 31  # noqa: PLR2004


def parse_month_day(
    utterance: Utterance, weekday: TimeToken | None, month: TimeToken, number: TimeToken, year: TimeToken | None
) -> NewToken:
    if not _is_valid_day(number.value):
        return None

    def make(year_: int) -> Period:
        return spans.make_day(make_local(year_, _get_number(month), number.value))

    if year:
        return as_span(make(year.value))
    found = find_nearest_occurrence(utterance, month, make)
    if weekday is None or found is None or _is_weekday(found, weekday):
        return as_span(found)
    other = find_nearest_occurrence(utterance, month, make, past=not utterance.is_past(month))
    # If no year nearby has that day of the week, the date is unclear.
    return as_span(other) if other and _is_weekday(other, weekday) else ("word", "")


def _is_weekday(span: Period, weekday: TimeToken) -> bool:
    return _get_begin(span).weekday() == _get_number(weekday)


def parse_month_day_short_year(_: Utterance, month: TimeToken, number: TimeToken, year: TimeToken) -> NewToken:
    """Parse "April 15 of 87"."""
    short = isinstance(year.value, int) and 31 < year.value < 100  # noqa: PLR2004
    if not short or not _is_valid_day(number.value):
        return None
    return as_span(spans.make_day(make_local(expand_year(year.value), _get_number(month), number.value)))


def parse_day_month_short_year(utterance: Utterance, number: TimeToken, month: TimeToken, year: TimeToken) -> NewToken:
    return parse_month_day_short_year(utterance, month, number, year)


def _get_number(token: TimeToken) -> int:
    value = token.value
    return int(value[0]) if isinstance(value, tuple) else int(value)


def parse_day_month(
    utterance: Utterance,
    weekday: TimeToken | None,
    number: TimeToken,
    unit: TimeToken | None,
    month: TimeToken,
    year: TimeToken | None,
) -> NewToken:
    if unit and unit.value != "day":
        return None  # the first week of May
    return parse_month_day(utterance, weekday, month, number, year)


def parse_month_year(_: Utterance, month: TimeToken, year: TimeToken) -> NewToken:
    return as_span(spans.make_month(year.value, _get_number(month)))


def parse_month_short_year(_: Utterance, month: TimeToken, number: TimeToken) -> NewToken:
    """Parse "April of 87", "October two thousand"."""
    value = number.value
    short = isinstance(value, int) and (31 < value < 100 or value == 2000)  # noqa: PLR2004
    return as_span(spans.make_month(expand_year(number.value), _get_number(month))) if short else None


def parse_month(utterance: Utterance, month: TimeToken) -> NewToken:
    return as_span(find_nearest_occurrence(utterance, month, lambda year: spans.make_month(year, _get_number(month))))


def parse_relative_month(utterance: Utterance, rel: TimeToken, month: TimeToken) -> NewToken:
    return as_span(_choose_year(utterance, rel, lambda year: spans.make_month(year, _get_number(month))))


def _choose_year(utterance: Utterance, rel: TimeToken, make: Callable[[int], Period]) -> Period | None:
    """Choose the year: "last" the latest that is over, "next" the first to begin, "this" this year's."""
    this = utterance.now.year
    order = {-1: (this, this - 1), 0: (this,), 1: (this, this + 1)}[rel.value]
    for span in map(make, order):
        over = span.finish is not None and span.finish <= utterance.now
        ahead = span.begin is not None and span.begin > utterance.now
        if rel.value == 0 or (over if rel.value < 0 else ahead):
            return replace(span, reference="relative")
    return None


def parse_season(utterance: Utterance, season: TimeToken, year: TimeToken | None) -> NewToken:
    name = season.value[0] if isinstance(season.value, tuple) else season.value
    if year:
        return as_span(spans.make_season(name, year.value))
    return as_span(find_nearest_occurrence(utterance, season, lambda year_: spans.make_season(name, year_)))


def parse_relative_season(utterance: Utterance, rel: TimeToken, season: TimeToken) -> NewToken:
    name = season.value[0] if isinstance(season.value, tuple) else season.value
    return as_span(_choose_year(utterance, rel, lambda year: spans.make_season(name, year)))


def parse_seasons_ago(utterance: Utterance, count: TimeToken, season: TimeToken) -> NewToken:
    """Parse "two summers ago": the second last that is over."""
    latest = find_nearest_occurrence(utterance, season, lambda year: spans.make_season(season.value, year), past=True)
    if latest is None or latest.begin is None or not 1 <= count.value <= _MAX_AGO:
        return None
    over = latest.finish is None or latest.finish <= utterance.now
    return as_span(
        replace(spans.make_season(season.value, latest.begin.year - int(count.value) + over), reference="relative")
    )


def parse_weekdays_ago(utterance: Utterance, count: TimeToken, weekday: TimeToken) -> NewToken:
    if not 1 <= count.value <= _MAX_AGO:
        return None
    earlier = 7 * (int(count.value) - 1) * DAY
    begin = _get_begin(spans.find_nearest_weekday(utterance.now, weekday.value, past=True)) - earlier
    return as_span(replace(spans.make_day(begin, "relative"), weekday=weekday.value))


def parse_holiday(utterance: Utterance, holiday: TimeToken, year: TimeToken | None) -> NewToken:
    if year:
        return as_span(spans.make_holiday(holiday.value, year.value))
    return as_span(find_nearest_occurrence(utterance, holiday, lambda year_: spans.make_holiday(holiday.value, year_)))


def parse_relative_holiday(utterance: Utterance, rel: TimeToken, holiday: TimeToken) -> NewToken:
    return as_span(_choose_year(utterance, rel, lambda year: spans.make_holiday(holiday.value, year)))


def parse_slash_date(utterance: Utterance, token: TimeToken) -> NewToken:
    """Parse "5/12" with the month first, unless that is no date."""
    for month, number in (token.value, token.value[::-1]):
        if 1 <= month <= 12 and _is_valid_day(number):  # noqa: PLR2004
            make = partial(_make_day_of_year, month, number)
            return as_span(find_nearest_occurrence(utterance, token, make))
    return None


def _make_day_of_year(month: int, number: int, year: int) -> Period:
    return spans.make_day(make_local(year, month, number))


def parse_relative_slash_date(utterance: Utterance, rel: TimeToken, token: TimeToken) -> NewToken:
    """Parse "next 5/12", which gives the year."""
    found = parse_slash_date(utterance, token)
    if found is None:
        return None
    begin = _get_begin(found[1])
    return as_span(_choose_year(utterance, rel, lambda year: spans.make_day(begin.replace(year=year))))


def parse_weekday_slash_date(utterance: Utterance, rel: TimeToken, weekday: TimeToken, token: TimeToken) -> NewToken:
    """Parse "next Friday 5/12", if both are the same day."""
    named, numbered = parse_relative_weekday(utterance, rel, weekday), parse_slash_date(utterance, token)
    if named and numbered and (named[1].begin.month, named[1].begin.day) == _month_and_day(numbered[1]):
        return named
    return "word", ""


def _month_and_day(span: Period) -> tuple[int, int]:
    return _get_begin(span).month, _get_begin(span).day


def parse_day_of_month(utterance: Utterance, number: TimeToken) -> NewToken:
    """Parse "on the 5th": of this month, or of the nearest before or after it."""
    if not _is_valid_day(number.value):
        return None
    back = utterance.is_past(number)
    for offset in range(3):
        first = find_period(utterance.now, "month", -offset if back else offset).begin
        try:
            found = spans.make_day((first or utterance.now).replace(day=number.value), "relative")
        except ValueError:
            continue
        today = find_midnight(utterance.now)
        if found.begin and (found.begin <= today if back else found.begin >= today):
            return as_span(replace(found, is_bare=True))
    return None


def parse_weekday_and_day(utterance: Utterance, weekday: TimeToken, number: TimeToken) -> NewToken:
    """Parse "Tuesday the 13th": in the nearest month in which the 13th is a Tuesday."""
    if not _is_valid_day(number.value):
        return None
    sign = -1 if utterance.is_past(weekday) else 1
    for offset in range(_MAX_MONTHS_TRIED):
        first = find_period(utterance.now, "month", sign * offset).begin or utterance.now
        try:
            moment = first.replace(day=number.value)
        except ValueError:
            continue
        if moment.weekday() == _get_number(weekday) and (moment - find_midnight(utterance.now)) * sign >= 0 * DAY:
            return as_span(spans.make_day(moment, "relative"))
    return None


def parse_weekday(utterance: Utterance, weekday: TimeToken) -> NewToken:
    found = spans.find_nearest_weekday(utterance.now, _get_number(weekday), past=utterance.is_past(weekday))
    return as_span(replace(found, is_bare=True))


def parse_relative_weekday(utterance: Utterance, rel: TimeToken, weekday: TimeToken) -> NewToken:
    """Parse "last" (before today), "next" (of next week), "this" (of this week), "past" and "coming" (the nearest)."""
    number = _get_number(weekday)
    if rel.name == "past" or rel.value < 0:
        found = spans.find_nearest_weekday(utterance.now, number, past=rel.value < 0)
    else:
        week = find_period(utterance.now, "week", rel.value)
        found = replace(spans.make_day((week.begin or utterance.now) + number * DAY, "relative"), weekday=number)
    return as_span(found)


def parse_previous_weekday(utterance: Utterance, weekday: TimeToken) -> NewToken:
    """Parse "previous Friday" as the one before today. If that is in this week, the words are ambiguous."""
    found = spans.find_nearest_weekday(utterance.now, _get_number(weekday), past=True)
    this_week = find_period(utterance.now, "week").begin
    return ("word", "") if this_week is None or _get_begin(found) >= this_week else as_span(found)


def parse_date_after_weekday(_: Utterance, span: TimeToken) -> NewToken:
    return as_span(span.value) if span.value.grain == "day" else None


def parse_day_word(utterance: Utterance, day: TimeToken) -> NewToken:
    return as_span(find_period(utterance.now, "day", day.value))


def parse_tonight(utterance: Utterance) -> NewToken:
    return "span", find_part_of_day(find_period(utterance.now, "day"), "evening")


def parse_now(utterance: Utterance) -> NewToken:
    return "span", Period(utterance.now, add_units(utterance.now, 1, "minute"), "now", "relative")


# Hours, as people use the words; a night ends after midnight.
_PART_HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (20, 28), "lunch": (11, 14)}


def find_part_of_day(span: Period, name: str) -> Period:
    begin = _get_begin(span)
    first, last = (add_units(begin, hour, "hour") for hour in _PART_HOURS[name])
    return replace(span, begin=first, finish=last, grain="part", edge="", containing=span)


def parse_relative_part_of_day(utterance: Utterance, rel: TimeToken, name: TimeToken) -> NewToken:
    if rel.value < 0 and name.value not in {"night", "evening"}:
        return None
    return "span", find_part_of_day(find_period(utterance.now, "day", rel.value), name.value)


def parse_date_and_part(_: Utterance, span: TimeToken, name: TimeToken) -> NewToken:
    return ("span", find_part_of_day(span.value, name.value)) if span.value.grain == "day" else None


def parse_part_and_date(utterance: Utterance, name: TimeToken, span: TimeToken) -> NewToken:
    return parse_date_and_part(utterance, span, name)


def parse_relative_unit(utterance: Utterance, rel: TimeToken, unit: TimeToken) -> NewToken:
    name, offset = str(unit.value), int(rel.value)
    if offset and (name in {"day", "minute", "second"}):
        return None  # "the last day of school", "at the last minute", "the next day"
    if rel.name == "past" and offset < 0 and name != "weekend":
        return make_span_from_now(utterance, add_units(utterance.now, -1, name), name)
    this = find_period(utterance.now, name, offset)
    if name == "weekend" and not offset and this.begin and this.begin > utterance.now and utterance.looks_back(rel):
        this = find_period(utterance.now, name, -1)  # "I went there this weekend", said on Wednesday
    return as_span(this)


def make_span_from_now(utterance: Utterance, other: datetime, unit: str) -> NewToken:
    """Make the span between now and another moment, in whole days if the unit is at least a day."""
    if other < utterance.now:
        begin = other if unit in CLOCK_UNITS else find_midnight(other)
        return "span", Period(begin, utterance.now, "open", "relative", relation="past")
    finish = other if unit in CLOCK_UNITS else find_midnight(other) + DAY
    return "span", Period(utterance.now, finish, "open", "relative", relation="next")


def parse_relative_length(utterance: Utterance, rel: TimeToken, length: TimeToken) -> NewToken:
    if rel.value == 0:
        return None
    if length.value.unit == "quarter":
        return _make_quarters(utterance, rel.value * int(length.value.parts[0][0]))
    return make_span_from_now(utterance, length.value.after(utterance.now, rel.value), length.value.unit)


def _make_quarters(utterance: Utterance, count: int) -> NewToken:
    first, last = sorted(
        (find_period(utterance.now, "quarter", count), find_period(utterance.now, "quarter", 1 if count > 0 else -1)),
        key=_get_begin,
    )
    return "span", replace(first, finish=last.finish, grain="open", relation="range")


def _get_begin(span: Period) -> datetime:
    return span.begin or datetime.min  # noqa: DTZ901 - all times here are without a zone


def parse_counted_relative_units(utterance: Utterance, count: TimeToken, rel: TimeToken, unit: TimeToken) -> NewToken:
    if rel.value == 0:
        return None
    return make_span_from_now(utterance, add_units(utterance.now, rel.value * count.value, unit.value), unit.value)


def parse_school_year(utterance: Utterance, rel: TimeToken) -> NewToken:
    return as_span(spans.find_school_year(utterance.now, rel.value))


def parse_semester(utterance: Utterance, rel: TimeToken | None) -> NewToken:
    return as_span(spans.find_semester(utterance.now, rel.value if rel else 0))


def parse_weekend(utterance: Utterance, unit: TimeToken) -> NewToken:
    if unit.value != "weekend":
        return None
    this = find_period(utterance.now, "weekend")
    back = utterance.is_past(unit) and this.begin is not None and this.begin > utterance.now
    return as_span(replace(find_period(utterance.now, "weekend", -1) if back else this, is_bare=True))


def parse_unit_before_last(utterance: Utterance, unit: TimeToken, which: TimeToken, rel: TimeToken) -> NewToken:
    """Parse "the week before last", "the month after next"."""
    sign = -1 if which.name == "before" else 1
    return as_span(find_period(utterance.now, unit.value, 2 * sign)) if rel.value == sign else None


def parse_year(_: Utterance, year: TimeToken) -> NewToken:
    return as_span(spans.make_year(year.value))


def parse_decade(_: Utterance, decade: TimeToken) -> NewToken:
    return as_span(spans.make_years(decade.value, 10))


def parse_century(_: Utterance, number: TimeToken, unit: TimeToken) -> NewToken:
    if unit.value != "century" or not 1 <= number.value <= 30:  # noqa: PLR2004
        return None
    first = max(100 * (number.value - 1), 1)
    return as_span(spans.make_years(first, 100 * number.value - first))


def parse_quarter(utterance: Utterance, which: TimeToken, year: TimeToken | None) -> NewToken:
    letter, number = which.value
    months = 3 if letter == "q" else 6
    if months * number > 12:  # noqa: PLR2004
        return None
    if year:
        return as_span(spans.make_quarter(year.value, number, "absolute", months))
    return as_span(
        find_nearest_occurrence(utterance, which, lambda year_: spans.make_quarter(year_, number, "absolute", months))
    )


def parse_year_and_quarter(utterance: Utterance, year: TimeToken, which: TimeToken) -> NewToken:
    return parse_quarter(utterance, which, year)
