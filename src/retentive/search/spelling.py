"""Finds words of a question that may be misspelt, and suggests corrections.

A word is suspected if the list of English words (`related_words.py`) does not have it and no text of the namespaces has
it either. Then words one letter away are tried: a letter too many, too few, another, or two swapped; for long words two
letters away, among English words only. The caller chooses one that the store has.
"""

from collections.abc import Iterable, Iterator, Sequence

from retentive.search.related_words import load_words
from retentive.text.terms import STOP_WORDS, split_words

MIN_LENGTH = 4  # letters: shorter words have too many neighbours
MIN_LENGTH_FOR_TWO = 7  # letters of a word in which two may be wrong
MAX_LENGTH = 24
MAX_SUSPECTS = 3  # words of a question that are checked
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def find_suspects(question: str) -> list[str]:
    """Find words of letters that are no English words, in the order of the question."""
    known = load_words()
    words = dict.fromkeys(split_words(question.lower()))
    suspects = [
        word
        for word in words
        if MIN_LENGTH <= len(word) <= MAX_LENGTH
        and word.isascii()
        and word.isalpha()
        and word not in known
        and word not in STOP_WORDS
    ]
    return suspects[:MAX_SUSPECTS]


def list_edits(word: str) -> set[str]:
    """List every word that is one letter away."""
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {left + right[1:] for left, right in splits if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    found |= {left + letter + right[1:] for left, right in splits if right for letter in _LETTERS}
    found |= {left + letter + right for left, right in splits for letter in _LETTERS}
    return found - {word}


def suggest_english(word: str) -> list[str]:
    """List English words near to a word, the nearest and most common first."""
    known = load_words()
    near = sorted((other for other in list_edits(word) if other in known), key=known.__getitem__)
    if near or len(word) < MIN_LENGTH_FOR_TWO:
        return near
    return [other for other in _list_alike(word, known) if measure_distance(word, other, 2) == 2]  # noqa: PLR2004


def _list_alike(word: str, known: Iterable[str]) -> Iterator[str]:
    """Words that begin with the same letter and are about as long."""
    return (other for other in known if other[0] == word[0] and abs(len(other) - len(word)) <= 2)  # noqa: PLR2004


def measure_distance(first: str, second: str, limit: int) -> int:
    """Count the letters to insert, delete, change or swap with their neighbour; at most `limit` + 1."""
    before: Sequence[int] = []
    last: Sequence[int] = range(len(second) + 1)
    for row, letter in enumerate(first, start=1):
        current = [row]
        for column, other in enumerate(second, start=1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != other))
            is_swap = row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other
            current.append(min(cost, before[column - 2] + 1) if is_swap else cost)
        if min(current) > limit:
            return limit + 1
        before, last = last, current
    return last[-1]
