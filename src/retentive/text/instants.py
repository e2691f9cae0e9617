"""Parses times as people and programs write them: ISO dates, spans such as `7d`, and English."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from retentive.errors import Invalid
from retentive.text import dates
from retentive.text.dates import TimeExpression

_DURATION = re.compile(r"(\d{1,9})\s*([smhdwy])")
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
_FORMAT_HINT = (
    "Write it as 2026-12-31, 2026-12-31T18:00:00+01:00, as a span such as 30m, 12h, 7d, 4w, 1y, "
    "or in English, as last Monday, in March, two weeks ago."
)
_PREPOSITIONS = re.compile(r"(?:(?:in|on|at|from|during|over|for|the)\s+)*", re.IGNORECASE)
_EXACT_GRAINS = frozenset(("minute", "now"))
Side = Literal["first", "last", "after"]
"""Which moment of a period: its first, its last (or now, if now is in it), or the first one after it."""

_MAX_CHARS = 100  # a date, not a text


def parse_instant(
    value: datetime | date | timedelta | str, now: datetime, name: str, *, past: bool = False, side: Side = "first"
) -> datetime:
    """Parse a time into an aware UTC datetime. Without a zone it is UTC; a span counts from now, backwards if `past`.

    For a period in English ("March", "yesterday") `side` chooses the moment. A date in digits is its first moment.
    """
    try:
        return _parse(value, -now.resolution if past else now.resolution, now, side)
    except (ValueError, OverflowError) as error:
        raise Invalid(f"{name}: cannot read {str(value)[:40]!r} as a time", _FORMAT_HINT) from error


def _parse(value: datetime | date | timedelta | str, step: timedelta, now: datetime, side: Side) -> datetime:
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    if isinstance(value, timedelta):
        return now + (value if step > timedelta() else -value)
    seconds = parse_duration(value)
    if seconds is not None:
        return now + (seconds * 1_000_000) * step
    try:
        return _parse(datetime.fromisoformat(value.strip()), step, now, side)
    except ValueError:
        return _parse_english(value.strip(), step, now, side)


def _parse_english(value: str, step: timedelta, now: datetime, side: Side) -> datetime:
    """Parse a time expression in English; the value must hold nothing else."""
    if len(value) > _MAX_CHARS:
        raise ValueError(value)
    for phrase in (value, f"in {value}", f"on {value}"):  # "March" alone may be a verb
        expressions = dates.find_times(phrase, now, past=step < timedelta())
        if len(expressions) != 1:
            continue
        expression = expressions[0]
        before, after = phrase[: expression.start], phrase[expression.end :]
        if _PREPOSITIONS.fullmatch(before) and not after.strip(" ."):
            return _choose_moment(expression, step, now, side)
    raise ValueError(value)


def _choose_moment(expression: TimeExpression, step: timedelta, now: datetime, side: Side) -> datetime:
    if expression.length is not None and expression.kind == "duration":
        return now + expression.length * (step // abs(step))
    moment = _choose_side(expression, now, side) if expression.kind not in {"vague", "set"} else None
    if moment is None:
        raise ValueError(expression.kind)
    return moment


def _choose_side(expression: TimeExpression, now: datetime, side: Side) -> datetime | None:
    if side == "first" or expression.grain in _EXACT_GRAINS:
        return expression.begin
    if side == "after" or expression.finish is None:
        return expression.finish
    last = expression.finish - timedelta(microseconds=1)
    return min(last, now) if expression.begin is None or expression.begin <= now else last


def parse_duration(span: str) -> int | None:
    """Parse a span such as 30m, 12h, 7d, 4w, 1y into seconds; None for another format."""
    match = _DURATION.fullmatch(span.strip())
    return int(match[1]) * _UNIT_SECONDS[match[2]] if match else None
