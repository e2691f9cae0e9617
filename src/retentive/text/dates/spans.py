"""Calendar periods and arithmetic with them. Times are local, without a zone; weeks begin on Monday.

Steps beyond the years 1 to 9999 raise `OverflowError` or `ValueError`; the rule then does not match.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

from retentive.frozen_dataclass import dataclass

DAY: Final = timedelta(days=1)
_WEEK_DAYS = 7
SATURDAY: Final = 5
_FIXED_HOLIDAYS = {"christmas": (12, 25), "christmas eve": (12, 24), "halloween": (10, 31), "new year": (1, 1)}
_FIXED_HOLIDAYS |= {"new year's eve": (12, 31), "valentine's day": (2, 14), "independence day": (7, 4)}
_FIXED_HOLIDAYS |= {"labour day": (5, 1)}
_RELATIVE_HOLIDAYS = {
    "good friday": ("easter", -2),
    "easter monday": ("easter", 1),
    "black friday": ("thanksgiving", 1),
}
_SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_SEASON_MONTHS = 3
# The months in which terms of American colleges begin; no calendar holds for all.
_SEMESTER_STARTS = (1, 6, 8)
_SCHOOL_YEAR_START = 8
# Days of each unit, for durations in one number.
_UNIT_DAYS = {"second": 1 / 86400, "minute": 1 / 1440, "hour": 1 / 24, "day": 1, "weekend": 2, "week": 7}
_UNIT_DAYS |= {"fortnight": 14, "month": 30, "quarter": 91, "year": 365, "decade": 3650, "century": 36500}
_UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
CLOCK_UNITS: Final = frozenset(("second", "minute", "hour"))


@dataclass(frozen=True, slots=True)
class Period:
    begin: datetime | None
    finish: datetime | None
    grain: str
    """The precision: minute, hour, part, day, week, weekend, month, season, quarter, year, decade, open."""
    reference: str = "absolute"
    """`absolute`; `year` if only the year is missing; `relative`."""
    weekday: int | None = None
    edge: str = ""
    """`early`, `late`, `end`, `mid` or `rest` for a part of the longer span `containing`."""
    containing: "Period | None" = None
    ends: "tuple[Period, ...]" = ()
    """The spans it was built from: both ends of a range, or the one end of "since May"."""
    relation: str = ""
    """The word of an open or relative span: `since`, `until`, `through`, `before`, `after`, `by`, `next`, `past`.

    Also `range`, `lasting` (a start and a length), `part`, and `about` (a rough distance from now).
    """
    is_bare: bool = False
    """Only a recurring name is given ("Friday", "March"), so which one it is remains a guess."""

    @property
    def kind(self) -> str:
        if self.grain in {"minute", "hour", "part"} and not self.relation:
            return "time"
        return "date" if self.grain == "day" and self.relation in {"", "about"} else "range"


@dataclass(frozen=True, slots=True)
class TimeLength:
    parts: tuple[tuple[float, str], ...]
    """Counts and units, the largest first."""

    @property
    def unit(self) -> str:
        return self.parts[-1][1]

    @property
    def timedelta(self) -> timedelta:
        return timedelta(days=sum(count * _UNIT_DAYS[unit] for count, unit in self.parts))

    def after(self, moment: datetime, sign: int = 1) -> datetime:
        for count, unit in self.parts:
            moment = add_units(moment, sign * count, unit)
        return moment


def add_units(moment: datetime, count: float, unit: str) -> datetime:
    """Add units to a moment. Months keep the day where the month has it; half a month or year is counted in days."""
    months = count * _UNIT_MONTHS.get(unit, 0)
    if months and months == int(months):
        return moment + relativedelta(months=int(months))
    if unit == "weekend":
        return moment + timedelta(days=count * _WEEK_DAYS)
    return moment + timedelta(days=count * _UNIT_DAYS[unit])


def make_local(year_: int, month_: int, day_: int, hour: int = 0, minute: int = 0) -> datetime:
    """Make a local time. The zone is added at the end."""
    return datetime(year_, month_, day_, hour, minute)  # noqa: DTZ001


def find_midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def make_day(moment: datetime, reference: str = "absolute") -> Period:
    start = find_midnight(moment)
    return Period(start, start + DAY, "day", reference)


def make_month(year: int, number: int, reference: str = "absolute") -> Period:
    begin = make_local(year, number, 1)
    return Period(begin, begin + relativedelta(months=1), "month", reference)


def make_year(number: int, reference: str = "absolute") -> Period:
    return Period(make_local(number, 1, 1), make_local(number + 1, 1, 1), "year", reference)


def make_years(first: int, count: int, reference: str = "absolute") -> Period:
    return Period(make_local(first, 1, 1), make_local(first + count, 1, 1), "decade", reference)


def make_season(name: str, year_: int, reference: str = "absolute") -> Period:
    begin = make_local(year_, _SEASON_STARTS[name], 1)
    return Period(begin, begin + relativedelta(months=_SEASON_MONTHS), "season", reference)


def make_quarter(year_: int, number: int, reference: str = "absolute", months: int = 3) -> Period:
    begin = make_local(year_, months * (number - 1) + 1, 1)
    return Period(begin, begin + relativedelta(months=months), "quarter", reference)


def make_holiday(name: str, year_: int, reference: str = "absolute") -> Period:
    if name == "easter":
        return make_day(datetime.combine(easter(year_), datetime.min.time()), reference)
    if name in _RELATIVE_HOLIDAYS:
        other, days = _RELATIVE_HOLIDAYS[name]
        begin = make_holiday(other, year_).begin
        return make_day(begin + days * DAY, reference) if begin else Period(None, None, "open", reference)
    if name == "thanksgiving":  # the fourth Thursday of November
        first = make_local(year_, 11, 1)
        return make_day(first + timedelta(days=(3 - first.weekday()) % _WEEK_DAYS + 3 * _WEEK_DAYS), reference)
    if name == "labor day":  # the first Monday of September
        first = make_local(year_, 9, 1)
        return make_day(first - first.weekday() % -_WEEK_DAYS * DAY, reference)
    return make_day(make_local(year_, *_FIXED_HOLIDAYS[name]), reference)


def find_period(moment: datetime, unit: str, offset: int = 0) -> Period:
    """Find the calendar period around a moment, or the one `offset` periods before or after it."""
    start = find_midnight(moment)
    match unit:
        case "second" | "minute" | "hour":
            begin = add_units(moment, min(offset, 0), unit)
            return Period(begin, add_units(begin, 1, unit), unit, "relative")
        case "day":
            return make_day(start + offset * DAY, "relative")
        case "week" | "fortnight":
            begin = start - start.weekday() * DAY + offset * timedelta(days=_UNIT_DAYS[unit])
            return Period(begin, begin + timedelta(days=_UNIT_DAYS[unit]), "week", "relative")
        case "weekend":
            begin = start + (SATURDAY - start.weekday() + _WEEK_DAYS * offset) * DAY
            return Period(begin, begin + 2 * DAY, "weekend", "relative")
        case _:
            return _find_months(start, unit, offset)


def _find_months(start: datetime, unit: str, offset: int) -> Period:
    size = _UNIT_MONTHS[unit]
    index = start.year * 12 + start.month - 1
    first = index - index % size + offset * size
    begin = make_local(first // 12, first % 12 + 1, 1)
    return Period(begin, begin + relativedelta(months=size), "decade" if unit == "century" else unit, "relative")


def find_semester(moment: datetime, offset: int = 0) -> Period:
    index = max(n for n, first in enumerate(_SEMESTER_STARTS) if first <= moment.month) + offset
    years_, n = divmod(index, len(_SEMESTER_STARTS))
    begin = make_local(moment.year + years_, _SEMESTER_STARTS[n], 1)
    after = divmod(index + 1, len(_SEMESTER_STARTS))
    return Period(begin, make_local(moment.year + after[0], _SEMESTER_STARTS[after[1]], 1), "season", "relative")


def find_school_year(moment: datetime, offset: int = 0) -> Period:
    first = moment.year + offset - (moment.month < _SCHOOL_YEAR_START)
    return Period(
        make_local(first, _SCHOOL_YEAR_START, 1), make_local(first + 1, _SCHOOL_YEAR_START, 1), "season", "relative"
    )


def find_nearest_weekday(moment: datetime, weekday: int, *, past: bool) -> Period:
    """Find the latest such weekday before today, or the next from today on."""
    ahead = (weekday - moment.weekday()) % _WEEK_DAYS
    found = make_day(find_midnight(moment) + (ahead - _WEEK_DAYS if past else ahead) * DAY, "relative")
    return replace(found, weekday=weekday)


def find_nth_weekday(span: Period, weekday: int, nth: int) -> Period | None:
    """Find the nth weekday of a span, counted from the end if negative."""
    if span.begin is None or span.finish is None:
        return None
    if nth < 0:
        last = span.finish - DAY
        moment = last - ((last.weekday() - weekday) % _WEEK_DAYS - _WEEK_DAYS * (nth + 1)) * DAY
    else:
        moment = span.begin + ((weekday - span.begin.weekday()) % _WEEK_DAYS + _WEEK_DAYS * (nth - 1)) * DAY
    return replace(make_day(moment, span.reference), weekday=weekday) if span.begin <= moment < span.finish else None


def find_part(span: Period, edge: str) -> Period | None:
    """Find the early, middle or late part. In a month that is from on the 1st, 10th or 16th; else a third or a half."""
    if span.begin is None or span.finish is None or span.begin >= span.finish:
        return None
    length = span.finish - span.begin
    match edge, span.grain:
        case "early", "month":
            begin, finish = span.begin, span.begin + 15 * DAY
        case "mid", "month":
            begin, finish = span.begin + 9 * DAY, span.begin + 20 * DAY
        case "late" | "end", "month":
            begin, finish = span.begin + 15 * DAY, span.finish
        case "early", "year":
            begin, finish = span.begin, span.begin + relativedelta(months=4)
        case "mid", "year":
            begin, finish = span.begin + relativedelta(months=4), span.begin + relativedelta(months=8)
        case "late" | "end", "year":
            begin, finish = span.finish - relativedelta(months=4), span.finish
        case "early", _:
            begin, finish = span.begin, span.begin + length / 2
        case "mid", _:
            begin, finish = span.begin + length / 4, span.finish - length / 4
        case _:
            begin, finish = span.finish - length / 2, span.finish
    return replace(
        span, begin=begin, finish=finish, edge=edge, containing=span, grain="part" if _is_short(span) else span.grain
    )


def _is_short(span: Period) -> bool:
    return span.grain in {"day", "part", "hour"}
