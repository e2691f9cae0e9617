"""Instants: UTC, as `datetime` outside, as microseconds since 1970 in the program and in the database.

The same number means the same on every engine, sorts, and fits an index.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


@lru_cache(4096)  # what was kept at once has one time, and made anew it is a third of what making a memory costs
def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def iso(moment: datetime | None) -> str | None:
    """As it is written outside: 2026-12-31T18:00:00Z."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
