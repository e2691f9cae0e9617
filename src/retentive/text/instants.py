"""Instants as people and programs write them."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from retentive.errors import Invalid
from retentive.text import dates
from retentive.text.dates import Expression

_SPAN = re.compile(r"(\d{1,9})\s*([smhdwy])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
_HINT = (
    "Write it as 2026-12-31, 2026-12-31T18:00:00+01:00, as a span such as 30m, 12h, 7d, 4w, 1y, "
    "or in English, as last Monday, in March, two weeks ago."
)
_LEADING = re.compile(r"(?:(?:in|on|at|from|during|over|for|the)\s+)*", re.IGNORECASE)
_EXACT = frozenset(("minute", "now"))
Side = Literal["first", "last", "after"]
"""Which moment of a stretch of time: its first, its last (or now, if that is in it), or the first one after it."""

_LONGEST = 100  # characters: a date, not a text


def instant(
    value: datetime | date | timedelta | str, now: datetime, name: str, *, past: bool = False, side: Side = "first"
) -> datetime:
    """An aware UTC datetime. Without a zone it is UTC; a span counts from now, backwards if `past`.

    Of what is said in English and longer than a moment ("March", "yesterday") it is the side that is asked for. A date
    in digits is always its first moment.
    """
    try:
        return _instant(value, -now.resolution if past else now.resolution, now, side)
    except (ValueError, OverflowError) as error:
        raise Invalid(f"{name}: cannot read {str(value)[:40]!r} as a time", _HINT) from error


def _instant(value: datetime | date | timedelta | str, step: timedelta, now: datetime, side: Side) -> datetime:
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    if isinstance(value, timedelta):
        return now + (value if step > timedelta() else -value)
    seconds = seconds_of(value)
    if seconds is not None:
        return now + (seconds * 1_000_000) * step
    try:
        return _instant(datetime.fromisoformat(value.strip()), step, now, side)
    except ValueError:
        return _spoken(value.strip(), step, now, side)


def _spoken(value: str, step: timedelta, now: datetime, side: Side) -> datetime:
    """A date in English, which must be all that is said."""
    for whole in (value, f"in {value}", f"on {value}") if len(value) <= _LONGEST else ():  # "March" alone may be a verb
        found = dates.find(whole, now, past=step < timedelta())
        if len(found) == 1 and _LEADING.fullmatch(whole[: found[0].start]) and not whole[found[0].end :].strip(" ."):
            return _moment(found[0], step, now, side)
    raise ValueError(value)


def _moment(found: Expression, step: timedelta, now: datetime, side: Side) -> datetime:
    if found.length is not None and found.kind == "duration":
        return now + found.length * (step // abs(step))
    moment = _side(found, now, side) if found.kind not in {"vague", "set"} else None
    if moment is None:
        raise ValueError(found.kind)
    return moment


def _side(found: Expression, now: datetime, side: Side) -> datetime | None:
    if side == "first" or found.grain in _EXACT:
        return found.begin
    if side == "after" or found.finish is None:
        return found.finish
    last = found.finish - timedelta(microseconds=1)
    return min(last, now) if found.begin is None or found.begin <= now else last


def seconds_of(span: str) -> int | None:
    """Of 30m, 12h, 7d, 4w, 1y; None if it is not written so."""
    found = _SPAN.fullmatch(span.strip())
    return int(found[1]) * _UNITS[found[2]] if found else None
