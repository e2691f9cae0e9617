"""What replaced what, and what may replace what."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

SLOT = "slot"  # the rule of what has or had the same slot
LATER = "later"  # the rule of a memory of a later time that is trusted less
VERSION = "version"  # the rule of an import that has another text for a memory of the user
SUCCESSOR = "successor"  # the rule of an import in which a memory of the user was replaced
HELD_RULES = frozenset({SLOT, LATER, VERSION, SUCCESSOR})
"""Rules that make a proposal only where a source may not do more."""


class ProposalStatus(StrEnum):
    OPEN = "open"
    REJECTED = "rejected"
    """Kept, so that the same two texts are neither proposed nor replaced again."""


@dataclass(frozen=True, slots=True)
class Ended:
    """An older memory that a new one replaced. `restore` brings it back."""

    id: str
    content: str
    rule: str
    """Which rule decided: `slot`, `replaces` (the caller named it), `model`, or a rule of words."""
    reason: str
    """In plain words, for people."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A newer memory that may replace an older one. Both stay active until somebody decides.

    Or a memory that seems to be about the person rather than the project: then `move_to` names the person's namespace,
    and `newer` and `older` are both that memory.
    """

    id: str
    namespace: str
    newer_id: str
    newer: str
    """The text of the newer memory."""
    newer_time: datetime
    """From when the newer memory holds."""
    older_id: str
    older: str
    older_time: datetime
    rule: str
    reason: str
    """In plain words, for people: what in the two texts suggests it."""
    created: datetime
    move_to: str | None = None
    """The namespace that the memory should be moved to; None: a proposal about two memories."""
    is_held: bool = False
    """Held back because of where the newer memory came from: only a person accepts it, no agent."""
