"""Stretches of the calendar, and steps along it. Local times without a zone; weeks begin on Monday.

Steps past the years 1 to 9999 raise `OverflowError` or `ValueError`: the rule that took one then says nothing.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

DAY: Final = timedelta(days=1)
_WEEK = 7
SATURDAY: Final = 5
_NAMED = {"christmas": (12, 25), "christmas eve": (12, 24), "halloween": (10, 31), "new year": (1, 1)}
_NAMED |= {"new year's eve": (12, 31), "valentine's day": (2, 14), "independence day": (7, 4)}
_NAMED |= {"labour day": (5, 1)}
_BESIDE = {"good friday": ("easter", -2), "easter monday": ("easter", 1), "black friday": ("thanksgiving", 1)}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_SEASON_MONTHS = 3
# The months in which American colleges begin; there is no calendar that holds for all.
_SEMESTERS = (1, 6, 8)
_SCHOOL_YEAR = 8
# Days of each unit, where a duration must be one number.
_LONG = {"second": 1 / 86400, "minute": 1 / 1440, "hour": 1 / 24, "day": 1, "weekend": 2, "week": 7, "fortnight": 14}
_LONG |= {"month": 30, "quarter": 91, "year": 365, "decade": 3650, "century": 36500}
_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
FINE: Final = frozenset(("second", "minute", "hour"))


@dataclass(frozen=True, slots=True)
class Span:
    begin: datetime | None
    finish: datetime | None
    grain: str
    """How exact it is: minute, hour, part, day, week, weekend, month, season, quarter, year, decade, open."""
    said: str = "absolute"
    """`absolute`; `year`, if only the year was left out; `relative`."""
    weekday: int | None = None
    edge: str = ""
    """`early`, `late`, `end`, `mid` or `rest`, if a part of a longer stretch was named, which is then `whole`."""
    whole: "Span | None" = None
    ends: "tuple[Span, ...]" = ()
    """What it was made of: both ends of a range, or the one of "since May"."""
    how: str = ""
    """`since`, `until`, `through`, `before`, `after`, `by`, `next` or `past`: what its open end comes from."""
    bare: bool = False
    """Nothing but a name that comes round again: "Friday", "March". Which one is meant is a guess."""

    @property
    def kind(self) -> str:
        if self.grain in {"minute", "hour", "part"} and not self.how:
            return "time"
        return "date" if self.grain == "day" and self.how in {"", "about"} else "range"


@dataclass(frozen=True, slots=True)
class Length:
    parts: tuple[tuple[float, str], ...]
    """Counts and units, the largest first as they were said."""

    @property
    def unit(self) -> str:
        return self.parts[-1][1]

    @property
    def timedelta(self) -> timedelta:
        return timedelta(days=sum(count * _LONG[unit] for count, unit in self.parts))

    def after(self, moment: datetime, sign: int = 1) -> datetime:
        for count, unit in self.parts:
            moment = step(moment, sign * count, unit)
        return moment


def step(moment: datetime, count: float, unit: str) -> datetime:
    """So many units on; months keep the day where the month has it. Half a month or year goes by days."""
    months = count * _MONTHS_OF.get(unit, 0)
    if months and months == int(months):
        return moment + relativedelta(months=int(months))
    if unit == "weekend":
        return moment + timedelta(days=count * _WEEK)
    return moment + timedelta(days=count * _LONG[unit])


def local(year_: int, month_: int, day_: int, hour: int = 0, minute: int = 0) -> datetime:
    """As people there read it: the zone is added at the end."""
    return datetime(year_, month_, day_, hour, minute)  # noqa: DTZ001


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime, said: str = "absolute") -> Span:
    start = midnight(moment)
    return Span(start, start + DAY, "day", said)


def month(year: int, number: int, said: str = "absolute") -> Span:
    begin = local(year, number, 1)
    return Span(begin, begin + relativedelta(months=1), "month", said)


def year(number: int, said: str = "absolute") -> Span:
    return Span(local(number, 1, 1), local(number + 1, 1, 1), "year", said)


def years(first: int, count: int, said: str = "absolute") -> Span:
    return Span(local(first, 1, 1), local(first + count, 1, 1), "decade", said)


def season(name: str, year_: int, said: str = "absolute") -> Span:
    begin = local(year_, _SEASONS[name], 1)
    return Span(begin, begin + relativedelta(months=_SEASON_MONTHS), "season", said)


def quarter(year_: int, number: int, said: str = "absolute", months: int = 3) -> Span:
    begin = local(year_, months * (number - 1) + 1, 1)
    return Span(begin, begin + relativedelta(months=months), "quarter", said)


def holiday(name: str, year_: int, said: str = "absolute") -> Span:
    if name == "easter":
        return day(datetime.combine(easter(year_), datetime.min.time()), said)
    if name in _BESIDE:
        other, days = _BESIDE[name]
        begin = holiday(other, year_).begin
        return day(begin + days * DAY, said) if begin else Span(None, None, "open", said)
    if name == "thanksgiving":  # the fourth Thursday of November
        first = local(year_, 11, 1)
        return day(first + timedelta(days=(3 - first.weekday()) % _WEEK + 3 * _WEEK), said)
    if name == "labor day":  # the first Monday of September
        first = local(year_, 9, 1)
        return day(first - first.weekday() % -_WEEK * DAY, said)
    return day(local(year_, *_NAMED[name]), said)


def around(moment: datetime, unit: str, offset: int = 0) -> Span:
    """The calendar unit that a moment is in, or one so many before or after it."""
    start = midnight(moment)
    match unit:
        case "second" | "minute" | "hour":
            begin = step(moment, min(offset, 0), unit)
            return Span(begin, step(begin, 1, unit), unit, "relative")
        case "day":
            return day(start + offset * DAY, "relative")
        case "week" | "fortnight":
            begin = start - start.weekday() * DAY + offset * timedelta(days=_LONG[unit])
            return Span(begin, begin + timedelta(days=_LONG[unit]), "week", "relative")
        case "weekend":
            begin = start + (SATURDAY - start.weekday() + _WEEK * offset) * DAY
            return Span(begin, begin + 2 * DAY, "weekend", "relative")
        case _:
            return _months(start, unit, offset)


def _months(start: datetime, unit: str, offset: int) -> Span:
    size = _MONTHS_OF[unit]
    index = start.year * 12 + start.month - 1
    first = index - index % size + offset * size
    begin = local(first // 12, first % 12 + 1, 1)
    return Span(begin, begin + relativedelta(months=size), "decade" if unit == "century" else unit, "relative")


def semester(moment: datetime, offset: int = 0) -> Span:
    index = max(n for n, first in enumerate(_SEMESTERS) if first <= moment.month) + offset
    years_, n = divmod(index, len(_SEMESTERS))
    begin = local(moment.year + years_, _SEMESTERS[n], 1)
    after = divmod(index + 1, len(_SEMESTERS))
    return Span(begin, local(moment.year + after[0], _SEMESTERS[after[1]], 1), "season", "relative")


def school_year(moment: datetime, offset: int = 0) -> Span:
    first = moment.year + offset - (moment.month < _SCHOOL_YEAR)
    return Span(local(first, _SCHOOL_YEAR, 1), local(first + 1, _SCHOOL_YEAR, 1), "season", "relative")


def nearest(moment: datetime, weekday: int, *, past: bool) -> Span:
    """The weekday before today, or from today on."""
    ahead = (weekday - moment.weekday()) % _WEEK
    found = day(midnight(moment) + (ahead - _WEEK if past else ahead) * DAY, "relative")
    return replace(found, weekday=weekday)


def inside(span: Span, weekday: int, nth: int) -> Span | None:
    """The nth weekday of a stretch, counted from its end if negative."""
    if span.begin is None or span.finish is None:
        return None
    if nth < 0:
        last = span.finish - DAY
        moment = last - ((last.weekday() - weekday) % _WEEK - _WEEK * (nth + 1)) * DAY
    else:
        moment = span.begin + ((weekday - span.begin.weekday()) % _WEEK + _WEEK * (nth - 1)) * DAY
    return replace(day(moment, span.said), weekday=weekday) if span.begin <= moment < span.finish else None


def part_of(span: Span, edge: str) -> Span | None:
    """Early, mid or late in it. Of a month: from the 1st, the 10th or the 16th; of others, a third or a half."""
    if span.begin is None or span.finish is None or span.begin >= span.finish:
        return None
    whole = span.finish - span.begin
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
            begin, finish = span.begin, span.begin + whole / 2
        case "mid", _:
            begin, finish = span.begin + whole / 4, span.finish - whole / 4
        case _:
            begin, finish = span.finish - whole / 2, span.finish
    return replace(
        span, begin=begin, finish=finish, edge=edge, whole=span, grain="part" if _short(span) else span.grain
    )


def _short(span: Span) -> bool:
    return span.grain in {"day", "part", "hour"}
