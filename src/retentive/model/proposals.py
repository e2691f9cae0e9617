"""Memories that were replaced, and proposals to replace memories."""

from datetime import datetime
from enum import StrEnum

from retentive.frozen_dataclass import dataclass

SLOT = "slot"  # the rule of memories that have or had the same slot
LATER = "later"  # the rule of a memory of a later time that is trusted less
VERSION = "version"  # the rule of an import that has another text for a memory of the user
SUCCESSOR = "successor"  # the rule of an import in which a memory of the user was replaced
HELD_RULES = frozenset({SLOT, LATER, VERSION, SUCCESSOR})
"""Rules that propose a replacement because the source is not trusted enough to make it."""


class ProposalStatus(StrEnum):
    OPEN = "open"
    REJECTED = "rejected"
    """It is kept so that the same two texts are neither proposed nor replaced again."""


@dataclass(frozen=True, slots=True)
class ReplacedMemory:
    """An older memory that a new one replaced. `restore` brings it back."""

    id: str
    content: str
    rule: str
    """The rule that decided: `slot`, `replaces` (the caller named it), `model`, or a rule about the wording."""
    reason: str
    """The reason in plain words, for people."""


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
    """When the newer memory became true."""
    older_id: str
    older: str
    older_time: datetime
    rule: str
    reason: str
    """The evidence in the two texts, in plain words, for people."""
    created: datetime
    move_to: str | None = None
    """The namespace that the memory should be moved to; None: a proposal about two memories."""
    is_held: bool = False
    """Whether only a person may accept it, because of the source of the newer memory."""
