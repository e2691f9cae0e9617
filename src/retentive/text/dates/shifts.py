"""Times built from others: parts of a period, steps from a date, weekdays of a week, hours of a day."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from retentive.text.dates import days
from retentive.text.dates.cascade import Saying
from retentive.text.dates.days import Made, as_span
from retentive.text.dates.lexer import Token
from retentive.text.dates.spans import DAY, FINE, Length, Span, around, day, inside, midnight, part_of, step

_WEEKLY = frozenset(("week", "weekend"))
_AFTERNOON = range(1, 8)  # "at 5" is rarely in the night
_NOON = 12


def whole(saying: Saying, token: Token) -> Span:
    """A token of class span, or the unit that now is in: "of the year"."""
    return token.value if token.name == "span" else around(saying.now, str(token.value))


def nth(saying: Saying, which: Token, what: Token, target: Token) -> Made:
    """The first Monday in May, the last week of July, the second quarter of 2023."""
    nth = which.value
    if which.name == "rel" and nth != -1:
        return None
    span = whole(saying, target)
    if what.name in {"weekday", "maybe_weekday"}:
        number = what.value[0] if isinstance(what.value, tuple) else what.value
        found = inside(span, number, nth)
        return as_span(found)
    return _counted(span, Length(((1, str(what.value)),)), nth)


def nth_lot(saying: Saying, which: Token, length: Token, target: Token) -> Made:
    """The last two weeks of June."""
    return _counted(whole(saying, target), length.value, which.value) if which.value in {-1, 1} else None


def _counted(span: Span, length: Length, nth: int) -> Made:
    if span.begin is None or span.finish is None:
        return None
    first = span.begin
    if length.unit == "week":  # the week that has most of its days in it, as ISO has it
        first = around(span.begin + 3 * DAY, "week").begin or first
    if length.unit == "weekend":
        first = around(span.begin, "weekend").begin or first
    begin = length.after(_end(span.finish, length.unit), -1) if nth < 0 else first
    for _ in range(max(nth, 1) - 1):
        begin = length.after(begin)
    if begin >= span.finish:
        return None
    grain = length.unit if len(length.parts) == 1 and length.parts[0][0] == 1 else "open"
    return "span", Span(begin, length.after(begin), grain, span.said, how="" if grain != "open" else "part")


def _end(finish: datetime, unit: str) -> datetime:
    """Where the last week or weekend of a period ends."""
    if unit == "week":
        return around(finish - 4 * DAY, unit).finish or finish
    return (around(finish - 7 * DAY, unit).finish or finish) if unit == "weekend" else finish


def half(saying: Saying, which: Token, target: Token) -> Made:
    span = whole(saying, target)
    if span.begin is None or span.finish is None or which.value not in {-1, 1, 2}:
        return None
    middle = span.begin + (span.finish - span.begin) / 2
    if span.grain == "year":
        middle = span.begin.replace(month=7)
    begin, finish = (span.begin, middle) if which.value == 1 else (middle, span.finish)
    return "span", Span(begin, finish, "open", span.said, how="part")


def staged(_: Saying, stage: Token, target: Token) -> Made:
    found = part_of(target.value, stage.value) if not target.value.how else None
    return as_span(found)


def edge(saying: Saying, edge: Token, target: Token) -> Made:
    span = whole(saying, target)
    if edge.value != "rest":
        found = part_of(span, edge.value) if not span.how else None
        return as_span(found)
    if span.finish is None or span.finish <= saying.now:
        return None
    begin = max(saying.now, span.begin or saying.now)
    return "span", replace(span, begin=begin, edge="rest", whole=span, grain="open", said="relative", how="next")


def later(saying: Saying, which: Token, target: Token) -> Made:
    """Later this week: what is left of it, or its second half. Earlier this month: its first."""
    span = whole(saying, target)
    if span.grain == "year" and span.begin:  # its halves, not its first and last months
        middle = span.begin.replace(month=7)
        ends = (middle, span.finish) if which.value > 0 else (span.begin, middle)
        found: Span | None = replace(span, begin=ends[0], finish=ends[1], edge="late", whole=span)
    else:
        found = part_of(span, "late" if which.value > 0 else "early")
    if found is None or found.begin is None or found.finish is None:
        return None
    begin = max(found.begin, midnight(saying.now)) if which.value > 0 else found.begin
    return ("span", replace(found, begin=begin, said="relative")) if begin < found.finish else None


def weekday_in_week(_: Saying, first: Token, second: Token) -> Made:
    """Monday of last week, next week on Tuesday."""
    one, other = (first.value, second.value) if first.value.weekday is not None else (second.value, first.value)
    if one.weekday is None or not one.bare or other.grain != "week" or other.begin is None:
        return None
    if one.grain == "part" and one.begin and one.finish and one.whole and one.whole.begin:
        shift = other.begin + one.weekday * DAY - one.whole.begin
        return "span", replace(one, begin=one.begin + shift, finish=one.finish + shift, said=other.said, bare=False)
    return "span", replace(day(other.begin + one.weekday * DAY, other.said), weekday=one.weekday)


def unread(*_: Any) -> Made:
    """Words that mean a time which is not known: no part of them is to be read as another."""
    return "word", ""


def unread_weekend(_: Saying, unit: Token) -> Made:
    """Easter weekend: how long it is depends on the country."""
    return ("word", "") if unit.value == "weekend" else None


def in_year(_: Saying, first: Token, second: Token) -> Made:
    """3 May last year, Christmas of this year, from 5/1 to 5/7, 2020."""
    span, year = first.value, second.value
    if span.said != "year" or span.how or year.grain != "year" or year.how or year.edge:
        return None
    if span.begin is None or span.finish is None or year.begin is None:
        return None
    if span.grain not in {"day", "month", "season", "quarter"}:
        return None
    years = year.begin.year - span.begin.year
    begin, finish = (step(moment, years, "year") for moment in (span.begin, span.finish))
    return "span", replace(span, begin=begin, finish=finish, said=year.said, bare=False)


def numbered_week(_: Saying, unit: Token, number: Token, target: Token) -> Made:
    """Week 3 of 2027, by ISO."""
    year: Span = target.value
    if unit.value != "week" or year.grain != "year" or year.begin is None:
        return None
    return "span", replace(around(datetime.fromisocalendar(year.begin.year, number.value, 1), "week"), said=year.said)


def nth_of(saying: Saying, target: Token, which: Token, what: Token) -> Made:
    """Next year's first quarter."""
    return nth(saying, which, what, target) if target.value.grain == "year" else None


