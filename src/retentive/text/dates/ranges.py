"""Rules for ranges: with two ends, with one end and a length, or with one end only."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from retentive.text.dates.cascade import NewToken, Utterance
from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.spans import DAY, Period, add_units, find_midnight, make_day, make_year

_CLOCK_GRAINS = frozenset(("minute", "hour", "part", "now"))
_DAY_GRAINS = frozenset(("day", *_CLOCK_GRAINS))


def parse_range(
    _: Utterance, opening: TimeToken | None, first: TimeToken, join: TimeToken, second: TimeToken
) -> NewToken:
    """Parse "from May to July", both included."""
    if join.name == "and" and (opening is None or opening.name != "between"):
        return None
    return _make_range(*_align_bare_end(first.value, second.value))


def _make_range(first: Period, second: Period) -> NewToken:
    if (
        first.begin is None
        or second.finish is None
        or (_find_edge_end(first) or first.begin) >= second.finish
        or _is_open(first)
        or _is_open(second)
    ):
        return None
    begin, finish = _find_edge_end(first) or first.begin, second.finish
    if second.grain in {"minute", "now"} and second.begin and second.begin > begin:
        finish = second.begin
    reference = "relative" if "relative" in {first.reference, second.reference} else second.reference
    grain = "hour" if {first.grain, second.grain} <= _CLOCK_GRAINS else "open"
    return "span", Period(
        begin, finish, grain, reference, ends=(first, second), relation="range" if grain == "open" else ""
    )


def _find_edge_end(span: Period) -> datetime | None:
    """Find where "from the end of March" begins: at the end of March."""
    return span.finish if span.edge == "end" else None


def _is_open(span: Period) -> bool:
    return span.relation not in {"", "about"}


def _align_bare_end(first: Period, second: Period) -> tuple[Period, Period]:
    """Choose the nearest date for an end without a year: the last Monday before Friday, the first July after May."""
    if first.is_bare and second.begin:
        return _move_to_nearest(first, second.begin, -1), second
    if second.is_bare and first.begin:
        return first, _move_to_nearest(second, first.begin, 1)
    return first, second


def _move_to_nearest(span: Period, other: datetime, sign: int) -> Period:
    """Move a recurring date to its nearest occurrence before (`sign` -1) or after (1) a moment."""
    if span.begin is None or span.finish is None:
        return span
    begin, unit = _find_in_period(span, other)
    if (begin - other) * sign < timedelta(0):
        begin = add_units(begin, sign, unit)
    months = 12 * (begin.year - span.begin.year) + begin.month - span.begin.month
    if span.grain in _DAY_GRAINS or not months:
        return replace(span, begin=begin, finish=begin + (span.finish - span.begin))
    return replace(span, begin=begin, finish=add_units(span.finish, months, "month"))  # months differ in length


def _find_in_period(span: Period, other: datetime) -> tuple[datetime, str]:
    begin = span.begin or other
    if span.grain in _CLOCK_GRAINS:
        return begin.replace(year=other.year, month=other.month, day=other.day), "day"
    if span.weekday is not None or span.grain == "weekend":
        return find_midnight(other) + (begin.weekday() - other.weekday()) * DAY, "week"
    if span.reference == "year":
        return begin.replace(year=other.year), "year"
    return begin.replace(year=other.year, month=other.month), "month"


def parse_range_from_day(
    _: Utterance, opening: TimeToken | None, number: TimeToken, join: TimeToken, second: TimeToken
) -> NewToken:
    """Parse "9 to 12 June"."""
    span = second.value
    if span.grain != "day" or span.begin is None or span.reference == "relative":
        return None
    if join.name == "and" and opening is None and number.value + 1 != span.begin.day:
        return None  # "18 and 19 June" is a range, "3 and 19 June" are two days
    if opening and isinstance(number.value, int) and number.value >= span.begin.day:
        return "word", ""  # "from the 27th to the 3rd of April" does not name the first month
    return _make_range(replace(span, begin=_replace_day(span.begin, number), finish=span.begin), span)


def parse_range_to_day(
    _: Utterance,
    opening: TimeToken | None,
    first: TimeToken,
    join: TimeToken,
    number: TimeToken,
    in_year: TimeToken | None = None,
) -> NewToken:
    """Parse "June 9-12, 2023"."""
    span = first.value
    if span.grain != "day" or span.begin is None or span.reference == "relative":
        return None
    if join.name == "and" and opening is None and number.value != span.begin.day + 1:
        return None
    if in_year:
        year = make_year(in_year.value) if in_year.name == "year" else in_year.value
        if year.grain != "year" or year.relation or year.begin is None or span.reference == "absolute":
            return None
        begin = span.begin.replace(year=year.begin.year)
        span = replace(span, begin=begin, finish=begin + DAY, reference="absolute", is_bare=False)
    return _make_range(span, replace(make_day(_replace_day(span.begin, number)), reference=span.reference))


def _replace_day(moment: datetime, number: TimeToken) -> datetime:
    return moment.replace(day=int(number.value))  # 31 June raises what the cascade expects


def parse_start_and_length(_: Utterance, first: TimeToken, second: TimeToken) -> NewToken:
    """Parse "two weeks starting June 1" and "from June 1 for two weeks"."""
    length, start = (first, second) if first.name == "length" else (second, first)
    span: Period = start.value
    if span.begin is None or span.ends:
        return None
    return "span", Period(
        span.begin, length.value.after(span.begin), "open", span.reference, ends=(span,), relation="lasting"
    )


def parse_not_later_than(_: Utterance, which: TimeToken, target: TimeToken) -> NewToken:
    """Parse "no later than Friday", that day included."""
    return make_one_sided("through" if which.value > 0 else "since", target.value)


def parse_later_than(_: Utterance, which: TimeToken, target: TimeToken) -> NewToken:
    """Parse "later than 2018"."""
    return make_one_sided("after" if which.value > 0 else "before", target.value)


def parse_as_early_as(_: Utterance, stage: TimeToken, target: TimeToken) -> NewToken:
    match stage.value:
        case "early":
            return make_one_sided("since", target.value)
        case "late":
            return make_one_sided("through", target.value)
    return None


def parse_date_or_later(_: Utterance, target: TimeToken, which: TimeToken) -> NewToken:
    """Parse "2012 or later"."""
    return make_one_sided("since" if which.value > 0 else "through", target.value)


def parse_more_than(_: Utterance, which: TimeToken, length: TimeToken, side: TimeToken, target: TimeToken) -> NewToken:
    """Parse "more than two weeks before Easter", "less than three days after Easter"."""
    span: Period = target.value
    if span.begin is None or _is_open(span):
        return None
    sign = -1 if side.name == "before" else 1
    other = make_day(length.value.after(span.begin, sign), span.reference)
    if which.value > 0:
        return make_one_sided("before" if sign < 0 else "since", other)
    first, last = (other, span) if sign < 0 else (span, other)
    return "span", Period(
        first.begin, last.begin, "open", span.reference, ends=(first, last), relation="range", is_bare=span.is_bare
    )


def parse_one_sided(_: Utterance, word: TimeToken, target: TimeToken) -> NewToken:
    return make_one_sided(str(word.name), target.value)


def parse_starting(_: Utterance, target: TimeToken) -> NewToken:
    return make_one_sided("since", target.value)


def make_one_sided(word: str, span: Period) -> NewToken:
    """Make a span with one end. "Until" and "by" include a day, but "until June" ends where June begins."""
    if _is_open(span):
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
            end["finish"] = span.finish if span.grain in _DAY_GRAINS or span.edge == "end" else span.begin
    return "span", Period(
        **end, grain="open", reference=span.reference, ends=(span,), relation=word, is_bare=span.is_bare
    )


def parse_years(_: Utterance, first: TimeToken, second: TimeToken) -> NewToken:
    """Parse "2014-2018"."""
    return _make_range(make_year(first.value), make_year(second.value)) if first.value < second.value else None
