"""Instants in UTC: `datetime` in the public API, microseconds since 1970 inside and in the database.

A number means the same in every database engine, sorts, and fits an index.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


@lru_cache(4096)  # memories of one bulk write share a time; converting it is a third of the cost of building a memory
def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def iso(moment: datetime | None) -> str | None:
    """The text form of the public API: 2026-12-31T18:00:00Z."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
