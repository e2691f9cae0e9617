"""Learning: what is found in talk, before it is compared with what is known."""

from dataclasses import dataclass
from datetime import datetime

from retentive.model.memory import DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, Kind, Source


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement found in talk. It stands alone, in the third person: "The user lives in Porto."."""

    content: str
    kind: Kind
    said: datetime
    """When the words fell; relative dates in them were counted from here."""
    events: tuple[int, ...] = ()
    """The sequence numbers of the messages that it came from."""
    slot: str | None = None
    """What it is the value of, such as `user.home`: the newer one in a slot holds."""
    confidence: float = DEFAULT_CONFIDENCE[Source.EXTRACTED]
    importance: int = DEFAULT_IMPORTANCE
    valid_from: datetime | None = None
    """If it holds from another moment than that when it was said."""
    expires: datetime | None = None
    """When it ends, if the words say so: "until June 1"."""
