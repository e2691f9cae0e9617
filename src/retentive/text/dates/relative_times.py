"""Rules for times that refer to others: parts of a period, distances from a date, weekdays of a week, clock times."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from retentive.text.dates import calendar_dates
from retentive.text.dates.calendar_dates import as_span
from retentive.text.dates.cascade import NewToken, Utterance
from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.spans import (
    CLOCK_UNITS,
    DAY,
    Period,
    TimeLength,
    add_units,
    find_midnight,
    find_nth_weekday,
    find_part,
    find_period,
    make_day,
)

_WEEKLY_UNITS = frozenset(("week", "weekend"))
_AFTERNOON_HOURS = range(1, 8)  # "at 5" is rarely in the night
_NOON = 12


def find_target_span(utterance: Utterance, token: TimeToken) -> Period:
    """Return the span of a token, or the period around now for a unit ("of the year")."""
    return token.value if token.name == "span" else find_period(utterance.now, str(token.value))


def parse_nth_in_period(utterance: Utterance, which: TimeToken, unit: TimeToken, target: TimeToken) -> NewToken:
    """Parse "the first Monday in May", "the last week of July", "the second quarter of 2023"."""
    nth = which.value
    if which.name == "rel" and nth != -1:
        return None
    span = find_target_span(utterance, target)
    if unit.name in {"weekday", "maybe_weekday"}:
        number = unit.value[0] if isinstance(unit.value, tuple) else unit.value
        found = find_nth_weekday(span, number, nth)
        return as_span(found)
    return _find_nth_length(span, TimeLength(((1, str(unit.value)),)), nth)


def parse_nth_length_in_period(
    utterance: Utterance, which: TimeToken, length: TimeToken, target: TimeToken
) -> NewToken:
    """Parse "the last two weeks of June"."""
    return (
        _find_nth_length(find_target_span(utterance, target), length.value, which.value)
        if which.value in {-1, 1}
        else None
    )


def _find_nth_length(span: Period, length: TimeLength, nth: int) -> NewToken:
    if span.begin is None or span.finish is None:
        return None
    first = span.begin
    if length.unit == "week":  # the week that has most of its days in it, as ISO has it
        first = find_period(span.begin + 3 * DAY, "week").begin or first
    if length.unit == "weekend":
        first = find_period(span.begin, "weekend").begin or first
    begin = length.after(_find_last_end(span.finish, length.unit), -1) if nth < 0 else first
    for _ in range(max(nth, 1) - 1):
        begin = length.after(begin)
    if begin >= span.finish:
        return None
    grain = length.unit if len(length.parts) == 1 and length.parts[0][0] == 1 else "open"
    return "span", Period(begin, length.after(begin), grain, span.reference, relation="" if grain != "open" else "part")


def _find_last_end(finish: datetime, unit: str) -> datetime:
    """Find the end of the last week or weekend of a period."""
    if unit == "week":
        return find_period(finish - 4 * DAY, unit).finish or finish
    return (find_period(finish - 7 * DAY, unit).finish or finish) if unit == "weekend" else finish


def parse_half_of_period(utterance: Utterance, which: TimeToken, target: TimeToken) -> NewToken:
    span = find_target_span(utterance, target)
    if span.begin is None or span.finish is None or which.value not in {-1, 1, 2}:
        return None
    middle = span.begin + (span.finish - span.begin) / 2
    if span.grain == "year":
        middle = span.begin.replace(month=7)
    begin, finish = (span.begin, middle) if which.value == 1 else (middle, span.finish)
    return "span", Period(begin, finish, "open", span.reference, relation="part")


def parse_stage_of_period(_: Utterance, stage: TimeToken, target: TimeToken) -> NewToken:
    found = find_part(target.value, stage.value) if not target.value.relation else None
    return as_span(found)


def parse_edge_of_period(utterance: Utterance, edge: TimeToken, target: TimeToken) -> NewToken:
    span = find_target_span(utterance, target)
    if edge.value != "rest":
        found = find_part(span, edge.value) if not span.relation else None
        return as_span(found)
    if span.finish is None or span.finish <= utterance.now:
        return None
    begin = max(utterance.now, span.begin or utterance.now)
    return "span", replace(
        span, begin=begin, edge="rest", containing=span, grain="open", reference="relative", relation="next"
    )


def parse_later_in_period(utterance: Utterance, which: TimeToken, target: TimeToken) -> NewToken:
    """Parse "later this week", the rest of it or its second half, and "earlier this month", its first half."""
    span = find_target_span(utterance, target)
    if span.grain == "year" and span.begin:  # its halves, not its first and last months
        middle = span.begin.replace(month=7)
        ends = (middle, span.finish) if which.value > 0 else (span.begin, middle)
        found: Period | None = replace(span, begin=ends[0], finish=ends[1], edge="late", containing=span)
    else:
        found = find_part(span, "late" if which.value > 0 else "early")
    if found is None or found.begin is None or found.finish is None:
        return None
    begin = max(found.begin, find_midnight(utterance.now)) if which.value > 0 else found.begin
    return ("span", replace(found, begin=begin, reference="relative")) if begin < found.finish else None


def parse_weekday_in_week(_: Utterance, first: TimeToken, second: TimeToken) -> NewToken:
    """Parse "Monday of last week", "next week on Tuesday"."""
    one, other = (first.value, second.value) if first.value.weekday is not None else (second.value, first.value)
    if one.weekday is None or not one.is_bare or other.grain != "week" or other.begin is None:
        return None
    if one.grain == "part" and one.begin and one.finish and one.containing and one.containing.begin:
        shift = other.begin + one.weekday * DAY - one.containing.begin
        return "span", replace(
            one, begin=one.begin + shift, finish=one.finish + shift, reference=other.reference, is_bare=False
        )
    return "span", replace(make_day(other.begin + one.weekday * DAY, other.reference), weekday=one.weekday)


def skip_unknown_time(*_: Any) -> NewToken:
    """Skip words whose time is unknown, so that no part of them is parsed as another time."""
    return "word", ""


def skip_holiday_weekend(_: Utterance, unit: TimeToken) -> NewToken:
    """Skip "Easter weekend": its length depends on the country."""
    return ("word", "") if unit.value == "weekend" else None


def parse_date_in_year(_: Utterance, first: TimeToken, second: TimeToken) -> NewToken:
    """Parse "3 May last year", "Christmas of this year", "from 5/1 to 5/7, 2020"."""
    span, year = first.value, second.value
    if span.reference != "year" or span.relation or year.grain != "year" or year.relation or year.edge:
        return None
    if span.begin is None or span.finish is None or year.begin is None:
        return None
    if span.grain not in {"day", "month", "season", "quarter"}:
        return None
    years = year.begin.year - span.begin.year
    begin, finish = (add_units(moment, years, "year") for moment in (span.begin, span.finish))
    return "span", replace(span, begin=begin, finish=finish, reference=year.reference, is_bare=False)


def parse_week_number(_: Utterance, unit: TimeToken, number: TimeToken, target: TimeToken) -> NewToken:
    """Parse "week 3 of 2027", by ISO."""
    year: Period = target.value
    if unit.value != "week" or year.grain != "year" or year.begin is None:
        return None
    return "span", replace(
        find_period(datetime.fromisocalendar(year.begin.year, number.value, 1), "week"), reference=year.reference
    )


def parse_nth_of_year(utterance: Utterance, target: TimeToken, which: TimeToken, unit: TimeToken) -> NewToken:
    """Parse "next year's first quarter"."""
    return parse_nth_in_period(utterance, which, unit, target) if target.value.grain == "year" else None


def parse_date_with_weekday(_: Utterance, first: TimeToken, second: TimeToken) -> NewToken:
    """Parse "two months from today, on Tuesday". If the day has another weekday, it is skipped."""
    one, other = (first.value, second.value) if first.value.weekday is not None else (second.value, first.value)
    if (
        one.weekday is None
        or not one.is_bare
        or one.relation
        or other.grain != "day"
        or other.relation
        or other.begin is None
    ):
        return None
    return ("span", other) if other.begin.weekday() == one.weekday else ("word", "")


def parse_week_of(_: Utterance, unit: TimeToken, target: TimeToken) -> NewToken:
    """Parse "the week of May 5"."""
    if unit.value not in {"weekend", "week"} or target.value.grain != "day" or target.value.begin is None:
        return None
    return "span", replace(find_period(target.value.begin, unit.value), reference=target.value.reference)


def parse_ago(utterance: Utterance, length: TimeToken) -> NewToken:
    return find_time_at_distance(utterance.now, length.value, -1)


def parse_time_from_now(utterance: Utterance, length: TimeToken) -> NewToken:
    return find_time_at_distance(utterance.now, length.value, 1)


def find_time_at_distance(moment: datetime, length: TimeLength, sign: int) -> NewToken:
    """Find the day, or the minute, at a distance. The grain is the precision of the words."""
    at = length.after(moment, sign)
    if length.unit in CLOCK_UNITS:
        return "span", Period(at, add_units(at, 1, "minute"), "minute", "relative")
    grain = {"fortnight": "week", "weekend": "week", "century": "decade"}.get(length.unit, length.unit)
    return "span", replace(make_day(at, "relative"), relation="about" if grain != "day" else "", edge=grain)


def parse_length_from_date(_: Utterance, length: TimeToken, which: TimeToken, target: TimeToken) -> NewToken:
    """Parse "two weeks from Monday", "three days before Christmas"."""
    span = target.value
    if span.begin is None:
        return None
    sign = -1 if which.name == "before" else 1
    made = find_time_at_distance(span.begin, length.value, sign)
    if made is None or span.grain == "now":
        return made
    return "span", replace(made[1], reference=span.reference, relation="", edge="")


def parse_within(utterance: Utterance, length: TimeToken) -> NewToken:
    return calendar_dates.make_span_from_now(utterance, length.value.after(utterance.now), length.value.unit)


def parse_unit_beside_date(_: Utterance, unit: TimeToken, which: TimeToken, target: TimeToken) -> NewToken:
    """Parse "the day before yesterday", "the week after Easter"."""
    span = target.value
    if span.begin is None or unit.value not in {"day", "week", "weekend", "month", "year"}:
        return None
    sign = -1 if which.name == "before" else 1
    found = find_period(span.begin, unit.value, sign)
    return "span", replace(found, reference=span.reference if span.reference != "year" else "relative")


def parse_oclock(_: Utterance, hour: TimeToken) -> NewToken:
    fits = isinstance(hour.value, int) and 1 <= hour.value <= _NOON
    return ("clock", (_guess_half_of_day(hour.value), 0)) if fits else None


def _guess_half_of_day(number: int) -> int:
    return number + _NOON if number in _AFTERNOON_HOURS else number


def parse_noon(_: Utterance, noon: TimeToken) -> NewToken:
    return "clock", (noon.value, 0)


def parse_clock_in_part(_: Utterance, clock: TimeToken, part: TimeToken) -> NewToken:
    """Parse "five in the morning"."""
    hour, minute = clock.value if isinstance(clock.value, tuple) else (clock.value, 0)
    if not isinstance(hour, int) or not 1 <= hour <= _NOON:
        return None
    late = part.value != "morning" and not (part.value == "night" and hour < 5)  # noqa: PLR2004
    return "clock", (hour % _NOON + _NOON * late, minute)


def parse_hour_with_am_pm(_: Utterance, hour: TimeToken, half: TimeToken) -> NewToken:
    """Parse "six pm"."""
    fits = isinstance(hour.value, int) and 1 <= hour.value <= _NOON
    return ("clock", (hour.value % _NOON + _NOON * (half.value == "pm"), 0)) if fits else None


def parse_spoken_clock(_: Utterance, hour: TimeToken, minute: TimeToken) -> NewToken:
    """Parse "nine thirty"."""
    are_whole = isinstance(hour.value, int) and isinstance(minute.value, int)
    fits = are_whole and 1 <= hour.value <= _NOON and 10 <= minute.value < 60  # noqa: PLR2004
    return ("clock", (_guess_half_of_day(hour.value), minute.value)) if fits else None


def parse_minutes_past_hour(_: Utterance, minutes: TimeToken, hour: TimeToken) -> NewToken:
    """Parse "half past seven", "20 minutes past eight"."""
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


def parse_part_at_clock(utterance: Utterance, part: TimeToken, clock: TimeToken) -> NewToken:
    """Parse "in the morning at 7"."""
    found = parse_clock_in_part(utterance, clock, part)
    return found and parse_clock_today(utterance, clock._replace(name="clock", value=found[1]))


def parse_date_beside_clock(utterance: Utterance, span: TimeToken, which: TimeToken, clock: TimeToken) -> NewToken:
    """Parse "tomorrow before 5pm"."""
    found = parse_date_at_clock(utterance, span, clock)
    if found is None:
        return None
    moment = found[1].begin
    begin, finish = (moment, None) if which.name == "after" else (None, moment)
    return "span", Period(begin, finish, "open", found[1].reference, ends=(span.value,), relation=which.name)


def parse_clock_or_later(utterance: Utterance, clock: TimeToken, later: TimeToken, span: TimeToken) -> NewToken:
    """Parse "3 pm or later on Monday"."""
    return parse_date_beside_clock(
        utterance, span, later._replace(name="after" if later.value > 0 else "before"), clock
    )


def parse_hour_range(_: Utterance, first: TimeToken, second: TimeToken) -> NewToken:
    """Parse "from 5 to 6pm": the first takes its half of the day from the second."""
    end = second.value
    if isinstance(first.value, tuple):
        begin: Any = first.value
    elif isinstance(first.value, int) and 1 <= first.value <= _NOON:
        begin = (first.value % _NOON + (_NOON if first.value % _NOON + _NOON <= end[0] else 0), 0)
    else:
        return None
    return ("hours", (begin, end)) if begin < end else None


def parse_date_at_clock(_: Utterance, span: TimeToken, clock: TimeToken) -> NewToken:
    if span.value.grain not in {"day", "part"} or span.value.begin is None:
        return None
    if span.value.grain == "part" and clock.name == "maybe_clock":
        hour, minute = clock.value
        first = span.value.begin.hour
        if first >= _NOON > hour:
            clock = clock._replace(value=(hour + _NOON, minute))  # tomorrow evening at 8
        if clock.value[0] < first:
            return None  # tonight at 3
    return "span", _make_clock_span(find_midnight(span.value.begin), clock, span.value.reference)


def parse_date_at_hour(utterance: Utterance, span: TimeToken, hour: TimeToken) -> NewToken:
    if not isinstance(hour.value, int) or not 1 <= hour.value <= _NOON:
        return None
    number = hour.value if span.value.grain == "part" else _guess_half_of_day(hour.value)
    return parse_date_at_clock(utterance, span, hour._replace(name="maybe_clock", value=(number, 0)))


def parse_clock_on_date(utterance: Utterance, clock: TimeToken, span: TimeToken) -> NewToken:
    return parse_date_at_clock(utterance, span, clock)


def _make_clock_span(base: datetime, clock: TimeToken, reference: str) -> Period:
    first, last = clock.value if clock.name == "hours" else (clock.value, None)
    begin = base.replace(hour=first[0], minute=first[1])
    if last:
        return Period(begin, base.replace(hour=last[0], minute=last[1]), "hour", reference)
    return Period(begin, add_units(begin, 1, "minute"), "minute", reference)


def parse_clock_today(utterance: Utterance, clock: TimeToken) -> NewToken:
    return "span", replace(_make_clock_span(find_midnight(utterance.now), clock, "relative"), is_bare=True)


def parse_part_of_today(utterance: Utterance, part: TimeToken) -> NewToken:
    """Parse "in the morning" without a day, as today's."""
    return "span", replace(calendar_dates.find_part_of_day(find_period(utterance.now, "day"), part.value), is_bare=True)


def parse_year_with_word(_: Utterance, unit: TimeToken, span: TimeToken) -> NewToken:
    """Parse "the year 2020"."""
    return ("span", span.value) if unit.value == "year" == span.value.grain else None
