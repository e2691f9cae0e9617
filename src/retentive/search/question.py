"""Parses a question: the person it is about, the words for keyword search, and the text for vector search.

A name says who is meant, not what is asked. In a vector it outweighs the rest: the messages nearest to "What did
Caroline paint?" are those in which the other one says "Caroline". So names of speakers in a namespace are left out of
the text that becomes the vector (R@10 of vector search on LoCoMo .34 -> .60). So is "the user", who is in every
question. Keyword search keeps them: there the speaker is a field of its own.

`time_query.py` reads the times of a question.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from retentive.frozen_dataclass import dataclass
from retentive.model import Memory, Passage, Record, Role
from retentive.text.terms import STOP_WORDS, find_query_words, split_words

Names = Mapping[str, frozenset[str]]
"""By each word of a speaker's name, in lower case: the speakers who have it."""

_WORD = re.compile(r"\w+")
_USER = re.compile(r"\bthe\s+user(?:['’]s)?\b", re.IGNORECASE)  # noqa: RUF001 - both apostrophes are written
_POSSESSIVE = r"(?:['’]s)?"  # noqa: RUF001 - likewise
_ROLES = {
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our"), Role.USER),
    **dict.fromkeys(("you", "your", "yours"), Role.ASSISTANT),
}
_MIN_NAME_LETTERS = 2  # an initial is no name


class Spoken(Protocol):
    """A message: who said it."""

    @property
    def speaker(self) -> str | None: ...
    @property
    def role(self) -> str: ...


class Person(NamedTuple):
    """The person that a question is about: a speaker by name, or everybody of a role."""

    speaker: str | None
    role: str | None

    def owns(self, item: Memory | Spoken | Record | Passage) -> bool:
        """Whether they said a message, or anything else names them. By role, anything else counts as theirs."""
        if not isinstance(item, Memory | Record | Passage):
            return item.speaker == self.speaker if self.speaker else item.role == self.role
        if self.speaker is None:
            return True
        match item:
            case Memory():
                text = " ".join((item.content, item.context or "", *item.tags))
            case Passage():
                text = item.searchable_text
            case _:
                text = " ".join(item.names)
        words = {*split_words(text.lower())}
        return not words.isdisjoint(split_words(self.speaker.lower()))

    def share(self, item: Memory | Spoken | Record | Passage) -> float:
        """1 if the named speaker owns the item, else 0; by role 0 if the role owns it, else -1."""
        return float(self.owns(item)) if self.speaker else float(self.owns(item)) - 1


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question."""

    words: tuple[str, ...]
    """The words for keyword search."""
    meaning: str
    """The text that becomes the vector."""
    content: tuple[str, ...]
    """The words that an answer should have: those that are no names."""
    person: Person | None
    """The person that the question is about, if there is one."""


def index_names(speakers: Iterable[str]) -> Names:
    """Index speakers by the words of their names."""
    found: dict[str, set[str]] = {}
    for speaker in speakers:
        for word in split_words(speaker.lower()):
            if len(word) >= _MIN_NAME_LETTERS:
                found.setdefault(word, set()).add(speaker)
    return {word: frozenset(those) for word, those in found.items()}


def parse_question(question: str, names: Names, rest: str = "") -> ParsedQuestion:
    """Parse a question. `rest` is the question without the words of its times, if it has any."""
    keywords = tuple(find_query_words(question))
    named = {word: names[word.lower()] for word in _find_names(question, names)}
    speakers = _choose_speakers([*named.values()])
    roles = {role for word in _WORD.findall(question.lower()) if (role := _ROLES.get(word))}
    roles |= {Role.USER} if _USER.search(question) else set()
    persons = [Person(speaker, None) for speaker in speakers] + [Person(None, role) for role in roles]
    content = tuple(word for word in keywords if word not in {"user", *map(str.lower, named)})
    person = persons[0] if len(persons) == 1 else None
    return ParsedQuestion(keywords, _remove_names(rest or question, [*named]), content or keywords, person)


def correct_words(question: str, corrections: Mapping[str, str]) -> str:
    """Replace misspelt words of a question. `corrections` are by word in lower case."""
    if not corrections:
        return question
    pattern = rf"\b(?:{'|'.join(map(re.escape, corrections))})\b"
    return re.sub(pattern, lambda match: corrections[match[0].lower()], question, flags=re.IGNORECASE)


def parse_plainly(question: str, rest: str = "") -> ParsedQuestion:
    """Take the question as it stands: nobody is named."""
    keywords = tuple(find_query_words(question))
    return ParsedQuestion(keywords, rest or question, keywords, None)


def _find_names(question: str, names: Names) -> list[str]:
    """Words that are names. A common word ("Will") is one if it is capitalised inside the question."""
    found = []
    for match in _WORD.finditer(question) if names else ():
        word = match[0]
        is_capitalised = match.start() > 0 and word[0].isupper()
        if word.lower() in names and (is_capitalised or word.lower() not in STOP_WORDS):
            found.append(word)
    return found


def _choose_speakers(named: Sequence[frozenset[str]]) -> set[str]:
    """The speakers that are named. If two share a family name, the one whose first name is there, too."""
    surely = {speaker for those in named if len(those) == 1 for speaker in those}
    unclear = [those for those in named if surely.isdisjoint(those)]
    return surely.union(*unclear)


def _remove_names(question: str, named: list[str]) -> str:
    """Remove names from a question; it stays as it is if nothing else would be left."""
    rest = _USER.sub(" ", question)
    if named:
        rest = re.sub(rf"\b(?:{'|'.join(map(re.escape, named))}){_POSSESSIVE}\b", " ", rest)
    left = [word for word in split_words(rest.lower()) if word not in STOP_WORDS]
    return " ".join(rest.split()) if left and rest != question else question
