"""Which texts repeat what a memory says.

A memory is read as a subject and values: "The user's dog is called Rex" has the subject "dog" and the value "Rex".
Values are told by their form: names, numbers, addresses. A text repeats the memory if it has the value together with
the subject, or most of all its words. A text that merely shares a word does not. In doubt it does not: a message that
is hidden without need is a loss, too.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from retentive.memories.fingerprints import is_rare
from retentive.text.sentences import spans
from retentive.text.terms import STOP_WORDS, terms, tokens

Stem = Callable[[str], Sequence[str]]
"""The tokens of a text as the full-text index has them."""

_ADDRESS = re.compile(r"\S+@\S+|\S+://\S+|www\.\S+")
_GENERIC = frozenset(("user", "users", "called", "named", "name", "names"))  # say whose it is, not what it is
HALF = 0.5
MIN_DIGITS = 4  # of a number that tells something by itself: a year, a code


class Fact(NamedTuple):
    """The telling words of a memory, as stems."""

    subject: tuple[str, ...]
    values: tuple[str, ...]
    head: tuple[str, str] | None
    """The first word of the subject and the value that belongs to it."""

    @property
    def words(self) -> frozenset[str]:
        return frozenset((*self.subject, *self.values))


def read_fact(text: str, stem: Stem) -> Fact:
    """Split the words of a memory into subject and values."""
    marked = [*_marked_words(text)]
    named = [(stem(terms(word)), is_value) for word, is_value in marked if word.lower() not in _GENERIC]
    if not any(not is_value for _, is_value in named):
        named = [(stem(terms(word)), is_value) for word, is_value in marked]
    subject = dict.fromkeys(each for stems, is_value in named if not is_value for each in stems)
    values = dict.fromkeys(each for stems, is_value in named if is_value for each in stems if each not in subject)
    return Fact(tuple(subject), tuple(values), _head(named))


def repeats_fact(fact: Fact, text: str, stem: Stem) -> bool:
    """Whether a text says again what the memory says, in a sentence or in two that follow one another."""
    sentences = [_stems(sentence.text, stem) for sentence in spans(text)]
    if not fact.values:
        return any(_covers(fact, said) for said in sentences)
    said_together = [*sentences, *(before | after for before, after in pairwise(sentences))]
    return any(_has_value_of_subject(fact, said) for said in said_together)


def gives_away(fact: Fact, text: str, stem: Stem) -> bool:
    """Whether a text that is about the memory shows its value: a request to forget it, a sentence of a summary."""
    said = _stems(text, stem)
    if fact.values:
        value = fact.head[1] if fact.head else fact.values[0]
        return value in said
    return bool(fact.words) and fact.words <= said


def _marked_words(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a memory, and whether each is a value by its form."""
    addresses = {word for address in _ADDRESS.findall(text) for word in tokens(address)}
    for sentence in spans(text):
        for place, word in enumerate(tokens(sentence.text)):
            if word.lower() in STOP_WORDS:
                continue
            is_name = place > 0 and word[:1].isupper()
            has_digit = any(letter.isdigit() for letter in word)
            yield word, is_name or has_digit or word in addresses or is_rare(word)


def _head(named: Sequence[tuple[Sequence[str], bool]]) -> tuple[str, str] | None:
    """The first subject with the first value after it, else with the last value before it."""
    place = next((at for at, (stems, is_value) in enumerate(named) if stems and not is_value), None)
    if place is None:
        return None
    after = [stems[0] for stems, is_value in named[place:] if is_value and stems]
    before = [stems[0] for stems, is_value in named[:place] if is_value and stems]
    value = after[0] if after else before[-1] if before else None
    return (named[place][0][0], value) if value else None


def _stems(text: str, stem: Stem) -> frozenset[str]:
    return frozenset(each for word in tokens(text) if word.lower() not in STOP_WORDS for each in stem(terms(word)))


def _has_value_of_subject(fact: Fact, said: frozenset[str]) -> bool:
    values = said.intersection(fact.values)
    if fact.head and said.issuperset(fact.head) and (not _is_weak(fact.head[1]) or len(values) == len(fact.values)):
        return True
    shared = said & fact.words
    is_most = len(shared) > HALF * len(fact.words) and len(values) > HALF * len(fact.values)
    return is_most and len(shared) > len(values) if fact.subject else said >= fact.words and len(values) > 1


def _is_weak(value: str) -> bool:
    """A short number stands for itself only beside all other values: "round 3" is said of many things."""
    return value.isdecimal() and len(value) < MIN_DIGITS


def _covers(fact: Fact, said: frozenset[str]) -> bool:
    """Without values by form: a sentence with all the words of the memory, and few others."""
    return len(fact.words) > 1 and fact.words <= said and len(fact.words) > HALF * len(said)