def two_days(_: Saying, first: Token, second: Token) -> Made:
    """Two months from today on Tuesday: a weekday beside another day is no day unless both are the same."""
    one, other = (first.value, second.value) if first.value.weekday is not None else (second.value, first.value)
    if one.weekday is None or not one.bare or one.how or other.grain != "day" or other.how or other.begin is None:
        return None
    return ("span", other) if other.begin.weekday() == one.weekday else ("word", "")


def week_of(_: Saying, unit: Token, target: Token) -> Made:
    """The week of May 5."""
    if unit.value not in {"weekend", "week"} or target.value.grain != "day" or target.value.begin is None:
        return None
    return "span", replace(around(target.value.begin, unit.value), said=target.value.said)


def ago(saying: Saying, length: Token) -> Made:
    return stepped(saying.now, length.value, -1)


def hence(saying: Saying, length: Token) -> Made:
    return stepped(saying.now, length.value, 1)


def stepped(moment: datetime, length: Length, sign: int) -> Made:
    """The day so far away, or the minute; the grain says how exactly it was meant."""
    at = length.after(moment, sign)
    if length.unit in FINE:
        return "span", Span(at, step(at, 1, "minute"), "minute", "relative")
    grain = {"fortnight": "week", "weekend": "week", "century": "decade"}.get(length.unit, length.unit)
    return "span", replace(day(at, "relative"), how="about" if grain != "day" else "", edge=grain)


def from_date(_: Saying, length: Token, which: Token, target: Token) -> Made:
    """Two weeks from Monday, three days before Christmas."""
    span = target.value
    if span.begin is None:
        return None
    sign = -1 if which.name == "before" else 1
    made = stepped(span.begin, length.value, sign)
    if made is None or span.grain == "now":
        return made
    return "span", replace(made[1], said=span.said, how="", edge="")


def within(saying: Saying, length: Token) -> Made:
    return days.rolling(saying, length.value.after(saying.now), length.value.unit)


def day_beside(_: Saying, unit: Token, which: Token, target: Token) -> Made:
    """The day before yesterday, the week after Easter."""
    span = target.value
    if span.begin is None or unit.value not in {"day", "week", "weekend", "month", "year"}:
        return None
    sign = -1 if which.name == "before" else 1
    found = around(span.begin, unit.value, sign)
    return "span", replace(found, said=span.said if span.said != "year" else "relative")


def oclock(_: Saying, hour: Token) -> Made:
    fits = isinstance(hour.value, int) and 1 <= hour.value <= _NOON
    return ("clock", (_hour(hour.value), 0)) if fits else None


def _hour(number: int) -> int:
    return number + _NOON if number in _AFTERNOON else number


def noon(_: Saying, noon: Token) -> Made:
    return "clock", (noon.value, 0)


