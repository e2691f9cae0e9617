"""What is worth keeping? Pure functions on texts; `model.py` asks the language model that it is given."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from retentive.learn.statements.statement import Reading
from retentive.model import Claim, Event, Kind, Memory

if TYPE_CHECKING:
    from retentive.learn.talk.requests import Request
    from retentive.llm import Writer


class Rules(NamedTuple):
    """What can be told from words."""

    read: Callable[[str], Reading]
    superseded: Callable[[str, Sequence[str]], list[int]]
    """The places of the statements that a newer one puts an end to."""
    repeats: Callable[[str, str], bool]
    """Does the newer of two statements say no more than the older?"""
    about: Callable[[Reading], list[str]]
    """Words by which statements of the same areas of life are found."""
    asked_for: Callable[[str], str | None]
    """The words in which people ask for what is in a slot."""
    vital: Callable[[str], bool]
    """Does a statement bear on the user's safety, whatever is asked?"""
    ends: Callable[[str, datetime], tuple[datetime | None, datetime | None]]
    """From when and until when a statement of that moment holds, if its words say so."""
    wishes: "Callable[[str], tuple[Request, ...]]"
    """What a message asks to be kept or forgotten."""
    dated: Callable[[str, Kind, datetime], str]
    """A statement of that moment with relative dates made absolute."""
    subjects: Callable[[Sequence[Event]], set[str]]
    """Names in a conversation of someone whom earlier statements may tell of."""
    extract: Callable[[Sequence[Event], Sequence[str]], list[Claim]]
    """What is worth keeping of a conversation, given such statements."""
    batches: Callable[[Sequence[Event]], list[tuple[Event, ...]]]
    """A conversation in parts that a language model is shown one at a time."""
    ask: "Callable[[Writer, Sequence[Event], Sequence[Memory | Claim]], tuple[Claim, ...]]"
    """The same, by a language model."""


def open_rules() -> Rules:
    """Loaded when first needed: compiling the word lists takes some 40 ms."""
    from retentive.learn.asked.model import batches
    from retentive.learn.asked.model import extract as ask
    from retentive.learn.statements.areas import words_of
    from retentive.learn.statements.reading import read
    from retentive.learn.statements.resolve import repeats, superseded
    from retentive.learn.statements.slots import asked_for
    from retentive.learn.talk.requests import find_requests
    from retentive.learn.talk.rules import dated, extract, subjects
    from retentive.learn.talk.worth import vital
    from retentive.text.dates import ends

    def wishes(text: str) -> "tuple[Request, ...]":
        """The requests that are carried out as they stand; the others need an answer or the statement before."""
        return tuple(each for each in find_requests(text) if each.verb != "correct" and not each.doubtful)

    def find(events: Sequence[Event], told: Sequence[str]) -> list[Claim]:
        return extract(events, told=told)

    return Rules(
        read, superseded, repeats, words_of, asked_for, vital, ends, wishes, dated, subjects, find, batches, ask
    )
