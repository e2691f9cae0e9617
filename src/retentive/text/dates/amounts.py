"""Rules for numbers in words, durations and repetitions."""

from datetime import timedelta

from retentive.text.dates.cascade import NewToken, Utterance
from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.spans import TimeLength

_CENTURIES = (19, 20)
_TWO_DIGITS = range(10, 100)
_ADVERB_UNITS = {"h": "hours", "d": "days"}
_MAX_COUNT = 10_000  # a timedelta cannot hold more centuries


def parse_compound_number(_: Utterance, tens: TimeToken, ones: TimeToken) -> NewToken:
    """Parse "twenty-one" and "twenty-first"."""
    if ones.value >= 10:  # noqa: PLR2004
        return None
    return "nth" if ones.name == "second" else ones.name, tens.value + ones.value


def parse_tens(_: Utterance, tens: TimeToken) -> NewToken:
    return "num", tens.value


def parse_hundreds(_: Utterance, count: TimeToken, factor: TimeToken, rest: TimeToken | None) -> NewToken:
    total = count.value * factor.value + (rest.value if rest else 0)
    return "year" if factor.value == 1000 and 2000 <= total < 2100 and rest else "num", total  # noqa: PLR2004


def parse_spoken_year(_: Utterance, century: TimeToken, rest: TimeToken) -> NewToken:
    """Parse "nineteen ninety six"."""
    if century.value not in _CENTURIES or rest.value not in _TWO_DIGITS:
        return None
    return "year", century.value * 100 + rest.value


def parse_length(_: Utterance, count: TimeToken | None, unit: TimeToken) -> NewToken:
    number = 1 if count is None or count.name == "a" else count.value
    if count and count.name == "year" and unit.name == "unit":
        return None  # the 2021 weekend
    return ("length", TimeLength(((number, _find_unit(unit)),))) if 0 < number <= _MAX_COUNT else None


def _find_unit(token: TimeToken) -> str:
    if token.name in {"part", "parts"}:
        return "day"  # three nights
    return "second" if token.name == "second" else str(token.value)


def parse_half_unit(_: Utterance, unit: TimeToken) -> NewToken:
    return "length", TimeLength(((0.5, _find_unit(unit)),))


def parse_number_and_a_half(_: Utterance, count: TimeToken, unit: TimeToken) -> NewToken:
    return "length", TimeLength(((count.value + 0.5, _find_unit(unit)),))


def parse_length_and_a_half(_: Utterance, length: TimeToken) -> NewToken:
    count, unit = length.value.parts[-1]
    return "length", TimeLength((*length.value.parts[:-1], (count + 0.5, unit)))


def parse_joined_lengths(_: Utterance, first: TimeToken, second: TimeToken) -> NewToken:
    """Parse "two hours and thirty minutes": the second unit must be smaller."""
    if second.value.timedelta >= first.value.timedelta or first.value.unit == second.value.unit:
        return None
    if second.value.parts == ((1, "quarter"),):  # a year and a quarter
        count, unit = first.value.parts[-1]
        return "length", TimeLength((*first.value.parts[:-1], (count + 0.25, unit)))
    return "length", TimeLength(first.value.parts + second.value.parts)


def parse_longer_alternative(_: Utterance, length: TimeToken, count: TimeToken) -> NewToken:
    """Parse "a month or two" as the longer one: the grain is the same."""
    number, unit = length.value.parts[-1]
    if len(length.value.parts) > 1 or count.value <= number:
        return None
    return "length", TimeLength(((count.value, unit),))


def parse_frequency_adverb(_: Utterance, adverb: TimeToken) -> NewToken:
    return "set", timedelta(**{_ADVERB_UNITS[adverb.value[-1]]: int(adverb.value[:-1])})


def parse_weekly(_: Utterance) -> NewToken:
    return "set", timedelta(days=7)


def parse_repetition(_: Utterance, other: TimeToken | None, repeated: TimeToken) -> NewToken:
    """Parse "every other week", "twice a day", "Mondays"."""
    times = 2 if other and other.name == "other" else 1
    match repeated.name:
        case "length":
            return "set", repeated.value.timedelta * times
        case "unit" | "units":
            return "set", TimeLength(((times, _find_unit(repeated)),)).timedelta
        case "part" | "parts":
            return "set", timedelta(days=times)
        case "weekday" | "maybe_weekday" | "weekdays":
            return "set", timedelta(days=7 * times)
    return "set", timedelta(days=365 * times)
