"""What is read out of a statement: values."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

LONGEST = 500  # characters of a statement; a longer text is a document, which states no one thing


class Topic(NamedTuple):
    """A part of an area: `running` of `sport`."""

    area: str
    name: str
    single: bool
    """A person has one value of the area at a time."""


class Slot(NamedTuple):
    name: str
    """`user.home`"""
    value: frozenset[str]
    """The stems of the words of its value."""
    said: str = ""
    """The value as it was said."""

    def same(self, other: "Slot | None") -> bool:
        """In whatever words it was said."""
        return other is not None and self[:2] == other[:2]


class Turn(IntEnum):
    """How a statement tells of a change."""

    NONE = 0
    NOW = 1
    ENDED = 2
    REPLACED = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement, as far as it matters for what it corrects."""

    subject: str
    """`user`, a person of theirs (`user.partner`), the name of another, or `world`."""
    people: frozenset[str]
    """The user's people that it names: `user.son`."""
    mine: bool
    """It says I, me or my somewhere."""
    turn: Turn
    adds: bool
    """Comes beside what is known: also, another, too."""
    apart: bool
    """Says nothing of how things are now: supposed, wished for, past, of one day, or a question."""
    hearsay: bool
    seen: bool
    """The speaker saw or read it themself."""
    again: bool
    negated: bool
    exclusive: bool
    """Only, exclusively: leaves no room beside."""
    feeling: int
    """1 if something is liked, -1 if disliked."""
    order: tuple[str, ...]
    """The stems of all words, as they stand."""
    words: frozenset[str]
    """Stems of the words that carry it."""
    names: frozenset[str]
    numbers: frozenset[str]
    days: frozenset[str]
    """Of the week and months."""
    counted: str
    """What the numbers are said of, where they are a value: `my passport` in "my passport expires in 2027"."""
    turned: frozenset[str]
    """The words and names of the clauses that tell of the change."""
    gone: frozenset[str]
    """The words of what is over: `guitar` in "stopped playing guitar and took up piano"."""
    new: frozenset[str]
    """The words of what took the place: `padel` in "switched to padel"."""
    instead: frozenset[str]
    """The words of what it took the place of, where they are said: `coffee` in "from coffee to tea"."""
    moved: frozenset[str]
    """The words of what got another value: `frontend` in "we migrated the frontend to React"."""
    purpose: frozenset[str]
    """The words of what something is for: `linting` in "we use ruff for linting"."""
    topics: frozenset[Topic]
    excluded: frozenset[str]
    """The words of what one does not have who says this: `meat`, of a vegetarian."""
    slot: Slot | None

    @property
    def areas(self) -> frozenset[str]:
        return frozenset(topic.area for topic in self.topics)

    @property
    def marks(self) -> frozenset[str]:
        """What can be shared with another statement."""
        return self.words | self.names
