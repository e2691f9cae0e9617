"""Instants as people and programs write them."""

import re
from datetime import UTC, date, datetime, time, timedelta

from retentive.errors import Invalid

_SPAN = re.compile(r"(\d{1,9})\s*([smhdwy])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
_HINT = "Write it as 2026-12-31, 2026-12-31T18:00:00+01:00, or as a span such as 30m, 12h, 7d, 4w, 1y."


def instant(value: datetime | date | timedelta | str, now: datetime, name: str, *, past: bool = False) -> datetime:
    """An aware UTC datetime. Without a zone it is UTC; a span counts from now, backwards if `past`."""
    try:
        return _instant(value, -now.resolution if past else now.resolution, now)
    except (ValueError, OverflowError) as error:
        raise Invalid(f"{name}: cannot read {str(value)[:40]!r} as a time", _HINT) from error


def _instant(value: datetime | date | timedelta | str, step: timedelta, now: datetime) -> datetime:
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    if isinstance(value, timedelta):
        return now + (value if step > timedelta() else -value)
    seconds = seconds_of(value)
    if seconds is not None:
        return now + (seconds * 1_000_000) * step
    return _instant(datetime.fromisoformat(value.strip()), step, now)


def seconds_of(span: str) -> int | None:
    """Of 30m, 12h, 7d, 4w, 1y; None if it is not written so."""
    found = _SPAN.fullmatch(span.strip())
    return int(found[1]) * _UNITS[found[2]] if found else None
