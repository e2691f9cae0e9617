"""The vector spaces of a store, and the result of changing the model."""

from datetime import datetime
from enum import StrEnum

from retentive.frozen_dataclass import dataclass
from retentive.model.expectations import ExpectationResult


class SpaceState(StrEnum):
    """The state of a vector space."""

    ACTIVE = "active"
    """Questions and new texts are embedded in it. At most one space is active."""
    BUILDING = "building"
    """Vectors are being added to it while another space is active."""
    SWITCHING = "switching"
    """It is about to become active; writers wait for that moment."""
    KEPT = "kept"
    """It was active before, or came with an import."""
    GIVEN = "given"
    """Callers bring its vectors themselves."""
    DROPPED = "dropped"
    """Its vectors were deleted."""


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A vector space as the store records it."""

    name: str
    dimension: int
    model: str | None
    """The setting `embedder` that opens the model again. None: not known, such as for a function."""
    state: SpaceState
    changed: datetime
    """When it changed to this state."""


@dataclass(frozen=True, slots=True)
class SpaceFigures:
    """A space with the number of its vectors."""

    space: StoredSpace
    vectors: int
    pending: int
    """The number of texts without a vector in this space."""


class ReembedStage(StrEnum):
    WAITING = "waiting"
    """Another process is re-embedding the store."""
    BUILDING = "building"
    COMPARING = "comparing"
    """The recall tests run in both spaces."""
    SWITCHING = "switching"
    SWITCHED = "switched"
    """Texts that were written during the switch get their vectors."""
    DROPPING = "dropping"


@dataclass(frozen=True, slots=True)
class ReembedProgress:
    stage: ReembedStage
    done: int
    total: int
    seconds_left: float | None = None
    """An estimate from the speed so far; None while that is not known."""


@dataclass(frozen=True, slots=True)
class RecallChange:
    """A recall test whose results differ between the old space and the new one."""

    before: ExpectationResult
    after: ExpectationResult

    @property
    def is_regression(self) -> bool:
        return self.before.passed and not self.after.passed


@dataclass(frozen=True, slots=True)
class ReembedResult:
    """The result of changing the model of a store."""

    space: str
    model: str | None
    previous: str | None
    """The space that was active before; None if there was none."""
    embedded: int
    """The number of vectors that this call made."""
    tests: int
    """The number of recall tests that ran in both spaces."""
    changes: tuple[RecallChange, ...]
    """The recall tests whose results differ."""
    switched: bool
    """Whether the space is the active one now. False: a recall test regressed, and nothing was switched."""

    @property
    def regressions(self) -> tuple[RecallChange, ...]:
        return tuple(each for each in self.changes if each.is_regression)
