"""Recall tests: the memories that a question must find, and the results."""

from datetime import datetime

from retentive.frozen_dataclass import dataclass
from retentive.model.memory import Memory
from retentive.model.search import Hit, Tier


@dataclass(frozen=True, slots=True)
class Expectation:
    """A recall test that is kept in the store: a question, and the memories that must be among its first hits."""

    id: str
    namespace: str
    question: str
    finds: tuple[str, ...]
    """The ids of memories that must be found."""
    absent: tuple[str, ...]
    """The ids of memories that must not be found."""
    within: int
    """The number of first hits that count."""
    session: str | None
    """The session in which the question is asked."""
    created: datetime

    @property
    def nothing(self) -> bool:
        """Whether the question must find nothing that is similar enough."""
        return not self.finds and not self.absent


@dataclass(frozen=True, slots=True)
class ExpectedMemory:
    """One memory that an expectation names."""

    id: str
    """The id that was given."""
    wanted: bool
    """True: it must be found. False: it must not be found."""
    memory: Memory | None
    """The memory itself, or the one that replaced it. None: it is gone, and `note` says why."""
    rank: int | None
    """Its rank among all hits, even after those that count; None: it is not among them."""
    passed: bool
    note: str = ""
    """A sentence on what has happened to it since."""


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """The result of a recall test."""

    expectation: Expectation
    passed: bool
    expected: tuple[ExpectedMemory, ...]
    """Each memory that the test names; empty if nothing must be found."""
    hits: tuple[Hit, ...]
    """The first hits, no more than count."""
    tier: Tier
    notes: tuple[str, ...] = ()
    """Parts of the search that could not be used, and why."""
