"""What a question tells by its words: whom it is about, and what is left to look for by meaning.

A name says who is meant, not what is asked. In a vector it outweighs the rest: the messages nearest to "What did
Caroline paint?" are those in which the other one says "Caroline". So names of those who speak in a namespace are left
out of the text that becomes the vector (R@10 of the vector leg on LoCoMo .34 -> .60), and so is "the user", who is
in every question. The full text keeps them: there the speaker is a field of its own.

What its times mean is read by `when.py`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from retentive.model import Memory, Passage, Record, Role
from retentive.text.terms import STOP_WORDS, tokens, words

Names = Mapping[str, frozenset[str]]
"""Of each word of a speaker's name, in lower case, the speakers who have it."""

_WORD = re.compile(r"\w+")
_USER = re.compile(r"\bthe\s+user(?:['’]s)?\b", re.IGNORECASE)  # noqa: RUF001 - both apostrophes are written
_POSSESSIVE = r"(?:['’]s)?"  # noqa: RUF001 - likewise
_ROLES = {
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our"), Role.USER),
    **dict.fromkeys(("you", "your", "yours"), Role.ASSISTANT),
}
_SHORTEST = 2  # letters of a name: an initial is none


class Spoken(Protocol):
    """A message, as far as it tells who said it."""

    @property
    def speaker(self) -> str | None: ...
    @property
    def role(self) -> str: ...


class Person(NamedTuple):
    """The one whom a question is about: a speaker by name, or whoever has a role."""

    speaker: str | None
    role: str | None

    def of(self, item: Memory | Spoken | Record | Passage) -> bool:
        """Did they say it? Of others than messages: does it name them? By role, those are nobody's."""
        if not isinstance(item, Memory | Record | Passage):
            return item.speaker == self.speaker if self.speaker else item.role == self.role
        if self.speaker is None:
            return True
        match item:
            case Memory():
                own = " ".join((item.content, item.context or "", *item.tags))
            case Passage():
                own = item.told
            case _:
                own = " ".join(item.names)
        told = {*tokens(own.lower())}
        return not told.isdisjoint(tokens(self.speaker.lower()))

    def share(self, item: Memory | Spoken | Record | Passage) -> float:
        """What a name adds, or a role takes away from what others said."""
        return float(self.of(item)) if self.speaker else float(self.of(item)) - 1


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, understood."""

    words: tuple[str, ...]
    """For the full text."""
    meaning: str
    """What becomes the vector."""
    content: tuple[str, ...]
    """The words that an answer should have: those that are no names."""
    person: Person | None
    """If it is about one."""


def names_of(speakers: Iterable[str]) -> Names:
    found: dict[str, set[str]] = {}
    for speaker in speakers:
        for word in tokens(speaker.lower()):
            if len(word) >= _SHORTEST:
                found.setdefault(word, set()).add(speaker)
    return {word: frozenset(those) for word, those in found.items()}


def understood(question: str, names: Names, rest: str = "") -> Asked:
    """`rest` is what is left of it without the words of its times (`when.py`), if it has any."""
    looked_for = tuple(words(question))
    named = {word: names[word.lower()] for word in _named(question, names)}
    speakers = _meant([*named.values()])
    roles = {role for word in _WORD.findall(question.lower()) if (role := _ROLES.get(word))}
    roles |= {Role.USER} if _USER.search(question) else set()
    persons = [Person(speaker, None) for speaker in speakers] + [Person(None, role) for role in roles]
    content = tuple(word for word in looked_for if word not in {"user", *map(str.lower, named)})
    person = persons[0] if len(persons) == 1 else None
    return Asked(looked_for, _without(rest or question, [*named]), content or looked_for, person)


def correct_words(question: str, corrections: Mapping[str, str]) -> str:
    """The question with other words in place of misspelt ones, which are given in lower case."""
    if not corrections:
        return question
    pattern = rf"\b(?:{'|'.join(map(re.escape, corrections))})\b"
    return re.sub(pattern, lambda match: corrections[match[0].lower()], question, flags=re.IGNORECASE)


def plainly(question: str, rest: str = "") -> Asked:
    """As it stands."""
    looked_for = tuple(words(question))
    return Asked(looked_for, rest or question, looked_for, None)


def _named(question: str, names: Names) -> list[str]:
    """The words that are names. One that is also a common word ("Will") is a name where only a name is capitalised."""
    return [
        word
        for match in (_WORD.finditer(question) if names else ())
        if (word := match[0]).lower() in names
        and (word.lower() not in STOP_WORDS or (match.start() > 0 and word[0].isupper()))
    ]


def _meant(named: Sequence[frozenset[str]]) -> set[str]:
    """Whom the words of names stand for: of two who share a family name, the one whose first name is there, too."""
    surely = {speaker for those in named if len(those) == 1 for speaker in those}
    unclear = [those for those in named if surely.isdisjoint(those)]
    return surely.union(*unclear)


def _without(question: str, named: list[str]) -> str:
    """The question without these names; as it is, if nothing else would be left."""
    rest = _USER.sub(" ", question)
    if named:
        rest = re.sub(rf"\b(?:{'|'.join(map(re.escape, named))}){_POSSESSIVE}\b", " ", rest)
    left = [word for word in tokens(rest.lower()) if word not in STOP_WORDS]
    return " ".join(rest.split()) if left and rest != question else question
