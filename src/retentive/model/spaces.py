"""The spaces of a store's vectors, and what came of changing the model."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from retentive.model.expectations import Checked


class SpaceState(StrEnum):
    """What a space is for."""

    ACTIVE = "active"
    """Questions are asked in it, and new texts are embedded in it. There is at most one."""
    BUILDING = "building"
    """It is being filled beside the active one."""
    SWITCHING = "switching"
    """It is about to become the active one; writers wait a moment for that."""
    KEPT = "kept"
    """It was the active one, or came with an import."""
    GIVEN = "given"
    """Callers bring its vectors themselves."""
    DROPPED = "dropped"
    """Its vectors were deleted."""


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """What a store remembers of a space."""

    name: str
    dimension: int
    model: str | None
    """How the model is opened again: the setting `embedder`. None: not known, as of a function."""
    state: SpaceState
    changed: datetime
    """When it came into this state."""


@dataclass(frozen=True, slots=True)
class SpaceFigures:
    """A space with how much there is of it."""

    space: StoredSpace
    vectors: int
    pending: int
    """Texts that have no vector in it yet."""


class ReembedStage(StrEnum):
    WAITING = "waiting"
    """Another process is re-embedding the store."""
    BUILDING = "building"
    COMPARING = "comparing"
    """The recall tests are asked in both spaces."""
    SWITCHING = "switching"
    SWITCHED = "switched"
    """Vectors of what was written at the moment of the switch are filled in."""
    DROPPING = "dropping"


@dataclass(frozen=True, slots=True)
class ReembedProgress:
    stage: ReembedStage
    done: int
    total: int
    seconds_left: float | None = None
    """By the speed so far; None while that is not known."""


@dataclass(frozen=True, slots=True)
class RecallChange:
    """A recall test that has another result in the new space than in the old one."""

    before: Checked
    after: Checked

    @property
    def is_regression(self) -> bool:
        return self.before.held and not self.after.held


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What came of changing the model of a store."""

    space: str
    model: str | None
    previous: str | None
    """The space that was active before; None if there was none."""
    embedded: int
    """How many vectors this call made."""
    tests: int
    """How many recall tests were asked in both spaces."""
    changes: tuple[RecallChange, ...]
    """Those whose result differs."""
    switched: bool
    """Whether the space is the active one now. False: a recall test regressed, and nothing was switched."""

    @property
    def regressions(self) -> tuple[RecallChange, ...]:
        return tuple(each for each in self.changes if each.is_regression)
