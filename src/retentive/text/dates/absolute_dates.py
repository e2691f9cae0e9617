"""Completes relative times with their date: "last month" becomes "last month (June 2023)".

The words stay, so that they can still be searched for. A date without a year gets its year: "in March 2023".
"""

import re
from datetime import datetime

from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.lexicon import MONTHS
from retentive.text.dates.spans import DAY, Period, find_midnight

_DATE_IN_BRACKETS = re.compile(r"\s?\([^()]{0,80}\d[^()]{0,80}\)")
_SHORT_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.(?= [a-z])", re.IGNORECASE)
_SEASONS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}
_ONE_SIDED_RELATIONS = frozenset(("since", "until", "through", "before", "after", "by"))
_RELATIONS_TO_NOW = frozenset(("next", "past", "about"))


def find_completion(text: str, token: TimeToken) -> str:
    """Find the text to insert after a token; "" if there is none."""
    span = token.value
    if token.name == "vague":
        word, span = token.value
        return _put_in_brackets(text, token, f"around {_render_month(span.finish)}") if word == "recent" else ""
    if token.name != "span" or span.reference == "absolute" or span.grain == "now" or _has_no_day(span):
        return ""
    if span.reference == "year" and (year := _find_common_year(text[token.start : token.end], span)):
        return f" {year}"
    date = render_span(span)
    return _put_in_brackets(text, token, date) if date else ""


def find_insert_position(text: str, token: TimeToken) -> int:
    """Find where to insert the completion: after the period of an abbreviated month, before that of a sentence."""
    stop = _SHORT_MONTH.search(text, max(token.end - 4, token.start), token.end + 3)
    return token.end + 1 if stop and stop.end() == token.end + 1 else token.end


def _put_in_brackets(text: str, token: TimeToken, date: str) -> str:
    return "" if _DATE_IN_BRACKETS.match(text, token.end) else f" ({date})"


def _has_no_day(span: Period) -> bool:
    """Whether a time of day names no day: "at five", "in the morning"."""
    return span.is_bare and span.kind == "time" and span.reference == "relative"


def _find_common_year(words: str, span: Period) -> int | None:
    """Find the one year of a span, if it can be written after the words."""
    if "/" in words or span.grain in {"minute", "hour", "part"} or span.relation == "lasting":
        return None
    years = {end.begin.year for end in span.ends or (span,) if end.begin}
    if any(end.grain in {"minute", "hour", "part"} for end in span.ends):
        return None
    return years.pop() if len(years) == 1 else None


def render_span(span: Period) -> str:
    if span.ends and span.relation in {*_ONE_SIDED_RELATIONS, "range"}:
        return " to ".join(filter(None, map(render_span, span.ends)))
    if span.begin is None or span.finish is None:
        return ""
    if span.relation in _RELATIONS_TO_NOW:
        return _render_open_span(span.relation, span.begin, span.finish, span.edge)
    if span.edge and span.containing:
        return render_span(span.containing)
    return _render_closed_span(span.begin, span.finish, span.grain)


def _render_open_span(relation: str, begin: datetime, finish: datetime, edge: str) -> str:
    if relation == "next":
        return f"until {_render_day(finish - DAY)}" if finish - begin > DAY else _render_day(begin)
    return f"since {_render_day(begin)}" if relation == "past" else f"around {_render_moment(begin, edge)}"


def _render_closed_span(begin: datetime, finish: datetime, grain: str) -> str:
    if grain in {"day", "part", "hour", "now", "month", "year"}:
        return _render_moment(begin, grain)
    match grain:
        case "minute":
            return f"{_render_day(begin)}, {begin:%H:%M}"
        case "week" | "weekend":
            return f"{grain} of {_render_day(begin)}"
        case "season" if begin.month in _SEASONS:
            return f"{_SEASONS[begin.month]} {_render_year(begin)}"
    last = finish - DAY if finish == find_midnight(finish) and finish - begin > DAY else finish
    return f"{_render_day(begin)} to {_render_day(last)}"


def _render_moment(moment: datetime, grain: str) -> str:
    match grain:
        case "month" | "quarter":
            return _render_month(moment)
        case "year" | "decade":
            return _render_year(moment)
        case _:
            return _render_day(moment)


def _render_day(moment: datetime) -> str:
    return f"{moment.day} {_render_month(moment)}"


def _render_month(moment: datetime) -> str:
    return f"{MONTHS[moment.month - 1].capitalize()} {_render_year(moment)}"


def _render_year(moment: datetime) -> str:
    return f"{moment.year:04}"
