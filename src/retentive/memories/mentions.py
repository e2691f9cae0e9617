"""Decides which texts repeat what a memory says.

A memory is read as a subject and values: "The user's dog is called Rex" has the subject "dog" and the value "Rex".
Values are known by their form: names, numbers, addresses. A text repeats the memory if it has the value together with
the subject, or most of all its words. A text that merely shares a word does not. In doubt it does not: a message that
is hidden without need is a loss, too.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from retentive.memories.fingerprints import is_rare
from retentive.text.sentences import find_sentences
from retentive.text.terms import STOP_WORDS, segment_text, split_words

Stem = Callable[[str], Sequence[str]]
"""The tokens of a text as the full-text index has them."""

_ADDRESS = re.compile(r"\S+@\S+|\S+://\S+|www\.\S+")
_GENERIC = frozenset(("user", "users", "called", "named", "name", "names"))  # say whose it is, not what it is
HALF = 0.5  # of the words, or of the values
MIN_DIGITS = 4  # of a number that tells something by itself: a year, a code


class FactWords(NamedTuple):
    """The telling words of a memory, as stems."""

    subject: tuple[str, ...]
    values: tuple[str, ...]
    head: tuple[str, str] | None
    """The first word of the subject and the value that belongs to it."""

    @property
    def words(self) -> frozenset[str]:
        return frozenset((*self.subject, *self.values))


class _StemmedWord(NamedTuple):
    stems: Sequence[str]
    is_value: bool


def read_fact(text: str, stem: Stem) -> FactWords:
    """Split the words of a memory into subject and values."""
    marked = [*_list_words(text)]
    specific = [(word, is_value) for word, is_value in marked if word.lower() not in _GENERIC]
    if all(is_value for _, is_value in specific):
        specific = marked  # only a generic word can be the subject
    words = [_StemmedWord(stem(segment_text(word)), is_value) for word, is_value in specific]
    subject = dict.fromkeys(each for word in words if not word.is_value for each in word.stems)
    values = dict.fromkeys(each for word in words if word.is_value for each in word.stems if each not in subject)
    return FactWords(tuple(subject), tuple(values), _find_head(words))


def repeats_fact(fact: FactWords, text: str, stem: Stem) -> bool:
    """Whether a text says again what the memory says, in a sentence or in two that follow one another."""
    sentences = [_stems(sentence.text, stem) for sentence in find_sentences(text)]
    if not fact.values:
        return any(_covers(fact, stems) for stems in sentences)
    windows = [*sentences, *(before | after for before, after in pairwise(sentences))]
    return any(_has_value_of_subject(fact, stems) for stems in windows)


def gives_away(fact: FactWords, text: str, stem: Stem) -> bool:
    """Whether a text that is about the memory shows its value: a request to forget it, a sentence of a summary."""
    stems = _stems(text, stem)
    if fact.values:
        value = fact.head[1] if fact.head else fact.values[0]
        return value in stems
    return bool(fact.words) and fact.words <= stems


def _list_words(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a memory, and whether each is a value by its form."""
    addresses = {word for address in _ADDRESS.findall(text) for word in split_words(address)}
    for sentence in find_sentences(text):
        for position, word in enumerate(split_words(sentence.text)):
            if word.lower() in STOP_WORDS:
                continue
            is_name = position > 0 and word[:1].isupper()
            has_digit = any(letter.isdigit() for letter in word)
            yield word, is_name or has_digit or word in addresses or is_rare(word)


def _find_head(words: Sequence[_StemmedWord]) -> tuple[str, str] | None:
    """The first subject with the first value after it, else with the last value before it."""
    index = next((index for index, word in enumerate(words) if word.stems and not word.is_value), None)
    if index is None:
        return None
    after = [word.stems[0] for word in words[index:] if word.is_value and word.stems]
    before = [word.stems[0] for word in words[:index] if word.is_value and word.stems]
    nearest = after[:1] or before[-1:]
    return (words[index].stems[0], nearest[0]) if nearest else None


def _stems(text: str, stem: Stem) -> frozenset[str]:
    return frozenset(
        each for word in split_words(text) if word.lower() not in STOP_WORDS for each in stem(segment_text(word))
    )


def _has_value_of_subject(fact: FactWords, stems: frozenset[str]) -> bool:
    """Whether words have the value of the fact together with its subject, or most of all its words."""
    values = stems.intersection(fact.values)
    if fact.head and stems.issuperset(fact.head) and (not _is_weak(fact.head[1]) or len(values) == len(fact.values)):
        return True
    shared = stems & fact.words
    is_most = len(shared) > HALF * len(fact.words) and len(values) > HALF * len(fact.values)
    return is_most and len(shared) > len(values) if fact.subject else stems >= fact.words and len(values) > 1


def _is_weak(value: str) -> bool:
    """Whether a value is a short number, which counts only beside all other values: "round 3" may be of anything."""
    return value.isdecimal() and len(value) < MIN_DIGITS


def _covers(fact: FactWords, stems: frozenset[str]) -> bool:
    """Whether a sentence has all words of a memory without values, and few others."""
    return len(fact.words) > 1 and fact.words <= stems and len(fact.words) > HALF * len(stems)
