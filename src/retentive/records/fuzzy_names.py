"""Who is meant by a name that may be half, or misspelt."""

import re
import unicodedata
from collections.abc import Iterable

from retentive.text.terms import tokens

EXACT, WHOLE, PARTLY, NEARLY = 1.0, 0.9, 0.7, 0.5  # how sure: the name itself, words of it, their beginnings, misspelt
_ACCENTS = re.compile("[\u0300-\u036f]")
SHORT = 3  # letters of a word below which no letter may be wrong; up to twice as many one may, then two


def folded(name: str) -> str:
    """As names are compared and sorted: without case, accents, and more than one blank in a row.

    Marks of other scripts than those with accents stay: with and without them are two words of Japanese or Thai.
    """
    if name.isascii():
        return " ".join(name.lower().split())
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return " ".join(_ACCENTS.sub("", plain).split())


class Asked:
    """A name that is looked for, made ready to be compared with thousands."""

    def __init__(self, text: str) -> None:
        self.name = folded(text)
        self._words = [_Word(each) for each in dict.fromkeys(tokens(self.name))]
        self._known: dict[str, float] = {}

    def likeness(self, names: Iterable[str]) -> float:
        """How sure it is that one of these names is meant, from 0 to 1."""
        return max(map(self._of, names), default=0.0)

    def _of(self, name: str) -> float:
        known = self._known.get(name)  # many have the same company, or the same role
        if known is None:
            known = self._known[name] = self._compared(folded(name))
        return known

    def _compared(self, name: str) -> float:
        if self.name == name:
            return EXACT if name else 0.0
        there, least = tokens(name), EXACT
        for word in self._words if there else ():
            least = min(least, max(map(word.likeness, there)))
            if not least:
                break
        return least if there and self._words else 0.0


class _Word:
    def __init__(self, text: str) -> None:
        self._text, self._letters = text, {*text}
        self._allowed = 0 if len(text) < SHORT else 1 if len(text) < 2 * SHORT else 2

    def likeness(self, there: str) -> float:
        if self._text == there:
            return WHOLE
        if there.startswith(self._text):
            return PARTLY
        return NEARLY if self._allowed and self._may_be(there) and _near(self._text, there, self._allowed) else 0.0

    def _may_be(self, there: str) -> bool:
        """Quickly: a mistake makes the word longer or shorter by one, and one letter at the most another."""
        return (
            abs(len(self._text) - len(there)) <= self._allowed and len(self._letters.difference(there)) <= self._allowed
        )


def _near(first: str, second: str, most: int) -> bool:
    """Whether so many letters added, left out, changed or swapped make one of the other."""
    before: list[int] = []
    row: list[int] = [*range(len(second) + 1)]
    for i, letter in enumerate(first, start=1):
        older, before = before, row
        row = [i]
        for j, other in enumerate(second, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return False
    return row[-1] <= most
