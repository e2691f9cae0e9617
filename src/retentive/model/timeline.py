"""What happened on a day."""

from datetime import date

from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TimelineDay:
    """What happened on one day, in UTC."""

    day: date
    made: int = 0
    """The number of memories that were made."""
    replaced: int = 0
    """The number of memories that newer ones replaced."""
    forgotten: int = 0
    sessions: int = 0
    """The number of sessions in which something was said."""
    messages: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.made or self.replaced or self.forgotten or self.messages)
