"""What is kept from a conversation, by rules alone: no model, no network, the same result every time.

People's messages are read in order. Each is cut into sentences, each sentence into clauses; a clause that states
something lasting (`worth.py`) becomes a statement in the third person (`person.py`). A pronoun at its head is followed
one sentence back (`references.py`), a short answer is joined with its question (`replies.py`), and what the speaker
asks to be remembered is taken at once (`requests.py`). The words looked for are English.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from retentive.learn.talk import vocabulary as words
from retentive.learn.talk.clauses import bare, clauses, is_joke
from retentive.learn.talk.deeds import Worth
from retentive.learn.talk.person import USER, third
from retentive.learn.talk.quoted_text import own_words, restore_apostrophes
from retentive.learn.talk.references import resolved
from retentive.learn.talk.replies import stated
from retentive.learn.talk.requests import MAX_MESSAGE_CHARS, Request, find_requests
from retentive.learn.talk.worth import judge
from retentive.model import Claim, Event, Kind, Role
from retentive.text import dates
from retentive.text.sentences import own, spans

LONGEST = 500  # characters of a sentence; past that it is pasted text
WISHED = Worth(Kind.FACT, 7)  # what was asked to be remembered matters to someone

_JOKING = re.compile(r"\b(?:just kidding|jk|j/k|lol jk|i'm joking|i'm kidding)\b", re.IGNORECASE)
_NAMED = re.compile(
    rf"\b(?:named|called) ([A-Z]\w+)|\b(?:[Mm]y|[Tt]he user's) (?:\w+ )?(?:{words.KIN}|{words.PETS}"
    rf"|{words.PEOPLE})(?: is)?,? ((?:Dr\.? )?[A-Z]\w+)|\b(?:kids|children|sons|daughters|dogs"
    r"|cats)[,:]? ([A-Z]\w+) and ([A-Z]\w+)|\blives? with ([A-Z]\w+)|^([A-Z]\w+)(?: [\w ]+)? is (?:my|the user's)\b"
)
_YEARLY = re.compile(r"\b(?:birthday|anniversary|born|every|each|always|never)\b", re.IGNORECASE)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_HABIT = re.compile(
    rf"\b{_DAY}\s?(?:-|to|through|thru|and|&|,)\s?{_DAY}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun|week)days\b",
    re.IGNORECASE,
)
_TO_COME = re.compile(r"\b(?:is|are|am|will|starts?|begins?|due)\b", re.IGNORECASE)
_TIMELESS = (Kind.INSTRUCTION, Kind.PATTERN, Kind.PREFERENCE)
_SUBJECT = re.compile(r"(?:Dr\.? )?[A-Z]\w+")


def extract(events: Sequence[Event], people: Collection[str] = (), told: Collection[str] = ()) -> list[Claim]:
    """The lasting statements of the people in a conversation, in their order, none twice.

    Where several people talk, each is called by name; `people` are those known from earlier parts of it. `told` are
    statements that were kept before: whom they name can be spoken of by name alone.
    """
    known = {name for each in told for name in _names_in(each)}
    names = {event.speaker for event in events if event.role is Role.USER and event.speaker} | {*people}
    readers: dict[str, _Reader] = {}
    heard: Event | None = None
    for event in events:
        if event.role is Role.USER:
            name = event.speaker if event.speaker and len(names) > 1 else USER
            readers.setdefault(name, _Reader(name, known)).read(event, heard)
        if event.role in (Role.USER, Role.ASSISTANT) and event.content.strip():
            heard = event
    found = sorted(
        chain.from_iterable(reader.claims() for reader in readers.values()), key=lambda claim: claim.events[-1]
    )
    return [*{claim.content.casefold(): claim for claim in found}.values()]


def subjects(events: Sequence[Event]) -> set[str]:
    """The names that people begin a statement with: of someone whom they may have told of before."""
    said = (bare(each.text) for event in events if event.role is Role.USER for each in spans(own(event.content)))
    found = (_SUBJECT.match(text) for text in said if len(text) <= LONGEST)
    return {match[0] for match in found if match and match[0].lower() not in words.SMALL}


def _names_in(text: str) -> Iterator[str]:
    return (name for found in _NAMED.findall(text) for name in found if name)


class _Found(NamedTuple):
    """A statement that is kept."""

    text: str
    worth: Worth
    event: Event
    context: tuple[int, ...] = ()
    """The message whose question it answers."""


def dated(text: str, kind: Kind, said: datetime) -> str:
    """With relative dates made absolute; not of what is done again and again, nor of days that come every year."""
    if kind in _TIMELESS or _YEARLY.search(text) or _HABIT.search(text):
        return text
    return dates.absolute(text, said, past=not _TO_COME.search(text))


def _bounds(text: str, said: datetime) -> tuple[datetime | None, datetime | None]:
    """From when and until when it holds, as far as it says so; newer words hold from when they are said, or later."""
    begun, ends = dates.ends(text, said) if not _HABIT.search(text) else (None, None)
    return begun if begun and begun > said else None, ends


class _Reader:
    """One person's messages, in order: what they said before is what a pronoun or "just kidding" refers to."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        self.name = name
        self.alone = name == USER
        self.sentences: list[list[_Found]] = []
        self.known = {*known}
        self.before = ""

    def read(self, event: Event, heard: Event | None) -> None:
        text = restore_apostrophes(own_words(event.content)[:MAX_MESSAGE_CHARS])
        asked = find_requests(text, self.name) if self.alone else ()  # what people ask of each other is not ours
        due = deque(asked)
        if heard and (answer := self._answer(text, heard)):
            self.sentences.append([_Found(answer.text, answer.worth, event, (heard.sequence,))])
        for sentence in spans(text):
            if any(start < sentence.end and sentence.start < end for start, end in (request.span for request in asked)):
                while due and due[0].span[0] < sentence.end:
                    self._heed(due.popleft(), event)
            elif is_joke(sentence.text):
                self.sentences = self.sentences[:-1]
            elif len(sentence.text) <= LONGEST:
                self.sentences.append([*self._sentence(sentence.text, event)])

    def _heed(self, wish: Request, event: Event) -> None:
        """What is asked to be kept is kept; what is asked to be forgotten was not said, as far as this part goes."""
        if wish.verb == "keep":
            self.sentences.append([_Found(wish.text, WISHED._replace(kind=wish.kind), event)])
        elif wish.verb == "forget" and wish.text:
            meant = _telling(wish.text)
            self.sentences = [[each for each in some if not meant <= _telling(each.text)] for some in self.sentences]
        elif wish.verb == "forget":
            self.sentences = self.sentences[:-1]

    def claims(self) -> Iterator[Claim]:
        for found in chain.from_iterable(self.sentences):
            begun, ends = _bounds(found.text, found.event.time)
            yield Claim(
                content=dated(found.text, found.worth.kind, found.event.time),
                kind=found.worth.kind,
                said=found.event.time,
                events=(*found.context, found.event.sequence),
                confidence=found.worth.confidence,
                importance=found.worth.importance,
                valid_from=begun,
                expires=ends,
            )

    def _answer(self, text: str, heard: Event) -> _Found | None:
        said = stated(own(heard.content), text) if heard.speaker != self.name else None
        worth = judge(said) if said else None
        return _Found(third(said, self.name), worth, heard) if said and worth else None

    def _sentence(self, sentence: str, event: Event) -> Iterator[_Found]:
        if _JOKING.search(sentence):
            return
        for clause in clauses(bare(sentence)):
            text = resolved(clause, self.before)
            self.before = text or ""
            worth = (judge(text) or self._of_known(text)) if text else None
            if text and worth:
                self.known.update(_names_in(text))
                yield _Found(third(text, self.name), worth, event)

    def _of_known(self, text: str) -> Worth | None:
        """Of someone whom the speaker has told of: "Charlie loves peanut butter"."""
        subject = _SUBJECT.match(text)
        return judge(f"my {text}") if subject and subject[0] in self.known else None


def _telling(text: str) -> set[str]:
    """The words that say what a statement is about, roughly without their endings: "live" is in "lives"."""
    found = re.findall(r"\w+", text.lower())
    return {word.removesuffix("s") for word in found if word not in words.SMALL} or {""}
