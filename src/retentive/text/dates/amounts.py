"""Numbers in words, durations, and what repeats."""

from datetime import timedelta
from typing import Any

from retentive.text.dates.cascade import Saying
from retentive.text.dates.lexer import Token
from retentive.text.dates.spans import Length

Made = tuple[str, Any] | None

_CENTURIES = (19, 20)
_TWO_DIGITS = range(10, 100)
_ADVERBS = {"h": "hours", "d": "days"}
_COUNT_LIMIT = 10_000  # more are no span of a life, and of centuries no timedelta


def added(_: Saying, tens: Token, ones: Token) -> Made:
    return (ones.name if ones.name != "second" else "nth", tens.value + ones.value) if ones.value < 10 else None  # noqa: PLR2004


def tens(_: Saying, tens: Token) -> Made:
    return "num", tens.value


def times(_: Saying, count: Token, factor: Token, rest: Token | None) -> Made:
    total = count.value * factor.value + (rest.value if rest else 0)
    return "year" if factor.value == 1000 and 2000 <= total < 2100 and rest else "num", total  # noqa: PLR2004


def spoken_year(_: Saying, century: Token, rest: Token) -> Made:
    """Nineteen ninety six."""
    if century.value not in _CENTURIES or rest.value not in _TWO_DIGITS:
        return None
    return "year", century.value * 100 + rest.value


def length(_: Saying, count: Token | None, unit: Token) -> Made:
    number = 1 if count is None or count.name == "a" else count.value
    if count and count.name == "year" and unit.name == "unit":
        return None  # the 2021 weekend
    return ("length", Length(((number, _unit(unit)),))) if 0 < number <= _COUNT_LIMIT else None


def _unit(token: Token) -> str:
    if token.name in {"part", "parts"}:
        return "day"  # three nights
    return "second" if token.name == "second" else str(token.value)


def half(_: Saying, unit: Token) -> Made:
    return "length", Length(((0.5, _unit(unit)),))


def and_a_half(_: Saying, count: Token, unit: Token) -> Made:
    return "length", Length(((count.value + 0.5, _unit(unit)),))


def half_more(_: Saying, length: Token) -> Made:
    count, unit = length.value.parts[-1]
    return "length", Length((*length.value.parts[:-1], (count + 0.5, unit)))


def joined(_: Saying, first: Token, second: Token) -> Made:
    """Two hours and thirty minutes: the second must be of a smaller unit."""
    if second.value.timedelta >= first.value.timedelta or first.value.unit == second.value.unit:
        return None
    if second.value.parts == ((1, "quarter"),):  # a year and a quarter
        count, unit = first.value.parts[-1]
        return "length", Length((*first.value.parts[:-1], (count + 0.25, unit)))
    return "length", Length(first.value.parts + second.value.parts)


def or_more(_: Saying, length: Token, count: Token) -> Made:
    """A month or two ago: the longer one, for the grain is the same."""
    number, unit = length.value.parts[-1]
    return ("length", Length(((count.value, unit),))) if len(length.value.parts) == 1 and count.value > number else None


def adverb(_: Saying, adverb: Token) -> Made:
    return "set", timedelta(**{_ADVERBS[adverb.value[-1]]: int(adverb.value[:-1])})


def weekly(_: Saying) -> Made:
    return "set", timedelta(days=7)


def every(_: Saying, other: Token | None, what: Token) -> Made:
    times = 2 if other and other.name == "other" else 1
    match what.name:
        case "length":
            return "set", what.value.timedelta * times
        case "unit" | "units":
            return "set", Length(((times, _unit(what)),)).timedelta
        case "part" | "parts":
            return "set", timedelta(days=times)
        case "weekday" | "maybe_weekday" | "weekdays":
            return "set", timedelta(days=7 * times)
    return "set", timedelta(days=365 * times)
