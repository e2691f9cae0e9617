"""What a question is expected to find, and what it found."""

from dataclasses import dataclass
from datetime import datetime

from retentive.model.memory import Memory
from retentive.model.search import Hit, Tier


@dataclass(frozen=True, slots=True)
class Expectation:
    """A question, and what is to be among its first hits: a test of a store, kept in it."""

    id: str
    namespace: str
    question: str
    finds: tuple[str, ...]
    """The ids of memories that must be found."""
    absent: tuple[str, ...]
    """The ids of memories that must not be."""
    within: int
    """How many of the first hits count."""
    session: str | None
    """The session in which it is asked."""
    created: datetime

    @property
    def nothing(self) -> bool:
        """Whether nothing that is similar enough may be found."""
        return not self.finds and not self.absent


@dataclass(frozen=True, slots=True)
class Sought:
    """One memory that an expectation names."""

    id: str
    """As it was named."""
    wanted: bool
    """True: it is to be found. False: it is not."""
    memory: Memory | None
    """The one that counts: itself, or what took its place since. None: it is gone, and `note` says how."""
    rank: int | None
    """Its place among the hits, also behind those that count; None: not among them."""
    held: bool
    note: str = ""
    """What became of it since it was named, in words."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An expectation held against what its question finds."""

    expectation: Expectation
    held: bool
    sought: tuple[Sought, ...]
    """Each memory that it names; none if nothing is to be found."""
    found: tuple[Hit, ...]
    """The first hits, at most as many as count."""
    tier: Tier
    notes: tuple[str, ...] = ()
    """What the search could not use."""
