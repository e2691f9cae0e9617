"""Who is meant by a name that may be half, or misspelt."""

import re
import unicodedata
from collections.abc import Sequence

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


def likeness(asked: str, names: Sequence[str]) -> float:
    """How sure it is that one of these names is meant, from 0 to 1."""
    return max((_likeness(folded(asked), folded(name)) for name in names), default=0.0)


def _likeness(asked: str, name: str) -> float:
    if asked == name:
        return EXACT if asked else 0.0
    wanted, there = tokens(asked), tokens(name)
    if not wanted or not there:
        return 0.0
    return min(max(_word(word, other) for other in there) for word in wanted)


def _word(asked: str, there: str) -> float:
    if asked == there:
        return WHOLE
    if there.startswith(asked):
        return PARTLY
    allowed = 0 if len(asked) < SHORT else 1 if len(asked) < 2 * SHORT else 2
    return NEARLY if allowed and _near(asked, there, allowed) else 0.0


def _near(first: str, second: str, most: int) -> bool:
    """Whether so many letters added, left out, changed or swapped make one of the other."""
    if abs(len(first) - len(second)) > most:
        return False
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
