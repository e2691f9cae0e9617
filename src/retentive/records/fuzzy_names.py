"""Compare names that may be partial or misspelt."""

import re
import unicodedata
from collections.abc import Iterable

from retentive.text.terms import split_words

# How certain a match is: the whole name, words of it, beginnings of words, misspelt words.
EXACT, WHOLE, PARTLY, NEARLY = 1.0, 0.9, 0.7, 0.5
_ACCENTS = re.compile("[\u0300-\u036f]")
MIN_FUZZY_LETTERS = 3  # shorter words must be right; up to twice as many letters one may be wrong, beyond that two


def fold_name(name: str) -> str:
    """Return a name as it is compared and sorted: without case and accents, with single blanks.

    Combining marks of other scripts stay: in Japanese or Thai they make another word.
    """
    if name.isascii():
        return " ".join(name.lower().split())
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return " ".join(_ACCENTS.sub("", plain).split())


class NameQuery:
    """A name that is looked for, prepared to be compared with thousands of others."""

    def __init__(self, text: str) -> None:
        self.name = fold_name(text)
        self._words = [_Word(each) for each in dict.fromkeys(split_words(self.name))]
        self._cache: dict[str, float] = {}

    def likeness(self, names: Iterable[str]) -> float:
        """Return how certain it is that one of these names is meant, from 0 to 1."""
        return max(map(self._compare_cached, names), default=0.0)

    def _compare_cached(self, name: str) -> float:
        known = self._cache.get(name)  # many contacts have the same company, or the same role
        if known is None:
            known = self._cache[name] = self._compare(fold_name(name))
        return known

    def _compare(self, name: str) -> float:
        """Return the likeness of the word that fits worst."""
        if self.name == name:
            return EXACT if name else 0.0
        others = split_words(name)
        if not others or not self._words:
            return 0.0
        least = EXACT
        for word in self._words:
            least = min(least, max(map(word.likeness, others)))
            if not least:
                break
        return least


class _Word:
    def __init__(self, text: str) -> None:
        self._text, self._letters = text, {*text}
        self._allowed = 0 if len(text) < MIN_FUZZY_LETTERS else 1 if len(text) < 2 * MIN_FUZZY_LETTERS else 2

    def likeness(self, other: str) -> float:
        if self._text == other:
            return WHOLE
        if other.startswith(self._text):
            return PARTLY
        is_misspelt = self._allowed and self._can_match(other) and _is_near(self._text, other, self._allowed)
        return NEARLY if is_misspelt else 0.0

    def _can_match(self, other: str) -> bool:
        """Rule out most words quickly: a mistake changes the length by at most one, and at most one letter."""
        is_long_enough = abs(len(self._text) - len(other)) <= self._allowed
        return is_long_enough and len(self._letters.difference(other)) <= self._allowed


def _is_near(first: str, second: str, max_edits: int) -> bool:
    """Return whether the Damerau-Levenshtein distance is at most `max_edits`."""
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
        if min(row) > max_edits:
            return False
    return row[-1] <= max_edits
