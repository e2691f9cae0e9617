"""Find texts that say the same by their words, so that a context does not say anything twice."""

from collections.abc import Iterable
from typing import NamedTuple

from retentive.text.caches import text_cache
from retentive.text.terms import STOP_WORDS, split_words

MAX_CACHED_CHARS = 1000  # characters: the lines of a summary and the memories that come again with every question
MIN_SAME_WORDS = 0.9  # of all words of two texts, shared by both: about one in twenty of each text may differ
_NEUTRAL_WORDS = frozenset(("a", "also", "an", "and", "just", "so", "that", "the", "very"))  # do not change a meaning


class DistinctTexts(NamedTuple):
    new: list[str]
    repeats: list[tuple[str, str]]
    """Each id with the id that it repeats; "" if it repeats a known text."""


class _Words(NamedTuple):
    all: frozenset[str]
    capitalised: frozenset[str]
    """Those with a capital letter, among them the names."""


def find_distinct(items: Iterable[tuple[str, str]], known: Iterable[str] = ()) -> DistinctTexts:
    """Find which of (id, text), best first, say something new, and which repeat an earlier or a known text."""
    found = DistinctTexts([], [])
    earlier: list[tuple[str, _Words]] = [("", _read_words(text)) for text in known]
    for id, text in items:
        words = _read_words(text)
        first = next((other for other, before in earlier if _say_the_same(words, before)), None)
        if first is None:
            found.new.append(id)
            earlier.append((id, words))
        else:
            found.repeats.append((id, first))
    return found


def _read_words(text: str) -> _Words:
    return _read_words_cached(text) if len(text) <= MAX_CACHED_CHARS else _read_words_cached.__wrapped__(text)


@text_cache(1024)
def _read_words_cached(text: str) -> _Words:
    words = split_words(text)
    meaningful = frozenset(word.lower() for word in words) - _NEUTRAL_WORDS
    capitalised = frozenset(word.lower() for word in words if word != word.lower())
    return _Words(meaningful or frozenset([text.strip()]), capitalised)


def _say_the_same(one: _Words, other: _Words) -> bool:
    """Whether two texts share nearly all words, and those that differ are no names, no figures, no "not"."""
    fewer, more = sorted((len(one.all), len(other.all)))
    if fewer < MIN_SAME_WORDS * more:
        return False
    shared = len(one.all & other.all)
    if shared < MIN_SAME_WORDS * (len(one.all) + len(other.all) - shared):
        return False
    # Stop words are ignored elsewhere. Here "not" or "without" makes the difference.
    words_that_decide = STOP_WORDS | one.capitalised | other.capitalised
    differing = one.all ^ other.all
    return not any(word in words_that_decide or _has_figure(word) for word in differing)


def _has_figure(word: str) -> bool:
    return any(character.isdigit() for character in word)
