"""Times said so that they stand alone: "last month" becomes "last month (June 2023)".

The words stay, so that they can still be searched for. What lacks only its year is given it: "in March 2023".
"""

import re
from datetime import datetime

from retentive.text.dates.lexer import Token
from retentive.text.dates.lexicon import MONTHS
from retentive.text.dates.spans import DAY, Span, midnight

_SAID_ALREADY = re.compile(r"\s?\([^()]{0,80}\d[^()]{0,80}\)")
_SEASONS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}
_ONE_SIDED = frozenset(("since", "until", "through", "before", "after", "by"))
_TOWARDS_NOW = frozenset(("next", "past", "about"))


def completed(text: str, token: Token) -> str:
    """What is to be put behind a token, if anything."""
    span = token.value
    if token.name == "vague":
        span = token.value[1]
        return _bracketed(text, token, f"around {_month(span.finish)}") if token.value[0] == "recent" else ""
    if token.name != "span" or span.said == "absolute" or span.grain == "now" or _any_day(span):
        return ""
    if span.said == "year" and (year := _one_year(text[token.start : token.end], span)):
        return f" {year}"
    shown = label(span)
    return _bracketed(text, token, shown) if shown else ""


_SHORT_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.(?= [a-z])", re.IGNORECASE)


def end_of(text: str, token: Token) -> int:
    """Where to put what completes a token: behind the stop of a shortened month, before that of a sentence."""
    stop = _SHORT_MONTH.search(text, max(token.end - 4, token.start), token.end + 3)
    return token.end + 1 if stop and stop.end() == token.end + 1 else token.end


def _bracketed(text: str, token: Token, shown: str) -> str:
    return "" if _SAID_ALREADY.match(text, token.end) else f" ({shown})"


def _any_day(span: Span) -> bool:
    """At five, in the morning: no day was meant."""
    return span.bare and span.kind == "time" and span.said == "relative"


def _one_year(said: str, span: Span) -> int | None:
    """The year that all of it is in, if it can be written behind the words."""
    if "/" in said or span.grain in {"minute", "hour", "part"} or span.how == "lasting":
        return None
    years = {end.begin.year for end in span.ends or (span,) if end.begin}
    if any(end.grain in {"minute", "hour", "part"} for end in span.ends):
        return None
    return years.pop() if len(years) == 1 else None


def label(span: Span) -> str:
    if span.ends and span.how in {*_ONE_SIDED, "range"}:
        return " to ".join(filter(None, map(label, span.ends)))
    if span.begin is None or span.finish is None:
        return ""
    if span.how in _TOWARDS_NOW:
        return _to_now(span.how, span.begin, span.finish, span.edge)
    if span.edge and span.whole:
        return label(span.whole)
    return _plain(span.begin, span.finish, span.grain)


def _to_now(how: str, begin: datetime, finish: datetime, edge: str) -> str:
    if how == "next":
        return f"until {_day(finish - DAY)}" if finish - begin > DAY else _day(begin)
    return f"since {_day(begin)}" if how == "past" else f"around {_about(begin, edge)}"


def _plain(begin: datetime, finish: datetime, grain: str) -> str:
    if grain in {"day", "part", "hour", "now", "month", "year"}:
        return _about(begin, grain)
    match grain:
        case "minute":
            return f"{_day(begin)}, {begin:%H:%M}"
        case "week" | "weekend":
            return f"{grain} of {_day(begin)}"
        case "season" if begin.month in _SEASONS:
            return f"{_SEASONS[begin.month]} {_year(begin)}"
    last = finish - DAY if finish == midnight(finish) and finish - begin > DAY else finish
    return f"{_day(begin)} to {_day(last)}"


def _about(moment: datetime, grain: str) -> str:
    return {"month": _month, "quarter": _month, "year": _year, "decade": _year}.get(grain, _day)(moment)


def _day(moment: datetime) -> str:
    return f"{moment.day} {_month(moment)}"


def _month(moment: datetime) -> str:
    return f"{MONTHS[moment.month - 1].capitalize()} {_year(moment)}"


def _year(moment: datetime) -> str:
    return f"{moment.year:04}"