def clock_of_part(_: Saying, clock: Token, part: Token) -> Made:
    """Five in the morning."""
    hour, minute = clock.value if isinstance(clock.value, tuple) else (clock.value, 0)
    if not isinstance(hour, int) or not 1 <= hour <= _NOON:
        return None
    late = part.value != "morning" and not (part.value == "night" and hour < 5)  # noqa: PLR2004
    return "clock", (hour % _NOON + _NOON * late, minute)


def spoken_half_day(_: Saying, hour: Token, half: Token) -> Made:
    """Six pm."""
    fits = isinstance(hour.value, int) and 1 <= hour.value <= _NOON
    return ("clock", (hour.value % _NOON + _NOON * (half.value == "pm"), 0)) if fits else None


def spoken_clock(_: Saying, hour: Token, minute: Token) -> Made:
    """Nine thirty."""
    whole = isinstance(hour.value, int) and isinstance(minute.value, int)
    fits = whole and 1 <= hour.value <= _NOON and 10 <= minute.value < 60  # noqa: PLR2004
    return ("clock", (_hour(hour.value), minute.value)) if fits else None


def past_the_hour(_: Saying, minutes: Token, hour: Token) -> Made:
    """Half past seven, 20 minutes past eight."""
    match minutes.name:
        case "half":
            count: Any = 30
        case "length":
            count = minutes.value.parts[0][0] if minutes.value.unit == "minute" else None
        case _:
            count = minutes.value
    number = hour.value[0] if isinstance(hour.value, tuple) else hour.value
    if not isinstance(count, int) or not isinstance(number, int) or not (0 < count < 60 and 1 <= number < 24):  # noqa: PLR2004
        return None
    return "maybe_clock", (number, count)


def part_at(saying: Saying, part: Token, clock: Token) -> Made:
    """In the morning at 7."""
    found = clock_of_part(saying, clock, part)
    return found and today_at(saying, clock._replace(name="clock", value=found[1]))


def beside_clock(saying: Saying, span: Token, which: Token, clock: Token) -> Made:
    """Tomorrow before 5pm."""
    found = at(saying, span, clock)
    if found is None:
        return None
    moment = found[1].begin
    begin, finish = (moment, None) if which.name == "after" else (None, moment)
    return "span", Span(begin, finish, "open", found[1].said, ends=(span.value,), how=which.name)


def clock_or_later(saying: Saying, clock: Token, later: Token, span: Token) -> Made:
    """3 pm or later on Monday."""
    return beside_clock(saying, span, later._replace(name="after" if later.value > 0 else "before"), clock)


def hours(_: Saying, first: Token, second: Token) -> Made:
    """From 5 to 6pm: the first takes its half of the day from the second."""
    end = second.value
    if isinstance(first.value, tuple):
        begin: Any = first.value
    elif isinstance(first.value, int) and 1 <= first.value <= _NOON:
        begin = (first.value % _NOON + (_NOON if first.value % _NOON + _NOON <= end[0] else 0), 0)
    else:
        return None
    return ("hours", (begin, end)) if begin < end else None


def at(_: Saying, span: Token, clock: Token) -> Made:
    if span.value.grain not in {"day", "part"} or span.value.begin is None:
        return None
    if span.value.grain == "part" and clock.name == "maybe_clock":
        hour, minute = clock.value
        first = span.value.begin.hour
        if first >= _NOON > hour:
            clock = clock._replace(value=(hour + _NOON, minute))  # tomorrow evening at 8
        if clock.value[0] < first:
            return None  # tonight at 3
    return "span", _timed(midnight(span.value.begin), clock, span.value.said)


def at_number(saying: Saying, span: Token, hour: Token) -> Made:
    if not isinstance(hour.value, int) or not 1 <= hour.value <= _NOON:
        return None
    number = hour.value if span.value.grain == "part" else _hour(hour.value)
    return at(saying, span, hour._replace(name="maybe_clock", value=(number, 0)))


def clock_on(saying: Saying, clock: Token, span: Token) -> Made:
    return at(saying, span, clock)


def _timed(base: datetime, clock: Token, said: str) -> Span:
    first, last = clock.value if clock.name == "hours" else (clock.value, None)
    begin = base.replace(hour=first[0], minute=first[1])
    if last:
        return Span(begin, base.replace(hour=last[0], minute=last[1]), "hour", said)
    return Span(begin, step(begin, 1, "minute"), "minute", said)


def today_at(saying: Saying, clock: Token) -> Made:
    return "span", replace(_timed(midnight(saying.now), clock, "relative"), bare=True)


def in_part(saying: Saying, part: Token) -> Made:
    """In the morning, of no day in particular: today's."""
    return "span", replace(days.part(around(saying.now, "day"), part.value), bare=True)


def year_word(_: Saying, unit: Token, span: Token) -> Made:
    """The year 2020."""
    return ("span", span.value) if unit.value == "year" == span.value.grain else None
