"""What happened in a namespace day by day."""

from collections.abc import Sequence
from datetime import date, timedelta

from retentive import clock
from retentive.errors import Invalid
from retentive.model import Scope, TimelineDay
from retentive.storage.tables.timeline import DAY_MICROS
from retentive.store import OpenStore

MAX_DAYS = 3660  # ten years: one line each
_EPOCH = date(1970, 1, 1)


def make_timeline(store: OpenStore, scope: Scope, days: int) -> Sequence[TimelineDay]:
    """Return the last days, the newest first, also those on which nothing happened."""
    if days > MAX_DAYS:
        raise Invalid(f"{days} days are too many", f"Ask for {MAX_DAYS} at most.")
    today = clock.now() // DAY_MICROS
    counts = store.tables.timeline.count(scope, today - days + 1)
    return [TimelineDay(_EPOCH + timedelta(day), **counts.get(day, {})) for day in range(today, today - days, -1)]
